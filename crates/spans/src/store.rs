//! The spans of a run, in bounded memory.

use std::cell::Cell;
use std::collections::HashMap;
use std::io::{self, BufRead};

use serde_json::Deserializer;
use truetail_model::record::Samples;
use truetail_model::trace::TraceIds;
use truetail_run::{ServerTiming, SpanBooks};

use crate::error::SpanError;
use crate::json::{self, Formats};
use crate::names::Names;
use crate::pieces::{self, InPieces, NextPiece};
use crate::protobuf;
use crate::reported::reported;
use crate::span::{Span, SpanSink};
use crate::tree::KeptSpan;

/// Limit on the spans of one trace.
const MAX_SPANS_OF_TRACE: u32 = 1_000;
/// Longest span: a week. A longer one is no part of a request.
const LONGEST_NS: u64 = 7 * 86_400_000_000_000;

/// The spans of the traces that a run started.
#[derive(Debug)]
pub struct SpanStore {
    ids: TraceIds,
    spans: Vec<KeptSpan>,
    names: Names,
    /// Number of kept spans by request.
    of_request: HashMap<u64, u32>,
    books: SpanBooks,
}

impl SpanStore {
    /// Creates a store for the run with these trace ids.
    pub fn new(ids: TraceIds) -> SpanStore {
        let books = SpanBooks::default();
        SpanStore { ids, spans: Vec::new(), names: Names::new(), of_request: HashMap::new(), books }
    }

    /// Adds the spans of an OTLP message in protobuf encoding.
    ///
    /// # Errors
    /// If the message is cut off or is not protobuf.
    pub fn add_protobuf(&mut self, message: &[u8]) -> Result<(), SpanError> {
        let read = protobuf::read(message, self).map_err(|malformed| SpanError::new(malformed.0));
        read.inspect_err(|error| self.unread(error))
    }

    /// Adds the spans of an OTLP message in JSON.
    ///
    /// # Errors
    /// If the message is not JSON, or has no spans where OTLP has them.
    pub fn add_json(&mut self, message: &[u8]) -> Result<(), SpanError> {
        let mut input = Deserializer::from_slice(message);
        let read = json::read(&mut input, Formats::Otlp, self).and_then(|()| input.end());
        read.map_err(SpanError::new).inspect_err(|error| self.unread(error))
    }

    /// Adds the spans of a file: messages of OTLP in JSON, one after the other, or traces that Jaeger exported. Returns
    /// the number of messages.
    ///
    /// # Errors
    /// If the file or its first message cannot be read. A later message that is cut off or unreadable is no error: the
    /// messages before it count, and [`SpanBooks::problem`] says so.
    pub fn add_file(&mut self, mut input: impl BufRead) -> Result<u64, SpanError> {
        let mut messages = 0;
        while has_more(&mut input).map_err(SpanError::new)? {
            match self.add_next(&mut input) {
                Ok(()) => messages += 1,
                Err(error) => {
                    let error = SpanError::new(format_args!("message {}: {error}", messages + 1));
                    self.unread(&error);
                    return if messages == 0 { Err(error) } else { Ok(messages) };
                }
            }
        }
        if messages == 0 { Err(SpanError::new("it is empty")) } else { Ok(messages) }
    }

    /// Adds the spans of the next message of a file.
    fn add_next(&mut self, input: impl BufRead) -> serde_json::Result<()> {
        let left = &Cell::new(pieces::LONGEST);
        let mut input = Deserializer::from_reader(InPieces::new(input, left));
        json::read(&mut input, Formats::Any, &mut NextPiece { sink: self, left })
    }

    /// Counts a message that could not be read.
    fn unread(&mut self, error: &SpanError) {
        self.books.unread += 1;
        self.books.problem.get_or_insert_with(|| error.to_string());
    }

    /// Counts a message that the receiver refused for this reason, so that none of its spans were read.
    pub fn refuse(&mut self, reason: &str) {
        self.unread(&SpanError::new(reason));
    }

    /// Returns the times of the requests that the run keeps: of each span the time without its children, under the name
    /// `service/span`.
    pub fn times(self, samples: &Samples) -> ServerTiming {
        // The order of the spans takes memory too.
        drop(self.of_request);
        reported(samples, self.ids, self.spans, &self.names, self.books)
    }
}

impl SpanSink for SpanStore {
    fn span(&mut self, span: &Span<'_>) {
        self.books.received += 1;
        let Some(trace_id) = span.trace_id else {
            self.books.damaged += 1;
            return;
        };
        let Some(request) = self.ids.index_of(trace_id) else {
            self.books.foreign += 1;
            return;
        };
        let duration_ns = span.duration_ns.filter(|ns| *ns <= LONGEST_NS);
        let (Some(id), Some(parent), Some(duration_ns)) = (span.id, span.parent, duration_ns) else {
            self.books.damaged += 1;
            return;
        };
        let of_request = self.of_request.get(&request).copied().unwrap_or(0);
        if self.spans.len() as u64 >= SpanBooks::MAX_SPANS || of_request >= MAX_SPANS_OF_TRACE {
            self.books.left_out += 1;
            return;
        }
        self.of_request.insert(request, of_request + 1);
        let name = self.names.number_of(span);
        let service = self.names.service_of(span);
        let Span { start_ns, is_remote, .. } = *span;
        self.spans.push(KeptSpan { request, id, parent, start_ns, duration_ns, name, service, is_remote });
    }

    fn left_out(&mut self) {
        self.books.received += 1;
        self.books.left_out += 1;
    }
}

/// Skips blanks. Returns false at the end of the input.
fn has_more(input: &mut impl BufRead) -> io::Result<bool> {
    loop {
        let buffer = input.fill_buf()?;
        let blanks = buffer.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let is_end = buffer.is_empty();
        let has_more = blanks < buffer.len();
        input.consume(blanks);
        if is_end || has_more {
            return Ok(has_more);
        }
    }
}
