//! Streams as text: with plain numbers, or in the formats of language models.

use std::fmt::Write as _;

use truetail_model::service::{
    StreamContent, StreamEnd, StreamFormat, StreamOutline, StreamRequest, StreamWrite, UsageReport,
};

use super::json_body::ModelRequest;
use super::truth::EventKind;

/// Numbers of an embedding.
const DIMENSIONS: usize = 384;

/// Writer of the events of one stream.
#[derive(Clone, Debug)]
pub(crate) struct StreamText {
    pub(crate) outline: StreamOutline,
    content: StreamContent,
    request: StreamRequest,
    prompt_tokens: u64,
    /// Number of texts to embed.
    texts: u64,
    /// Start of each event of a model, up to the list of choices.
    preamble: String,
}

impl StreamText {
    /// Prepares the text of answer `number`, created in second `created` since 1970.
    pub(crate) fn new(
        content: StreamContent,
        format: StreamFormat,
        body: &ModelRequest,
        number: u64,
        created: u64,
    ) -> StreamText {
        let request = StreamRequest { format, tokens: body.tokens, wants_usage: body.wants_usage };
        let (name, object) = match format {
            StreamFormat::Plain | StreamFormat::Chat => ("chatcmpl", "chat.completion"),
            StreamFormat::Completions => ("cmpl", "text_completion"),
            StreamFormat::Embeddings => ("embd", "list"),
        };
        let chunk = if body.streams && format == StreamFormat::Chat { ".chunk" } else { "" };
        let model = serde_json::Value::String(body.model.clone());
        let preamble =
            format!(r#"{{"id":"{name}-{number}","object":"{object}{chunk}","created":{created},"model":{model}"#);
        StreamText {
            outline: content.outline(request),
            content,
            request,
            prompt_tokens: body.prompt_words,
            texts: body.texts,
            preamble,
        }
    }

    /// Returns the events of a write, and their kinds.
    pub(crate) fn write(&self, write: &StreamWrite) -> (String, Vec<EventKind>) {
        let mut text = String::new();
        let mut kinds = Vec::new();
        if write.first == 0 && self.outline.before > 0 {
            self.choice(&mut text, r#""delta":{"role":"assistant","content":""}"#, None);
            kinds.push(EventKind::Role);
        }
        for event in write.first..write.first + write.content {
            self.content_event(&mut text, event);
            kinds.push(EventKind::Content);
        }
        if write.ends {
            self.end(&mut text, &mut kinds);
        }
        (text, kinds)
    }

    fn content_event(&self, text: &mut String, event: u64) {
        let words = self.words(event);
        match self.request.format {
            StreamFormat::Plain => {
                let _ = write!(text, "data: {words}\n\n");
            }
            StreamFormat::Chat => self.choice(text, &format!(r#""delta":{{"content":" {words}"}}"#), None),
            StreamFormat::Completions => self.choice(text, &format!(r#""text":" {words}""#), None),
            // Their answers have no events.
            StreamFormat::Embeddings => {}
        }
    }

    /// Returns the number of the event, repeated for each of its tokens and padded with zeros to the wanted length.
    fn words(&self, event: u64) -> String {
        let number = event.to_string();
        let tokens = self.tokens_of(event) as usize;
        let words = vec![number; tokens].join(" ");
        let zeros = "0".repeat((self.content.bytes as usize).saturating_sub(words.len()));
        zeros + &words
    }

    fn tokens_of(&self, event: u64) -> u64 {
        let each = self.content.tokens.max(1);
        self.outline.tokens.saturating_sub(event.saturating_mul(each)).clamp(1, each)
    }

    fn end(&self, text: &mut String, kinds: &mut Vec<EventKind>) {
        if self.outline.end == StreamEnd::Unfinished {
            text.push_str("data: never finis");
            return;
        }
        match self.request.format {
            StreamFormat::Plain | StreamFormat::Embeddings => {}
            StreamFormat::Chat => self.finish(text, kinds, r#""delta":{}"#),
            StreamFormat::Completions => self.finish(text, kinds, r#""text":"""#),
        }
        if self.outline.end == StreamEnd::Done {
            text.push_str("data: [DONE]\n\n");
            kinds.push(EventKind::Done);
        }
    }

    fn finish(&self, text: &mut String, kinds: &mut Vec<EventKind>, nothing: &str) {
        self.choice(text, nothing, Some(self.finish_reason()));
        kinds.push(EventKind::Finish);
        if let Some(usage) = self.usage().filter(|_| self.request.wants_usage) {
            let _ = write!(text, "data: {},\"choices\":[],{usage}}}\n\n", self.preamble);
            kinds.push(EventKind::Usage);
        }
    }

    fn choice(&self, text: &mut String, part: &str, finish_reason: Option<&str>) {
        let reason = finish_reason.map_or("null".to_owned(), |reason| format!("\"{reason}\""));
        let choices = format!(r#""choices":[{{"index":0,{part},"logprobs":null,"finish_reason":{reason}}}]"#);
        let _ = write!(text, "data: {},{choices}}}\n\n", self.preamble);
    }

    fn finish_reason(&self) -> &'static str {
        if self.request.tokens.is_some() { "length" } else { "stop" }
    }

    /// Returns the reported token usage; `None` if the service reports none.
    fn usage(&self) -> Option<String> {
        let prompt = self.prompt_tokens;
        let tokens = self.outline.tokens;
        let said = match self.content.usage {
            UsageReport::Right => tokens,
            UsageReport::Missing => return None,
            UsageReport::Wrong => 2 * tokens + 1,
        };
        let total = prompt + said;
        Some(format!(r#""usage":{{"prompt_tokens":{prompt},"completion_tokens":{said},"total_tokens":{total}}}"#))
    }

    /// Returns the whole answer in one piece, as JSON.
    pub(crate) fn in_one_piece(&self) -> String {
        let words: String = (0..self.outline.content).map(|event| format!(" {}", self.words(event))).collect();
        let part = match self.request.format {
            StreamFormat::Plain | StreamFormat::Chat => {
                format!(r#""message":{{"role":"assistant","content":"{words}"}}"#)
            }
            StreamFormat::Completions => format!(r#""text":"{words}""#),
            StreamFormat::Embeddings => return self.embeddings(),
        };
        let reason = self.finish_reason();
        let choices = format!(r#""choices":[{{"index":0,{part},"logprobs":null,"finish_reason":"{reason}"}}]"#);
        let usage = self.usage().map_or(String::new(), |usage| format!(",{usage}"));
        format!("{},{choices}{usage}}}", self.preamble)
    }

    /// Returns the answer with an embedding for each text.
    fn embeddings(&self) -> String {
        let numbers = ["-0.0625"; DIMENSIONS].join(",");
        let row = |index| format!(r#"{{"object":"embedding","index":{index},"embedding":[{numbers}]}}"#);
        let rows = (0..self.texts).map(row).collect::<Vec<_>>().join(",");
        let tokens = match self.content.usage {
            UsageReport::Right => Some(self.prompt_tokens),
            UsageReport::Missing => None,
            UsageReport::Wrong => Some(2 * self.prompt_tokens + 1),
        };
        let usage = tokens.map(|tokens| format!(r#","usage":{{"prompt_tokens":{tokens},"total_tokens":{tokens}}}"#));
        format!(r#"{},"data":[{rows}]{}}}"#, self.preamble, usage.unwrap_or_default())
    }
}
