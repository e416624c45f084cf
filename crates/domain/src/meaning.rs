//! Vectors of texts: texts with similar meaning are close together in the space of an embedding model.

mod batch;

use std::sync::{Arc, PoisonError, RwLock};

use crate::limits;
use crate::ports::{WorkListener, WorkSignal};

pub use batch::{Batch, reduced, wait_after_failure};

/// A text's position in a space: finite numbers that form a vector of length 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Vector(Arc<[f32]>);

/// Numbers that do not form a vector.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoVector {
    /// None, or more than [`VECTOR_DIMENSIONS`](limits::VECTOR_DIMENSIONS).
    #[error("it has {0} dimensions; at most {most} are allowed, and at least 1", most = limits::VECTOR_DIMENSIONS)]
    Dimensions(usize),
    /// A number that is infinite or NaN.
    #[error("number {0} of it is not finite")]
    NotFinite(usize),
    /// All numbers are 0, or too small or large to be scaled.
    #[error("it cannot be scaled to length 1")]
    NoDirection,
}

impl Vector {
    /// Scales numbers to length 1.
    ///
    /// # Errors
    ///
    /// Returns an error for numbers without a direction.
    pub fn new(mut numbers: Vec<f32>) -> Result<Self, NoVector> {
        if numbers.is_empty() || numbers.len() > limits::VECTOR_DIMENSIONS {
            return Err(NoVector::Dimensions(numbers.len()));
        }
        if let Some(at) = numbers.iter().position(|number| !number.is_finite()) {
            return Err(NoVector::NotFinite(at));
        }
        let squares: f64 = numbers.iter().map(|number| f64::from(*number).powi(2)).sum();
        let factor = 1.0 / squares.sqrt();
        if squares == 0.0 || !factor.is_normal() {
            return Err(NoVector::NoDirection);
        }
        for number in &mut numbers {
            *number = (f64::from(*number) * factor) as f32;
        }
        Ok(Self(numbers.into()))
    }

    /// The numbers.
    pub fn numbers(&self) -> &[f32] {
        &self.0
    }

    /// The number of dimensions.
    pub fn dimension(&self) -> usize {
        self.0.len()
    }

    /// The similarity of two vectors: the cosine of their angle. 0 if their dimensions differ.
    pub fn cosine(&self, other: &Self) -> f32 {
        if self.dimension() != other.dimension() {
            return 0.0;
        }
        self.0.iter().zip(other.0.iter()).map(|(one, other)| one * other).sum()
    }

    /// The numbers as bytes: four each, the lowest first.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|number| number.to_le_bytes()).collect()
    }

    /// The vector of such bytes.
    ///
    /// # Errors
    ///
    /// What is wrong with them.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, NoVector> {
        let (numbers, rest) = bytes.as_chunks::<4>();
        if !rest.is_empty() {
            return Err(NoVector::Dimensions(numbers.len()));
        }
        Self::new(numbers.iter().map(|number| f32::from_le_bytes(*number)).collect())
    }
}

/// The space of a model's vectors, as long as the model does not change.
#[derive(Debug, Clone, PartialEq)]
pub struct Space {
    /// Its number, which its vectors are stored with.
    pub id: i64,
    /// The name of the model.
    pub model: String,
    /// The settings that its vectors depend on: see [`Embedder::settings`](crate::ports::Embedder::settings).
    pub settings: String,
    /// The number of dimensions.
    pub dimension: usize,
    /// The vector of [`PROBE`], which reveals that a model with the same name has changed.
    pub probe: Vector,
    /// The lowest cosine of a passage that answers a question in other words.
    pub floor: f32,
    /// How far the floor is above the cosines that chance reaches.
    pub margin: f32,
}

/// The logarithm of the odds that a passage at the floor of its space answers. It is that of the floor `balanced` of the
/// search by words, so that the two confidences are on one scale.
const ODDS_AT_FLOOR: f32 = -1.02;
/// By how much these odds rise for each margin above the floor. What chance reaches is then at the floor `eager`, and
/// one margin above the floor at `cautious`.
const ODDS_OF_MARGIN: f32 = 1.1;
/// The minimum margin, for models that distinguish little.
const LEAST_MARGIN: f32 = 0.02;

/// A text whose vector identifies a model.
pub const PROBE: &str = "The museum opens at nine in the morning, and on Mondays it is closed.";
/// The lowest cosine of two vectors of [`PROBE`] from the same model. Servers round differently.
const SAME: f32 = 0.98;

impl Space {
    /// Whether a model whose vector of [`PROBE`] is `probe` produces vectors in this space.
    pub fn holds(&self, probe: &Vector) -> bool {
        self.dimension == probe.dimension() && self.probe.cosine(probe) >= SAME
    }

    /// How certain it is that a passage with this cosine answers a question, from 0 to 1, on the scale of the search by
    /// words.
    pub fn confidence(&self, cosine: f32) -> f32 {
        let margins = (cosine - self.floor) / self.margin.max(LEAST_MARGIN);
        1.0 / (1.0 + (-ODDS_AT_FLOOR - ODDS_OF_MARGIN * margins).exp())
    }
}

/// Questions and statements in pairs, most of them in different words. The cosines of those that do not belong together
/// show how high chance reaches in a space.
pub const PAIRS: [(&str, &str); 16] = [
    ("When can I visit?", "Our doors are open from nine to five on weekdays."),
    (
        "How do I get my money back?",
        "Unused goods may be returned within thirty days for a refund.",
    ),
    ("What does it cost?", "The price is twelve euros, and half of that for children."),
    ("Where do I leave my car?", "Parking is available behind the building."),
    ("Is my dog welcome?", "Pets may accompany their owners everywhere except in the restaurant."),
    ("I forgot my password", "To regain access, request a link that resets your credentials."),
    ("How long until my order arrives?", "Parcels are delivered within three working days."),
    ("Who founded the company?", "The firm was established by two sisters in 1921."),
    (
        "Can I cancel my subscription?",
        "Membership ends at the end of the month in which notice is given.",
    ),
    ("Why is the screen black?", "If the display stays dark, check the power cable first."),
    ("¿Puedo pagar con tarjeta?", "We accept all major credit cards."),
    ("Wie warm muss das Wasser sein?", "Heat the water to sixty degrees before adding yeast."),
    ("Comment contacter le support ?", "Our help desk answers by telephone and by e-mail."),
    ("Does it work without internet?", "The application can be used offline."),
    ("What should I do in case of fire?", "When the alarm sounds, leave through the nearest exit."),
    (
        "How do plants make food?",
        "Photosynthesis turns light, water and carbon dioxide into sugar.",
    ),
];

/// How far above chance the floor is, as a fraction of the distance to the median of the pairs that belong together.
const MARGIN: f32 = 0.25;

/// The floor of a space and its margin, from the vectors of [`PAIRS`]: above the cosines of 99 of 100 pairs that do not
/// belong together.
pub fn calibrate(questions: &[Vector], statements: &[Vector]) -> (f32, f32) {
    let mut chance = Vec::new();
    let mut related = Vec::new();
    for (number, question) in questions.iter().enumerate() {
        for (other, statement) in statements.iter().enumerate() {
            let cosine = question.cosine(statement);
            if number == other { related.push(cosine) } else { chance.push(cosine) }
        }
    }
    chance.sort_by(f32::total_cmp);
    related.sort_by(f32::total_cmp);
    let at = |sorted: &[f32], share: f32| {
        let place = (sorted.len() as f32 * share) as usize;
        sorted.get(place.min(sorted.len().saturating_sub(1))).copied().unwrap_or(1.0)
    };
    let (high, middle) = (at(&chance, 0.99), at(&related, 0.5));
    let margin = MARGIN * (middle - high).max(0.0);
    if margin == 0.0 {
        // The model cannot distinguish what belongs together, so nothing is answered by its cosines alone.
        return (1.0, margin);
    }
    ((high + margin).clamp(0.0, 1.0), margin)
}

/// The space in use, once it is known. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct CurrentSpace {
    space: Arc<RwLock<Option<Arc<Space>>>>,
    doubts: WorkSignal,
}

impl CurrentSpace {
    /// The space; `None` until the first response of the model.
    pub fn get(&self) -> Option<Arc<Space>> {
        // One word is replaced under the lock, so that it is valid after any panic.
        self.space.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Replaces it.
    pub fn set(&self, space: Space) {
        *self.space.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(space));
    }

    /// Reports a vector that does not belong to it, so that the model is checked again.
    pub fn doubt(&self) {
        self.doubts.notify();
    }

    /// Listens for doubts.
    pub fn doubts(&self) -> WorkListener {
        self.doubts.listen()
    }
}

#[cfg(test)]
mod tests {
    use super::{NoVector, Space, Vector, calibrate};
    use crate::limits;

    fn vector(numbers: &[f32]) -> Vector {
        Vector::new(numbers.to_vec()).unwrap()
    }

    fn space(probe: Vector) -> Space {
        let (model, settings) = ("m".to_owned(), String::new());
        Space { id: 1, model, settings, dimension: 2, probe, floor: 0.5, margin: 0.1 }
    }

    #[test]
    fn a_vector_has_length_one_and_survives_its_bytes() {
        let made = vector(&[3.0, 4.0]);
        assert_eq!(made.numbers(), [0.6, 0.8]);
        let again = Vector::from_bytes(&made.to_bytes()).unwrap();
        assert!((again.cosine(&made) - 1.0).abs() < 1e-6);
        assert_eq!(vector(&[1e-30, 0.0]).numbers(), [1.0, 0.0]);
        let largest = vector(&[f32::MAX, f32::MAX]);
        assert!((largest.cosine(&vector(&[1.0, 1.0])) - 1.0).abs() < 1e-6);
    }

    #[test]
    fn nonsense_is_no_vector() {
        let made = |numbers: &[f32]| Vector::new(numbers.to_vec()).unwrap_err();
        assert_eq!(made(&[]), NoVector::Dimensions(0));
        assert_eq!(made(&[0.0, 0.0]), NoVector::NoDirection);
        assert_eq!(made(&[0.0, f32::NAN]), NoVector::NotFinite(1));
        assert_eq!(made(&[f32::INFINITY]), NoVector::NotFinite(0));
        let most = limits::VECTOR_DIMENSIONS;
        assert!(Vector::new(vec![1.0; most]).is_ok());
        assert_eq!(made(&vec![1.0; most + 1]), NoVector::Dimensions(most + 1));
        assert!(Vector::from_bytes(&[0, 0, 128]).is_err());
    }

    #[test]
    fn a_model_that_changed_under_its_name_is_another_space() {
        let probe = vector(&[1.0, 0.0]);
        let space = space(probe);
        assert!(space.holds(&vector(&[1.0, 0.01])));
        assert!(!space.holds(&vector(&[0.0, 1.0])));
        assert!(!space.holds(&vector(&[1.0, 0.0, 0.0])));
    }

    #[test]
    fn the_confidence_in_a_cosine_is_on_the_scale_of_the_search_by_words() {
        let space = space(vector(&[1.0, 0.0]));
        let sure = |cosine: f32| space.confidence(cosine);
        assert!((sure(0.5) - 0.265).abs() < 0.001, "balanced: {}", sure(0.5));
        assert!((sure(0.4) - 0.1).abs() < 0.01, "eager, where chance ends: {}", sure(0.4));
        assert!((sure(0.6) - 0.5).abs() < 0.03, "cautious: {}", sure(0.6));
        assert!(sure(-1.0) >= 0.0 && sure(1.0) <= 1.0 && sure(0.45) > sure(0.44));
        let flat = Space { margin: 0.0, ..space };
        assert!(flat.confidence(0.9).is_finite());
    }

    #[test]
    fn the_floor_lies_between_chance_and_what_belongs_together() {
        let questions = [vector(&[1.0, 0.1, 0.0]), vector(&[0.1, 1.0, 0.0])];
        let statements = [vector(&[1.0, 0.0, 0.5]), vector(&[0.0, 1.0, 0.5])];
        let (floor, margin) = calibrate(&questions, &statements);
        let chance = questions[0].cosine(&statements[1]);
        let related = questions[0].cosine(&statements[0]);
        assert!(chance < floor && floor < related, "{chance} {floor} {related}");
        assert!((floor - margin - chance).abs() < 1e-6, "{floor} {margin}");
        // A model that relates nothing must not produce matches by chance.
        let swapped = [statements[1].clone(), statements[0].clone()];
        assert_eq!(calibrate(&questions, &swapped), (1.0, 0.0));
    }
}
