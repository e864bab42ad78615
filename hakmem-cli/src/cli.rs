//! The command line.

use std::{ffi::OsString, path::PathBuf};

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::{exit, stats::bootstrap::MIN_ROUNDS};

/// Run, prove, measure and compare memory allocators.
#[derive(Debug, Parser)]
#[command(name = "hak", version, max_term_width = 100, after_long_help = exit::HELP)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    Run(Run),
    Proof(Proof),
    Bench(Bench),
    Ab(Ab),
    Peers(Peers),
    Completions(Completions),
    Man(Man),
}

/// Run any program on hakmem
#[derive(Debug, Args)]
pub struct Run {
    /// Preset of options: balanced, throughput, low-rss, latency, …
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
    /// Print what hakmem served, after the program's own output
    #[arg(long)]
    pub stats: bool,
    /// Print the proof that hakmem served the program; exit code 1 without it
    #[arg(long)]
    pub proof: bool,
    #[arg(last = true, required = true, value_name = "CMD")]
    pub command: Vec<OsString>,
}

/// Is the allocator really in use, in which processes, and if not, why?
///
/// Runs a program and follows its whole process tree, or looks at a running process, or says of a
/// file whether it can be put on an allocator at all.
#[derive(Debug, Args)]
#[command(group(clap::ArgGroup::new("target").required(true)))]
pub struct Proof {
    /// Allocator to look for: a name, a library, or NAME=LIBRARY
    #[arg(long, short, default_value = "hakmem", value_name = "ALLOCATOR")]
    pub allocator: String,
    /// A running process
    #[arg(long, group = "target", value_name = "PID")]
    pub pid: Option<i32>,
    /// A program that is not to be run
    #[arg(long, group = "target", value_name = "BINARY")]
    pub file: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Do not trace the program: children that never load the allocator are then not seen
    #[arg(long)]
    pub no_trace: bool,
    #[arg(last = true, group = "target", value_name = "CMD")]
    pub command: Vec<OsString>,
}

/// How far the library and the benchmark programs are built before they are measured
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Build {
    /// From nothing, as the protocol wants it
    Clean,
    /// What make finds to be out of date
    Incremental,
    /// Not at all: measure what is there
    None,
}

/// Measure the benchmark suite on several allocators, side by side
///
/// Every run is proven to be served by the allocator it is counted for; the others are discarded
/// and reported. The order is random, the machine's own noise is measured along the way, and no
/// difference inside it is called one.
#[derive(Debug, Args)]
pub struct Bench {
    /// quick, seeds or full
    #[arg(long, default_value = "quick", value_name = "SUITE")]
    pub suite: String,
    /// Allocators: libc, hakmem, the peers that are built, a library, NAME=LIBRARY; each may be
    /// followed by ,ENV=VALUE. Default: libc, hakmem and all built peers
    #[arg(long, short, value_name = "LIST")]
    pub allocators: Vec<String>,
    /// The allocator that the others are compared with
    #[arg(long, default_value = "libc", value_name = "ALLOCATOR")]
    pub baseline: String,
    /// Rounds; in each, everything runs once. Default: 5 (quick) or 10
    #[arg(long, value_name = "N", value_parser = rounds)]
    pub runs: Option<usize>,
    /// Only workloads whose name contains this
    #[arg(long, value_name = "TEXT")]
    pub only: Option<String>,
    #[arg(long, value_enum, default_value_t = Build::Clean)]
    pub build: Build,
    /// Seed of the random order
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seed: u64,
    /// Keep the results under a name
    #[arg(long, value_name = "NAME")]
    pub save: Option<String>,
    /// Compare with results kept under a name; exit code 5 if anything is worse
    #[arg(long, value_name = "NAME")]
    pub against: Option<String>,
    /// Folder for report.html, report.json, runs.csv and summary.csv
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Seconds that one run may take
    #[arg(long, default_value_t = 120, value_name = "SECONDS")]
    pub timeout: u64,
}

/// Compare two allocators, or two settings, or two builds, on your own program
#[derive(Debug, Args)]
pub struct Ab {
    /// First allocator, ALLOCATOR[,ENV=VALUE]…
    #[arg(long, value_name = "ALLOCATOR")]
    pub a: String,
    /// Second allocator
    #[arg(long, value_name = "ALLOCATOR")]
    pub b: String,
    /// wall, user, system, cpu, rss, faults, switches, or regex:PATTERN whose first group is a
    /// number in the program's output
    #[arg(long, short, default_value = "wall", value_name = "METRIC")]
    pub metric: String,
    /// For regex: more is better
    #[arg(long)]
    pub higher_is_better: bool,
    /// Rounds; in each, A, A again and B run once
    #[arg(long, default_value_t = 20, value_name = "N", value_parser = rounds)]
    pub runs: usize,
    /// Runs before the first round that are not counted
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub warmup: usize,
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seed: u64,
    /// Seconds that one run may take
    #[arg(long, default_value_t = 600, value_name = "SECONDS")]
    pub timeout: u64,
    /// Folder for report.html, report.json, runs.csv and summary.csv
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[arg(last = true, required = true, value_name = "CMD")]
    pub command: Vec<OsString>,
}

/// Build the allocators that hakmem is compared with
#[derive(Debug, Args)]
pub struct Peers {
    /// Which; default all
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// List them, build nothing
    #[arg(long)]
    pub list: bool,
    /// Build again what is there already
    #[arg(long)]
    pub force: bool,
    /// Compilers that run at the same time. Default: one per CPU
    #[arg(long, short, value_name = "N")]
    pub jobs: Option<usize>,
}

/// Print a shell's completion script
#[derive(Debug, Args)]
pub struct Completions {
    pub shell: clap_complete::Shell,
}

/// Print the man page, or write one per command into a folder
#[derive(Debug, Args)]
pub struct Man {
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

fn rounds(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n) if n >= MIN_ROUNDS => Ok(n),
        Ok(_) => Err(format!(
            "at least {MIN_ROUNDS} runs are needed to say anything"
        )),
        Err(_) => Err("not a whole number".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn fewer_than_five_runs_are_refused() {
        let parse = |n: &str| Cli::try_parse_from(["hak", "bench", "--runs", n]);
        assert!(parse("5").is_ok());
        let error = parse("4").unwrap_err().to_string();
        assert!(error.contains("at least 5 runs are needed"), "{error}");
    }

    #[test]
    fn proof_takes_exactly_one_target() {
        let parse = |args: &[&str]| Cli::try_parse_from([&["hak", "proof"], args].concat()).is_ok();
        assert!(parse(&["--pid", "1"]) && parse(&["--file", "x"]) && parse(&["--", "ls", "-l"]));
        assert!(!parse(&[]) && !parse(&["--pid", "1", "--file", "x"]));
    }
}
