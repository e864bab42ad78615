//! Size classes: which block size serves a request, and how many blocks a slab of that size holds.
//!
//! Steps of 16 bytes up to 128, then four classes per doubling up to 1 MiB: at most 25 % of a block is rounding,
//! 11 % on average. Every class is a multiple of 16, so every block is aligned to 16; powers of two are aligned
//! to themselves up to the granule, because slabs begin at granule boundaries.

/// The unit of the page map and of slabs, in bytes.
pub const GRANULE: usize = 64 * 1024;
pub const GRANULE_SHIFT: u32 = 16;

/// Number of classes: 8 linear ones up to 128 bytes, then 4 for each of the 13 doublings up to 1 MiB.
pub const NUM_CLASSES: usize = 8 + 4 * 13;
/// The largest request that the front's table answers.
pub const TABLE_MAX: usize = 1024;
/// The largest request that slabs serve; beyond it a block has a mapping of its own.
pub const CLASS_MAX: usize = 1024 * 1024;
/// Most blocks one slab can hold: a granule of the smallest class.
pub const MAX_BLOCKS: usize = GRANULE / 16;
/// Most granules one slab can span.
pub const MAX_GRANULES: usize = CLASS_MAX / GRANULE;

/// The class that serves `size`, which must be at most [`CLASS_MAX`]. Size 0 gets the smallest block.
#[inline]
pub const fn class_of(size: usize) -> usize {
    if size <= 128 {
        return if size == 0 { 0 } else { (size - 1) >> 4 };
    }
    let top = usize::BITS - 1 - (size - 1).leading_zeros();
    // Within a doubling the two bits below the top one number the four steps.
    8 + (top as usize - 7) * 4 + (((size - 1) >> (top - 2)) & 3)
}

const fn size_of_class(class: usize) -> usize {
    if class < 8 {
        return (class + 1) * 16;
    }
    let doubling = (class - 8) / 4;
    let step = (class - 8) % 4;
    (128 << doubling) / 4 * (5 + step)
}

/// What is fixed about a class.
#[derive(Clone, Copy)]
pub struct Class {
    /// Bytes per block.
    pub size: u32,
    /// Granules per slab.
    pub granules: u8,
    /// 64-bit words in each of the slab's two bitmaps.
    pub words: u8,
    /// Blocks per slab.
    pub blocks: u16,
    /// Most blocks a thread's cache keeps, once misses have shown that it needs them.
    pub max_room: u16,
    /// Blocks moved from a slab to the cache at one refill.
    pub batch: u16,
    /// `ceil(2^44 / size)`: turns the division by `size` into a multiplication.
    reciprocal: u64,
}

impl Class {
    /// The index of the block that holds the byte at `offset` from the slab's base.
    #[inline]
    pub const fn index_of(&self, offset: usize) -> usize {
        ((offset as u64 * self.reciprocal) >> 44) as usize
    }
}

/// Bytes that a thread may keep cached in one class.
const ROOM_BYTES: usize = 64 * 1024;
/// Bytes that one refill moves.
const BATCH_BYTES: usize = 8 * 1024;

const fn clamp(n: usize, low: usize, high: usize) -> usize {
    if n < low {
        low
    } else if n > high {
        high
    } else {
        n
    }
}

/// The smallest slab that wastes at most a sixteenth of itself behind its last block.
const fn granules_for(size: usize) -> usize {
    let mut granules = size.div_ceil(GRANULE);
    while granules < MAX_GRANULES {
        let span = granules * GRANULE;
        if span % size <= span / 16 {
            break;
        }
        granules += 1;
    }
    granules
}

const fn describe(class: usize) -> Class {
    let size = size_of_class(class);
    let granules = granules_for(size);
    let blocks = granules * GRANULE / size;
    Class {
        size: size as u32,
        granules: granules as u8,
        words: blocks.div_ceil(64) as u8,
        blocks: blocks as u16,
        max_room: clamp(ROOM_BYTES / size, 1, MAX_BLOCKS) as u16,
        batch: clamp(BATCH_BYTES / size, 1, 128) as u16,
        reciprocal: (1u64 << 44).div_ceil(size as u64),
    }
}

/// All classes, by number.
pub static CLASSES: [Class; NUM_CLASSES] = {
    let mut table = [describe(0); NUM_CLASSES];
    let mut class = 1;
    while class < NUM_CLASSES {
        table[class] = describe(class);
        class += 1;
    }
    table
};

/// Entries of the front's table: one per 16 bytes up to [`TABLE_MAX`], and one for size 0.
pub const TABLE_LEN: usize = TABLE_MAX / 16 + 1;

/// Twice the class for each `(size + 15) / 16`: twice, because the front scales it by 8 to a bin of 16 bytes.
pub static FRONT_TABLE: [u8; TABLE_LEN] = {
    let mut table = [0; TABLE_LEN];
    let mut i = 0;
    while i < TABLE_LEN {
        table[i] = 2 * class_of(i * 16) as u8;
        i += 1;
    }
    table
};

/// The class for blocks of at least `size` bytes that are all aligned to `align`, a power of two up to the granule;
/// `None` when no class fits.
#[inline]
pub fn class_of_aligned(size: usize, align: usize) -> Option<usize> {
    let size = super::align::round_up(size.max(1), align)?;
    if size > CLASS_MAX || align > GRANULE {
        return None;
    }
    let mut class = class_of(size);
    // The power of two at the end of the doubling is always aligned, so this ends after three steps.
    while CLASSES[class].size as usize & (align - 1) != 0 {
        class += 1;
    }
    Some(class)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_gets_the_tightest_class() {
        for size in 0..=CLASS_MAX {
            let class = class_of(size);
            assert!(
                CLASSES[class].size as usize >= size,
                "size {size} class {class}"
            );
            if class > 0 {
                assert!(
                    (CLASSES[class - 1].size as usize) < size,
                    "size {size} class {class}"
                );
            }
        }
        assert_eq!(class_of(CLASS_MAX), NUM_CLASSES - 1);
        assert_eq!(CLASSES[NUM_CLASSES - 1].size as usize, CLASS_MAX);
    }

    #[test]
    fn known_sizes() {
        let sizes: [u32; 17] = [
            16, 32, 48, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 640,
        ];
        for (class, size) in sizes.into_iter().enumerate() {
            assert_eq!(CLASSES[class].size, size);
        }
    }

    #[test]
    fn rounding_waste_is_bounded() {
        for size in 129..=CLASS_MAX {
            let given = CLASSES[class_of(size)].size as usize;
            assert!(
                (given - size) * 4 < given + 4 * 4,
                "size {size} gets {given}"
            );
        }
    }

    #[test]
    fn front_table_agrees() {
        for size in 0..=TABLE_MAX {
            assert_eq!(
                FRONT_TABLE[(size + 15) >> 4] as usize,
                2 * class_of(size),
                "size {size}"
            );
        }
    }

    #[test]
    fn slabs_fit_their_limits() {
        for class in &CLASSES {
            let span = class.granules as usize * GRANULE;
            let used = class.blocks as usize * class.size as usize;
            assert!(
                used <= span && span - used <= span / 16 + 1,
                "size {}",
                class.size
            );
            assert!(class.granules as usize <= MAX_GRANULES);
            assert!(class.blocks as usize <= MAX_BLOCKS && class.words as usize <= 64);
            assert!(class.batch >= 1 && class.max_room >= 1);
            assert_eq!(class.size % 16, 0);
        }
    }

    #[test]
    fn index_is_exact_for_every_offset() {
        for class in &CLASSES {
            let step = if class.size > 4096 { 61 } else { 1 };
            for offset in (0..class.granules as usize * GRANULE).step_by(step) {
                assert_eq!(class.index_of(offset), offset / class.size as usize);
            }
            for block in 0..class.blocks as usize {
                let start = block * class.size as usize;
                assert_eq!(class.index_of(start), block);
                assert_eq!(class.index_of(start + class.size as usize - 1), block);
            }
        }
    }

    #[test]
    fn aligned_classes_are_aligned() {
        for shift in 0..=GRANULE_SHIFT {
            let align = 1usize << shift;
            for size in [
                0, 1, 15, 16, 17, 100, 1000, 1025, 5000, 65_537, 300_000, CLASS_MAX,
            ] {
                let class = class_of_aligned(size, align).expect("fits");
                assert_eq!(CLASSES[class].size as usize % align, 0);
                assert!(CLASSES[class].size as usize >= size);
            }
        }
        assert_eq!(class_of_aligned(CLASS_MAX + 1, 16), None);
        assert_eq!(class_of_aligned(16, 2 * GRANULE), None);
        assert_eq!(class_of_aligned(usize::MAX, 4096), None);
    }
}
