//! The probe on disk, the files that records go to, and the environment that makes them appear.

use std::{ffi::OsString, fs, path::PathBuf};

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

use super::{
    Refusal, judge,
    record::{HakmemRecord, ProbeRecord, parse_lines},
};
use crate::{
    allocator::{Allocator, elf::Elf, identity},
    measure::{Launch, Outcome},
};

/// libhakprobe.so, compiled by build.rs.
const PROBE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libhakprobe.so"));

/// Records of one or more runs.
pub struct Session {
    directory: TempDir,
}

/// How much the probe writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// One line at the end: for measurements.
    End,
    /// One at the start too, so that a process which never ends properly is seen.
    StartAndEnd,
}

impl Session {
    pub fn new() -> Result<Session> {
        let directory = tempfile::Builder::new()
            .prefix("hak-")
            .tempdir()
            .context("cannot make a temporary directory")?;
        let session = Session { directory };
        fs::write(session.probe(), PROBE).context("cannot unpack the probe")?;
        session.clear()?;
        Ok(session)
    }

    pub fn probe(&self) -> PathBuf {
        self.directory.path().join("libhakprobe.so")
    }

    fn probe_file(&self) -> PathBuf {
        self.directory.path().join("probe.jsonl")
    }

    fn hakmem_file(&self) -> PathBuf {
        self.directory.path().join("hakmem.jsonl")
    }

    /// Forgets the records so far.
    pub fn clear(&self) -> Result<()> {
        fs::write(self.probe_file(), "")?;
        fs::write(self.hakmem_file(), "")?;
        Ok(())
    }

    /// The variables that put a program on the allocator with the probe behind it.
    pub fn environment(&self, allocator: &Allocator, detail: Detail) -> Vec<(String, OsString)> {
        let probe = self.probe();
        let mut env = vec![
            ("LD_PRELOAD".to_owned(), allocator.preload(Some(&probe))),
            ("HAK_PROBE".to_owned(), self.probe_file().into()),
        ];
        if detail == Detail::StartAndEnd {
            env.push(("HAK_PROBE_START".to_owned(), "1".into()));
        }
        if allocator.is_hakmem() {
            env.push(("HAKMEM_PROOF".to_owned(), self.hakmem_file().into()));
        }
        env.extend(
            allocator
                .env
                .iter()
                .map(|(name, value)| (name.clone(), value.into())),
        );
        env
    }

    pub fn probe_records(&self) -> Result<Vec<ProbeRecord>> {
        Ok(parse_lines(&fs::read_to_string(self.probe_file())?))
    }

    pub fn hakmem_records(&self) -> Result<Vec<HakmemRecord>> {
        Ok(parse_lines(&fs::read_to_string(self.hakmem_file())?))
    }

    /// Runs a program on the allocator and judges its main process.
    pub fn run(&self, allocator: &Allocator, launch: &Launch) -> Result<(Outcome, Vec<Refusal>)> {
        self.clear()?;
        let mut launch = launch.clone();
        launch
            .env
            .extend(self.environment(allocator, Detail::StartAndEnd));
        let outcome = launch.run()?;
        let refusals = judge(
            allocator,
            last_of(&self.probe_records()?, outcome.pid),
            self.hakmem_records()?
                .iter()
                .rfind(|r| r.pid == outcome.pid),
        );
        Ok((outcome, refusals))
    }

    /// Checks, before anything is measured, that the library is what its name says and that a
    /// program runs on it. Returns the version if the allocator tells one.
    pub fn preflight(&self, allocator: &Allocator) -> Result<Option<String>> {
        if let Some(library) = &allocator.library {
            let text = library.to_string_lossy();
            if text.contains([':', ' ']) {
                bail!("{text}: ld.so takes no path with a space or a colon in LD_PRELOAD");
            }
            check_identity(allocator, &Elf::read(library)?)?;
        }
        // hak itself: a program that allocates and ends well, and is surely here.
        let (program, args) = ("/proc/self/exe".into(), vec!["--version".into()]);
        let launch = Launch {
            program,
            args,
            ..Launch::default()
        };
        let (outcome, refusals) = self.run(allocator, &launch)?;
        let said = String::from_utf8_lossy(&outcome.stderr).trim().to_owned();
        if !refusals.is_empty() {
            let mut list: Vec<String> = refusals.iter().map(Refusal::to_string).collect();
            let loader =
                |line: &&str| line.contains("LD_PRELOAD") || line.contains("shared librar");
            list.extend(said.lines().filter(loader).map(str::to_owned));
            bail!("{}", list.join("; "));
        }
        if !outcome.exit.success() {
            bail!("`hak --version` ends with {} on it: {said}", outcome.exit);
        }
        if allocator.is_hakmem() {
            return Ok(self.hakmem_records()?.pop().map(|record| record.version));
        }
        let record = self.probe_records()?.pop().unwrap_or_default(); // the one at the end
        let versions = record
            .versions
            .into_iter()
            .filter(|(name, _)| name != "hakprobe");
        Ok(versions.map(|(_, version)| version).next())
    }
}

/// The last word of a process: a pid may run several programs by exec.
fn last_of(records: &[ProbeRecord], pid: i32) -> Option<&ProbeRecord> {
    records.iter().rfind(|r| r.pid == pid)
}

/// A library that claims a known name must carry that allocator's marker.
pub fn check_identity(allocator: &Allocator, elf: &Elf) -> Result<()> {
    if !elf.is_library {
        bail!("it is a program, not a library");
    }
    if !elf.exports("malloc") {
        bail!("it exports no malloc");
    }
    let Some(claimed) = allocator.identity else {
        return Ok(());
    };
    if elf.exports(claimed.marker) {
        return Ok(());
    }
    let found = identity::recognise(|symbol| elf.exports(symbol));
    let found = found.map_or("an allocator unknown to hak", |i| i.title);
    bail!(
        "mislabelled: it is called {} but it is {found}",
        claimed.title
    )
}
