//! The owner's bitmap of free blocks.

use crate::base::align::ones64;
use core::ptr::null_mut;

/// Blocks linked into a list through their first words.
pub struct Taken {
    pub first: *mut u8,
    pub count: u32,
}

impl Taken {
    pub const NONE: Taken = Taken {
        first: null_mut(),
        count: 0,
    };
}

/// Sets the first `blocks` bits of `words` and clears the rest.
pub fn fill(words: &mut [u64], blocks: usize) {
    for (i, word) in words.iter_mut().enumerate() {
        *word = ones64(blocks.saturating_sub(i * 64) as u32);
    }
}

/// Clears the lowest set bit; returns its index.
#[inline]
pub fn take_lowest(words: &mut [u64], from: usize) -> Option<usize> {
    let word = from + words[from..].iter().position(|&word| word != 0)?;
    let bit = words[word].trailing_zeros() as usize;
    words[word] &= words[word] - 1;
    Some(word * 64 + bit)
}

/// Clears up to `most` set bits, lowest first, handing each index to `each`; returns the word where it stopped.
#[inline]
pub fn take_many(
    words: &mut [u64],
    from: usize,
    mut most: u32,
    mut each: impl FnMut(usize),
) -> usize {
    for (i, slot) in words.iter_mut().enumerate().skip(from) {
        let mut word = *slot;
        while word != 0 {
            if most == 0 {
                *slot = word;
                return i;
            }
            each(i * 64 + word.trailing_zeros() as usize);
            word &= word - 1;
            most -= 1;
        }
        *slot = 0;
    }
    words.len() - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fill_sets_exactly_the_blocks() {
        for blocks in [1, 63, 64, 65, 127, 128, 192] {
            let mut words = [u64::MAX; 3];
            fill(&mut words, blocks);
            let ones: u32 = words.iter().map(|word| word.count_ones()).sum();
            assert_eq!(ones as usize, blocks);
            assert!(words[(blocks - 1) / 64] >> ((blocks - 1) % 64) & 1 == 1);
        }
    }

    #[test]
    fn taking_goes_upwards_and_stops_in_time() {
        let mut words = [0, 0b1010, 1 << 63];
        let mut seen = vec![];
        assert_eq!(take_many(&mut words, 0, 2, |i| seen.push(i)), 2);
        assert_eq!(seen, [65, 67]);
        assert_eq!(words, [0, 0, 1 << 63]);
        assert_eq!(take_lowest(&mut words, 1), Some(191));
        assert_eq!(take_lowest(&mut words, 0), None);
        let mut words = [0b111, 0, 0];
        let mut seen = vec![];
        assert_eq!(take_many(&mut words, 0, 2, |i| seen.push(i)), 0);
        assert_eq!((seen, words[0]), (vec![0, 1], 0b100));
    }
}
