//! The lab's promises about its own judgement, on synthetic runs with the noise of a shared
//! machine: A against A is "no difference" in at least 19 of 20 trials, and a slowdown of 8 % is
//! found in at least 19 of 20. Deterministic: every trial has its seed.

use hakmem_cli::stats::{Noise, Word, judge, ratio_of_medians};

/// Default number of rounds of `hak ab`.
const ROUNDS: usize = 20;

/// A machine that drifts, jitters and is now and then interrupted.
struct Machine {
    rng: fastrand::Rng,
    drift: f64,
    jitter: f64,
    interruptions: f64,
}

impl Machine {
    fn new(seed: u64, jitter: f64, interruptions: f64) -> Machine {
        let rng = fastrand::Rng::with_seed(seed);
        Machine {
            rng,
            drift: 1.0,
            jitter,
            interruptions,
        }
    }

    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.rng.f64()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.rng.f64()).cos()
    }

    /// Frequency and neighbours change slowly: the same for all runs of a round.
    fn next_round(&mut self) {
        self.drift *= (0.01 * self.normal()).exp();
    }

    fn run(&mut self, seconds: f64) -> f64 {
        let jitter = (self.jitter * self.normal()).exp();
        let interrupted = self.rng.f64() < self.interruptions;
        let delay = if interrupted {
            1.0 + 0.05 + 0.5 * self.rng.f64()
        } else {
            1.0
        };
        seconds * self.drift * jitter * delay
    }
}

/// One whole session as `hak ab` has it: in each round A, A again and B.
fn session(machine: &mut Machine, rounds: usize, slowdown: f64) -> Word {
    let (mut noise, mut pairs) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        machine.next_round();
        let a = machine.run(0.5);
        noise.push((a, machine.run(0.5)));
        pairs.push((a, machine.run(0.5 * slowdown)));
    }
    let interval = ratio_of_medians(&pairs).expect("runs are usable");
    judge(&interval, Noise::measure(&noise).expect("runs are usable")).word
}

fn count(word: Word, trials: u64, rounds: usize, jitter: f64, slowdown: f64) -> u64 {
    let verdicts = (0..trials).map(|seed| {
        let mut machine = Machine::new(seed, jitter, 0.07);
        session(&mut machine, rounds, slowdown)
    });
    verdicts.filter(|&w| w == word).count() as u64
}

#[test]
fn the_same_thing_is_called_no_difference() {
    for jitter in [0.005, 0.02, 0.05, 0.10] {
        let same = count(Word::NoDifference, 20, ROUNDS, jitter, 1.0);
        assert!(same >= 19, "jitter {jitter}: {same} of 20");
    }
}

#[test]
fn the_same_thing_is_called_no_difference_with_the_fewest_runs() {
    let same = count(Word::NoDifference, 100, 5, 0.03, 1.0);
    assert!(same >= 95, "{same} of 100");
}

#[test]
fn a_slowdown_of_8_percent_is_found() {
    for jitter in [0.005, 0.02] {
        let found = count(Word::Worse, 20, ROUNDS, jitter, 1.08);
        assert!(found >= 19, "jitter {jitter}: {found} of 20");
    }
}

#[test]
fn a_speed_up_of_8_percent_is_found() {
    let found = count(Word::Better, 20, ROUNDS, 0.02, 1.0 / 1.08);
    assert!(found >= 19, "{found} of 20");
}

#[test]
fn rates_hold_over_many_trials() {
    let same = count(Word::NoDifference, 100, ROUNDS, 0.02, 1.0);
    assert!(same >= 95, "{same} of 100 called no difference");
    let found = count(Word::Worse, 100, ROUNDS, 0.015, 1.08);
    assert!(found >= 95, "{found} of 100 found");
}

#[test]
fn inside_the_noise_there_is_no_winner() {
    // 3 % on a machine that wanders by 10 %: a claim of over 5 % is rare, one in the wrong
    // direction rarer.
    let claimed = count(Word::Worse, 100, ROUNDS, 0.10, 1.03);
    assert!(claimed <= 6, "{claimed} of 100");
    let wrong = count(Word::Better, 100, ROUNDS, 0.10, 1.03);
    assert!(wrong <= 1, "{wrong} of 100");
}
