//! What language models sent (`--llm`).

use serde::{Deserialize, Serialize};

/// In which form a language model answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LlmApi {
    /// `/v1/chat/completions` of OpenAI: content is in `choices[].delta`.
    OpenaiChat,
    /// `/v1/completions` of OpenAI: content is in `choices[].text`.
    OpenaiCompletions,
}

impl LlmApi {
    /// As users write it.
    pub const fn name(self) -> &'static str {
        match self {
            LlmApi::OpenaiChat => "openai-chat",
            LlmApi::OpenaiCompletions => "openai-completions",
        }
    }
}

/// What the events of language models were, and how many tokens their servers say there are. The times are
/// [`StreamTime`](crate::StreamTime)s.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LlmFacts {
    /// How the answers are read.
    pub api: LlmApi,
    /// Events with content: a part of a text, of reasoning, or of a call of a tool.
    pub content_events: u64,
    /// Those of them that have reasoning and nothing else.
    pub reasoning_events: u64,
    /// Events that have no content: a role, the usage, the end mark.
    pub other_events: u64,
    /// Events that say that the server failed.
    pub error_events: u64,
    /// Events that are longer than what is kept of one, or are not JSON of this form.
    pub unreadable_events: u64,
    /// Gaps between content events that were read at once: how long they are is not known.
    pub coalesced_content_gaps: u64,
    /// What the servers say of tokens.
    pub tokens: TokenCounts,
    /// What truetail counted itself; `None` without a tokenizer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_client: Option<ClientTokens>,
    /// How many requests met the objectives; `None` where none was set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slo: Option<SloCounts>,
}

/// Tokens of complete answers, by the `usage` that the server sent.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct TokenCounts {
    /// Complete answers whose output tokens the server counted.
    pub counted: u64,
    /// Complete answers whose output tokens it did not count.
    pub not_counted: u64,
    /// Output tokens of the counted answers.
    pub output: u64,
    /// Input tokens of the counted answers.
    pub input: u64,
    /// Counted answers without a count of input tokens.
    pub without_input: u64,
    /// Complete answers whose time per output token cannot be told: not counted, with several choices, with another number of
    /// tokens than their content can have, or with all of it in one read.
    pub unknown_time_per_output_token: u64,
    /// Complete answers that have none, because there is at most one token.
    pub no_time_per_output_token: u64,
}

impl TokenCounts {
    fn each(&mut self) -> [&mut u64; 7] {
        [
            &mut self.counted,
            &mut self.not_counted,
            &mut self.output,
            &mut self.input,
            &mut self.without_input,
            &mut self.unknown_time_per_output_token,
            &mut self.no_time_per_output_token,
        ]
    }
}

/// Output tokens of complete answers that the server did not count: how many a tokenizer makes of their texts. That may be
/// fewer or more than the model made.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ClientTokens {
    /// The name of the tokenizer's file.
    pub tokenizer: String,
    /// The SHA-256 of the file, in hexadecimal digits.
    pub sha256: String,
    /// Answers whose tokens were counted. They are among [`TokenCounts::not_counted`].
    pub counted: u64,
    /// Their output tokens.
    pub output: u64,
}

impl ClientTokens {
    /// Nothing yet.
    pub fn new(tokenizer: String, sha256: String) -> ClientTokens {
        ClientTokens { tokenizer, sha256, counted: 0, output: 0 }
    }

    /// Counts an answer of so many tokens.
    pub fn add(&mut self, tokens: u64) {
        self.counted += 1;
        self.output = self.output.saturating_add(tokens);
    }

    fn each(&mut self) -> [&mut u64; 2] {
        [&mut self.counted, &mut self.output]
    }
}

/// How many planned requests met all objectives.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SloCounts {
    /// The objectives, as they were written.
    pub objectives: Vec<String>,
    /// Complete answers that met them all.
    pub met: u64,
    /// Complete answers that missed none, where one cannot be told.
    pub cannot_tell: u64,
    /// Complete answers by each of `objectives`; empty where an older truetail saved the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub each: Vec<ObjectiveCounts>,
}

/// Complete answers by one objective.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct ObjectiveCounts {
    /// Those that met it.
    pub met: u64,
    /// Those that missed it.
    pub missed: u64,
    /// Those of which that cannot be told.
    pub cannot_tell: u64,
}

impl ObjectiveCounts {
    /// How many answers are counted.
    pub fn answers(&self) -> u64 {
        self.met.saturating_add(self.missed).saturating_add(self.cannot_tell)
    }

    fn merge(&mut self, other: &ObjectiveCounts) {
        let sums =
            [(&mut self.met, other.met), (&mut self.missed, other.missed), (&mut self.cannot_tell, other.cannot_tell)];
        sums.into_iter().for_each(|(sum, part)| *sum = sum.saturating_add(part));
    }
}

impl SloCounts {
    fn new(objectives: Vec<String>) -> SloCounts {
        let each = vec![ObjectiveCounts::default(); objectives.len()];
        SloCounts { objectives, met: 0, cannot_tell: 0, each }
    }

    /// Adds what is known by objective.
    fn merge_each(&mut self, other: &SloCounts) {
        if self.each.len() != other.each.len() {
            self.each.clear();
        }
        self.each.iter_mut().zip(&other.each).for_each(|(sum, part)| sum.merge(part));
    }
}

impl LlmFacts {
    /// Nothing yet.
    pub fn new(api: LlmApi, objectives: Vec<String>) -> LlmFacts {
        LlmFacts {
            api,
            content_events: 0,
            reasoning_events: 0,
            other_events: 0,
            error_events: 0,
            unreadable_events: 0,
            coalesced_content_gaps: 0,
            tokens: TokenCounts::default(),
            by_client: None,
            slo: (!objectives.is_empty()).then(|| SloCounts::new(objectives)),
        }
    }

    /// Events of all kinds.
    pub fn events(&self) -> u64 {
        let kinds = [self.content_events, self.other_events, self.error_events, self.unreadable_events];
        kinds.into_iter().fold(0, u64::saturating_add)
    }

    /// Output tokens of all complete answers, as the server or else the tokenizer counted them; `None` where nobody counted those
    /// of each.
    pub fn output_tokens(&self) -> Option<u64> {
        let (counted, output) = self.by_client.as_ref().map_or((0, 0), |client| (client.counted, client.output));
        (counted == self.tokens.not_counted).then(|| self.tokens.output.saturating_add(output))
    }

    /// What was asked for is the same, so that the two may be added.
    pub(super) fn is_alike(&self, other: &LlmFacts) -> bool {
        let objectives = |facts: &LlmFacts| facts.slo.as_ref().map(|slo| slo.objectives.clone());
        let tokenizer = |facts: &LlmFacts| facts.by_client.as_ref().map(|client| client.sha256.clone());
        self.api == other.api && objectives(self) == objectives(other) && tokenizer(self) == tokenizer(other)
    }

    /// Adds those of another part of the run. A file may hold any counts, so sums saturate.
    pub(super) fn merge(&mut self, other: &LlmFacts) {
        let mut part = other.clone();
        self.slo.iter_mut().zip(&other.slo).for_each(|(sum, part)| sum.merge_each(part));
        self.each().into_iter().zip(part.each()).for_each(|(sum, part)| *sum = sum.saturating_add(*part));
    }

    fn each(&mut self) -> Vec<&mut u64> {
        let events = [
            &mut self.content_events,
            &mut self.reasoning_events,
            &mut self.other_events,
            &mut self.error_events,
            &mut self.unreadable_events,
            &mut self.coalesced_content_gaps,
        ];
        let slo = self.slo.iter_mut().flat_map(|slo| [&mut slo.met, &mut slo.cannot_tell]);
        let by_client = self.by_client.iter_mut().flat_map(ClientTokens::each);
        events.into_iter().chain(self.tokens.each()).chain(by_client).chain(slo).collect()
    }
}
