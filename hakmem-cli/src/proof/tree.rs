//! Puts together, per process, what the trace, the probe and hakmem's own record say.

use std::path::Path;

use serde::Serialize;

use super::{
    HakmemRecord, ProbeRecord, Refusal,
    bindings::Audit,
    file::{self, Outlook},
    judge,
    trace::Traced,
};
use crate::{
    allocator::{Allocator, elf::Elf},
    measure::Exit,
};

/// How sure it is that a process used the allocator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Bound in all its objects, libc's heap empty at the end.
    Proven,
    /// Bound in all its objects; it ended without exit handlers, so libc's heap was not asked.
    Bound,
    NotUsed,
}

/// One process and the verdict on it.
#[derive(Clone, Debug, Serialize)]
pub struct Assessed {
    pub pid: i32,
    pub parent: i32,
    pub exe: String,
    pub status: Status,
    /// Why not, or why only bound.
    pub reasons: Vec<String>,
    /// Blocks that hakmem says it served.
    pub blocks: Option<u64>,
    pub exit: Option<Exit>,
}

/// The records of one run.
pub struct Evidence<'a> {
    pub allocator: &'a Allocator,
    pub probe: &'a [ProbeRecord],
    pub hakmem: &'a [HakmemRecord],
}

impl Evidence<'_> {
    pub fn assess(&self, process: &Traced) -> Assessed {
        let exe = process.exe.to_string_lossy().into_owned();
        let probe = self
            .probe
            .iter()
            .rfind(|r| r.pid == process.pid && r.exe == exe);
        let hakmem = self
            .hakmem
            .iter()
            .rfind(|r| r.pid == process.pid && r.exe == exe);
        let blocks = hakmem.map(|record| record.served.blocks);
        let mut refusals = judge(self.allocator, probe, hakmem);
        let strays = self.strays(process);
        let by_itself = is_static_and_served(self.allocator, process, blocks);
        if by_itself {
            refusals.clear();
        }
        // Exit handlers that never ran are no fault if the bindings can be read from outside.
        let silent = [Refusal::NoRecord, Refusal::NoEnd];
        let only_silent = !refusals.is_empty() && refusals.iter().all(|r| silent.contains(r));
        let (status, reasons) = match strays {
            Strays::Some(list) => (Status::NotUsed, list),
            _ if refusals.is_empty() => (Status::Proven, Vec::new()),
            Strays::None if only_silent => (Status::Bound, vec![ending(process)]),
            _ => (Status::NotUsed, self.why(process, &refusals)),
        };
        let (pid, parent, exit) = (process.pid, process.parent, process.exit);
        Assessed {
            pid,
            parent,
            exe,
            status,
            reasons,
            blocks,
            exit,
        }
    }

    /// Calls that escape the allocator, as the audit at the end of the process saw them.
    fn strays(&self, process: &Traced) -> Strays {
        let Some(audit) = &process.audit else {
            return Strays::Unknown;
        };
        let Some(home) = self.home(audit) else {
            return Strays::Unknown;
        };
        if !audit.reaches(&home) {
            return Strays::Unknown;
        }
        let foreign = audit.foreign(&home);
        if foreign.is_empty() {
            return Strays::None;
        }
        let tell = |object: &str| {
            let calls: Vec<String> = foreign
                .iter()
                .filter(|call| call.object == object)
                .map(|call| format!("{} of {}", call.function, call.target))
                .collect();
            format!(
                "{object} calls {} (deep-bound, or half-interposing)",
                calls.join(", ")
            )
        };
        let mut objects: Vec<&str> = foreign.iter().map(|call| call.object.as_str()).collect();
        objects.dedup();
        Strays::Some(objects.into_iter().map(tell).collect())
    }

    /// The file that calls have to end in.
    fn home(&self, audit: &Audit) -> Option<String> {
        let Some(library) = &self.allocator.library else {
            return audit.objects.iter().find(|object| is_libc(object)).cloned();
        };
        Some(library.to_string_lossy().into_owned())
    }

    /// The cause behind the refusals, most telling first.
    fn why(&self, process: &Traced, refusals: &[Refusal]) -> Vec<String> {
        let telling = |r: &Refusal| {
            !matches!(
                r,
                Refusal::NoRecord | Refusal::NoEnd | Refusal::NotInUse { own: false, .. }
            )
        };
        if refusals.iter().any(telling) {
            return refusals
                .iter()
                .filter(|r| telling(r))
                .map(Refusal::to_string)
                .collect();
        }
        let cause = if process.secure {
            Some("it was started with other rights (setuid or capabilities): ld.so ignores LD_PRELOAD".to_owned())
        } else if let Ok((_, Outlook::Refused { reason })) = file::inspect(&process.exe) {
            Some(reason)
        } else if !self.is_preloaded(process) {
            Some(
                "its LD_PRELOAD does not name the library: never set, or a parent removed it"
                    .to_owned(),
            )
        } else {
            self.audit_says(process)
        };
        match cause {
            Some(cause) => vec![cause],
            None => refusals.iter().map(Refusal::to_string).collect(),
        }
    }

    fn audit_says(&self, process: &Traced) -> Option<String> {
        let audit = process.audit.as_ref()?;
        // Not one slot is filled in: the program never began.
        if audit.calls.is_empty() {
            return Some(
                "ld.so gave up while loading its libraries; its own message says why".to_owned(),
            );
        }
        if let Some(library) = &self.allocator.library
            && !audit.has_mapped(&library.to_string_lossy())
        {
            return Some(format!("ld.so could not load {}", library.display()));
        }
        let malloc = audit.calls.iter().find(|call| call.function == "malloc")?;
        Some(format!("its malloc is that of {}", malloc.target))
    }

    fn is_preloaded(&self, process: &Traced) -> bool {
        let Some(library) = &self.allocator.library else {
            return true;
        };
        if self.allocator.linked {
            return false;
        }
        let listed = process.preload.as_deref().unwrap_or_default();
        listed
            .split([':', ' '])
            .any(|item| Path::new(item) == library)
    }
}

enum Strays {
    /// The process was not audited, or nothing it has bound reaches the allocator.
    Unknown,
    None,
    Some(Vec<String>),
}

/// A static program has no probe; hakmem linked into it speaks for itself.
fn is_static_and_served(allocator: &Allocator, process: &Traced, blocks: Option<u64>) -> bool {
    let elf = || Elf::read(&process.exe).is_ok_and(|e| e.interpreter.is_none());
    allocator.is_hakmem() && blocks.is_some_and(|b| b > 0) && elf()
}

fn is_libc(object: &str) -> bool {
    object
        .rsplit('/')
        .next()
        .is_some_and(|name| name.starts_with("libc.so."))
}

fn ending(process: &Traced) -> String {
    match process.exit {
        None => "still running".to_owned(),
        Some(Exit::Signal(signal)) => format!("ended by signal {signal}"),
        Some(_) => "ended by _exit, or in the middle of an exec".to_owned(),
    }
}
