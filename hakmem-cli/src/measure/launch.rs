//! Runs a program under a small launcher process and takes its figures from `wait4`.
//!
//! The kernel counts the memory of the process that calls exec into the peak of the program it
//! becomes. `hak` itself is large, so it starts itself again as a launcher that forks at once:
//! the program's peak then begins with a few hundred KiB, less than any program has.

use std::{
    ffi::{CString, OsStr, OsString},
    fmt,
    io::{Read, Write},
    os::unix::ffi::OsStrExt,
    path::PathBuf,
    process::{Command, Stdio},
    time::Duration,
};

use anyhow::{Context, Result, anyhow, bail};
use serde::{Deserialize, Serialize};

/// Hidden first argument that makes `hak` a launcher.
const LAUNCHER: &str = "__launch";
/// The running `hak`, also after its file was replaced by a newer build.
const SELF: &str = "/proc/self/exe";

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    Code(i32),
    Signal(i32),
    TimedOut,
}

impl Exit {
    pub fn success(self) -> bool {
        self == Exit::Code(0)
    }

    /// The code a shell would report.
    pub fn shell_code(self) -> i32 {
        match self {
            Exit::Code(code) => code,
            Exit::Signal(signal) => 128 + signal,
            Exit::TimedOut => 124,
        }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Exit::Code(code) => write!(f, "exit code {code}"),
            Exit::Signal(signal) => write!(f, "signal {signal}"),
            Exit::TimedOut => f.write_str("time limit"),
        }
    }
}

/// `wait4`'s figures for the program and all children it waited for.
/// The peak is the largest of any one of these processes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    pub wall_ns: u64,
    pub user_us: u64,
    pub system_us: u64,
    pub max_rss_kib: u64,
    pub minor_faults: u64,
    pub major_faults: u64,
    pub voluntary_switches: u64,
    pub involuntary_switches: u64,
}

#[derive(Serialize, Deserialize)]
struct Report {
    pid: i32,
    exit: Exit,
    usage: Usage,
}

/// What to run.
#[derive(Clone, Debug, Default)]
pub struct Launch {
    pub program: OsString,
    pub args: Vec<OsString>,
    /// Set for the program only, not for the launcher.
    pub env: Vec<(String, OsString)>,
    pub directory: Option<PathBuf>,
    pub timeout: Option<Duration>,
}

/// What came of it.
#[derive(Debug)]
pub struct Outcome {
    pub pid: i32,
    pub exit: Exit,
    pub usage: Usage,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

impl Launch {
    /// Runs the program with an empty standard input and its output captured.
    pub fn run(&self) -> Result<Outcome> {
        let report = tempfile::NamedTempFile::new().context("cannot make a temporary file")?;
        let limit = self.timeout.map_or(0, |t| t.as_millis().max(1) as u64);
        let mut command = Command::new(SELF);
        command
            .arg(LAUNCHER)
            .arg(report.path())
            .arg(limit.to_string());
        for (name, value) in &self.env {
            let mut assignment = OsString::from(format!("{name}="));
            assignment.push(value);
            command.arg(assignment);
        }
        command
            .arg("--")
            .arg(&self.program)
            .args(&self.args)
            .stdin(Stdio::null());
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        let output = command.output().context("cannot start the launcher")?;
        let text = std::fs::read_to_string(report.path())?;
        let Report { pid, exit, usage } = serde_json::from_str(&text).map_err(|_| {
            let said = String::from_utf8_lossy(&output.stderr);
            anyhow!(
                "cannot run {}: {}",
                self.program.to_string_lossy(),
                said.trim()
            )
        })?;
        Ok(Outcome {
            pid,
            exit,
            usage,
            stdout: output.stdout,
            stderr: output.stderr,
        })
    }
}

/// To be called first thing in `main`: does the launcher's work and returns its exit code, or
/// returns `None` when this process is no launcher.
pub fn launcher_main() -> Option<i32> {
    let mut args = std::env::args_os().skip(1);
    if args.next()? != LAUNCHER {
        return None;
    }
    Some(match launch(args.collect()) {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("{error:#}");
            125
        }
    })
}

fn launch(args: Vec<OsString>) -> Result<()> {
    let [report, limit, rest @ ..] = &args[..] else {
        bail!("the launcher is not for people")
    };
    let split = rest.iter().position(|a| a == "--").context("no program")?;
    let (assignments, command) = (&rest[..split], &rest[split + 1..]);
    let limit: u64 = limit.to_string_lossy().parse()?;
    let program = resolve(command.first().context("no program")?)?;
    let argv = c_strings(command.iter().map(OsString::as_os_str))?;
    let envp = c_strings(environment(assignments).iter().map(OsString::as_os_str))?;
    let done = supervise(&program, &argv, &envp, limit)?;
    std::fs::write(report, serde_json::to_vec(&done)?)?;
    Ok(())
}

/// execve does not search PATH; execvpe would search the one of the launcher's own environment
/// after fork, with allocations.
fn resolve(program: &OsStr) -> Result<CString> {
    let found = if program.as_bytes().contains(&b'/') {
        PathBuf::from(program)
    } else {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path)
            .map(|directory| directory.join(program))
            .find(|candidate| candidate.is_file())
            .context("not found in PATH")?
    };
    Ok(CString::new(found.into_os_string().as_bytes())?)
}

fn environment(assignments: &[OsString]) -> Vec<OsString> {
    let name_of = |a: &OsStr| {
        a.as_bytes()
            .split(|&b| b == b'=')
            .next()
            .map(<[u8]>::to_vec)
    };
    let replaced: Vec<_> = assignments.iter().map(|a| name_of(a)).collect();
    let inherited = std::env::vars_os().filter_map(|(name, value)| {
        let mut entry = name;
        entry.push("=");
        entry.push(value);
        (!replaced.contains(&name_of(&entry))).then_some(entry)
    });
    inherited.chain(assignments.iter().cloned()).collect()
}

/// Strings and the null-terminated array of pointers to them that exec wants.
struct CStrings {
    _owned: Vec<CString>,
    pointers: Vec<*const libc::c_char>,
}

fn c_strings<'a>(strings: impl Iterator<Item = &'a OsStr>) -> Result<CStrings> {
    let owned = strings
        .map(|s| CString::new(s.as_bytes()))
        .collect::<Result<Vec<_>, _>>()?;
    let mut pointers: Vec<_> = owned.iter().map(|s| s.as_ptr()).collect();
    pointers.push(std::ptr::null());
    Ok(CStrings {
        _owned: owned,
        pointers,
    })
}

fn supervise(program: &CString, argv: &CStrings, envp: &CStrings, limit: u64) -> Result<Report> {
    let (mut exec_failed, mut announce) = std::io::pipe()?; // closed by a successful exec
    let started = std::time::Instant::now();
    // SAFETY: the launcher has one thread, so the child may call anything it likes.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        // SAFETY: plain calls; the arrays end with null and outlive the call.
        unsafe {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            libc::signal(libc::SIGPIPE, libc::SIG_DFL); // Rust's runtime ignores it
            libc::execve(
                program.as_ptr(),
                argv.pointers.as_ptr(),
                envp.pointers.as_ptr(),
            );
        }
        let code = std::io::Error::last_os_error().raw_os_error().unwrap_or(0);
        announce.write_all(&code.to_ne_bytes()).ok();
        // SAFETY: ends the child without the launcher's exit handlers.
        unsafe { libc::_exit(127) };
    }
    anyhow::ensure!(pid > 0, "cannot fork: {}", std::io::Error::last_os_error());
    drop(announce);
    if limit > 0 {
        alarm::kill_after(pid, limit)?;
    }
    let mut status = 0;
    // SAFETY: rusage is plain data.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are to live variables. The alarm may interrupt the call.
    while unsafe { libc::wait4(pid, &raw mut status, 0, &raw mut usage) } < 0 {
        let error = std::io::Error::last_os_error();
        anyhow::ensure!(
            error.kind() == std::io::ErrorKind::Interrupted,
            "wait4: {error}"
        );
    }
    let wall_ns = started.elapsed().as_nanos() as u64;
    let mut code = [0; 4];
    if exec_failed.read_exact(&mut code).is_ok() {
        bail!(
            "{}",
            std::io::Error::from_raw_os_error(i32::from_ne_bytes(code))
        );
    }
    let exit = if alarm::rang() && libc::WIFSIGNALED(status) {
        Exit::TimedOut
    } else if libc::WIFSIGNALED(status) {
        Exit::Signal(libc::WTERMSIG(status))
    } else {
        Exit::Code(libc::WEXITSTATUS(status))
    };
    let micros = |t: libc::timeval| t.tv_sec as u64 * 1_000_000 + t.tv_usec as u64;
    let usage = Usage {
        wall_ns,
        user_us: micros(usage.ru_utime),
        system_us: micros(usage.ru_stime),
        max_rss_kib: usage.ru_maxrss as u64,
        minor_faults: usage.ru_minflt as u64,
        major_faults: usage.ru_majflt as u64,
        voluntary_switches: usage.ru_nvcsw as u64,
        involuntary_switches: usage.ru_nivcsw as u64,
    };
    Ok(Report { pid, exit, usage })
}

/// The time limit: a timer signal whose handler kills the program.
mod alarm {
    use std::sync::atomic::{AtomicBool, AtomicI32, Ordering::Relaxed};

    static VICTIM: AtomicI32 = AtomicI32::new(0);
    static RANG: AtomicBool = AtomicBool::new(false);

    extern "C" fn ring(_: libc::c_int) {
        RANG.store(true, Relaxed);
        // SAFETY: kill is async-signal-safe; the launcher has not reaped the child yet, or the
        // number is still its own zombie's.
        unsafe { libc::kill(VICTIM.load(Relaxed), libc::SIGKILL) };
    }

    pub fn kill_after(pid: i32, milliseconds: u64) -> anyhow::Result<()> {
        VICTIM.store(pid, Relaxed);
        let time = libc::timeval {
            tv_sec: (milliseconds / 1000) as libc::time_t,
            tv_usec: (milliseconds % 1000 * 1000) as libc::suseconds_t,
        };
        let once = libc::timeval {
            tv_sec: 0,
            tv_usec: 0,
        };
        let timer = libc::itimerval {
            it_interval: once,
            it_value: time,
        };
        let handler: extern "C" fn(libc::c_int) = ring;
        // SAFETY: the handler touches atomics and calls kill only; the structure is live.
        let failed = unsafe {
            libc::signal(libc::SIGALRM, handler as libc::sighandler_t) == libc::SIG_ERR
                || libc::setitimer(libc::ITIMER_REAL, &raw const timer, std::ptr::null_mut()) != 0
        };
        anyhow::ensure!(
            !failed,
            "cannot set a time limit: {}",
            std::io::Error::last_os_error()
        );
        Ok(())
    }

    pub fn rang() -> bool {
        RANG.load(Relaxed)
    }
}
