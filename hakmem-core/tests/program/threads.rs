//! Threads that take turns: one runs, the others wait.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

pub const COUNT: usize = 4;

type Task = Box<dyn FnOnce() + Send>;

struct Thread {
    tasks: Sender<Task>,
    done: Receiver<thread::Result<()>>,
    handle: JoinHandle<()>,
}

/// Threads begin with their first turn; after its end a thread begins anew.
pub struct Threads([Option<Thread>; COUNT]);

impl Thread {
    fn start() -> Thread {
        let (tasks, todo) = channel::<Task>();
        let (did, done) = channel();
        let work = move || {
            for task in todo {
                did.send(catch_unwind(AssertUnwindSafe(task)))
                    .expect("somebody waits");
            }
        };
        Thread {
            tasks,
            done,
            handle: thread::spawn(work),
        }
    }
}

impl Threads {
    pub fn new() -> Threads {
        Threads(Default::default())
    }

    /// Has thread `number` run `f`, and waits for it.
    pub fn turn<T: Send>(&mut self, number: usize, f: impl FnOnce() -> T + Send) -> T {
        let thread = self.0[number].get_or_insert_with(Thread::start);
        let mut answer = None;
        let task: Box<dyn FnOnce() + Send + '_> = Box::new(|| answer = Some(f()));
        // SAFETY: the task is over, and dropped, before this function returns.
        let task: Task = unsafe { std::mem::transmute(task) };
        thread.tasks.send(task).expect("the thread waits for tasks");
        match thread.done.recv().expect("an answer") {
            Ok(()) => answer.expect("the task has run"),
            Err(panic) => resume_unwind(panic),
        }
    }

    /// Ends a thread and waits until it is gone.
    pub fn end(&mut self, number: usize) {
        if let Some(Thread { tasks, handle, .. }) = self.0[number].take() {
            drop(tasks);
            handle.join().expect("no panic outside of tasks");
        }
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        (0..COUNT).for_each(|number| self.end(number));
    }
}
