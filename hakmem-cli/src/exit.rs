//! Exit codes of `hak`, the same for all commands. The man page lists them.

pub const OK: i32 = 0;
/// `proof`: the main process does not use the allocator. `run --proof`: not proven.
pub const NOT_PROVEN: i32 = 1;
/// Wrong usage; clap's own.
pub const USAGE: i32 = 2;
/// `proof`: the main process uses the allocator, some child does not.
pub const PARTLY_PROVEN: i32 = 3;
/// `bench`, `ab`: runs were discarded for want of proof or because they failed.
pub const DISCARDED: i32 = 4;
/// `bench --against`: something is worse than it was.
pub const REGRESSION: i32 = 5;
/// `peers`: a peer could not be built.
pub const PEER_MISSING: i32 = 6;
/// hak itself failed; the message says why.
pub const FAILED: i32 = 125;

/// For `--help` and the man page.
pub const HELP: &str = "Exit codes:
  0    done; proof: every process uses the allocator
  1    proof, run --proof: the main process does not use the allocator
  2    wrong usage
  3    proof: the main process uses the allocator, some child process does not
  4    bench, ab: runs were discarded, because they failed or are not proven
  5    bench --against: something is worse than in the saved session
  6    peers: at least one peer could not be built
  125  hak itself failed; the message says why
`hak run` otherwise ends as its program does, with 128 + N for signal N.";
