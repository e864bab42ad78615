//! What was built, from what, and what could not be.

use std::{fmt, fs, path::Path, path::PathBuf};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::allocator;

/// One peer: a library, or an error.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    pub name: String,
    pub version: String,
    pub source: String,
    pub library: Option<PathBuf>,
    pub sha256: Option<String>,
    /// What the probe testified.
    pub proven: String,
    pub error: Option<String>,
    pub seconds: f64,
    /// Of recipe and pinned packages.
    pub fingerprint: String,
}

impl Entry {
    pub fn new(name: &str, fingerprint: String) -> Entry {
        Entry {
            name: name.to_owned(),
            version: String::new(),
            source: String::new(),
            library: None,
            sha256: None,
            proven: String::new(),
            error: None,
            seconds: 0.0,
            fingerprint,
        }
    }

    /// Built from the same recipe, and the file is still the one that was built.
    pub fn is_current(&self, fingerprint: &str) -> bool {
        let sum = self
            .library
            .as_deref()
            .and_then(|path| allocator::checksum(path).ok());
        self.error.is_none()
            && self.fingerprint == fingerprint
            && sum.is_some()
            && sum == self.sha256
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(error) = &self.error {
            return write!(f, "✗ {}: {error}", self.name);
        }
        let Entry {
            name,
            version,
            source,
            proven,
            ..
        } = self;
        write!(f, "✓ {name} {version} ({source}); proven: {proven}")
    }
}

/// All entries, in the order they were first built.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    pub peers: Vec<Entry>,
}

impl Manifest {
    /// The manifest in a folder; an empty one if nothing was built there.
    pub fn load(home: &Path) -> Result<Manifest> {
        let path = home.join("manifest.json");
        if !path.is_file() {
            return Ok(Manifest::default());
        }
        let text = fs::read_to_string(&path)?;
        serde_json::from_str(&text).with_context(|| format!("{} is damaged", path.display()))
    }

    pub fn save(&self, home: &Path) -> Result<()> {
        fs::create_dir_all(home)?;
        let fresh = home.join("manifest.new");
        fs::write(&fresh, serde_json::to_string_pretty(self)? + "\n")?;
        Ok(fs::rename(fresh, home.join("manifest.json"))?)
    }

    pub fn get(&self, name: &str) -> Option<&Entry> {
        self.peers.iter().find(|entry| entry.name == name)
    }

    pub fn remove(&mut self, name: &str) -> Option<Entry> {
        let at = self.peers.iter().position(|entry| entry.name == name)?;
        Some(self.peers.remove(at))
    }

    pub fn put(&mut self, entry: Entry) {
        match self.peers.iter_mut().find(|known| known.name == entry.name) {
            Some(known) => *known = entry,
            None => self.peers.push(entry),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remembers_libraries_and_failures() {
        let home = tempfile::tempdir().unwrap();
        assert_eq!(Manifest::load(home.path()).unwrap(), Manifest::default());
        let library = home.path().join("liba.so");
        fs::write(&library, "one").unwrap();
        let mut good = Entry::new("a", "f1".to_owned());
        good.sha256 = Some(allocator::checksum(&library).unwrap());
        good.library = Some(library.clone());
        good.version = "1.2".to_owned();
        let mut bad = Entry::new("b", "f1".to_owned());
        bad.error = Some("gcc failed: error: no".to_owned());
        assert_eq!(bad.to_string(), "✗ b: gcc failed: error: no");
        assert!(!bad.is_current("f1"));

        let mut manifest = Manifest::default();
        manifest.put(bad.clone());
        manifest.put(good.clone());
        manifest.put(bad);
        manifest.save(home.path()).unwrap();
        let loaded = Manifest::load(home.path()).unwrap();
        assert_eq!(loaded, manifest);
        assert_eq!(loaded.peers.len(), 2);
        let loaded = loaded.get("a").unwrap();
        assert!(loaded.is_current("f1") && !loaded.is_current("f2"));
        fs::write(&library, "two").unwrap();
        assert!(!loaded.is_current("f1"), "the file changed");
    }

    #[test]
    fn a_damaged_manifest_is_named() {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join("manifest.json"), "{").unwrap();
        let error = Manifest::load(home.path()).unwrap_err().to_string();
        assert!(error.ends_with("manifest.json is damaged"), "{error}");
    }
}
