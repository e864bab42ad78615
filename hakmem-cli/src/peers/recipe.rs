//! The recipes of `peers/recipes.toml`, carried inside `hak`.

use std::{fs, path::Path};

use anyhow::{Context, Result};
use regex::Regex;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

const RECIPES: &str = include_str!("../../../peers/recipes.toml");
/// The files that pin the packages: their names in `peers/` and their contents.
pub const PINS: [(&str, &str); 3] = [
    ("Cargo.toml", include_str!("../../../peers/Cargo.toml")),
    ("Cargo.lock", include_str!("../../../peers/Cargo.lock")),
    ("src/lib.rs", include_str!("../../../peers/src/lib.rs")),
];

/// A pattern to be looked for in a file of the package.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lookup {
    pub file: String,
    pub pattern: String,
}

impl Lookup {
    /// The groups of every match.
    pub fn find_all(&self, folder: &Path) -> Result<Vec<Vec<String>>> {
        let path = folder.join(&self.file);
        let text = fs::read_to_string(&path)
            .with_context(|| format!("the package has no {}", self.file))?;
        let pattern = Regex::new(&self.pattern)?;
        let groups = |found: regex::Captures<'_>| {
            found
                .iter()
                .skip(1)
                .flatten()
                .map(|m| m.as_str().to_owned())
                .collect()
        };
        Ok(pattern.captures_iter(&text).map(groups).collect())
    }
}

/// How one peer is made; the fields are explained in the file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    pub name: String,
    #[serde(default)]
    pub package: Option<String>,
    #[serde(default)]
    pub version: Option<Lookup>,
    #[serde(default)]
    pub sources: Vec<String>,
    #[serde(default)]
    pub sources_from: Option<Lookup>,
    #[serde(default)]
    pub includes: Vec<String>,
    #[serde(default)]
    pub flags: Vec<String>,
    #[serde(default)]
    pub link: Vec<String>,
    #[serde(default)]
    pub folder: Option<String>,
    #[serde(default)]
    pub steps: Vec<String>,
    #[serde(default)]
    pub product: Option<String>,
    #[serde(default)]
    pub debian: Option<String>,
}

#[derive(Deserialize)]
struct File {
    peer: Vec<Recipe>,
}

pub fn all() -> Result<Vec<Recipe>> {
    let file: File = toml::from_str(RECIPES).context("peers/recipes.toml")?;
    Ok(file.peer)
}

impl Recipe {
    /// Changes when the recipe or the pinned packages do.
    pub fn fingerprint(&self) -> String {
        let mut hash = Sha256::new();
        hash.update(serde_json::to_string(self).unwrap_or_default());
        for (_, text) in PINS {
            hash.update(text);
        }
        hash.finalize()
            .iter()
            .take(8)
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }

    /// The allocator's own version, where the recipe knows how to find it.
    pub fn own_version(&self, folder: &Path) -> Result<Option<String>> {
        let Some(lookup) = &self.version else {
            return Ok(None);
        };
        let found = lookup.find_all(folder)?;
        let groups = found
            .first()
            .with_context(|| format!("{} does not tell the version", lookup.file))?;
        // "03" is the 3 of 3.3.2.
        let plain = |g: &String| {
            g.parse::<u64>()
                .map_or_else(|_| g.clone(), |n| n.to_string())
        };
        Ok(Some(groups.iter().map(plain).collect::<Vec<_>>().join(".")))
    }

    /// All files to compile, each once.
    pub fn source_files(&self, folder: &Path) -> Result<Vec<String>> {
        let mut files = self.sources.clone();
        if let Some(lookup) = &self.sources_from {
            files.extend(lookup.find_all(folder)?.into_iter().flatten());
        }
        files.sort_unstable();
        files.dedup();
        Ok(files)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allocator::identity;

    #[test]
    fn every_recipe_is_complete_and_known() {
        for recipe in all().unwrap() {
            let name = &recipe.name;
            assert!(
                identity::find(name).is_some_and(|i| i.name == name),
                "{name} is known"
            );
            assert!(
                recipe.package.is_some() != recipe.debian.is_some(),
                "{name}: one origin"
            );
            let compiled = !recipe.sources.is_empty();
            assert!(
                compiled != recipe.product.is_some(),
                "{name}: sources or a product"
            );
        }
    }

    #[test]
    fn every_known_allocator_but_hakmem_has_a_recipe() {
        let names: Vec<String> = all().unwrap().into_iter().map(|r| r.name).collect();
        for identity in identity::KNOWN
            .iter()
            .filter(|i| i.name != identity::HAKMEM)
        {
            assert!(
                names.iter().any(|n| n == identity.name),
                "{}",
                identity.name
            );
        }
    }

    #[test]
    fn versions_and_sources_are_found_by_pattern() {
        let folder = tempfile::tempdir().unwrap();
        let text = "#define MI_MALLOC_VERSION 30302\n\"c/a.cc\", \"c/b.S\", \"d/x.cc\"";
        fs::write(folder.path().join("h"), text).unwrap();
        let mut recipe = all().unwrap().remove(0);
        let lookup = |pattern: &str| {
            Some(Lookup {
                file: "h".into(),
                pattern: pattern.into(),
            })
        };
        recipe.version = lookup(r"VERSION (\d)(\d\d)(\d\d)");
        assert_eq!(
            recipe.own_version(folder.path()).unwrap().as_deref(),
            Some("3.3.2")
        );
        recipe.sources = vec!["c/a.cc".to_owned()];
        recipe.sources_from = lookup(r#""(c/[^"]+)""#);
        assert_eq!(
            recipe.source_files(folder.path()).unwrap(),
            ["c/a.cc", "c/b.S"]
        );
        recipe.version = lookup("nothing (x)");
        let error = recipe.own_version(folder.path()).unwrap_err().to_string();
        assert_eq!(error, "h does not tell the version");
    }
}
