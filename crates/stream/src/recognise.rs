//! Recognises the API of a language model by one answer.

use std::sync::{Arc, Mutex, PoisonError};

use truetail_engine::{AnswerHead, AnswerReader, EndedRequest, FieldList, ObserverFactory};
use truetail_run::{LlmApi, StreamKind};

use crate::dialect::{is_certainly, read_event, read_whole, scanner};
use crate::event_parser::{EventParser, ServerSentEvent};
use crate::json_scanner::JsonScanner;
use crate::line_parser::LineParser;
use crate::options::{LlmOptions, StreamOptions};

/// Limit on the bytes of an answer that are kept.
const MAX_KEPT: usize = 1 << 20;
/// Limit on the characters of an answer that are quoted.
const MAX_QUOTED: usize = 200;

/// The answer to a request before the load, or its beginning.
#[derive(Clone, Default, Debug)]
pub struct FirstAnswer {
    /// Status; `None` without a head.
    pub status: Option<u16>,
    fields: FieldList,
    body: Vec<u8>,
}

/// API that fits an answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Recognised {
    /// The API.
    pub api: LlmApi,
    /// Events of the answer.
    pub events: u64,
    /// Events that this API does not explain.
    pub not_understood: u64,
}

/// Returns an observer of one answer, and the answer that it keeps.
pub fn first_answer() -> (ObserverFactory, Arc<Mutex<FirstAnswer>>) {
    let answer = Arc::new(Mutex::new(FirstAnswer::default()));
    let kept = Arc::clone(&answer);
    (ObserverFactory::new(move || Box::new(Keeper(Arc::clone(&kept)))), answer)
}

struct Keeper(Arc<Mutex<FirstAnswer>>);

impl AnswerReader for Keeper {
    fn head(&mut self, _: u32, head: AnswerHead<'_>) {
        let mut answer = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        answer.status = head.status;
        head.copy_fields(&mut answer.fields);
    }

    fn body(&mut self, _: u32, part: &[u8]) {
        let mut answer = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let room = MAX_KEPT - answer.body.len();
        answer.body.extend_from_slice(&part[..part.len().min(room)]);
    }

    fn end(&mut self, _: u32, _: EndedRequest) {}
}

/// Events of an answer, as one API reads them.
#[derive(Clone, Copy, Default)]
struct Reading {
    events: u64,
    content: u64,
    errors: u64,
    unknown: u64,
}

impl FirstAnswer {
    /// Returns true if a part of the body came.
    pub fn has_body(&self) -> bool {
        !self.body.is_empty()
    }

    /// Returns the tokens of the request by the server's count; `None` if it does not count them.
    ///
    /// # Errors
    /// What the answer is, if it is no stream, with its beginning, which is foreign text.
    pub fn input_tokens(&self, options: &StreamOptions) -> Result<Option<u64>, String> {
        if self.status != Some(200) {
            return Err(format!("the answer has {}{}", self.status_in_words(), self.quoted()));
        }
        let Some(llm) = options.llm.as_ref().filter(|_| options.is_stream(self.status, &self.fields)) else {
            return Err(self.not_a_stream());
        };
        if options.kind == StreamKind::Whole {
            let chunk = read_whole(llm.api, &self.document(llm.api));
            let usage = chunk.and_then(|chunk| chunk.usage).or_else(|| options.usage_in_head(&self.fields));
            return Ok(usage.and_then(|usage| usage.input));
        }
        let mut input = None;
        self.feed(options.kind, &mut |event| {
            let chunk = read_event(llm, event.data, event.is_whole());
            input = chunk.and_then(|(chunk, _)| chunk.usage?.input).or(input);
        });
        Ok(input)
    }

    fn document(&self, api: LlmApi) -> JsonScanner {
        let mut document = scanner(api);
        document.feed(&self.body);
        document
    }

    fn feed(&self, kind: StreamKind, take: &mut impl FnMut(ServerSentEvent<'_>)) {
        match kind {
            StreamKind::Lines => LineParser::default().feed(&self.body, take),
            _ => EventParser::new().feed(&self.body, take),
        }
    }

    /// Returns the only API by which the answer has content.
    ///
    /// # Errors
    /// What the answer is instead, with its beginning, which is foreign text.
    pub fn recognise(&self) -> Result<Recognised, String> {
        if self.status != Some(200) {
            return Err(format!("the answer has {}{}", self.status_in_words(), self.quoted()));
        }
        let readings = LlmApi::ALL.map(|api| (api, self.read(api)));
        let fitting: Vec<_> = readings.iter().filter_map(|(api, reading)| Some((*api, (*reading)?))).collect();
        let Some((_, any)) = fitting.first() else { return Err(self.not_a_stream()) };
        if any.events == 0 {
            return Err(format!("the answer is a stream without an event{}", self.quoted()));
        }
        let with_content: Vec<_> = fitting.iter().filter(|(_, reading)| reading.content > 0).collect();
        match with_content[..] {
            [(api, reading)] => Ok(Recognised { api: *api, events: reading.events, not_understood: reading.unknown }),
            [] if fitting.iter().any(|(_, reading)| reading.errors > 0) => {
                Err(format!("the answer reports an error{}", self.quoted()))
            }
            [] => {
                Err(format!("no event of the {} in the answer has content that is known{}", any.events, self.quoted()))
            }
            _ => {
                let names: Vec<_> = with_content.iter().map(|(api, _)| api.name()).collect();
                Err(format!("the answer may be that of {}{}", names.join(" or "), self.quoted()))
            }
        }
    }

    /// Reads the events by an API; `None` if it would not take the answer for a stream. An answer that
    /// comes whole is an event, if it is certainly of this API.
    fn read(&self, api: LlmApi) -> Option<Reading> {
        let llm = LlmOptions::new(api, Vec::new());
        let options = StreamOptions::for_llm(llm.clone());
        if !options.is_stream(self.status, &self.fields) {
            return None;
        }
        if api.comes_whole() {
            let whole = Reading { events: 1, content: 1, ..Reading::default() };
            return is_certainly(api, &self.document(api)).then_some(whole);
        }
        let mut reading = Reading::default();
        let mut take = |event: ServerSentEvent<'_>| {
            reading.events += 1;
            if options.is_end_mark(event.data) || event.data.trim_ascii().is_empty() {
                return;
            }
            match read_event(&llm, event.data, event.is_whole()).filter(|_| !event.is_error) {
                Some((chunk, _)) => {
                    reading.content += u64::from(!chunk.content.is_empty());
                    reading.errors += u64::from(chunk.is_error);
                    reading.unknown += u64::from(chunk.content.is_empty() && chunk.is_unknown);
                }
                None if event.is_error => reading.errors += 1,
                None => reading.unknown += 1,
            }
        };
        self.feed(options.kind, &mut take);
        Some(reading)
    }

    fn not_a_stream(&self) -> String {
        let coding = self.fields.all("content-encoding").next().map(lossy);
        let media_type = self.fields.all("content-type").next().map(lossy);
        let what = match (coding, media_type) {
            (Some(coding), _) => {
                format!("the answer has the content encoding {coding}, which truetail does not decode")
            }
            (None, Some(media_type)) => format!("the answer is no stream, but {media_type}"),
            (None, None) => "the answer has no content type, so it is no stream".to_owned(),
        };
        what + &self.quoted()
    }

    fn status_in_words(&self) -> String {
        self.status.map_or_else(|| "no status".to_owned(), |status| format!("status {status}"))
    }

    /// Returns the beginning of the body after a colon.
    fn quoted(&self) -> String {
        let begin = String::from_utf8_lossy(&self.body[..self.body.len().min(4 * MAX_QUOTED)]);
        let words: Vec<_> = begin.split_whitespace().collect();
        let text = words.join(" ");
        match text.char_indices().nth(MAX_QUOTED) {
            _ if text.is_empty() => String::new(),
            Some((end, _)) => format!(": '{}…'", &text[..end]),
            None => format!(": '{text}'"),
        }
    }
}

fn lossy(value: &[u8]) -> String {
    String::from_utf8_lossy(&value[..value.len().min(MAX_QUOTED)]).into_owned()
}
