//! Follows every process of a tree from its first exec to its end.
//!
//! The probe is silent in a process that never loads it: a static program, a setuid one, one whose
//! parent cleared the environment. ptrace sees those too. Each process is also audited while it
//! dies, when its memory is still there, so that even `_exit` and signals leave evidence.

use std::{
    collections::{BTreeMap, HashSet},
    fs,
    os::unix::process::CommandExt,
    path::PathBuf,
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use nix::{
    errno::Errno,
    sys::{
        ptrace::{self, Event, Options},
        signal::Signal,
        wait::{WaitPidFlag, WaitStatus, waitpid},
    },
    unistd::Pid,
};

use super::bindings::{Audit, Auditor};
use crate::measure::Exit;

/// How long children may outlive the main program before they are left alone.
const PATIENCE: Duration = Duration::from_secs(2);
/// In the auxiliary vector: 1 when the kernel started the program with other rights.
const AT_SECURE: u64 = 23;

/// One process of the tree, as its last program left it.
#[derive(Debug)]
pub struct Traced {
    pub pid: i32,
    pub parent: i32,
    pub exe: PathBuf,
    /// Started with other rights (setuid, setgid, file capabilities).
    pub secure: bool,
    /// LD_PRELOAD as the program got it.
    pub preload: Option<String>,
    /// Whether the process ran a program of its own, or is a fork that went on with its parent's.
    pub executed: bool,
    pub audit: Option<Audit>,
    pub exit: Option<Exit>,
}

/// Runs the command under trace; the main process comes first.
pub fn run(mut command: Command) -> Result<Vec<Traced>> {
    let before_exec = || {
        // The main process must get what hak got, not hak's own deafness to Ctrl-C.
        // SAFETY: signal only sets a disposition.
        unsafe { libc::signal(libc::SIGINT, libc::SIG_DFL) };
        ptrace::traceme().map_err(std::io::Error::from)
    };
    // SAFETY: the closure makes two system calls and allocates nothing.
    unsafe { command.pre_exec(before_exec) };
    let program = command.get_program().to_string_lossy().into_owned();
    // Ctrl-C is for the program; hak reports what it saw until then.
    // SAFETY: as above.
    unsafe { libc::signal(libc::SIGINT, libc::SIG_IGN) };
    let child = command
        .spawn()
        .with_context(|| format!("cannot run {program}"))?;
    let root = Pid::from_raw(child.id() as i32);
    match waitpid(root, None)? {
        WaitStatus::Stopped(_, Signal::SIGTRAP) => {}
        other => bail!("cannot trace {program}: {other:?}"),
    }
    let options = Options::PTRACE_O_TRACEFORK
        | Options::PTRACE_O_TRACEVFORK
        | Options::PTRACE_O_TRACECLONE
        | Options::PTRACE_O_TRACEEXEC
        | Options::PTRACE_O_TRACEEXIT;
    ptrace::setoptions(root, options).context("cannot trace: ptrace is not permitted")?;
    let mut tree = Tree::default();
    tree.executed(root.as_raw(), std::process::id() as i32);
    ptrace::cont(root, None)?;
    tree.follow(root)?;
    Ok(tree.into_list(root))
}

#[derive(Default)]
struct Tree {
    processes: BTreeMap<i32, Traced>,
    /// Threads and processes whose first stop was seen.
    greeted: HashSet<i32>,
    auditor: Auditor,
}

impl Tree {
    fn follow(&mut self, root: Pid) -> Result<()> {
        let mut deadline = None;
        self.greeted.insert(root.as_raw());
        loop {
            let flags = match deadline {
                None => WaitPidFlag::__WALL,
                Some(_) => WaitPidFlag::__WALL | WaitPidFlag::WNOHANG,
            };
            let status = match waitpid(None, Some(flags)) {
                Ok(status) => status,
                Err(Errno::ECHILD) => return Ok(()),
                Err(Errno::EINTR) => continue,
                Err(error) => return Err(error).context("waiting for the program"),
            };
            match status {
                WaitStatus::StillAlive if deadline.is_some_and(|d| Instant::now() > d) => {
                    self.audit_the_living();
                    return Ok(());
                }
                WaitStatus::StillAlive => std::thread::sleep(Duration::from_millis(10)),
                WaitStatus::Exited(pid, code) => self.ended(pid, Exit::Code(code)),
                WaitStatus::Signaled(pid, signal, _) => {
                    self.ended(pid, Exit::Signal(signal as i32));
                }
                WaitStatus::PtraceEvent(pid, _, event) => self.event(pid, event)?,
                WaitStatus::Stopped(pid, signal) => self.stopped(pid, signal)?,
                _ => {}
            }
            let root_is_gone = self
                .processes
                .get(&root.as_raw())
                .is_none_or(|p| p.exit.is_some());
            if root_is_gone && deadline.is_none() {
                deadline = Some(Instant::now() + PATIENCE);
            }
        }
    }

    fn event(&mut self, pid: Pid, event: i32) -> Result<()> {
        let raw = pid.as_raw();
        if event == Event::PTRACE_EVENT_EXEC as i32 {
            let parent = self.processes.get(&raw).map_or(0, |p| p.parent);
            self.executed(raw, parent);
        } else if event == Event::PTRACE_EVENT_EXIT as i32 {
            self.audit(raw);
        } else if let Ok(child) = ptrace::getevent(pid) {
            self.forked(raw, child as i32);
        }
        resume(pid, None)
    }

    /// The first stop of a new process is ptrace's own; any later one is a signal to pass on.
    fn stopped(&mut self, pid: Pid, signal: Signal) -> Result<()> {
        let own = self.greeted.insert(pid.as_raw()) && signal == Signal::SIGSTOP;
        resume(pid, (!own).then_some(signal))
    }

    fn executed(&mut self, pid: i32, parent: i32) {
        let variables = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let traced = Traced {
            pid,
            parent,
            exe: fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default(),
            secure: is_secure(&fs::read(format!("/proc/{pid}/auxv")).unwrap_or_default()),
            preload: variable(&variables, "LD_PRELOAD"),
            executed: true,
            audit: None,
            exit: None,
        };
        self.processes.insert(pid, traced);
    }

    fn forked(&mut self, by: i32, child: i32) {
        let group = |pid| thread_group(&fs::read_to_string(format!("/proc/{pid}/status")).ok()?);
        // A thread belongs to the process that is known already.
        if group(child) != Some(child) || self.processes.contains_key(&child) {
            return;
        }
        let parent = group(by).unwrap_or(by);
        let Some(source) = self.processes.get(&parent) else {
            return;
        };
        let traced = Traced {
            pid: child,
            parent,
            exe: source.exe.clone(),
            secure: source.secure,
            preload: source.preload.clone(),
            executed: false,
            audit: None,
            exit: None,
        };
        self.processes.insert(child, traced);
    }

    fn audit(&mut self, pid: i32) {
        if let Some(process) = self.processes.get_mut(&pid)
            && let Ok(audit) = self.auditor.audit(pid)
        {
            process.audit = Some(audit);
        }
    }

    fn audit_the_living(&mut self) {
        let living: Vec<i32> = self
            .processes
            .values()
            .filter(|p| p.exit.is_none())
            .map(|p| p.pid)
            .collect();
        for pid in living {
            self.audit(pid);
        }
    }

    fn ended(&mut self, pid: Pid, exit: Exit) {
        if let Some(process) = self.processes.get_mut(&pid.as_raw()) {
            process.exit = Some(exit);
        }
    }

    fn into_list(mut self, root: Pid) -> Vec<Traced> {
        let first = self.processes.remove(&root.as_raw());
        first
            .into_iter()
            .chain(self.processes.into_values())
            .collect()
    }
}

/// A process may be killed between its stop and our answer.
fn resume(pid: Pid, signal: Option<Signal>) -> Result<()> {
    match ptrace::cont(pid, signal) {
        Ok(()) | Err(Errno::ESRCH) => Ok(()),
        Err(error) => Err(error).context("continuing the program"),
    }
}

/// Whether an auxiliary vector has AT_SECURE set.
pub fn is_secure(auxv: &[u8]) -> bool {
    let word = |bytes: &[u8]| u64::from_ne_bytes(bytes.try_into().unwrap_or_default());
    auxv.chunks_exact(16)
        .any(|pair| word(&pair[..8]) == AT_SECURE && word(&pair[8..]) != 0)
}

/// The value of a variable in a zero-separated environment.
pub fn variable(environ: &[u8], name: &str) -> Option<String> {
    environ.split(|&b| b == 0).find_map(|entry| {
        let text = std::str::from_utf8(entry).ok()?;
        text.strip_prefix(name)?
            .strip_prefix('=')
            .map(str::to_owned)
    })
}

fn thread_group(status: &str) -> Option<i32> {
    status
        .lines()
        .find_map(|l| l.strip_prefix("Tgid:"))?
        .trim()
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_the_kernel_writes() {
        let mut auxv = Vec::new();
        for word in [6_u64, 4096, AT_SECURE, 0, 0, 0] {
            auxv.extend(word.to_ne_bytes());
        }
        assert!(!is_secure(&auxv));
        auxv[24..32].copy_from_slice(&1_u64.to_ne_bytes());
        assert!(is_secure(&auxv));
        assert_eq!(
            variable(b"A=1\0LD_PRELOAD=/x.so\0", "LD_PRELOAD").as_deref(),
            Some("/x.so")
        );
        assert_eq!(variable(b"A=1\0LD_PRELOADED=1\0", "LD_PRELOAD"), None);
        assert_eq!(thread_group("Name:\tx\nTgid:\t42\nPid:\t43\n"), Some(42));
    }
}
