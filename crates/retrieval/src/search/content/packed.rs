//! Numbers in as many bytes as the greatest of them needs.

use std::ops::Range;

/// Numbers, each in as many bytes as the greatest of them needs, or in none if all are equal. An index of a short text
/// consists mostly of such numbers.
pub(super) enum Packed {
    Equal { value: u32, count: u32 },
    One(Box<[u8]>),
    Two(Box<[u16]>),
    Four(Box<[u32]>),
}

impl Packed {
    pub(super) fn new(numbers: &[u32]) -> Self {
        let greatest = numbers.iter().copied().max().unwrap_or_default();
        if numbers.iter().all(|number| *number == greatest) {
            let count = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
            return Self::Equal { value: greatest, count };
        }
        // No number is cut: the greatest one fits.
        if greatest <= u32::from(u8::MAX) {
            Self::One(numbers.iter().map(|number| *number as u8).collect())
        } else if greatest <= u32::from(u16::MAX) {
            Self::Two(numbers.iter().map(|number| *number as u16).collect())
        } else {
            Self::Four(numbers.into())
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Equal { count, .. } => *count as usize,
            Self::One(numbers) => numbers.len(),
            Self::Two(numbers) => numbers.len(),
            Self::Four(numbers) => numbers.len(),
        }
    }

    /// The number at a position; 0 beyond the end.
    pub(super) fn get(&self, at: usize) -> u32 {
        let number = match self {
            Self::Equal { value, count } => (at < *count as usize).then_some(*value),
            Self::One(numbers) => numbers.get(at).map(|number| u32::from(*number)),
            Self::Two(numbers) => numbers.get(at).map(|number| u32::from(*number)),
            Self::Four(numbers) => numbers.get(at).copied(),
        };
        number.unwrap_or_default()
    }

    /// From the number before a position, or 0, up to the one at it; empty beyond the end. For numbers that say where parts end.
    pub(super) fn range(&self, at: usize) -> Range<usize> {
        let begin = at.checked_sub(1).map_or(0, |before| self.get(before));
        begin as usize..self.get(at) as usize
    }

    /// The bytes of memory that the numbers take.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Equal { .. } => 0,
            Self::One(numbers) => size_of_val(&**numbers),
            Self::Two(numbers) => size_of_val(&**numbers),
            Self::Four(numbers) => size_of_val(&**numbers),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Packed;

    #[test]
    fn numbers_come_back_as_they_were_in_as_few_bytes_as_they_need() {
        let cases: [(&[u32], usize); 6] = [
            (&[], 0),
            (&[7, 7, 7], 0),
            (&[0, 255], 2),
            (&[0, 256, 65_535], 6),
            (&[1, 65_536], 8),
            (&[u32::MAX, 0], 8),
        ];
        for (numbers, bytes) in cases {
            let packed = Packed::new(numbers);
            let read: Vec<u32> = (0..packed.len()).map(|at| packed.get(at)).collect();
            assert_eq!((read.as_slice(), packed.bytes()), (numbers, bytes));
            assert_eq!(packed.get(numbers.len()), 0);
        }
    }

    #[test]
    fn ends_are_ranges() {
        let packed = Packed::new(&[2, 5, 300]);
        assert_eq!([packed.range(0), packed.range(1), packed.range(2)], [0..2, 2..5, 5..300]);
        assert!(packed.range(3).is_empty());
    }
}
