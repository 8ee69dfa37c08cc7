//! Meaning of one event of a language model, whatever its dialect.

use truetail_run::FinishReason;

/// Choices of an answer, as a set of their indices.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Choices(u64);

impl Choices {
    /// Limit on the indices of choices. An event about another choice is not understood.
    pub const LIMIT: u64 = u64::BITS as u64;

    /// The choice with this index. `None` from [`Choices::LIMIT`] on.
    pub fn one(index: u64) -> Option<Choices> {
        (index < Choices::LIMIT).then(|| Choices(1 << index))
    }

    /// The first choice, or no choice.
    pub fn first_if(is_there: bool) -> Choices {
        Choices(u64::from(is_there))
    }

    /// All choices.
    pub fn all() -> Choices {
        Choices(u64::MAX)
    }

    /// Returns true if no choice is in the set.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns true if a choice other than the first is in the set.
    pub fn has_others(self) -> bool {
        self.0 > 1
    }

    /// Returns true if the choice with this index is in the set.
    pub fn has(self, index: usize) -> bool {
        self.0.checked_shr(index as u32).is_some_and(|from| from & 1 == 1)
    }

    /// Returns the choices of both sets.
    #[must_use]
    pub fn and(self, other: Choices) -> Choices {
        Choices(self.0 | other.0)
    }

    /// Returns the choices that are not in `other`.
    #[must_use]
    pub fn without(self, other: Choices) -> Choices {
        Choices(self.0 & !other.0)
    }

    /// Returns the number of choices in the set.
    pub(crate) fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// Removes a choice. Returns true if it was in the set.
    pub(crate) fn take(&mut self, index: usize) -> bool {
        let was_there = self.has(index);
        *self = self.without(Choices(1 << index));
        was_there
    }

    /// Returns the indices, in ascending order.
    pub(crate) fn indices(self) -> impl Iterator<Item = usize> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let index = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
            rest &= rest - 1;
            Some(index)
        })
    }
}

/// Meaning of one event.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Chunk {
    /// Choices that get a part of their answer or of their reasoning with the event.
    pub content: Choices,
    /// The content is reasoning, not a part of the answer.
    pub is_reasoning: bool,
    /// The reasoning is a summary: fewer tokens than the server counts.
    pub is_summary: bool,
    /// The event repeats all content until now. It has new content only if it has more tokens than before.
    pub repeats_content: bool,
    /// The event may have content in a form that is not known.
    pub is_unknown: bool,
    /// Items of the answer, by their numbers, of which the event has a piece; or, without content, the whole. Only in
    /// APIs that send an item whole after its pieces.
    pub items: Choices,
    /// The event reports an error of the server.
    pub is_error: bool,
    /// Choices that the event is about.
    pub choices: Choices,
    /// Choices that end with the event.
    pub finished: Choices,
    /// Reason of the last of these ends.
    pub finish: Option<FinishReason>,
    /// Tokens until now, if the event states them.
    pub usage: Option<Usage>,
    /// The usage has no count of output tokens.
    pub has_no_output_count: bool,
}

/// Tokens as the server counts them.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Usage {
    /// Tokens of the answer, including reasoning.
    pub output: u64,
    /// Tokens of reasoning among them, if stated.
    pub reasoning: Option<u64>,
    /// Tokens of the request, if stated.
    pub input: Option<u64>,
    /// Tokens of the request that the server had in a cache, if stated.
    pub cached: Option<u64>,
}
