//! How certain an agent must be before it answers.

use serde::{Deserialize, Serialize};

use crate::error::FieldError;

/// How certain the search must be that the sources answer a question for it to be answered from them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerFloor {
    /// Prefers silence to errors: more questions that the sources do answer are refused.
    Cautious,
    /// About one in twenty questions that the sources answer is refused.
    #[default]
    Balanced,
    /// Prefers errors to silence: more questions that the sources do not answer get the nearest passages.
    Eager,
}

impl AnswerFloor {
    /// All of them, the highest floor first.
    pub const ALL: [Self; 3] = [Self::Cautious, Self::Balanced, Self::Eager];

    /// The name on the wire and in the database.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cautious => "cautious",
            Self::Balanced => "balanced",
            Self::Eager => "eager",
        }
    }

    /// The floor of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|floor| floor.name() == name)
    }

    /// Checks the value of the field `answer_floor`.
    ///
    /// # Errors
    ///
    /// Returns the requirement if there is no floor with that name.
    pub fn parse(name: &str) -> Result<Self, FieldError> {
        Self::from_name(name).ok_or_else(|| {
            FieldError::new("answer_floor", "must be `cautious`, `balanced` or `eager`")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::AnswerFloor;

    #[test]
    fn each_floor_has_a_name_of_its_own_and_others_have_none() {
        for floor in AnswerFloor::ALL {
            assert_eq!(AnswerFloor::parse(floor.name()).unwrap(), floor);
        }
        for name in ["", "Eager", "eager ", "0.5"] {
            assert_eq!(AnswerFloor::parse(name).unwrap_err().param, "answer_floor", "{name}");
        }
        assert_eq!(AnswerFloor::default(), AnswerFloor::Balanced);
    }
}
