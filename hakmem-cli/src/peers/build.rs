//! Compiles an unpacked package into one shared library.

use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use anyhow::{Error, Result, bail};

use super::{
    recipe::Recipe,
    source::{Source, run},
};

const ALWAYS: [&str; 4] = ["-O3", "-DNDEBUG", "-fPIC", "-w"];

/// Returns the library's path in the workshop.
pub fn build(
    recipe: &Recipe,
    source: &Source,
    workshop: &Path,
    jobs: usize,
    tell: &dyn Fn(&str),
) -> Result<PathBuf> {
    if !recipe.sources.is_empty() {
        return compile(recipe, source, workshop, jobs, tell);
    }
    let Some(product) = &recipe.product else {
        bail!("the recipe has no product")
    };
    if recipe.steps.is_empty() {
        return Ok(source.folder.join(product));
    }
    let folder = workshop.join("source");
    let original = source.folder.join(recipe.folder.as_deref().unwrap_or("."));
    run(Command::new("cp").arg("-r").arg(original).arg(&folder))?;
    // "0.7.1+5.3.1-0-gabc": what stands behind the plus is the version of the C sources.
    let build = source
        .version
        .split_once('+')
        .map_or("", |(_, build)| build);
    for step in &recipe.steps {
        tell(&format!("{}: {step}", recipe.name));
        let mut shell = Command::new("sh");
        shell.args(["-c", step]).current_dir(&folder);
        shell
            .env("PACKAGE", &source.folder)
            .env("PACKAGE_BUILD", build);
        run(shell.env("JOBS", jobs.to_string()))?;
    }
    Ok(folder.join(product))
}

fn compile(
    recipe: &Recipe,
    source: &Source,
    workshop: &Path,
    jobs: usize,
    tell: &dyn Fn(&str),
) -> Result<PathBuf> {
    let files = recipe.source_files(&source.folder)?;
    let objects: Vec<PathBuf> = (0..files.len())
        .map(|i| workshop.join(format!("{i}.o")))
        .collect();
    let next = AtomicUsize::new(0);
    let failure: Mutex<Option<Error>> = Mutex::new(None);
    let failed = || failure.lock().is_ok_and(|f| f.is_some());
    let work = || {
        while let Some(i) = Some(next.fetch_add(1, Relaxed)).filter(|&i| i < files.len()) {
            if failed() {
                return;
            }
            if let Err(error) = compile_one(recipe, source, &files[i], &objects[i])
                && let Ok(mut failure) = failure.lock()
            {
                failure.get_or_insert(error);
            }
        }
    };
    if files.len() > 1 {
        tell(&format!(
            "{}: {} files to compile",
            recipe.name,
            files.len()
        ));
    }
    std::thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, files.len()) {
            scope.spawn(work);
        }
    });
    if let Some(error) = failure.into_inner().unwrap_or_default() {
        return Err(error);
    }
    let library = workshop.join("library.so");
    let mut linker = Command::new(linker_for(&files));
    linker
        .arg("-shared")
        .args(&objects)
        .args(&recipe.link)
        .arg("-o")
        .arg(&library);
    run(&mut linker)?;
    Ok(library)
}

fn compile_one(recipe: &Recipe, source: &Source, file: &str, object: &Path) -> Result<()> {
    let mut compiler = Command::new(compiler_for(file));
    for folder in &recipe.includes {
        compiler.arg("-I").arg(source.folder.join(folder));
    }
    compiler.args(ALWAYS).args(&recipe.flags);
    compiler
        .arg("-c")
        .arg(source.folder.join(file))
        .arg("-o")
        .arg(object);
    run(&mut compiler).map(drop)
}

fn compiler_for(file: &str) -> &'static str {
    if file.ends_with(".cc") { "g++" } else { "gcc" }
}

fn linker_for(files: &[String]) -> &'static str {
    if files.iter().any(|file| file.ends_with(".cc")) {
        "g++"
    } else {
        "gcc"
    }
}
