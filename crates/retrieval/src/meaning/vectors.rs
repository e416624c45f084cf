//! The vectors of an agent, searched exactly.

use cicerone_domain::meaning::{Space, Vector};
use cicerone_domain::ports::{PassageAt, SourceVectors};
use cicerone_domain::{Id, kind};
use simsimd::SpatialSimilarity as _;
use tantivy::directory::OwnedBytes;

use super::file::{Held, HeldSource, ROW_HEAD};
use super::fuse::Close;

/// The exact cosine is computed for this many times the wanted number of vectors, chosen by their
/// 8-bit numbers.
const RESCORED: usize = 2;
/// More bytes than this are searched on a separate thread: they take about half a millisecond.
const LARGE_BYTES: usize = 4 * 1_024 * 1_024;
/// The largest 8-bit number.
const LARGEST: f32 = 127.0;

/// How close the vectors of an agent are to a question.
pub(super) struct Compared {
    /// The closest ones, closest first.
    pub(super) closest: Vec<Close>,
    /// The mean cosine of all, from their 8-bit numbers.
    pub(super) mean: f32,
    /// How many there are.
    pub(super) count: usize,
}

/// The vectors of an agent at one generation.
pub(super) struct Vectors {
    pub(super) generation: u64,
    pub(super) held: Held,
    codes: OwnedBytes,
    exact: OwnedBytes,
}

impl Vectors {
    pub(super) fn new(generation: u64, held: Held, codes: OwnedBytes, exact: OwnedBytes) -> Self {
        Self { generation, held, codes, exact }
    }

    /// No vectors.
    pub(super) fn none(generation: u64, space: &Space) -> Self {
        let held = Held::none(space.id, space.dimension);
        Self::new(generation, held, OwnedBytes::empty(), OwnedBytes::empty())
    }

    /// The same vectors, at another generation.
    pub(super) fn at(&self, generation: u64) -> Self {
        let (codes, exact) = (self.codes.clone(), self.exact.clone());
        Self { generation, held: self.held.clone(), codes, exact }
    }

    /// Whether a search takes so long that it needs a thread of its own.
    pub(super) fn is_large(&self) -> bool {
        self.codes.len() > LARGE_BYTES
    }

    pub(super) fn is_empty(&self) -> bool {
        self.exact.is_empty()
    }

    /// The sources, in order of their ids.
    pub(super) fn sources(&self) -> impl Iterator<Item = SourceVectors> {
        self.held.sources.iter().map(|source| source.of)
    }

    /// The rows of a source in both files.
    pub(super) fn rows_of(&self, source: &HeldSource) -> Option<(&[u8], &[u8])> {
        let (stride, exact) = (self.stride(), self.held.dimension * 4);
        let end = source.first + source.rows;
        Some((
            self.codes.get(source.first * stride..end * stride)?,
            self.exact.get(source.first * exact..end * exact)?,
        ))
    }

    fn stride(&self) -> usize {
        ROW_HEAD + self.held.dimension
    }

    /// Compares all vectors with a question, and keeps the `most` that are closest; `None` if the question is of
    /// another dimension.
    pub(super) fn compare(&self, question: &Vector, most: usize) -> Option<Compared> {
        if question.dimension() != self.held.dimension {
            return None;
        }
        let (asked, asked_scale) = quantised(question.numbers());
        let mut scored: Vec<(f32, usize, &HeldSource)> = Vec::new();
        for source in &self.held.sources {
            let (rows, _) = self.rows_of(source)?;
            for (number, row) in (source.first..).zip(rows.chunks_exact(self.stride())) {
                let (head, codes) = row.split_at_checked(ROW_HEAD)?;
                let scale = head.last_chunk().copied().map(f32::from_le_bytes)?;
                let product = i8::dot(&asked, bytemuck::cast_slice(codes))?;
                scored.push((product as f32 * scale, number, source));
            }
        }
        let count = scored.len();
        let sum: f64 = scored.iter().map(|(score, ..)| f64::from(*score)).sum();
        let mean = (sum / count.max(1) as f64) as f32 * asked_scale;
        let by_score = |one: &(f32, usize, &HeldSource), other: &(f32, usize, &HeldSource)| {
            other.0.total_cmp(&one.0).then(one.1.cmp(&other.1))
        };
        let window = most.saturating_mul(RESCORED);
        if scored.len() > window {
            scored.select_nth_unstable_by(window, by_score);
            scored.truncate(window);
        }
        let mut closest: Vec<Close> = scored
            .into_iter()
            .filter_map(|(_, row, source)| {
                let SourceVectors { id, version, .. } = source.of;
                let at = PassageAt { source: id, version, position: self.position(row)? };
                Some(Close { at, cosine: self.exact_cosine(question, row)? })
            })
            .collect();
        closest.sort_by(|one, other| {
            other.cosine.total_cmp(&one.cosine).then_with(|| one.key().cmp(&other.key()))
        });
        closest.truncate(most);
        Some(Compared { closest, mean, count })
    }

    /// How close a passage is; `None` if it has no vector.
    pub(super) fn cosine(
        &self,
        question: &Vector,
        source: Id<kind::Source>,
        position: i64,
    ) -> Option<f32> {
        let at = self.held.sources.binary_search_by_key(&source, |held| held.of.id).ok()?;
        let source = self.held.sources.get(at)?;
        let (mut low, mut high) = (source.first, source.first + source.rows);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.position(middle)?.cmp(&position) {
                std::cmp::Ordering::Equal => return self.exact_cosine(question, middle),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    fn position(&self, row: usize) -> Option<i64> {
        let begin = row * self.stride();
        self.codes.get(begin..)?.first_chunk().copied().map(i64::from_le_bytes)
    }

    fn exact_cosine(&self, question: &Vector, row: usize) -> Option<f32> {
        let size = self.held.dimension * 4;
        let bytes = self.exact.get(row * size..(row + 1) * size)?;
        let (numbers, _) = bytes.as_chunks::<4>();
        let numbers: Vec<f32> = numbers.iter().map(|number| f32::from_le_bytes(*number)).collect();
        f32::dot(question.numbers(), &numbers).map(|cosine| cosine as f32)
    }
}

/// Numbers with 8 bits each, and the factor that restores the original numbers.
pub(super) fn quantised(numbers: &[f32]) -> (Vec<i8>, f32) {
    let largest = numbers.iter().fold(0.0_f32, |largest, number| largest.max(number.abs()));
    let scale = if largest > 0.0 { largest / LARGEST } else { 1.0 };
    let codes = numbers.iter().map(|number| (number / scale).round() as i8).collect();
    (codes, scale)
}

#[cfg(test)]
mod tests {
    use cicerone_domain::meaning::Vector;
    use cicerone_domain::ports::SourceVectors;
    use cicerone_domain::{Id, kind};

    use super::Vectors;
    use crate::meaning::file::{Draft, open};

    fn random(seed: &mut u64, dimension: usize) -> Vector {
        let mut next = || {
            *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            ((*seed >> 33) as f32 / (1_u64 << 31) as f32) - 0.5
        };
        Vector::new((0..dimension).map(|_| next()).collect()).unwrap()
    }

    fn sources() -> [Id<kind::Source>; 2] {
        ["src_aaaaaaaaaa".parse().unwrap(), "src_bbbbbbbbbb".parse().unwrap()]
    }

    fn written(folder: &std::path::Path, made: &[Vector]) -> Vectors {
        let mut draft = Draft::begin(folder, 7, made[0].dimension()).unwrap();
        let half = made.len() / 2;
        for (source, part) in sources().into_iter().zip([&made[..half], &made[half..]]) {
            draft.source(SourceVectors { id: source, version: 3, is_complete: true });
            for (position, vector) in (0..).step_by(2).zip(part) {
                draft.row(position, vector).unwrap();
            }
        }
        draft.finish(9).unwrap()
    }

    #[test]
    fn the_closest_are_those_of_an_exact_search() {
        let folder = tempfile::tempdir().unwrap();
        let mut seed = 1;
        for dimension in [3, 64, 383] {
            let made: Vec<Vector> = (0..2_000).map(|_| random(&mut seed, dimension)).collect();
            let vectors = written(folder.path(), &made);
            for _ in 0..5 {
                let question = random(&mut seed, dimension);
                let mut exact: Vec<f32> =
                    made.iter().map(|vector| vector.cosine(&question)).collect();
                exact.sort_by(|one, other| other.total_cmp(one));
                let compared = vectors.compare(&question, 10).unwrap();
                let mean = exact.iter().sum::<f32>() / exact.len() as f32;
                assert!((compared.mean - mean).abs() < 1e-3, "{} {mean}", compared.mean);
                assert_eq!(compared.count, made.len());
                let found = compared.closest;
                assert_eq!(found.len(), 10);
                for (close, expected) in found.iter().zip(&exact) {
                    assert!((close.cosine - expected).abs() < 1e-5, "{dimension}: {found:?}");
                    let again = vectors.cosine(&question, close.at.source, close.at.position);
                    assert_eq!(again, Some(close.cosine));
                }
            }
            assert_eq!(vectors.cosine(&made[0], sources()[0], 1), None, "it has no such passage");
            let other = random(&mut seed, dimension + 1);
            assert!(vectors.compare(&other, 1).is_none(), "another dimension");
        }
    }

    #[test]
    fn rows_are_copied_and_damage_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let mut seed = 2;
        let made: Vec<Vector> = (0..10).map(|_| random(&mut seed, 16)).collect();
        let vectors = written(folder.path(), &made);
        let second = vectors.held.sources[1];
        let mut draft = Draft::begin(folder.path(), 7, 16).unwrap();
        draft.source(second.of);
        draft.copy(&vectors, &second).unwrap();
        let copied = draft.finish(10).unwrap();
        assert_eq!(copied.sources().collect::<Vec<_>>(), [second.of]);
        let best = &copied.compare(&made[5], 1).unwrap().closest[0];
        assert_eq!(best.key(), (second.of.id, 0));
        assert!(copied.cosine(&made[0], sources()[0], 0).is_none());
        drop((vectors, copied));
        assert!(open(folder.path(), 10).is_ok());
        for name in ["vectors", "vectors.exact"] {
            let path = folder.path().join(name);
            let whole = std::fs::read(&path).unwrap();
            let mut broken = whole.clone();
            broken[17] ^= 1;
            for damage in [broken, whole[..whole.len() / 2].to_vec(), Vec::new()] {
                std::fs::write(&path, damage).unwrap();
                assert!(open(folder.path(), 10).is_err(), "{name}");
            }
            std::fs::write(&path, whole).unwrap();
        }
    }
}
