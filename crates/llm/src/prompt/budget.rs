//! Fits a prompt into the context of its model.

use super::tokens::estimate;
use crate::config::TokenizerName;

/// The tokens that a message takes in addition to its text.
const MESSAGE_TOKENS: usize = 4;

/// How many tokens a prompt may take, and how they are counted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget {
    pub(crate) tokenizer: TokenizerName,
    pub(crate) tokens: u32,
}

/// The tokens of a message of this text.
pub(crate) fn count(tokenizer: TokenizerName, text: &str) -> u64 {
    u64::try_from(estimate(tokenizer, text) + MESSAGE_TOKENS).unwrap_or(u64::MAX)
}

/// The rest of a budget.
pub(super) struct Purse {
    /// `None` if everything is certain to fit.
    tokenizer: Option<TokenizerName>,
    left: usize,
}

impl Budget {
    /// The budget, to be spent on at most `messages` messages of `bytes` bytes together.
    ///
    /// A token has at least one byte, so a prompt that is short enough in bytes needs no estimate.
    pub(super) fn open(self, messages: usize, bytes: usize) -> Purse {
        let left = usize::try_from(self.tokens).unwrap_or(usize::MAX);
        let fits = bytes + messages * MESSAGE_TOKENS <= left;
        Purse { tokenizer: (!fits).then_some(self.tokenizer), left }
    }
}

impl Purse {
    pub(super) const fn left(&self) -> usize {
        self.left
    }

    /// Spends the tokens of `text`, even if there are not enough.
    pub(super) fn spend(&mut self, text: &str) {
        self.left = self.left.saturating_sub(self.cost(text));
    }

    /// Spends the tokens of `text`, if `reserve` is left afterwards.
    pub(super) fn try_spend(&mut self, text: &str, reserve: usize) -> bool {
        let left = self.left.checked_sub(self.cost(text)).filter(|left| *left >= reserve);
        self.left = left.unwrap_or(self.left);
        left.is_some()
    }

    /// The estimate plus a quarter, because the estimate may be too low.
    fn cost(&self, text: &str) -> usize {
        let tokens = self.tokenizer.map_or(text.len(), |tokenizer| {
            let estimate = estimate(tokenizer, text);
            estimate + estimate.div_ceil(4)
        });
        tokens + MESSAGE_TOKENS
    }
}

#[cfg(test)]
mod tests {
    use super::Budget;
    use crate::config::TokenizerName;

    #[test]
    fn what_fits_in_bytes_is_counted_in_bytes_and_the_rest_in_tokens() {
        let budget = Budget { tokenizer: TokenizerName::O200k, tokens: 100 };
        let mut purse = budget.open(1, 96);
        purse.spend("hello world");
        assert_eq!(purse.left(), 100 - 11 - 4);
        let mut purse = budget.open(1, 97);
        purse.spend("hello world");
        assert_eq!(purse.left(), 100 - (3 + 1) - 4);
    }

    #[test]
    fn what_would_touch_the_reserve_is_not_spent() {
        let budget = Budget { tokenizer: TokenizerName::Cl100k, tokens: 20 };
        let mut purse = budget.open(9, 1_000);
        assert!(!purse.try_spend("hello world", 13));
        assert_eq!(purse.left(), 20);
        assert!(purse.try_spend("hello world", 12));
        assert_eq!(purse.left(), 12);
    }
}
