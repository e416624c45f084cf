//! The events that an endpoint receives.

use super::EventName;
use crate::error::Error;

/// The events that an endpoint receives: at least one, and each once. The default is all that can be chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subscription(Vec<EventName>);

impl Default for Subscription {
    fn default() -> Self {
        Self(EventName::CHOICES.to_vec())
    }
}

impl Subscription {
    /// Reads the names of events, and drops repeated ones.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if there is no name, or one that is not of an event that can be chosen.
    pub fn parse(names: &[String]) -> Result<Self, Error> {
        if names.is_empty() {
            let message = "must name at least one event, or be null for all";
            return Err(Error::invalid("events", message));
        }
        let mut events = Vec::with_capacity(names.len());
        for (index, name) in names.iter().enumerate() {
            let event = EventName::CHOICES.into_iter().find(|event| event.name() == name);
            let event = event.ok_or_else(|| {
                let known = EventName::CHOICES.map(EventName::name).join(", ");
                Error::invalid(format!("events[{index}]"), format!("must be one of {known}"))
            })?;
            if !events.contains(&event) {
                events.push(event);
            }
        }
        Ok(Self(events))
    }

    /// A stored subscription, which was checked when it was written.
    pub const fn from_stored(events: Vec<EventName>) -> Self {
        Self(events)
    }

    /// The events, in the order in which they were chosen.
    pub fn events(&self) -> &[EventName] {
        &self.0
    }

    /// Whether events with this name are delivered.
    pub fn includes(&self, name: EventName) -> bool {
        self.0.contains(&name)
    }

    /// The names of the events.
    pub fn names(&self) -> Vec<&'static str> {
        self.0.iter().map(|event| event.name()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{EventName, Subscription};
    use crate::Error;

    #[test]
    fn events_are_known_ones_each_once() {
        let names =
            |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let twice = names(&["source.failed", "source.failed"]);
        let subscription = Subscription::parse(&twice).unwrap();
        assert_eq!(subscription.events(), [EventName::SourceFailed]);
        assert!(subscription.includes(EventName::SourceFailed));
        assert!(!subscription.includes(EventName::SourceTrained));
        for (given, param) in [
            (names(&[]), "events"),
            (names(&["source.trained", "ping"]), "events[1]"),
            (names(&["source"]), "events[0]"),
        ] {
            let error = Subscription::parse(&given).unwrap_err();
            assert!(matches!(error, Error::Invalid(bad) if bad.first().param == param));
        }
    }
}
