//! The facts about machine and build that a figure is worth nothing without.

use std::{fs, path::Path, process::Command};

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    pub cpu: String,
    pub cpus: usize,
    pub memory_mib: u64,
    pub kernel: String,
    pub libc: String,
    /// The bracketed word of `transparent_hugepage/enabled`.
    pub huge_pages: String,
    pub governor: String,
    pub load: String,
}

impl Machine {
    pub fn here() -> Machine {
        let cpuinfo = read("/proc/cpuinfo");
        Machine {
            cpu: field(&cpuinfo, "model name")
                .unwrap_or("unknown")
                .to_owned(),
            cpus: std::thread::available_parallelism().map_or(1, usize::from),
            memory_mib: memory_mib(&read("/proc/meminfo")),
            kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
            libc: output("ldd", &["--version"], None)
                .and_then(|text| text.lines().next().map(str::to_owned))
                .unwrap_or_else(|| "unknown".to_owned()),
            huge_pages: chosen(&read("/sys/kernel/mm/transparent_hugepage/enabled")),
            governor: or_unknown(&read(
                "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
            )),
            load: read("/proc/loadavg")
                .split(' ')
                .take(3)
                .collect::<Vec<_>>()
                .join(" "),
        }
    }
}

/// The commit of the tree, and whether files differ from it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Commit {
    pub id: String,
    pub dirty: bool,
}

impl Commit {
    pub fn of(directory: &Path) -> Commit {
        let git = |args: &[&str]| output("git", args, Some(directory));
        let id = git(&["rev-parse", "HEAD"]).map(|id| id.trim().to_owned());
        Commit {
            id: id.unwrap_or_else(|| "unknown".to_owned()),
            dirty: git(&["status", "--porcelain"]).is_none_or(|status| !status.trim().is_empty()),
        }
    }
}

fn output(program: &str, args: &[&str], directory: Option<&Path>) -> Option<String> {
    let mut command = Command::new(program);
    command
        .args(args)
        .current_dir(directory.unwrap_or(Path::new("/")));
    let output = command.output().ok().filter(|o| o.status.success())?;
    String::from_utf8(output.stdout).ok()
}

fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

fn or_unknown(text: &str) -> String {
    let text = text.trim();
    if text.is_empty() { "unknown" } else { text }.to_owned()
}

fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let line = text.lines().find(|line| line.starts_with(name))?;
    line.split_once(':').map(|(_, value)| value.trim())
}

fn memory_mib(meminfo: &str) -> u64 {
    let kib = field(meminfo, "MemTotal").and_then(|v| v.strip_suffix(" kB")?.parse().ok());
    kib.unwrap_or(0_u64) / 1024
}

fn chosen(text: &str) -> String {
    let inside = text
        .split_once('[')
        .and_then(|(_, rest)| rest.split_once(']'));
    inside.map_or("unknown", |(word, _)| word).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_what_the_kernel_writes() {
        assert_eq!(chosen("always [madvise] never\n"), "madvise");
        assert_eq!(chosen(""), "unknown");
        assert_eq!(
            memory_mib("MemTotal:       24673212 kB\nMemFree: 1 kB\n"),
            24_094
        );
        assert_eq!(
            field("processor\t: 0\nmodel name\t: A CPU\n", "model name"),
            Some("A CPU")
        );
        assert_eq!(or_unknown("\n"), "unknown");
    }

    #[test]
    fn this_machine_has_facts() {
        let machine = Machine::here();
        assert!(machine.cpus >= 1 && machine.memory_mib > 0);
        assert!(machine.kernel.contains('.'), "{machine:?}");
    }
}
