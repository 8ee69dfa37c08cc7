use serde::{Deserialize, Deserializer};

use super::value_shape::ValueShape;
use crate::chunk::Usage;

/// Counts of tokens, by any of the names that servers use.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub(super) struct UsageFields {
    prompt_tokens: ValueShape,
    input_tokens: ValueShape,
    completion_tokens: ValueShape,
    output_tokens: ValueShape,
    total_tokens: ValueShape,
    /// Moonshot counts cached tokens here.
    cached_tokens: ValueShape,
    /// DeepSeek counts them here.
    prompt_cache_hit_tokens: ValueShape,
    prompt_tokens_details: Option<UsageDetails>,
    input_tokens_details: Option<UsageDetails>,
    completion_tokens_details: Option<UsageDetails>,
    output_tokens_details: Option<UsageDetails>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default)]
struct UsageDetails {
    cached_tokens: ValueShape,
    reasoning_tokens: ValueShape,
}

/// Counts of tokens as soon as they are read: the fields are large, and an event has several places for them.
#[derive(Clone, Copy, Default)]
pub(super) struct ReadUsage(pub(super) Option<Usage>);

impl<'de> Deserialize<'de> for ReadUsage {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ReadUsage, D::Error> {
        Ok(ReadUsage(Option::<UsageFields>::deserialize(deserializer)?.and_then(UsageFields::usage)))
    }
}

impl UsageFields {
    /// Returns the counts; `None` without a count of output tokens.
    pub(super) fn usage(self) -> Option<Usage> {
        let output = self.completion_tokens.number.or(self.output_tokens.number)?;
        let input = self.prompt_tokens.number.or(self.input_tokens.number);
        let of_output = self.completion_tokens_details.or(self.output_tokens_details);
        let of_input = self.prompt_tokens_details.or(self.input_tokens_details);
        let reasoning = of_output.and_then(|details| details.reasoning_tokens.number);
        let cached = of_input.and_then(|details| details.cached_tokens.number);
        let cached = cached.or(self.cached_tokens.number).or(self.prompt_cache_hit_tokens.number);
        // xAI counts reasoning beside the tokens of the answer. Only the total tells.
        let beside = reasoning.unwrap_or(0);
        let sum = [output, input.unwrap_or(0), beside].into_iter().fold(0, u64::saturating_add);
        let output = if self.total_tokens.number == Some(sum) { output.saturating_add(beside) } else { output };
        Some(Usage { output, reasoning, input, cached })
    }

    /// Returns the counts of an answer without output tokens; `None` without a count of input tokens. Some servers
    /// count only the total.
    pub(super) fn of_input(self) -> Option<Usage> {
        let input = self.prompt_tokens.number.or(self.input_tokens.number).or(self.total_tokens.number)?;
        let of_input = self.prompt_tokens_details.or(self.input_tokens_details);
        let cached = of_input.and_then(|details| details.cached_tokens.number);
        Some(Usage { input: Some(input), cached, ..Usage::default() })
    }
}
