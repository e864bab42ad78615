//! Other people's allocators, built on demand as libraries that LD_PRELOAD can load.
//!
//! `recipe` says what there is, `source` fetches it through cargo or apt, `build` compiles it,
//! `manifest` remembers what came of it. A peer that cannot be built is remembered with the
//! reason; the others go on. Nothing of this is part of any build of hakmem.

mod build;
mod manifest;
mod recipe;
mod source;

use std::{
    fs,
    path::{Path, PathBuf},
    time::Instant,
};

use anyhow::{Context, Result, bail};

use crate::{
    allocator::{self, Allocator, identity},
    place,
    proof::Session,
};
pub use manifest::{Entry, Manifest};
use recipe::Recipe;

/// What `hak peers` was asked for.
pub struct Options {
    /// Empty means all.
    pub names: Vec<String>,
    pub jobs: usize,
    /// Build again what is there already.
    pub force: bool,
}

/// The names of all peers, in the order of the recipes.
pub fn names() -> Result<Vec<String>> {
    Ok(recipe::all()?.into_iter().map(|r| r.name).collect())
}

/// The built library of a peer; an error says what to do.
pub fn library(name: &str) -> Result<PathBuf> {
    let entry = Manifest::load(&home()?)?.remove(name);
    match entry {
        None => bail!("{name} is not built yet: run `hak peers {name}`"),
        Some(Entry {
            error: Some(error), ..
        }) => {
            bail!("{name} could not be built ({error}); to try again: `hak peers {name}`")
        }
        Some(entry) => {
            let path = entry
                .library
                .clone()
                .context("the manifest names no library")?;
            if allocator::checksum(&path).ok() != entry.sha256 {
                bail!(
                    "{} is not the file that was built: run `hak peers {name}`",
                    path.display()
                );
            }
            Ok(path)
        }
    }
}

/// What is known about the peers, built or not.
pub fn manifest() -> Result<Manifest> {
    Manifest::load(&home()?)
}

fn home() -> Result<PathBuf> {
    Ok(place::lab()?.join("peers"))
}

/// Builds the peers asked for, tells about each as it is done, and returns their entries.
pub fn build(options: &Options, tell: &dyn Fn(&str)) -> Result<Vec<Entry>> {
    let recipes = chosen(&options.names)?;
    let home = home()?;
    let mut manifest = Manifest::load(&home)?;
    let mut entries = Vec::new();
    for recipe in recipes {
        let fingerprint = recipe.fingerprint();
        let known = manifest
            .get(&recipe.name)
            .filter(|e| e.is_current(&fingerprint));
        let entry = match known {
            Some(entry) if !options.force => entry.clone(),
            _ => {
                tell(&format!("{}: building", recipe.name));
                build_one(&recipe, &home, options.jobs, tell)
            }
        };
        tell(&entry.to_string());
        manifest.put(entry.clone());
        manifest.save(&home)?;
        entries.push(entry);
    }
    Ok(entries)
}

fn chosen(names: &[String]) -> Result<Vec<Recipe>> {
    let all = recipe::all()?;
    let valid: Vec<&str> = all.iter().map(|r| r.name.as_str()).collect();
    let mut wanted = Vec::new();
    for name in names {
        // An alias of the allocator table is as good.
        let name = identity::find(name).map_or(name.as_str(), |i| i.name);
        if !valid.contains(&name) {
            return Err(crate::names::unknown("peer", name, &valid));
        }
        wanted.push(name.to_owned());
    }
    Ok(all
        .into_iter()
        .filter(|r| wanted.is_empty() || wanted.contains(&r.name))
        .collect())
}

/// Never fails: the entry carries the error.
fn build_one(recipe: &Recipe, home: &Path, jobs: usize, tell: &dyn Fn(&str)) -> Entry {
    let started = Instant::now();
    let mut entry = Entry::new(&recipe.name, recipe.fingerprint());
    match try_build(recipe, home, jobs, &mut entry, tell) {
        Ok(library) => entry.library = Some(library),
        Err(error) => entry.error = Some(format!("{error:#}")),
    }
    entry.seconds = started.elapsed().as_secs_f64();
    entry
}

fn try_build(
    recipe: &Recipe,
    home: &Path,
    jobs: usize,
    entry: &mut Entry,
    tell: &dyn Fn(&str),
) -> Result<PathBuf> {
    let workshop = home.join("build").join(&recipe.name);
    if workshop.exists() {
        fs::remove_dir_all(&workshop)?;
    }
    fs::create_dir_all(&workshop)?;
    let source = source::fetch(recipe, home, &workshop)?;
    entry.source = source.origin.clone();
    entry.version = recipe
        .own_version(&source.folder)?
        .unwrap_or_else(|| source.version.clone());
    let product = build::build(recipe, &source, &workshop, jobs, tell)?;
    let library = home.join("lib").join(format!("lib{}.so", recipe.name));
    fs::create_dir_all(home.join("lib"))?;
    // A running program may have the old file mapped: replace it, do not write into it.
    let fresh = library.with_extension("new");
    fs::copy(&product, &fresh)
        .with_context(|| format!("the build left no {}", product.display()))?;
    fs::rename(&fresh, &library)?;
    fs::remove_dir_all(&workshop)?;
    entry.sha256 = Some(allocator::checksum(&library)?);
    entry.proven = prove(recipe, &library)?;
    Ok(library)
}

/// Runs a program on the library and lets the probe testify.
fn prove(recipe: &Recipe, library: &Path) -> Result<String> {
    let allocator = Allocator {
        label: recipe.name.clone(),
        library: Some(library.to_path_buf()),
        linked: false,
        env: Vec::new(),
        identity: identity::find(&recipe.name),
    };
    let told = Session::new()?
        .preflight(&allocator)
        .context("built, but not proven")?;
    Ok(told.map_or("interposition".to_owned(), |v| {
        format!("interposition, says it is {v}")
    }))
}
