//! Events and tokens of language models (`--llm`).

use serde::{Deserialize, Serialize};

use super::llm_finish::FinishCounts;
use super::session_books::is_zero;
use super::stream_reading::StreamKind;

/// Format of a language model's answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LlmApi {
    /// `/v1/chat/completions` of OpenAI: content is in `choices[].delta`.
    OpenaiChat,
    /// `/v1/completions` of OpenAI: content is in `choices[].text`.
    OpenaiCompletions,
    /// `/v1/responses` of OpenAI.
    OpenaiResponses,
    /// `/v1/messages` of Anthropic.
    Anthropic,
    /// `:streamGenerateContent?alt=sse` of Gemini.
    Gemini,
    /// `/api/chat` and `/api/generate` of Ollama, a JSON object per line.
    Ollama,
    /// `/generate_stream` of TGI.
    Tgi,
    /// `/completion` of llama.cpp.
    Llamacpp,
    /// `/generate` of SGLang.
    Sglang,
    /// `/v1/embeddings` and similar: an answer that comes whole, with a count of input tokens.
    Embeddings,
    /// `/v1/rerank` and similar, likewise.
    Rerank,
    /// A chat or a completion whose answer comes whole, in any of these formats: `"stream": false`.
    Whole,
    /// A dialect that a file describes: [`LlmReading::dialect`].
    Described,
}

impl LlmApi {
    /// All formats that truetail knows.
    pub const ALL: [LlmApi; 12] = [
        LlmApi::OpenaiChat,
        LlmApi::OpenaiCompletions,
        LlmApi::OpenaiResponses,
        LlmApi::Anthropic,
        LlmApi::Gemini,
        LlmApi::Ollama,
        LlmApi::Tgi,
        LlmApi::Llamacpp,
        LlmApi::Sglang,
        LlmApi::Embeddings,
        LlmApi::Rerank,
        LlmApi::Whole,
    ];

    /// Returns the kind of event of its answers.
    pub const fn stream_kind(self) -> StreamKind {
        match self {
            LlmApi::Ollama => StreamKind::Lines,
            LlmApi::Embeddings | LlmApi::Rerank | LlmApi::Whole => StreamKind::Whole,
            _ => StreamKind::Sse,
        }
    }

    /// Returns true if an answer comes whole: its content has no times.
    pub const fn comes_whole(self) -> bool {
        matches!(self.stream_kind(), StreamKind::Whole)
    }

    /// Returns true if an answer has output tokens.
    pub const fn has_output(self) -> bool {
        !matches!(self, LlmApi::Embeddings | LlmApi::Rerank)
    }

    /// Returns the data of the event that ends an answer; `None` if only the answer itself says that it ends.
    pub const fn end_mark(self) -> Option<&'static str> {
        match self {
            LlmApi::OpenaiChat | LlmApi::OpenaiCompletions | LlmApi::Sglang => Some("[DONE]"),
            _ => None,
        }
    }

    /// Returns the members of a request's body that ask for a stream, and for a count of its tokens, with their values.
    pub const fn request_members(self) -> &'static [(&'static str, &'static str)] {
        const STREAM: (&str, &str) = ("stream", "true");
        match self {
            LlmApi::OpenaiChat | LlmApi::OpenaiCompletions => &[STREAM, ("stream_options", "{\"include_usage\":true}")],
            // Its URL asks for a stream.
            LlmApi::Gemini => &[],
            // Their answers are no streams.
            LlmApi::Embeddings | LlmApi::Rerank | LlmApi::Whole => &[],
            LlmApi::OpenaiResponses
            | LlmApi::Anthropic
            | LlmApi::Ollama
            | LlmApi::Tgi
            | LlmApi::Llamacpp
            | LlmApi::Sglang => &[STREAM],
            // Its file has the members.
            LlmApi::Described => &[],
        }
    }

    /// Returns the name that users write.
    pub const fn name(self) -> &'static str {
        match self {
            LlmApi::OpenaiChat => "openai-chat",
            LlmApi::OpenaiCompletions => "openai-completions",
            LlmApi::OpenaiResponses => "openai-responses",
            LlmApi::Anthropic => "anthropic",
            LlmApi::Gemini => "gemini",
            LlmApi::Ollama => "ollama",
            LlmApi::Tgi => "tgi",
            LlmApi::Llamacpp => "llamacpp",
            LlmApi::Sglang => "sglang",
            LlmApi::Embeddings => "embeddings",
            LlmApi::Rerank => "rerank",
            LlmApi::Whole => "whole",
            LlmApi::Described => "described",
        }
    }
}

/// How a language model is asked, and how its answers are read.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LlmReading {
    /// Format of the answers.
    pub api: LlmApi,
    /// File that describes it, with [`LlmApi::Described`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialect: Option<DialectFile>,
    /// The format was recognised by an answer before the load (`--llm auto`).
    #[serde(default, skip_serializing_if = "is_false")]
    pub recognised: bool,
    /// Lengths of made prompts beside the server's count; `None` if no prompts were made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompts: Option<PromptFacts>,
}

impl LlmReading {
    /// Returns true if format and prompts are the same, however the format was found.
    fn is_alike(&self, other: &LlmReading) -> bool {
        let toml = |reading: &LlmReading| reading.dialect.as_ref().map(|dialect| dialect.toml.clone());
        let made = |reading: &LlmReading| reading.prompts.as_ref().map(|prompts| prompts.made.clone());
        self.api == other.api && toml(self) == toml(other) && made(self) == made(other)
    }
}

/// A file that describes a dialect (`--llm-dialect`).
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DialectFile {
    /// Name of the file.
    pub file: String,
    /// Text of the file.
    pub toml: String,
}

pub(super) fn is_false(truth: &bool) -> bool {
    !truth
}

/// Events of language models, and token counts of their servers. Times are [`StreamTime`](crate::StreamTime)s.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LlmFacts {
    /// How the answers are read.
    #[serde(flatten)]
    pub reading: LlmReading,
    /// Events with content: a part of a text, of reasoning, or of a tool call.
    pub content_events: u64,
    /// Content events that have only reasoning.
    pub reasoning_events: u64,
    /// Events without content: a role, the usage, the end mark.
    pub other_events: u64,
    /// Events that report a failure of the server.
    pub error_events: u64,
    /// Events that are not understood, and may have had content: not JSON of this format, or with content under an
    /// unknown name.
    pub unreadable_events: u64,
    /// Gaps between content events that were read at once. Their length is unknown.
    pub coalesced_content_gaps: u64,
    /// Content without a time.
    #[serde(default, skip_serializing_if = "UnmeasuredContent::is_empty")]
    pub unmeasured: UnmeasuredContent,
    /// Token counts that the servers sent.
    pub tokens: TokenCounts,
    /// Reasons why complete answers ended. Empty if an older truetail saved the run.
    #[serde(default, skip_serializing_if = "FinishCounts::is_empty")]
    pub finish: FinishCounts,
    /// Tokens that truetail counted; `None` without a tokenizer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_client: Option<ClientTokens>,
    /// Number of requests that met the objectives; `None` if no objective was set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slo: Option<SloCounts>,
}

/// Counts of content without a known time.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct UnmeasuredContent {
    /// Requests whose time to first content is unknown, because an event before it was not understood, or may have been
    /// the prompt.
    #[serde(skip_serializing_if = "is_zero")]
    pub first_content: u64,
    /// Gaps between content, at most, that are unknown because events were not understood, or may have been the prompt.
    #[serde(skip_serializing_if = "is_zero")]
    pub gaps: u64,
    /// Content that follows no known gap: it is the first of a further choice, or comes after an event that was not
    /// understood.
    #[serde(skip_serializing_if = "is_zero")]
    pub without_gap: u64,
    /// Content of further choices in events that have content of several.
    #[serde(skip_serializing_if = "is_zero")]
    pub further_parts: u64,
    /// Events with text that may be the prompt, because the request asks the server to repeat it (`"echo": true`).
    #[serde(skip_serializing_if = "is_zero")]
    pub echo_events: u64,
}

impl UnmeasuredContent {
    fn is_empty(&self) -> bool {
        *self == UnmeasuredContent::default()
    }

    fn each(&mut self) -> [&mut u64; 5] {
        [&mut self.first_content, &mut self.gaps, &mut self.without_gap, &mut self.further_parts, &mut self.echo_events]
    }
}

/// Tokens of complete answers, by the `usage` that the server sent. Answers that come whole
/// are counted if they have a count of input tokens.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct TokenCounts {
    /// Complete answers with a server's count of output tokens.
    pub counted: u64,
    /// Complete answers without such a count.
    pub not_counted: u64,
    /// Output tokens of the counted answers, including reasoning.
    pub output: u64,
    /// Tokens of reasoning among them, as far as the server states them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reasoning: u64,
    /// Tokens of reasoning of answers that showed none of it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub hidden_reasoning: u64,
    /// Input tokens of the counted answers.
    pub input: u64,
    /// Counted answers without a count of input tokens.
    pub without_input: u64,
    /// Input tokens that the server had in a cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cached_input: u64,
    /// Counted answers with a count of these.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub with_cached: u64,
    /// Complete answers whose time per output token is unknown: the server did not count the tokens, the count cannot
    /// be true for the content, the answer has several choices, an event was not understood or may have been the
    /// prompt, or all content came in one read.
    pub unknown_time_per_output_token: u64,
    /// Complete answers with at most one token, which have no time per output token.
    pub no_time_per_output_token: u64,
}

impl TokenCounts {
    fn each(&mut self) -> [&mut u64; 11] {
        [
            &mut self.counted,
            &mut self.not_counted,
            &mut self.output,
            &mut self.reasoning,
            &mut self.hidden_reasoning,
            &mut self.input,
            &mut self.without_input,
            &mut self.cached_input,
            &mut self.with_cached,
            &mut self.unknown_time_per_output_token,
            &mut self.no_time_per_output_token,
        ]
    }
}

/// Output tokens of complete answers that the server did not count. The count may differ from the model's own.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ClientTokens {
    /// Name of the tokenizer's file.
    pub tokenizer: String,
    /// SHA-256 of that file, in hexadecimal digits.
    pub sha256: String,
    /// Answers that the tokenizer counted. They are among [`TokenCounts::not_counted`].
    pub counted: u64,
    /// Output tokens of these answers.
    pub output: u64,
}

impl ClientTokens {
    /// Returns zero counts for this tokenizer.
    pub fn new(tokenizer: String, sha256: String) -> ClientTokens {
        ClientTokens { tokenizer, sha256, counted: 0, output: 0 }
    }

    /// Counts an answer of `tokens` tokens.
    pub fn add(&mut self, tokens: u64) {
        self.counted += 1;
        self.output = self.output.saturating_add(tokens);
    }

    fn each(&mut self) -> [&mut u64; 2] {
        [&mut self.counted, &mut self.output]
    }
}

/// Lengths that were asked for of made prompts and their answers (`--prompts`), and the server's count, over complete
/// answers whose input and output tokens it counted.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PromptFacts {
    /// The lengths as the user wrote them.
    pub made: String,
    /// Answers.
    pub answers: u64,
    /// Input tokens that were asked for.
    pub asked_input: u64,
    /// Input tokens by the server's count.
    pub counted_input: u64,
    /// Output tokens that were asked for.
    pub asked_output: u64,
    /// Output tokens by the server's count.
    pub counted_output: u64,
    /// Answers whose input tokens differ by more than 5 % from those asked for.
    pub input_off: u64,
}

impl PromptFacts {
    /// Returns zero counts for prompts of these lengths.
    pub fn new(made: String) -> PromptFacts {
        PromptFacts { made, ..PromptFacts::default() }
    }

    /// Counts an answer: input and output tokens, asked for and counted.
    pub fn add(&mut self, asked: (u32, u32), counted: (u64, u64)) {
        let asked = (u64::from(asked.0), u64::from(asked.1));
        let is_off = u128::from(counted.0.abs_diff(asked.0)) * 20 > u128::from(asked.0);
        let more = [1, asked.0, counted.0, asked.1, counted.1, u64::from(is_off)];
        self.each().into_iter().zip(more).for_each(|(sum, more)| *sum = sum.saturating_add(more));
    }

    fn each(&mut self) -> [&mut u64; 6] {
        [
            &mut self.answers,
            &mut self.asked_input,
            &mut self.counted_input,
            &mut self.asked_output,
            &mut self.counted_output,
            &mut self.input_off,
        ]
    }
}

/// Number of planned requests that met all objectives.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SloCounts {
    /// The objectives as the user wrote them.
    pub objectives: Vec<String>,
    /// Complete answers that met all objectives.
    pub met: u64,
    /// Complete answers that missed no objective, but with at least one undecided objective.
    pub cannot_tell: u64,
    /// Complete answers by each of `objectives`; empty if an older truetail saved the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub each: Vec<ObjectiveCounts>,
}

/// Complete answers by one objective.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct ObjectiveCounts {
    /// Answers that met it.
    pub met: u64,
    /// Answers that missed it.
    pub missed: u64,
    /// Answers with an undecided result.
    pub cannot_tell: u64,
}

impl ObjectiveCounts {
    /// Returns the number of counted answers.
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

    /// Adds the counts by objective. They are cleared if only one side has them.
    fn merge_each(&mut self, other: &SloCounts) {
        if self.each.len() != other.each.len() {
            self.each.clear();
        }
        self.each.iter_mut().zip(&other.each).for_each(|(sum, part)| sum.merge(part));
    }
}

impl LlmFacts {
    /// Returns facts without any event.
    pub fn new(api: LlmApi, objectives: Vec<String>) -> LlmFacts {
        LlmFacts {
            reading: LlmReading { api, dialect: None, recognised: false, prompts: None },
            content_events: 0,
            reasoning_events: 0,
            other_events: 0,
            error_events: 0,
            unreadable_events: 0,
            coalesced_content_gaps: 0,
            unmeasured: UnmeasuredContent::default(),
            tokens: TokenCounts::default(),
            finish: FinishCounts::default(),
            by_client: None,
            slo: (!objectives.is_empty()).then(|| SloCounts::new(objectives)),
        }
    }

    /// Returns the number of events of all kinds.
    pub fn events(&self) -> u64 {
        let understood = [self.content_events, self.other_events, self.error_events];
        let kinds = understood.into_iter().chain([self.unreadable_events, self.unmeasured.echo_events]);
        kinds.into_iter().fold(0, u64::saturating_add)
    }

    /// Returns the output tokens of all complete answers; `None` if neither server nor tokenizer counted one, or if
    /// the API has no output.
    pub fn output_tokens(&self) -> Option<u64> {
        let (counted, output) = self.by_client.as_ref().map_or((0, 0), |client| (client.counted, client.output));
        let is_known = self.reading.api.has_output() && counted == self.tokens.not_counted;
        is_known.then(|| self.tokens.output.saturating_add(output))
    }

    /// Returns the input tokens of all complete answers; `None` if the server did not count one of them.
    pub fn input_tokens(&self) -> Option<u64> {
        let TokenCounts { not_counted, without_input, input, .. } = self.tokens;
        (not_counted == 0 && without_input == 0).then_some(input)
    }

    /// Returns true if both had the same settings, so that they can be added.
    pub(super) fn is_alike(&self, other: &LlmFacts) -> bool {
        let objectives = |facts: &LlmFacts| facts.slo.as_ref().map(|slo| slo.objectives.clone());
        let tokenizer = |facts: &LlmFacts| facts.by_client.as_ref().map(|client| client.sha256.clone());
        self.reading.is_alike(&other.reading)
            && objectives(self) == objectives(other)
            && tokenizer(self) == tokenizer(other)
    }

    /// Adds the facts of another part of the run. Sums saturate, since files may hold any counts.
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
        let prompts = self.reading.prompts.iter_mut().flat_map(PromptFacts::each);
        let counts = self.tokens.each().into_iter().chain(self.unmeasured.each()).chain(self.finish.each());
        events.into_iter().chain(counts).chain(prompts).chain(by_client).chain(slo).collect()
    }
}
