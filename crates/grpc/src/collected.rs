use std::sync::{Arc, Mutex, PoisonError};

use percent_encoding::percent_decode;
use truetail_engine::{AnswerHead, AnswerReader, EndedRequest, FieldList, ObserverFactory, Trailers};

/// Limit on the bytes of an answer that are kept.
const MAX_KEPT: usize = 32 * 1024 * 1024;
/// Limit on the bytes of an error message that are kept.
const LONGEST_MESSAGE: usize = 1024;

/// Returns the text of `grpc-message`, decoded and shortened; foreign text. `None` without the field.
pub fn message_in(fields: &FieldList) -> Option<String> {
    let message = fields.all("grpc-message").next()?;
    let message = &message[..message.len().min(LONGEST_MESSAGE)];
    Some(percent_decode(message).decode_utf8_lossy().into_owned())
}

/// One answer that was kept.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct CollectedAnswer {
    /// Its messages with their prefixes.
    pub body: Vec<u8>,
    /// True if the body was larger than what is kept.
    pub is_cut: bool,
    /// The text of its `grpc-message`, decoded and shortened; foreign text.
    pub message: Option<String>,
}

/// Returns an observer of one answer, and the answer that it keeps.
pub fn answer_collector() -> (ObserverFactory, Arc<Mutex<CollectedAnswer>>) {
    let answer = Arc::new(Mutex::new(CollectedAnswer::default()));
    let kept = answer.clone();
    (ObserverFactory::new(move || Box::new(Collector { answer: kept.clone(), fields: FieldList::default() })), answer)
}

struct Collector {
    answer: Arc<Mutex<CollectedAnswer>>,
    fields: FieldList,
}

impl Collector {
    fn take_message(&mut self) {
        if let Some(text) = message_in(&self.fields) {
            self.answer.lock().unwrap_or_else(PoisonError::into_inner).message = Some(text);
        }
    }
}

impl AnswerReader for Collector {
    fn head(&mut self, _: u32, head: AnswerHead<'_>) {
        head.copy_fields(&mut self.fields);
        self.take_message();
    }

    fn body(&mut self, _: u32, part: &[u8]) {
        let mut answer = self.answer.lock().unwrap_or_else(PoisonError::into_inner);
        let room = MAX_KEPT - answer.body.len();
        answer.is_cut |= part.len() > room;
        answer.body.extend_from_slice(&part[..part.len().min(room)]);
    }

    fn trailers(&mut self, _: u32, trailers: Trailers<'_>) {
        trailers.copy_fields(&mut self.fields);
        self.take_message();
    }

    fn end(&mut self, _: u32, _: EndedRequest) {}
}
