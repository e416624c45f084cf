//! The stages of a reply, for measurements.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// A part of the time that a reply takes. They follow each other in this order; those from [`Stage::Prompt`] may be
/// repeated if another upstream is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// The objects that the message refers to are read: the agent, the conversation, the quotas.
    Read,
    /// A model rewrites the question so that it can be understood on its own. This happens only if it is turned on and
    /// the question needs it.
    Rewrite,
    /// Waiting for the vector of the question, if searches also use meaning.
    Embed,
    /// Waiting for the account's turn on the processors.
    Wait,
    /// The passages are searched.
    Search,
    /// The prompt for an upstream is made.
    Prompt,
    /// The model works: until the first token if the reply is streamed, otherwise until the end of the
    /// reply.
    Model,
    /// The tokens after the first one arrive.
    Tokens,
    /// Both messages are stored.
    Commit,
}

impl Stage {
    /// All stages, in their order.
    pub const ALL: [Self; 9] = [
        Self::Read,
        Self::Rewrite,
        Self::Embed,
        Self::Wait,
        Self::Search,
        Self::Prompt,
        Self::Model,
        Self::Tokens,
        Self::Commit,
    ];

    /// The name in metrics and headers.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Rewrite => "rewrite",
            Self::Embed => "embed",
            Self::Wait => "wait",
            Self::Search => "search",
            Self::Prompt => "prompt",
            Self::Model => "model",
            Self::Tokens => "tokens",
            Self::Commit => "commit",
        }
    }
}

/// Is notified of the stages of a reply. The observer has the clock; the code that generates the reply does not.
pub trait StageObserver: Send + Sync {
    /// A stage begins, and the one before ends.
    fn begins(&self, stage: Stage);
    /// The durations of the stages that were reached, up to now, in order.
    fn taken(&self) -> Vec<(Stage, Duration)> {
        Vec::new()
    }
}

/// Notifies the observer of a reply, if there is one, of each stage.
#[derive(Clone, Default)]
pub struct Stages(Option<Arc<dyn StageObserver>>);

impl Stages {
    /// Stages that are reported to `observer`.
    pub fn observed_by(observer: Arc<dyn StageObserver>) -> Self {
        Self(Some(observer))
    }

    /// Notifies the observer that a stage begins.
    pub fn begin(&self, stage: Stage) {
        if let Some(observer) = &self.0 {
            observer.begins(stage);
        }
    }

    /// The durations of the stages that were reached, up to now, in order; empty without an observer.
    pub fn taken(&self) -> Vec<(Stage, Duration)> {
        self.0.as_ref().map(|observer| observer.taken()).unwrap_or_default()
    }
}

impl fmt::Debug for Stages {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let observed = self.0.is_some();
        formatter.debug_struct("Stages").field("observed", &observed).finish()
    }
}
