//! Where a live process's calls of malloc, free, … really go, read from outside.
//!
//! Every object of a process keeps the addresses of the functions it imports in slots, which
//! ld.so fills in. The slots are found in the files on disk and read through `/proc/PID/mem`, so
//! deep-bound plug-ins and second namespaces show up, which no look-up by name would tell.

use std::{
    collections::HashMap,
    fs::{self, File},
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    rc::Rc,
};

use anyhow::{Context, Result};

use super::{CORE, OPERATORS, builds_on_malloc, same_file};
use crate::allocator::elf::Elf;

/// A function that an object calls, and the file it gets there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Call {
    pub object: String,
    pub function: String,
    pub target: String,
}

/// The bound calls of one process and the files it has mapped.
#[derive(Clone, Debug, Default)]
pub struct Audit {
    pub calls: Vec<Call>,
    pub objects: Vec<String>,
}

impl Audit {
    /// Calls of allocation functions that do not end in `home`.
    pub fn foreign(&self, home: &str) -> Vec<&Call> {
        let strays = self.calls.iter().filter(|call| {
            let operator = OPERATORS.contains(&call.function.as_str());
            !(same_file(&call.target, home) || operator && builds_on_malloc(&call.target))
        });
        strays.collect()
    }

    pub fn reaches(&self, home: &str) -> bool {
        self.calls.iter().any(|call| same_file(&call.target, home))
    }

    pub fn has_mapped(&self, file: &str) -> bool {
        self.objects.iter().any(|object| same_file(object, file))
    }
}

/// Reads processes; files are parsed once.
#[derive(Default)]
pub struct Auditor {
    files: HashMap<PathBuf, Option<Rc<Elf>>>,
}

struct Mapping {
    start: u64,
    end: u64,
    offset: u64,
    file: String,
}

impl Auditor {
    /// Audits a process that the caller may read: its own child, or any for root.
    pub fn audit(&mut self, pid: i32) -> Result<Audit> {
        let maps = fs::read_to_string(format!("/proc/{pid}/maps"))
            .with_context(|| format!("cannot read the mappings of process {pid}"))?;
        let mappings: Vec<Mapping> = maps.lines().filter_map(parse_mapping).collect();
        let memory = File::open(format!("/proc/{pid}/mem"))
            .with_context(|| format!("not allowed to read the memory of process {pid}"))?;
        let mut audit = Audit::default();
        for mapping in mappings.iter().filter(|m| m.offset == 0) {
            let Some(elf) = self.elf(Path::new(&mapping.file)) else {
                continue;
            };
            audit.objects.push(mapping.file.clone());
            self.calls_of(&elf, mapping, &mappings, &memory, &mut audit.calls);
        }
        audit.calls.sort();
        audit.calls.dedup();
        audit.objects.sort();
        audit.objects.dedup();
        Ok(audit)
    }

    fn calls_of(
        &mut self,
        elf: &Elf,
        object: &Mapping,
        mappings: &[Mapping],
        memory: &File,
        calls: &mut Vec<Call>,
    ) {
        let bias = object.start.wrapping_sub(elf.base);
        let wanted = |f: &str| CORE.contains(&f) || OPERATORS.contains(&f);
        for slot in elf.slots.iter().filter(|slot| wanted(&slot.function)) {
            let mut value = [0; 8];
            if memory
                .read_exact_at(&mut value, bias.wrapping_add(slot.address))
                .is_err()
            {
                continue;
            }
            let address = u64::from_ne_bytes(value);
            let Some(target) = mappings
                .iter()
                .find(|m| (m.start..m.end).contains(&address))
            else {
                continue;
            };
            let start = mappings
                .iter()
                .rfind(|m| m.offset == 0 && m.start <= address && m.file == target.file);
            let Some(start) = start else { continue };
            // A slot that was never called points to a stub somewhere; only the function's own
            // address is a destination.
            let is_function = |elf: Rc<Elf>| {
                let in_file = address.wrapping_sub(start.start).wrapping_add(elf.base);
                elf.exports_at(&slot.function, in_file)
            };
            if self.elf(Path::new(&target.file)).is_some_and(is_function) {
                calls.push(Call {
                    object: object.file.clone(),
                    function: slot.function.clone(),
                    target: target.file.clone(),
                });
            }
        }
    }

    fn elf(&mut self, path: &Path) -> Option<Rc<Elf>> {
        if !path.is_absolute() {
            return None;
        }
        let parse = || Elf::read(path).ok().map(Rc::new);
        self.files
            .entry(path.to_path_buf())
            .or_insert_with(parse)
            .clone()
    }
}

/// `start-end perms offset dev inode path`; only files.
fn parse_mapping(line: &str) -> Option<Mapping> {
    let mut fields = line.split_ascii_whitespace();
    let (start, end) = fields.next()?.split_once('-')?;
    let offset = fields.nth(1)?;
    let inode: u64 = fields.nth(1)?.parse().ok()?;
    let file = line.find('/').map(|at| &line[at..])?;
    let hex = |text| u64::from_str_radix(text, 16).ok();
    (inode != 0).then_some(Mapping {
        start: hex(start)?,
        end: hex(end)?,
        offset: hex(offset)?,
        file: file.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_mappings() {
        let line = "7f00a000-7f00c000 r-xp 00001000 fd:01 1234    /usr/lib/a b.so";
        let m = parse_mapping(line).unwrap();
        assert_eq!(
            (m.start, m.end, m.offset),
            (0x7f00_a000, 0x7f00_c000, 0x1000)
        );
        assert_eq!(m.file, "/usr/lib/a b.so");
        assert!(parse_mapping("7f00-7f01 rw-p 00000000 00:00 0 [heap]").is_none());
        assert!(parse_mapping("7f00-7f01 rw-p 00000000 00:00 0").is_none());
    }

    #[test]
    fn finds_that_this_process_uses_libc() {
        let audit = Auditor::default().audit(std::process::id() as i32).unwrap();
        let me = std::env::current_exe()
            .unwrap()
            .to_string_lossy()
            .into_owned();
        let malloc = audit
            .calls
            .iter()
            .find(|c| c.object == me && c.function == "malloc");
        let target = &malloc.expect("this program calls malloc").target;
        assert!(target.contains("libc.so.6"), "{target}");
        assert!(audit.reaches(target) && audit.has_mapped(target));
        assert!(
            audit.foreign(target).is_empty(),
            "{:?}",
            audit.foreign(target)
        );
        assert!(!audit.foreign("/lib/other.so").is_empty());
    }

    #[test]
    fn a_process_that_is_gone() {
        let error = Auditor::default().audit(i32::MAX - 1).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("cannot read the mappings of process")
        );
    }
}
