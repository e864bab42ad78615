//! Allocators as the user names them: `NAME`, `PATH.so` or `NAME=PATH.so`, then `,ENV=VALUE`….

pub mod elf;
pub mod identity;

use std::{
    ffi::{OsStr, OsString},
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};

use crate::{names, peers, place};
use identity::Identity;

/// One contestant: a library, or libc's own allocator, and environment variables.
#[derive(Clone, Debug)]
pub struct Allocator {
    /// What tables and files call it; unique within a session.
    pub label: String,
    /// `None` for libc.
    pub library: Option<PathBuf>,
    /// The "library" is the program itself, which the allocator is linked into.
    pub linked: bool,
    pub env: Vec<(String, String)>,
    /// Set when the name claims a known allocator: then the library is held to it.
    pub identity: Option<&'static Identity>,
}

impl Allocator {
    pub fn libc() -> Allocator {
        Allocator {
            label: identity::LIBC.to_owned(),
            library: None,
            linked: false,
            env: Vec::new(),
            identity: None,
        }
    }

    /// Parses what the user wrote and finds the library.
    pub fn parse(text: &str) -> Result<Allocator> {
        let mut parts = text.split(',');
        let head = parts.next().unwrap_or_default().trim();
        let env = parts.map(assignment).collect::<Result<Vec<_>>>()?;
        let mut allocator = match head.split_once('=') {
            Some((name, path)) => Allocator::at(name, Path::new(path))?,
            None if head.contains('/') || head.contains(".so") => {
                Allocator::at(&file_label(head), Path::new(head))?
            }
            None => Allocator::named(head)?,
        };
        for (name, value) in &env {
            allocator.label.push_str(&format!(",{name}={value}"));
        }
        allocator.env = env;
        Ok(allocator)
    }

    /// A list separated by spaces or semicolons, since a comma introduces a variable; a comma
    /// before a plain name separates too.
    pub fn parse_list(texts: &[String]) -> Result<Vec<Allocator>> {
        let mut list: Vec<Allocator> = Vec::new();
        for text in texts
            .iter()
            .flat_map(|t| t.split([' ', ';']))
            .flat_map(split_at_names)
        {
            let allocator = Allocator::parse(&text)?;
            if list.iter().any(|a| a.label == allocator.label) {
                bail!("allocator '{}' is named twice", allocator.label);
            }
            list.push(allocator);
        }
        if list.is_empty() {
            bail!("no allocator is named");
        }
        Ok(list)
    }

    fn named(name: &str) -> Result<Allocator> {
        if identity::is_libc(name) {
            return Ok(Allocator::libc());
        }
        let identity = identity::find(name)
            .ok_or_else(|| names::unknown("allocator", name, &identity::names()))?;
        let library = if identity.name == identity::HAKMEM {
            place::library()?
        } else {
            peers::library(identity.name)?
        };
        Ok(Allocator {
            label: identity.name.to_owned(),
            library: Some(library),
            linked: false,
            env: Vec::new(),
            identity: Some(identity),
        })
    }

    fn at(label: &str, path: &Path) -> Result<Allocator> {
        if label.is_empty() || identity::is_libc(label) {
            bail!("'{label}' cannot name a library of yours");
        }
        let library = fs::canonicalize(path)
            .with_context(|| format!("allocator '{label}': no library {}", path.display()))?;
        Ok(Allocator {
            label: label.to_owned(),
            library: Some(library),
            linked: false,
            env: Vec::new(),
            identity: identity::find(label),
        })
    }

    pub fn is_hakmem(&self) -> bool {
        self.identity.is_some_and(|i| i.name == identity::HAKMEM)
    }

    /// The value of LD_PRELOAD that loads this allocator, then `helper`, then what the user
    /// preloads anyway.
    pub fn preload(&self, helper: Option<&Path>) -> OsString {
        let mut value = OsString::new();
        let inherited = std::env::var_os("LD_PRELOAD").filter(|v| !v.is_empty());
        let library = self.library.as_deref().filter(|_| !self.linked);
        let libraries = [library, helper].into_iter().flatten();
        for item in libraries.map(Path::as_os_str).chain(inherited.as_deref()) {
            if !value.is_empty() {
                value.push(":");
            }
            value.push(item);
        }
        value
    }
}

/// `a,b,X=1,c` is the three allocators `a`, `b,X=1` and `c`.
fn split_at_names(list: &str) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    for part in list.split(',').filter(|p| !p.is_empty()) {
        match items.last_mut() {
            Some(item) if is_assignment(part) => {
                item.push(',');
                item.push_str(part);
            }
            _ => items.push(part.to_owned()),
        }
    }
    items
}

/// NAME=VALUE with a name in capitals, unlike the `label=path` of an allocator.
fn is_assignment(text: &str) -> bool {
    let name = text
        .split_once('=')
        .map(|(name, _)| name)
        .filter(|name| !name.is_empty());
    let capital = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    name.is_some_and(|name| name.chars().all(capital))
}

fn assignment(text: &str) -> Result<(String, String)> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => bail!("'{text}' after the allocator is not NAME=VALUE"),
    }
}

fn file_label(path: &str) -> String {
    let name = Path::new(path)
        .file_name()
        .and_then(OsStr::to_str)
        .unwrap_or(path);
    let stem = name.split(".so").next().unwrap_or(name);
    stem.strip_prefix("lib").unwrap_or(stem).to_owned()
}

/// SHA-256 of a file in hexadecimal.
pub fn checksum(path: &Path) -> Result<String> {
    let data = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(Sha256::digest(&data)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libc_has_no_library() {
        for name in ["libc", "glibc", "system"] {
            let a = Allocator::parse(name).unwrap();
            assert_eq!((a.label.as_str(), a.library), ("libc", None));
        }
    }

    #[test]
    fn variables_follow_the_name() {
        let a = Allocator::parse("libc,MALLOC_ARENA_MAX=1,X=y=z").unwrap();
        assert_eq!(a.label, "libc,MALLOC_ARENA_MAX=1,X=y=z");
        assert_eq!(a.env[1], ("X".to_owned(), "y=z".to_owned()));
        let error = Allocator::parse("libc,oops").unwrap_err().to_string();
        assert_eq!(error, "'oops' after the allocator is not NAME=VALUE");
    }

    #[test]
    fn lists_split_at_names() {
        assert_eq!(split_at_names("a,b,X=1,Y=2,c"), ["a", "b,X=1,Y=2", "c"]);
        assert_eq!(
            split_at_names("mine=/x/y.so,other=/z.so"),
            ["mine=/x/y.so", "other=/z.so"]
        );
        let list = Allocator::parse_list(&["libc,libc,X=1".to_owned()]).unwrap();
        assert_eq!(list[1].label, "libc,X=1");
        let twice = Allocator::parse_list(&["libc;glibc".to_owned()])
            .unwrap_err()
            .to_string();
        assert_eq!(twice, "allocator 'libc' is named twice");
    }

    #[test]
    fn wrong_names_are_told_apart() {
        let error = |text: &str| format!("{:#}", Allocator::parse(text).unwrap_err());
        assert_eq!(
            error("hakmen"),
            "unknown allocator 'hakmen'; did you mean 'hakmem'?"
        );
        assert!(error("mine=/no/such.so").contains("allocator 'mine': no library /no/such.so"));
        assert!(error("/no/libfoo.so.2").contains("allocator 'foo'"));
    }
}
