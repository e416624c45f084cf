//! The contributions of a term to the scores of passages, in few bytes.
//!
//! A question with frequent words adds up tens of thousands of them, so ranking takes as long as they take to come from
//! memory. A long list has few distinct values, because frequencies are small and lengths are rounded. So a passage of
//! a long list takes three bytes instead of eight.

use std::sync::Arc;

/// The shortest list that is compressed.
const LONG: usize = 64;
/// Distinct values of a run at most: each has a code of a byte.
const VALUES: usize = 256;

/// The contribution of a term to the score of one passage.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Impact {
    /// The number of the passage in its snapshot.
    pub(super) number: u32,
    /// The saturated frequency, from 0 to 1.
    pub(super) value: f32,
}

/// The contributions of a term, ordered by passage. A clone is the same list.
#[derive(Debug, Clone)]
pub(super) enum Impacts {
    Short(Arc<[Impact]>),
    Long(Arc<[Run]>),
}

/// A part of a long list.
#[derive(Debug)]
pub(super) struct Run {
    /// The number of its first passage.
    first: u32,
    /// How far each passage is from the first one.
    distances: Box<[u16]>,
    /// For each passage, where its value is among the values.
    codes: Box<[u8]>,
    values: Box<[f32]>,
}

/// Memory for the weighed values of a run, which is not cleared for each of them.
pub(super) struct Weighed([f32; VALUES]);

impl Default for Weighed {
    fn default() -> Self {
        Self([0.0; VALUES])
    }
}

impl Default for Impacts {
    fn default() -> Self {
        Self::Short(Arc::default())
    }
}

/// A list that may be long.
impl From<Vec<Impact>> for Impacts {
    fn from(impacts: Vec<Impact>) -> Self {
        if impacts.len() < LONG {
            return Self::Short(impacts.into());
        }
        let mut runs = Vec::new();
        let mut rest = impacts.as_slice();
        while !rest.is_empty() {
            let run = Run::of_start(rest);
            rest = rest.get(run.codes.len()..).unwrap_or_default();
            runs.push(run);
        }
        Self::Long(runs.into())
    }
}

/// A list of a small index.
impl FromIterator<Impact> for Impacts {
    fn from_iter<I: IntoIterator<Item = Impact>>(impacts: I) -> Self {
        Self::Short(impacts.into_iter().collect())
    }
}

impl Impacts {
    /// The number of passages.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Short(impacts) => impacts.len(),
            Self::Long(runs) => runs.iter().map(|run| run.codes.len()).sum(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes of memory that they take.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Short(impacts) => size_of_val::<[Impact]>(impacts),
            Self::Long(runs) => runs.iter().map(Run::bytes).sum(),
        }
    }

    /// Calls `each` with the number of each passage and the value times `factor`, in order.
    pub(super) fn for_each_weighed(
        &self,
        factor: f32,
        weighed: &mut Weighed,
        mut each: impl FnMut(usize, f32),
    ) {
        match self {
            Self::Short(impacts) => {
                impacts
                    .iter()
                    .for_each(|impact| each(impact.number as usize, factor * impact.value));
            }
            Self::Long(runs) => {
                runs.iter().for_each(|run| run.for_each_weighed(factor, weighed, &mut each))
            }
        }
    }

    /// The number of each passage, in order.
    pub(super) fn numbers(&self) -> impl Iterator<Item = u32> {
        let (impacts, runs) = match self {
            Self::Short(impacts) => (&**impacts, &[][..]),
            Self::Long(runs) => (&[][..], &**runs),
        };
        impacts.iter().map(|impact| impact.number).chain(runs.iter().flat_map(Run::numbers))
    }
}

impl Run {
    /// As many of these impacts as one run can have, from the first one.
    fn of_start(impacts: &[Impact]) -> Self {
        let first = impacts.first().map_or(0, |impact| impact.number);
        let mut values: Vec<f32> = Vec::new();
        let mut codes = Vec::with_capacity(impacts.len());
        let mut distances = Vec::with_capacity(impacts.len());
        // The code of the last value with each hash: nearly always that of the next one with it.
        let mut recent = [0_u8; VALUES];
        for impact in impacts {
            let Ok(distance) = u16::try_from(impact.number - first) else { break };
            let Some(code) = code(&mut values, &mut recent, impact.value) else { break };
            distances.push(distance);
            codes.push(code);
        }
        Self { first, distances: distances.into(), codes: codes.into(), values: values.into() }
    }

    fn bytes(&self) -> usize {
        size_of::<Self>()
            + size_of_val(&*self.distances)
            + size_of_val(&*self.codes)
            + size_of_val(&*self.values)
    }

    fn numbers(&self) -> impl Iterator<Item = u32> {
        self.distances.iter().map(|distance| self.first + u32::from(*distance))
    }

    fn for_each_weighed(
        &self,
        factor: f32,
        Weighed(weighed): &mut Weighed,
        each: &mut impl FnMut(usize, f32),
    ) {
        for (weighed, value) in weighed.iter_mut().zip(&self.values) {
            *weighed = factor * value;
        }
        let first = self.first as usize;
        for (distance, code) in self.distances.iter().zip(&self.codes) {
            // A code of a byte is within the array.
            let value = weighed.get(usize::from(*code)).copied().unwrap_or_default();
            each(first + usize::from(*distance), value);
        }
    }
}

/// The code of a value, which is added if it is new; `None` if there are too many.
fn code(values: &mut Vec<f32>, recent: &mut [u8; VALUES], value: f32) -> Option<u8> {
    let bits = value.to_bits();
    let is_same = |other: &f32| other.to_bits() == bits;
    // Multiplicative hashing (Knuth, "The Art of Computer Programming", 6.4): the upper bits are the hash.
    let recent = recent.get_mut((bits.wrapping_mul(0x9E37_79B1) >> 24) as usize)?;
    if values.get(usize::from(*recent)).is_some_and(is_same) {
        return Some(*recent);
    }
    let at = values.iter().position(is_same).unwrap_or(values.len());
    let code = u8::try_from(at).ok()?;
    if at == values.len() {
        values.push(value);
    }
    *recent = code;
    Some(code)
}

#[cfg(test)]
mod tests {
    use super::{Impact, Impacts, LONG, Weighed};

    /// What is read from a list of these impacts, with a factor of 1.
    fn read(impacts: &[Impact]) -> (Impacts, Vec<Impact>) {
        let list = Impacts::from(impacts.to_vec());
        let mut read = Vec::new();
        list.for_each_weighed(1.0, &mut Weighed::default(), |number, value| {
            read.push(Impact { number: u32::try_from(number).unwrap(), value });
        });
        (list, read)
    }

    #[test]
    fn a_list_is_read_as_it_was_written_whatever_its_length_numbers_and_values() {
        let list = |count: u32, step: u32, values: u32| -> Vec<Impact> {
            let value = |at: u32| (at % values) as f32 / values as f32;
            (0..count).map(|at| Impact { number: 3 + at * step, value: value(at) }).collect()
        };
        let cases = [
            (0, 1, 1),
            (63, 1, 9),
            (64, 1, 9),
            (5_000, 7, 256),
            (5_000, 100, 257),
            (900, 70_000, 900),
        ];
        for (count, step, values) in cases {
            let impacts = list(count, step, values);
            let (packed, read) = read(&impacts);
            assert_eq!(read, impacts);
            let numbers: Vec<u32> = impacts.iter().map(|impact| impact.number).collect();
            assert_eq!(packed.numbers().collect::<Vec<_>>(), numbers);
            assert_eq!((packed.len(), packed.is_empty()), (impacts.len(), impacts.is_empty()));
        }
    }

    #[test]
    fn long_lists_with_few_values_take_three_bytes_for_a_passage() {
        let impacts: Vec<Impact> =
            (0..10_000).map(|number| Impact { number, value: (number % 40) as f32 }).collect();
        let (packed, _) = read(&impacts);
        assert!(packed.bytes() < impacts.len() * 3 + 300, "{} bytes", packed.bytes());
        let (packed, _) = read(&impacts[..LONG - 1]);
        assert_eq!(packed.bytes(), (LONG - 1) * size_of::<Impact>());
    }

    #[test]
    fn values_are_multiplied_as_they_were_given() {
        let impacts: Vec<Impact> = (1..500)
            .map(|number| Impact { number, value: 1.0 / (1.0 + (number % 31) as f32) })
            .collect();
        let (packed, _) = read(&impacts);
        let mut weighed = Vec::new();
        packed.for_each_weighed(0.37, &mut Weighed::default(), |_, value| {
            weighed.push(value.to_bits())
        });
        let expected: Vec<u32> =
            impacts.iter().map(|impact| (0.37 * impact.value).to_bits()).collect();
        assert_eq!(weighed, expected);
    }
}
