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
    #[error("component {0} is not finite")]
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

    /// The components, one for each dimension.
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
    /// The mean cosine of texts that do not belong together: see [`calibrate`].
    pub chance: f32,
    /// How much higher the mean cosine of texts that belong together is; 0 if that is not known.
    pub reach: f32,
    /// The cosine from which a passage answers, if the settings name one.
    pub floor: Option<f32>,
}

/// The logarithm of the odds that a passage answers, at the floor `balanced` of the search by words.
const ODDS_AT_FLOOR: f32 = -1.02;
/// By how much the odds by meaning rise with each [`reach`](Space::reach).
const ODDS_OF_REACH: f32 = 14.0;
/// The rise above other passages, in reaches, at which the odds by meaning are even.
const EVEN: f32 = 1.12;
/// The weight of the odds by meaning, relative to the weight of meaning in the ranking, and its maximum. They tell more
/// about whether a question is answered than about which passage is best.
const ODDS_SHARE: f32 = 4.0 / 3.0;
const MOST_ODDS_SHARE: f32 = 0.8;
/// By how much the odds rise with each reach above a floor that the settings name.
const ODDS_ABOVE_FLOOR: f32 = 4.4;
/// The minimum reach that is used, for models whose cosines differ little.
const LEAST_REACH: f32 = 0.03;
/// How much the calibration counts in the background of an agent, as a number of passages.
const CALIBRATION: f32 = 16.0;
/// The least and the greatest logarithm of the odds by words. That no word was found says little: the question may be in
/// another language.
const NO_WORD: f32 = -4.0;
const SURE: f32 = 9.0;

/// A text whose vector identifies a model.
pub const PROBE: &str = "The museum opens at nine in the morning, and on Mondays it is closed.";
/// The lowest cosine of two vectors of [`PROBE`] from the same model. Servers round differently.
const SAME: f32 = 0.98;

impl Space {
    /// Whether a model whose vector of [`PROBE`] is `probe` produces vectors in this space.
    pub fn holds(&self, probe: &Vector) -> bool {
        self.dimension == probe.dimension() && self.probe.cosine(probe) >= SAME
    }

    /// The cosine that passages about other things have with a question, from the mean of the question's cosines with
    /// all `passages` of an agent. Few passages tell little, and may all be about the question, so that the calibration
    /// counts too.
    pub fn background(&self, mean: f32, passages: usize) -> f32 {
        let expected = self.chance + self.reach / 2.0;
        let passages = passages as f32;
        (passages * mean + CALIBRATION * expected) / (passages + CALIBRATION)
    }

    /// How sure it is that a passage answers a question, from 0 to 1, on the scale of the search by words. `by_words` is
    /// how sure it is by the words alone, `background` the cosine of passages about other things, and `weight` how much
    /// meaning counts.
    ///
    /// The logarithms of the odds by words and by meaning are added with these weights. docs/retrieval.md has the figures.
    pub fn confidence(&self, by_words: f32, cosine: f32, background: f32, weight: f32) -> f32 {
        let reach = self.reach.max(LEAST_REACH);
        if let Some(floor) = self.floor {
            let odds = ODDS_AT_FLOOR + ODDS_ABOVE_FLOOR * (cosine - floor) / reach;
            return by_words.max(share(odds));
        }
        if self.reach <= 0.0 {
            return by_words;
        }
        let words = (by_words / (1.0 - by_words)).ln().clamp(NO_WORD, SURE);
        let meaning = ODDS_OF_REACH * ((cosine - background) / reach - EVEN);
        let weight = (weight * ODDS_SHARE).min(MOST_ODDS_SHARE);
        share((1.0 - weight) * words + weight * meaning)
    }
}

/// The probability with this logarithm of its odds.
fn share(odds: f32) -> f32 {
    1.0 / (1.0 + (-odds).exp())
}

/// Questions and statements in pairs, most of them in different words. The cosines of those that do not belong together
/// show which cosines occur by chance in a space.
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

/// Calibrates a space from the vectors of [`PAIRS`]: returns the mean cosine of texts that do not belong together, and
/// how much higher the mean cosine of texts that do is; 0 if it is not higher.
pub fn calibrate(questions: &[Vector], statements: &[Vector]) -> (f32, f32) {
    let (mut chance, mut related) = (Vec::new(), Vec::new());
    for (number, question) in questions.iter().enumerate() {
        for (other, statement) in statements.iter().enumerate() {
            let cosine = question.cosine(statement);
            if number == other { related.push(cosine) } else { chance.push(cosine) }
        }
    }
    let mean = |cosines: &[f32]| cosines.iter().sum::<f32>() / cosines.len().max(1) as f32;
    let chance = mean(&chance);
    (chance, (mean(&related) - chance).max(0.0))
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
        Space { id: 1, model, settings, dimension: 2, probe, chance: 0.1, reach: 0.3, floor: None }
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
    fn the_confidence_depends_on_words_and_on_meaning_as_they_are_weighed() {
        let space = space(vector(&[1.0, 0.0]));
        let sure = |by_words: f32, cosine: f32| space.confidence(by_words, cosine, 0.2, 0.3);
        assert!(sure(0.9, 0.4) > sure(0.1, 0.4) && sure(0.5, 0.5) > sure(0.5, 0.4));
        assert!(
            sure(0.0, 0.75) > 0.265,
            "no word, and much nearer than others: {}",
            sure(0.0, 0.75)
        );
        assert!(sure(0.9, 0.2) < 0.265, "all words, and no nearer than others: {}", sure(0.9, 0.2));
        assert!((space.confidence(0.3, 0.9, 0.2, 0.0) - 0.3).abs() < 1e-4, "words alone");
        for by_words in [0.0, 1.0] {
            for cosine in [-1.0, 1.0] {
                assert!((0.0..=1.0).contains(&sure(by_words, cosine)));
            }
        }
        let unknown = Space { reach: 0.0, ..space.clone() };
        assert_eq!(unknown.confidence(0.3, 0.9, 0.2, 0.3), 0.3, "words alone");
    }

    #[test]
    fn from_a_floor_of_the_settings_on_a_passage_answers_whatever_its_words() {
        let space = Space { floor: Some(0.5), ..space(vector(&[1.0, 0.0])) };
        let sure = |by_words: f32, cosine: f32| space.confidence(by_words, cosine, 0.2, 0.3);
        assert!((sure(0.0, 0.5) - 0.265).abs() < 0.001, "balanced: {}", sure(0.0, 0.5));
        assert!(sure(0.0, 0.4) < 0.1 && sure(0.0, 0.6) > 0.5);
        assert_eq!(sure(0.7, 0.1), 0.7);
    }

    #[test]
    fn the_background_of_few_passages_is_mostly_that_of_the_calibration() {
        let space = space(vector(&[1.0, 0.0]));
        let of = |passages| space.background(0.6, passages);
        assert!((of(0) - 0.25).abs() < 1e-6 && of(1) < 0.3 && of(1_000) > 0.59);
    }

    #[test]
    fn calibration_tells_how_far_what_belongs_together_lies_above_chance() {
        let questions = [vector(&[1.0, 0.1, 0.0]), vector(&[0.1, 1.0, 0.0])];
        let statements = [vector(&[1.0, 0.0, 0.5]), vector(&[0.0, 1.0, 0.5])];
        let (chance, reach) = calibrate(&questions, &statements);
        assert!((chance - questions[0].cosine(&statements[1])).abs() < 1e-6);
        assert!((chance + reach - questions[0].cosine(&statements[0])).abs() < 1e-6);
        // A model that finds nothing related has no reach.
        let swapped = [statements[1].clone(), statements[0].clone()];
        assert_eq!(calibrate(&questions, &swapped).1, 0.0);
    }
}
