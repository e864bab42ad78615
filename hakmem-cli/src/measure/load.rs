//! What else the machine was doing: CPU time that the measured program did not use.

use std::time::{Duration, Instant};

/// Other load above this many CPUs is worth a warning.
pub const BUSY: f64 = 0.2;

/// CPU time used by everybody, from `/proc/stat`.
pub struct Meter {
    started: Instant,
    used: f64,
}

impl Meter {
    pub fn start() -> Meter {
        Meter {
            started: Instant::now(),
            used: used_seconds(),
        }
    }

    /// CPUs kept busy since the start by others than the one who used `own` CPU time.
    pub fn others(&self, own: Duration) -> f64 {
        let wall = self.started.elapsed().as_secs_f64();
        // The kernel counts in hundredths: too short a time says nothing.
        if wall < 0.05 {
            return 0.0;
        }
        ((used_seconds() - self.used - own.as_secs_f64()) / wall).max(0.0)
    }
}

/// Load of the machine right now, watched for a moment.
pub fn now() -> f64 {
    let meter = Meter::start();
    std::thread::sleep(Duration::from_millis(500));
    meter.others(Duration::ZERO)
}

fn used_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/stat").unwrap_or_default();
    used_ticks(&text).unwrap_or(0) as f64 / 100.0
}

/// user + nice + system + irq + softirq of the first line; steal is not ours to see.
fn used_ticks(stat: &str) -> Option<u64> {
    let fields = stat.lines().next()?.strip_prefix("cpu ")?;
    let ticks: Vec<u64> = fields
        .split_whitespace()
        .map_while(|f| f.parse().ok())
        .collect();
    Some(ticks.get(..3)?.iter().sum::<u64>() + ticks.get(5..7)?.iter().sum::<u64>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_and_iowait_are_not_load() {
        let stat = "cpu  100 20 30 9999 888 4 5 77 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\n";
        assert_eq!(used_ticks(stat), Some(100 + 20 + 30 + 4 + 5));
        assert_eq!(used_ticks(""), None);
        assert_eq!(used_ticks("intr 1 2 3"), None);
    }
}
