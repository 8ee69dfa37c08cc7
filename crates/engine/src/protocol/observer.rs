//! For whoever wants to see answers, and not only when they came.

use std::fmt;
use std::sync::Arc;

use truetail_model::arrival::Arrival;
use truetail_model::record::Outcome;

use super::fields::FieldList;
use super::http1::head_fields;
use crate::target::request_set::RequestId;

/// Sees the answers of one worker while they are read. Without an observer bodies are counted and forgotten.
///
/// `request` is a number that stands for one request from its start to its end, and for another one after that.
/// An observer delays the worker, so it has to be quick. It delays no end of an answer that was read: that instant is known
/// before the observer sees it.
pub trait Observer: Send {
    /// The head of a final answer came.
    fn head(&mut self, request: u32, head: AnswerHead<'_>);
    /// A part of the body came; its transfer coding is taken off, its content coding is not.
    fn body(&mut self, request: u32, part: &[u8]);
    /// The request ended, in whatever way; also where no head came.
    fn end(&mut self, request: u32, ended: EndedRequest);
    /// The worker has ended: nothing comes after this.
    fn finish(&mut self) {}
}

/// The head of a final answer.
#[derive(Clone, Copy, Debug)]
pub struct AnswerHead<'a> {
    /// HTTP status, 200 to 999.
    pub status: u16,
    fields: HeadFields<'a>,
}

/// Header fields, in the form in which a protocol has them.
#[derive(Clone, Copy, Debug)]
pub(crate) enum HeadFields<'a> {
    /// The bytes of a head of HTTP/1.1, which are parsed for whoever asks.
    Http1(&'a [u8]),
    /// Decoded fields.
    Decoded(&'a FieldList),
    /// The protocol has none, or was not told to keep them.
    None,
}

impl<'a> AnswerHead<'a> {
    pub(crate) fn new(status: u16, fields: HeadFields<'a>) -> AnswerHead<'a> {
        AnswerHead { status, fields }
    }

    /// A head of which only the status is known: for tests of observers.
    pub fn without_fields(status: u16) -> AnswerHead<'static> {
        AnswerHead { status, fields: HeadFields::None }
    }

    /// Puts the header fields into `list`, in place of what is in it.
    pub fn copy_fields(&self, list: &mut FieldList) {
        list.clear();
        match self.fields {
            HeadFields::Http1(bytes) => head_fields(bytes, list),
            HeadFields::Decoded(fields) => list.clone_from(fields),
            HeadFields::None => {}
        }
    }
}

/// A request that ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EndedRequest {
    /// The arrival that it was sent for.
    pub arrival: Arrival,
    /// Its target and its row.
    pub id: RequestId,
    /// What became of it.
    pub outcome: Outcome,
}

/// Makes the observer of each worker.
#[derive(Clone)]
pub struct ObserverFactory(Arc<dyn Fn() -> Box<dyn Observer> + Send + Sync>);

impl ObserverFactory {
    /// Calls `make` once for each worker, before the run.
    pub fn new(make: impl Fn() -> Box<dyn Observer> + Send + Sync + 'static) -> ObserverFactory {
        ObserverFactory(Arc::new(make))
    }

    pub(crate) fn observer(&self) -> Box<dyn Observer> {
        (self.0)()
    }
}

impl fmt::Debug for ObserverFactory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ObserverFactory")
    }
}
