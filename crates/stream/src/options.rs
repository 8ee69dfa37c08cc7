//! Options of streams, and the rule that tells which answers are streams.

use std::sync::Arc;

use truetail_engine::{FieldList, Forms};
use truetail_model::time::Nanos;
use truetail_run::{LlmApi, LlmReading, PromptFacts, StampBooks, StreamKind};

use crate::chunk::Usage;
use crate::dialect::DescribedDialect;
use crate::event_parser::MAX_DATA_BYTES;
use crate::slo::Objective;
use crate::tokenizer::Tokenizer;

/// Header in which TEI counts the tokens of a request.
const TOKENS_IN_HEAD: &str = "x-compute-tokens";

/// Options for reading answers as streams.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StreamOptions {
    /// Definition of an event.
    pub kind: StreamKind,
    /// Gaps of at least this length are stalls.
    pub stall: Option<Nanos>,
    /// Time without a byte after which a stream is given up.
    pub idle_timeout: Option<Nanos>,
    /// Data of the end mark, without which a stream is not complete, unless a language model ended its answer. At most
    /// [`MAX_DATA_BYTES`]; blanks around it do not count.
    pub end_mark: Option<String>,
    /// The sender's time in pushes: empty books of it.
    pub stamps: Option<StampBooks>,
    /// JSON forms of pushes whose bytes are no JSON.
    pub forms: Option<Forms>,
    /// Options for events of a language model; only with events that have data.
    pub llm: Option<LlmOptions>,
}

/// Lengths of made prompts and their answers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AskedPrompts {
    /// The lengths as the user wrote them.
    pub name: String,
    /// By row: input and output tokens that were asked for.
    pub lengths: Vec<(u32, u32)>,
}

/// Options for answers of language models.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LlmOptions {
    /// Form of the events.
    pub api: LlmApi,
    /// Description of this form, with [`LlmApi::Described`].
    pub dialect: Option<Arc<DescribedDialect>>,
    /// The form was recognised by an answer before the load.
    pub is_recognised: bool,
    /// Without an end mark, a stream is complete only if the model ended its answer.
    pub must_finish: bool,
    /// Objectives that each request must meet to count in goodput.
    pub slo: Vec<Objective>,
    /// Counts the tokens of answers whose tokens the server does not count.
    pub tokenizer: Option<Tokenizer>,
    /// Lengths that prompts were made for.
    pub asked: Option<Arc<AskedPrompts>>,
}

impl LlmOptions {
    /// Options for this form and these objectives, without a tokenizer.
    pub fn new(api: LlmApi, slo: Vec<Objective>) -> LlmOptions {
        LlmOptions { api, dialect: None, is_recognised: false, must_finish: false, slo, tokenizer: None, asked: None }
    }

    /// Options for a dialect that a file describes.
    pub fn described(dialect: DescribedDialect, slo: Vec<Objective>) -> LlmOptions {
        LlmOptions { dialect: Some(Arc::new(dialect)), ..LlmOptions::new(LlmApi::Described, slo) }
    }

    pub(crate) fn reading(&self) -> LlmReading {
        let dialect = self.dialect.as_ref().map(|dialect| dialect.source().clone());
        let prompts = self.asked.as_ref().map(|asked| PromptFacts::new(asked.name.clone()));
        LlmReading { api: self.api, dialect, recognised: self.is_recognised, prompts }
    }

    /// Returns the kind of event.
    pub fn stream_kind(&self) -> StreamKind {
        self.dialect.as_ref().map_or(self.api.stream_kind(), |dialect| dialect.stream_kind())
    }

    /// Explains which objective answers cannot meet or miss, because they come whole. `None` if all can be judged.
    pub fn objection_to_slo(&self) -> Option<String> {
        let of_pieces = self.slo.iter().find(|objective| self.api.comes_whole() && !objective.is_of_whole_answers())?;
        let api = self.api.name();
        Some(format!(
            "'{of_pieces}' needs answers that come token by token, and those of {api} come whole; use 'e2e < TIME'"
        ))
    }

    fn end_mark(&self) -> Option<&str> {
        self.dialect.as_ref().map_or(self.api.end_mark(), |dialect| dialect.end_mark())
    }
}

impl StreamOptions {
    /// Options for streams of this kind, without stalls, idle timeout or end mark.
    pub fn new(kind: StreamKind) -> StreamOptions {
        StreamOptions { kind, stall: None, idle_timeout: None, end_mark: None, stamps: None, forms: None, llm: None }
    }

    /// Options for streams of a language model, which end with its mark.
    pub fn for_llm(llm: LlmOptions) -> StreamOptions {
        let end_mark = llm.end_mark().map(str::to_owned);
        let plain = StreamOptions::new(llm.stream_kind());
        StreamOptions { end_mark, llm: Some(LlmOptions { must_finish: true, ..llm }), ..plain }
    }

    /// Sets the end mark as users write it: the data of an event, or `none`.
    ///
    /// # Errors
    /// The mark is empty or too long.
    pub fn with_end_mark(self, given: Option<String>) -> Result<StreamOptions, String> {
        let end_mark = match given {
            None => return Ok(self),
            Some(mark) if mark == "none" => None,
            Some(mark) if mark.trim_ascii().is_empty() => {
                return Err("it is empty; write none if a stream ends without a mark".to_owned());
            }
            Some(mark) if mark.len() > MAX_DATA_BYTES => {
                return Err(format!("it has {} bytes; at most {MAX_DATA_BYTES} are compared", mark.len()));
            }
            Some(mark) => Some(mark),
        };
        let llm = self.llm.map(|llm| LlmOptions { must_finish: llm.must_finish && end_mark.is_some(), ..llm });
        Ok(StreamOptions { end_mark, llm, ..self })
    }

    /// Returns true if an event with this data is the end mark.
    pub(crate) fn is_end_mark(&self, data: &[u8]) -> bool {
        let Some(mark) = &self.end_mark else { return false };
        // Nearly all events differ in their first byte.
        let rest = data.trim_ascii_start().strip_prefix(mark.trim_ascii().as_bytes());
        rest.is_some_and(|rest| rest.trim_ascii_start().is_empty())
    }

    /// Returns the count of input tokens in the head of an answer without output.
    pub(crate) fn usage_in_head(&self, fields: &FieldList) -> Option<Usage> {
        self.llm.as_ref().filter(|llm| !llm.api.has_output())?;
        let value = fields.all(TOKENS_IN_HEAD).next()?;
        let input = str::from_utf8(value).ok()?.trim().parse().ok()?;
        Some(Usage { input: Some(input), ..Usage::default() })
    }

    /// Returns true if an answer with this head is a stream. Server-sent events must be as a browser accepts them:
    /// status 200, content type `text/event-stream`, and no content coding, which truetail would not decode.
    pub(crate) fn is_stream(&self, status: Option<u16>, fields: &FieldList) -> bool {
        match self.kind {
            StreamKind::Messages => status == Some(200) && fields.all("content-type").any(is_grpc),
            StreamKind::Chunks => status.is_some_and(|status| (200..300).contains(&status)),
            // Items come from a generator, and pushes without a request.
            StreamKind::Items | StreamKind::Pushes => false,
            StreamKind::Sse | StreamKind::Lines | StreamKind::Whole => {
                let is_of_kind = match self.kind {
                    StreamKind::Sse => is_event_stream,
                    StreamKind::Lines => is_json_lines,
                    _ => is_json,
                };
                let dialect = self.llm.as_ref().and_then(|llm| llm.dialect.as_ref());
                let own = dialect.map_or(&[][..], |dialect| dialect.media_types());
                let is_of_kind = |value: &[u8]| {
                    if own.is_empty() { is_of_kind(value) } else { has_media_type(value, own) }
                };
                let is_plain = |value: &[u8]| value.trim_ascii().eq_ignore_ascii_case(b"identity");
                status == Some(200)
                    && fields.all("content-type").any(is_of_kind)
                    && fields.all("content-encoding").all(is_plain)
            }
        }
    }
}

/// Returns true for the media type of gRPC, with any suffix: `application/grpc+proto`.
fn is_grpc(content_type: &[u8]) -> bool {
    let name = content_type.split(|byte| matches!(byte, b';' | b'+' | b' ')).next().unwrap_or_default();
    name.eq_ignore_ascii_case(b"application/grpc")
}

fn is_event_stream(content_type: &[u8]) -> bool {
    has_media_type(content_type, &["text/event-stream"])
}

fn is_json_lines(content_type: &[u8]) -> bool {
    let names = ["application/x-ndjson", "application/ndjson", "application/jsonl", "application/json-lines"];
    has_media_type(content_type, &names)
}

/// Returns true for JSON, also under another name: `application/problem+json`.
fn is_json(content_type: &[u8]) -> bool {
    let media_type = media_type(content_type);
    let suffix = media_type.len().checked_sub(b"+json".len()).map_or(&[][..], |at| &media_type[at..]);
    media_type.eq_ignore_ascii_case(b"application/json") || suffix.eq_ignore_ascii_case(b"+json")
}

fn media_type(content_type: &[u8]) -> &[u8] {
    content_type.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii()
}

/// Compares the media type without its parameters.
fn has_media_type(content_type: &[u8], names: &[impl AsRef<str>]) -> bool {
    let media_type = media_type(content_type);
    names.iter().any(|name| media_type.eq_ignore_ascii_case(name.as_ref().as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_takes_the_same_answers_for_event_streams() {
        let sse = StreamOptions::new(StreamKind::Sse);
        for (status, fields, expected) in [
            (200, &[("Content-Type", "text/event-stream")][..], true),
            (200, &[("content-type", "Text/Event-Stream ; charset=utf-8")], true),
            (200, &[("content-type", "text/event-stream"), ("content-encoding", "identity")], true),
            (200, &[("content-type", "text/event-stream"), ("content-encoding", "gzip")], false),
            (200, &[("content-type", "text/event-streams")], false),
            (200, &[], false),
            (204, &[("content-type", "text/event-stream")], false),
            (500, &[("content-type", "text/event-stream")], false),
        ] {
            let mut list = FieldList::default();
            fields.iter().for_each(|(name, value)| list.push(name.as_bytes(), value.as_bytes()));
            assert_eq!(sse.is_stream(Some(status), &list), expected, "{status} {fields:?}");
        }
        let whole = StreamOptions::new(StreamKind::Whole);
        for (content_type, expected) in [
            ("application/json", true),
            ("Application/JSON; charset=utf-8", true),
            ("application/vnd.x+JSON", true),
            ("application/x-ndjson", false),
            ("text/html", false),
            ("json", false),
        ] {
            let mut list = FieldList::default();
            list.push(b"content-type", content_type.as_bytes());
            assert_eq!(whole.is_stream(Some(200), &list), expected, "{content_type}");
            assert!(!whole.is_stream(Some(201), &list));
            list.push(b"content-encoding", b"gzip");
            assert!(!whole.is_stream(Some(200), &list));
        }
        let chunks = StreamOptions::new(StreamKind::Chunks);
        assert!(
            chunks.is_stream(Some(206), &FieldList::default()) && !chunks.is_stream(Some(404), &FieldList::default())
        );
    }
}
