//! Where things are: the repository, the library, the lab's own directory.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};

/// The repository's top: the nearest parent of the working directory, or of `hak` itself, that
/// holds the library's crate.
pub fn repository() -> Result<PathBuf> {
    let starts = [env::current_dir().ok(), env::current_exe().ok()];
    starts
        .iter()
        .flatten()
        .flat_map(|start| start.ancestors())
        .find(|d| d.join("hakmem-core/Cargo.toml").is_file())
        .map(Path::to_path_buf)
        .context("not inside the hakmem repository: run hak from there")
}

/// The lab's directory: peers, saved sessions, reports. In the repository, out of the reach of
/// `make clean` and of git; elsewhere in the user's cache.
pub fn lab() -> Result<PathBuf> {
    let directory = match (env::var_os("HAK_HOME"), repository()) {
        (Some(home), _) => PathBuf::from(home),
        (None, Ok(top)) => top.join(".hak"),
        (None, Err(_)) => user_cache()?.join("hakmem"),
    };
    let ignore = directory.join(".gitignore");
    if !ignore.is_file() {
        fs::create_dir_all(&directory)
            .and_then(|()| fs::write(&ignore, "*\n"))
            .with_context(|| format!("cannot write to {}", directory.display()))?;
    }
    Ok(directory)
}

fn user_cache() -> Result<PathBuf> {
    if let Some(cache) = env::var_os("XDG_CACHE_HOME") {
        return Ok(PathBuf::from(cache));
    }
    let home = env::var_os("HOME").context("neither HAK_HOME nor HOME is set")?;
    Ok(PathBuf::from(home).join(".cache"))
}

/// libhakmem.so: the one that HAKMEM_LIBRARY names, else the one installed beside `hak`, else the
/// release build of the repository.
pub fn library() -> Result<PathBuf> {
    if let Some(given) = env::var_os("HAKMEM_LIBRARY") {
        let path = PathBuf::from(given);
        return fs::canonicalize(&path)
            .with_context(|| format!("HAKMEM_LIBRARY names {}", path.display()));
    }
    let program = env::current_exe().context("cannot find hak itself")?;
    let folder = program.parent().unwrap_or(Path::new("/"));
    let installed = [
        folder.join("libhakmem.so"),
        folder.join("../lib/libhakmem.so"),
    ];
    let built = repository().map(|top| top.join("target/release/libhakmem.so"));
    let found = installed
        .into_iter()
        .chain(built)
        .find(|path| path.is_file());
    match found.map(fs::canonicalize) {
        Some(path) => Ok(path?),
        None => bail!("libhakmem.so is not built: run `make lib`, or name it in HAKMEM_LIBRARY"),
    }
}
