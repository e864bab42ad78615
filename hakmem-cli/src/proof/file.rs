//! Says beforehand whether a program can be put on an allocator by LD_PRELOAD.

use std::{
    fs,
    os::unix::{ffi::OsStrExt, fs::PermissionsExt},
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};

use crate::allocator::{
    elf::Elf,
    identity::{self, Identity},
};

/// What a look at the file found.
#[derive(Debug, PartialEq, Eq)]
pub enum Outlook {
    /// Linked into the program.
    Linked(&'static Identity),
    /// LD_PRELOAD will work; `notes` says what may still escape it.
    Preloadable { notes: Vec<String> },
    /// LD_PRELOAD will have no effect, or only part of one.
    Refused { reason: String },
}

/// Looks at a program; a script stands for its interpreter. Returns the file looked at.
pub fn inspect(path: &Path) -> Result<(PathBuf, Outlook)> {
    let program = locate(path)?;
    if let Some(interpreter) = interpreter_of(&program)? {
        return inspect(&interpreter);
    }
    let outlook = match Elf::read(&program) {
        Ok(elf) => outlook(&program, &elf),
        Err(error) => Outlook::Refused {
            reason: format!("{:#}", error.root_cause()),
        },
    };
    Ok((program, outlook))
}

fn outlook(program: &Path, elf: &Elf) -> Outlook {
    let refused = |reason: &str| Outlook::Refused {
        reason: reason.to_owned(),
    };
    if elf.is_library {
        return refused("a library, not a program");
    }
    if let Some(identity) = linked(elf) {
        return Outlook::Linked(identity);
    }
    let Some(loader) = &elf.interpreter else {
        return refused("static: it has no dynamic loader, so nothing reads LD_PRELOAD");
    };
    if elf.setuid || has_capabilities(program) {
        return refused("setuid, setgid or with file capabilities: ld.so ignores LD_PRELOAD then");
    }
    if !loader.contains("ld-linux") {
        return refused(&format!("its loader is {loader}, not glibc's"));
    }
    if elf.exports("malloc") {
        return refused("it defines malloc itself, and a program's own definition comes first");
    }
    let mut notes = Vec::new();
    if elf
        .slots
        .iter()
        .any(|slot| slot.function == "dlopen" || slot.function == "dlmopen")
    {
        notes.push(
            "it loads libraries at run time: one loaded with RTLD_DEEPBIND or dlmopen keeps \
             libc's malloc; run it under `hak proof -- CMD` to see"
                .to_owned(),
        );
    }
    Outlook::Preloadable { notes }
}

/// A known allocator linked into the program: its marker and a malloc are among the symbols.
pub fn linked(elf: &Elf) -> Option<&'static Identity> {
    elf.defines("malloc")
        .then(|| identity::recognise(|symbol| elf.defines(symbol)))
        .flatten()
}

fn has_capabilities(path: &Path) -> bool {
    let Ok(path) = std::ffi::CString::new(path.as_os_str().as_bytes()) else {
        return false;
    };
    let name = c"security.capability";
    // SAFETY: both strings end with zero; a null buffer of length 0 asks for the size only.
    unsafe { libc::getxattr(path.as_ptr(), name.as_ptr(), std::ptr::null_mut(), 0) > 0 }
}

/// A bare name is looked for in PATH, as a shell does.
fn locate(path: &Path) -> Result<PathBuf> {
    let is_program = |p: &Path| {
        fs::metadata(p).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
    };
    if path.components().count() > 1 || path.is_file() {
        return fs::canonicalize(path).with_context(|| format!("no file {}", path.display()));
    }
    let search = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&search)
        .map(|d| d.join(path))
        .find(|p| is_program(p));
    match found {
        Some(found) => Ok(fs::canonicalize(found)?),
        None => bail!("no program {} here or in PATH", path.display()),
    }
}

fn interpreter_of(path: &Path) -> Result<Option<PathBuf>> {
    let data = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let Some(rest) = data.strip_prefix(b"#!") else {
        return Ok(None);
    };
    let line = String::from_utf8_lossy(rest.split(|&b| b == b'\n').next().unwrap_or_default());
    let mut words = line.split_whitespace();
    let interpreter = words
        .next()
        .context("a script whose first line names no interpreter")?;
    // `#!/usr/bin/env python3` is about python3.
    let through_env = interpreter.ends_with("/env");
    let named = words.find(|w| !w.starts_with('-') && !w.contains('='));
    Ok(Some(PathBuf::from(
        named.filter(|_| through_env).unwrap_or(interpreter),
    )))
}
