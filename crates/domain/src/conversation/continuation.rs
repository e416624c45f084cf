//! Only the last reply of a conversation is continued.

use super::Turn;
use crate::error::Error;

/// Where the reply with a given number is among the messages of its conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyPlace {
    /// It is the last message: a turn may follow it.
    Last,
    /// Other messages follow it.
    Earlier,
    /// The conversation has fewer messages.
    Absent,
}

impl ReplyPlace {
    /// The place of the reply with this number, counted from 1, in a conversation of `messages` messages.
    pub const fn of(number: u64, messages: u64) -> Self {
        if number == messages {
            Self::Last
        } else if number < messages {
            Self::Earlier
        } else {
            Self::Absent
        }
    }
}

impl Turn {
    /// Checks that the reply that this turn continues is still the last of the `messages` messages that were stored
    /// before it.
    ///
    /// # Errors
    ///
    /// [`Error::Conflict`] if it is not.
    pub fn check_continues_last(&self, messages: u64) -> Result<(), Error> {
        match self.after.map(|number| ReplyPlace::of(number, messages)) {
            None | Some(ReplyPlace::Last) => Ok(()),
            Some(ReplyPlace::Earlier | ReplyPlace::Absent) => {
                let message = "the conversation was continued while the reply was written; nothing was stored";
                Err(Error::Conflict(message.to_owned()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ReplyPlace;

    #[test]
    fn a_reply_is_the_last_message_or_an_earlier_one_or_there_is_none() {
        let places = [2, 4, 6].map(|number| ReplyPlace::of(number, 4));
        assert_eq!(places, [ReplyPlace::Earlier, ReplyPlace::Last, ReplyPlace::Absent]);
    }
}
