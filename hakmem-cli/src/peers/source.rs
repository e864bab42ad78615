//! Brings a peer's package to this machine with the ordinary client of its registry.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use super::recipe::{PINS, Recipe};

/// An unpacked package.
pub struct Source {
    pub folder: PathBuf,
    pub version: String,
    /// For people: "crate libmimalloc-sys 0.1.49".
    pub origin: String,
}

pub fn fetch(recipe: &Recipe, home: &Path, workshop: &Path) -> Result<Source> {
    match (&recipe.package, &recipe.debian) {
        (Some(package), _) => from_cargo(package, home),
        (None, Some(package)) => from_debian(package, workshop),
        (None, None) => bail!("the recipe names no package"),
    }
}

/// `cargo metadata` downloads and unpacks what the lock file pins, and says where.
fn from_cargo(package: &str, home: &Path) -> Result<Source> {
    #[derive(Deserialize)]
    struct Metadata {
        packages: Vec<Package>,
    }
    #[derive(Deserialize)]
    struct Package {
        name: String,
        version: String,
        manifest_path: PathBuf,
    }
    let pins = home.join("pins");
    fs::create_dir_all(pins.join("src"))?;
    for (name, text) in PINS {
        fs::write(pins.join(name), text)?;
    }
    let mut cargo = Command::new("cargo");
    cargo
        .args(["metadata", "--locked", "--format-version", "1"])
        .current_dir(&pins);
    let text = run(&mut cargo)?;
    let metadata: Metadata = serde_json::from_slice(&text).context("cargo metadata")?;
    let found = metadata.packages.into_iter().find(|p| p.name == package);
    let found = found.with_context(|| format!("peers/Cargo.lock does not pin {package}"))?;
    let folder = found
        .manifest_path
        .parent()
        .context("a manifest without a folder")?
        .to_owned();
    let origin = format!("crate {package} {}", found.version);
    Ok(Source {
        folder,
        version: found.version,
        origin,
    })
}

/// Downloads and unpacks a Debian package without installing it.
fn from_debian(package: &str, workshop: &Path) -> Result<Source> {
    let mut apt = Command::new("apt-get");
    apt.args(["download", package]).current_dir(workshop);
    run(&mut apt).context("if the package lists are old, `apt-get update` helps")?;
    let file = fs::read_dir(workshop)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.extension().is_some_and(|e| e == "deb"))
        .context("apt-get downloaded nothing")?;
    run(Command::new("dpkg-deb").arg("-x").arg(&file).arg(workshop))?;
    let version = run(Command::new("dpkg-deb").arg("-f").arg(&file).arg("Version"))?;
    let version = String::from_utf8_lossy(&version).trim().to_owned();
    let origin = format!("Debian {package} {version}");
    // "2.10-1" is release 2.10 of the allocator.
    let version = version.split('-').next().unwrap_or(&version).to_owned();
    Ok(Source {
        folder: workshop.to_path_buf(),
        version,
        origin,
    })
}

/// Standard output of a command; its last error lines if it fails.
pub fn run(command: &mut Command) -> Result<Vec<u8>> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command
        .output()
        .with_context(|| format!("cannot run {program}"))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    bail!("{program} failed: {}", essence(&said))
}

/// The lines that tell why: those with "error" in them, else the last one.
fn essence(text: &str) -> String {
    let is_error = |line: &&str| line.to_lowercase().contains("error") || line.starts_with("E:");
    let mut lines: Vec<&str> = text.lines().filter(is_error).take(2).collect();
    if lines.is_empty() {
        lines.extend(text.lines().rfind(|line| !line.trim().is_empty()));
    }
    lines
        .iter()
        .map(|line| line.trim())
        .collect::<Vec<_>>()
        .join(" / ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_told_by_its_error_lines() {
        let text = "note: x\nfoo.c:1: fatal error: no such header\ncompilation terminated.\n";
        assert_eq!(essence(text), "foo.c:1: fatal error: no such header");
        assert_eq!(essence("one\ntwo\n\n"), "two");
        let error = run(Command::new("sh").args(["-c", "echo E: gone >&2; exit 3"])).unwrap_err();
        assert_eq!(error.to_string(), "sh failed: E: gone");
        let error = run(&mut Command::new("no-such-program"))
            .unwrap_err()
            .to_string();
        assert_eq!(error, "cannot run no-such-program");
    }
}
