//! Programs made of bytes: whatever the bytes are, they are a series of operations on the allocator, and a shadow heap
//! says what must come of each.
//!
//! Run by turns (`run`), a program always does the same: its threads pass a baton. Run at once (`run_at_once`), each
//! thread has a program of its own, and blocks change hands in between. Used by `tests/fuzz.rs` and by the libFuzzer
//! target in `fuzz/`.

mod machine;
mod shadow;
mod threads;

use hakmem_core::{api, observe};
use machine::{Flow, Machine};
use shadow::Shadow;
use std::thread;
use threads::Threads;

/// The bytes of a program, read from the front.
pub struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn byte(&mut self) -> Option<usize> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first as usize)
    }

    /// A further byte; 0 behind the end.
    fn more(&mut self) -> usize {
        self.byte().unwrap_or(0)
    }
}

/// Everything that a program left must be gone again.
fn settle() {
    assert_eq!(observe::check(), Ok(()));
    api::trim(0);
    assert_eq!(observe::check(), Ok(()));
    let left = observe::snapshot();
    assert_eq!(left.live, 0, "bytes in blocks of slabs");
    assert_eq!((left.huge_live, left.huge_count), (0, 0));
}

/// Runs a program whose threads take turns; returns the number of operations. Panics when the allocator is wrong.
pub fn run(bytes: &[u8], forks: bool) -> u64 {
    let shadow = Shadow::default();
    let mut threads = Threads::new();
    let mut bytes = Bytes(bytes);
    let mut machine = Machine::new(&shadow, forks);
    let (mut turn, mut flow) = (0, Flow::Go);
    while flow != Flow::End {
        flow = threads.turn(turn, || machine.run(&mut bytes));
        match flow {
            Flow::Switch(next) => turn = next % threads::COUNT,
            Flow::Exit => threads.end(turn),
            Flow::Go | Flow::End => {}
        }
    }
    // One thread frees what all have made.
    threads.turn(turn, || machine.free_all());
    drop(threads);
    shadow.free_exchanged();
    settle();
    machine.operations()
}

/// Runs several programs at once, each in a thread that lives as long as its program says; returns the number of
/// operations.
pub fn run_at_once(programs: &[Vec<u8>]) -> u64 {
    let shadow = Shadow::default();
    let life = |bytes: &[u8]| {
        let mut bytes = Bytes(bytes);
        let mut machine = Machine::new(&shadow, false);
        // Another thread goes on where one ends.
        while thread::scope(|scope| {
            scope
                .spawn(|| until_exit(&mut machine, &mut bytes))
                .join()
                .expect("a life")
        }) {}
        machine.free_all();
        machine.operations()
    };
    let operations = thread::scope(|scope| {
        let lives: Vec<_> = programs
            .iter()
            .map(|bytes| scope.spawn(|| life(bytes)))
            .collect();
        lives
            .into_iter()
            .map(|life| life.join().expect("a life"))
            .sum()
    });
    shadow.free_exchanged();
    settle();
    operations
}

/// True when the program goes on in another thread.
fn until_exit(machine: &mut Machine<'_>, bytes: &mut Bytes<'_>) -> bool {
    loop {
        match machine.run(bytes) {
            Flow::Exit => return true,
            Flow::End => return false,
            Flow::Go | Flow::Switch(_) => {}
        }
    }
}
