//! How much freed memory to keep resident for reuse.
//!
//! Kept memory is bounded relative to memory in use, so that the resident set falls *while* a program frees, with no
//! later call and no background thread. A program that frees a peak and builds it again soon pays page faults for that;
//! each such refault raises the bound, as far as the caller allows, and each purge lowers it again.
#![forbid(unsafe_code)]

/// Amounts are in the unit that the owner counts in (granules or bytes).
pub struct Retain {
    floor: usize,
    learned: usize,
    /// Given back and not asked for again yet.
    purged: usize,
}

/// The part of memory in use that may be kept on top.
const LIVE_SHARE: usize = 8;

impl Retain {
    pub const fn new(floor: usize) -> Retain {
        Retain {
            floor,
            learned: 0,
            purged: 0,
        }
    }

    /// The most that may be kept while `live` is in use.
    pub fn limit(&self, live: usize) -> usize {
        self.floor + self.learned + live / LIVE_SHARE
    }

    /// Forgets what refaults taught. Returns by how much the bound falls.
    pub fn forget(&mut self) -> usize {
        self.purged = 0;
        core::mem::take(&mut self.learned)
    }

    /// `amount` has been given back. Returns by how much the bound falls.
    pub fn on_purge(&mut self, amount: usize) -> usize {
        self.purged = self.purged.saturating_add(amount);
        let fall = self.learned.min(amount);
        self.learned -= fall;
        fall
    }

    /// `amount` of memory that was not resident had to be taken: as far as it had been given back before, keeping it
    /// would have been better. Returns by how much the bound rises: at most by `most`.
    pub fn on_refault(&mut self, amount: usize, most: usize) -> usize {
        let regretted = amount.min(self.purged);
        self.purged -= regretted;
        let rise = regretted.min(most);
        self.learned += rise;
        rise
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_peak_is_given_back() {
        let mut retain = Retain::new(16);
        retain.on_refault(10_000, 256);
        assert_eq!(retain.limit(0), 16, "first use is no refault");
        assert_eq!(retain.limit(800), 116);
        retain.on_purge(10_000);
        assert_eq!(retain.limit(0), 16);
    }

    #[test]
    fn a_cycle_is_learned_and_forgotten() {
        let mut retain = Retain::new(16);
        assert_eq!(retain.on_purge(100), 0);
        assert_eq!(retain.on_refault(100, 256), 100);
        assert_eq!(retain.limit(0), 116);
        assert_eq!(retain.on_purge(60), 60);
        assert_eq!(retain.limit(0), 56);
        assert_eq!(retain.on_purge(4_000), 40);
        assert_eq!(retain.limit(0), 16);
    }

    #[test]
    fn forgetting_leaves_the_floor() {
        let mut retain = Retain::new(16);
        retain.on_purge(100);
        retain.on_refault(50, 256);
        assert_eq!(retain.forget(), 50);
        assert_eq!(retain.limit(0), 16);
        assert_eq!(retain.on_refault(50, 256), 0, "no regrets from before");
    }

    #[test]
    fn what_is_learned_is_bounded() {
        let mut retain = Retain::new(16);
        retain.on_purge(usize::MAX);
        retain.on_purge(usize::MAX);
        retain.on_refault(usize::MAX, 256);
        assert_eq!(retain.limit(0), 16 + 256);
    }
}
