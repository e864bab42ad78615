//! Runs a piece of a test in a forked child: with untouched statics, and free to die.

use std::ffi::c_int;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{FromRawFd, IntoRawFd};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Seconds after which a child that hangs is killed.
const LIMIT: u32 = 120;
const PANICKED: c_int = 101;

#[derive(Debug, PartialEq, Eq)]
pub enum End {
    Exit(c_int),
    Signal(c_int),
}

pub struct Ended {
    pub end: End,
    /// What the child wrote to its standard error.
    pub stderr: String,
    /// What its body wrote to the pipe that it was given.
    pub answer: String,
}

impl Ended {
    /// The answer of a child that ended well.
    pub fn answer(self) -> String {
        assert_eq!(self.end, End::Exit(0), "{}", self.stderr);
        self.answer
    }
}

fn pipe() -> (File, File) {
    let mut ends = [0; 2];
    // SAFETY: the two descriptors are new and owned by the files from here on.
    unsafe {
        assert_eq!(libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC), 0);
        (File::from_raw_fd(ends[0]), File::from_raw_fd(ends[1]))
    }
}

/// Forks and runs `body` in the child, which gets a pipe for its answer. What the body refers to must not lie on the
/// stack of another thread: the C library gives that to the next thread that the child starts.
pub fn run(body: impl FnOnce(&mut File)) -> Ended {
    let (mut errors, errors_in) = pipe();
    let (mut answers, mut answers_in) = pipe();
    // SAFETY: the child runs the body and leaves; it needs no lock that another thread may hold but the C library's,
    // which fork takes care of.
    let pid = unsafe { libc::fork() };
    assert!(pid >= 0);
    if pid == 0 {
        let errors_in = errors_in.into_raw_fd();
        // SAFETY: both descriptors are open.
        unsafe {
            libc::alarm(LIMIT);
            libc::dup2(errors_in, 2);
        }
        std::panic::set_hook(Box::new(|what| {
            hakmem_core::os::write(2, format!("{what}\n").as_bytes());
        }));
        let ok = catch_unwind(AssertUnwindSafe(|| body(&mut answers_in))).is_ok();
        let _ = answers_in.flush();
        // SAFETY: ends the process without handlers that belong to the parent.
        unsafe { libc::_exit(if ok { 0 } else { PANICKED }) };
    }
    drop((errors_in, answers_in));
    let (mut stderr, mut answer, mut status) = (String::new(), String::new(), 0);
    errors.read_to_string(&mut stderr).expect("text");
    answers.read_to_string(&mut answer).expect("text");
    // SAFETY: the child is ours.
    assert_eq!(unsafe { libc::waitpid(pid, &mut status, 0) }, pid);
    let end = match libc::WIFSIGNALED(status) {
        true => End::Signal(libc::WTERMSIG(status)),
        false => End::Exit(libc::WEXITSTATUS(status)),
    };
    Ended {
        end,
        stderr,
        answer,
    }
}
