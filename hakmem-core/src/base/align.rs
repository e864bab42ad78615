//! Rounding to powers of two, with overflow reported instead of wrapped.

/// Rounds `n` up to a multiple of `align` (a power of two); `None` when the result does not fit.
#[inline]
pub const fn round_up(n: usize, align: usize) -> Option<usize> {
    match n.checked_add(align - 1) {
        Some(sum) => Some(sum & !(align - 1)),
        None => None,
    }
}

/// Rounds `n` down to a multiple of `align` (a power of two).
#[inline]
pub const fn round_down(n: usize, align: usize) -> usize {
    n & !(align - 1)
}

/// A mask of `n` ones, for `n` up to 64.
#[inline]
pub const fn ones64(n: u32) -> u64 {
    if n >= 64 { u64::MAX } else { (1 << n) - 1 }
}

/// The lowest bit position at which `mask` holds `n` consecutive ones.
#[inline]
pub const fn find_run(mask: u32, n: u32) -> Option<u32> {
    // After the loop a bit is set exactly where a run of n ones begins.
    let mut m = mask;
    let mut have = 1;
    while have < n {
        let step = if have * 2 <= n { have } else { n - have };
        m &= m >> step;
        have += step;
    }
    if m == 0 {
        None
    } else {
        Some(m.trailing_zeros())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding() {
        assert_eq!(round_up(0, 16), Some(0));
        assert_eq!(round_up(1, 16), Some(16));
        assert_eq!(round_up(4096, 4096), Some(4096));
        assert_eq!(round_up(usize::MAX - 14, 16), None);
        assert_eq!(round_up(usize::MAX - 15, 16), Some(usize::MAX - 15));
        assert_eq!(round_down(4097, 4096), 4096);
    }

    #[test]
    fn masks() {
        assert_eq!(ones64(0), 0);
        assert_eq!(ones64(1), 1);
        assert_eq!(ones64(63), u64::MAX >> 1);
        assert_eq!(ones64(64), u64::MAX);
    }

    /// Every run length against the obvious search, over patterns with many edges.
    #[test]
    fn runs_match_a_plain_search() {
        let mut x: u32 = 0x9e37_79b9;
        for round in 0..2_000u32 {
            x ^= x << 13;
            x ^= x >> 17;
            x ^= x << 5;
            let mask = match round % 4 {
                0 => x,
                1 => x | x << 1 | x << 2,
                2 => x | x >> 7,
                _ => !(1 << (x & 31)),
            };
            for n in 1..=32u32 {
                let run = (ones64(n)) as u32;
                let plain = (0..=32 - n).find(|&at| mask >> at & run == run);
                assert_eq!(find_run(mask, n), plain, "mask {mask:#x} n {n}");
            }
        }
    }
}
