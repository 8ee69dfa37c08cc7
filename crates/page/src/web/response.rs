//! A response: a text, bytes, or a stream of server-sent events.

use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

/// A response of a handler.
#[derive(Debug)]
pub struct Response {
    pub(super) status: u16,
    pub(super) content_type: String,
    pub(super) body: Body,
    /// True if the page may send its forms to this server.
    pub(super) has_forms: bool,
}

pub(super) enum Body {
    Whole(Arc<[u8]>),
    Events(Box<dyn EventSource>),
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Body::Whole(bytes) => write!(f, "{} bytes", bytes.len()),
            Body::Events(_) => f.write_str("events"),
        }
    }
}

impl Response {
    /// Creates a response with a page.
    pub fn html(text: impl Into<Arc<str>>) -> Response {
        Response::text("text/html; charset=utf-8", text)
    }

    /// Creates a response with JSON.
    pub fn json(text: impl Into<Arc<str>>) -> Response {
        Response::text("application/json", text)
    }

    /// Creates a response with any text.
    pub fn text(content_type: &str, text: impl Into<Arc<str>>) -> Response {
        Response::bytes(content_type, Arc::<[u8]>::from(text.into()))
    }

    /// Creates a response with any bytes.
    pub fn bytes(content_type: &str, bytes: impl Into<Arc<[u8]>>) -> Response {
        Response {
            status: 200,
            content_type: content_type.to_owned(),
            body: Body::Whole(bytes.into()),
            has_forms: false,
        }
    }

    /// Creates a response of server-sent events, until the source ends or the client goes. An
    /// [`std::sync::mpsc::Receiver`] of events is a source.
    pub fn events(source: impl EventSource + 'static) -> Response {
        let body = Body::Events(Box::new(source));
        Response { status: 200, content_type: "text/event-stream".to_owned(), body, has_forms: false }
    }

    /// Creates an error response with a sentence for people.
    pub fn error(status: u16, sentence: &str) -> Response {
        Response { status, ..Response::text("text/plain; charset=utf-8", format!("{sentence}\n")) }
    }

    /// Lets the page send its forms to this server, and nowhere else.
    pub fn with_forms(self) -> Response {
        Response { has_forms: true, ..self }
    }

    /// Changes the status.
    pub fn with_status(self, status: u16) -> Response {
        Response { status, ..self }
    }
}

/// A server-sent event.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Event {
    /// Type of the event, one word.
    pub name: &'static str,
    /// Data of the event. A client receives each line break as `\n`.
    pub data: Arc<str>,
}

impl Event {
    /// Formats the event for the wire.
    pub(super) fn to_wire(&self) -> String {
        let mut wire = format!("event: {}\n", self.name);
        // A line break inside the data would end its field, and the data could inject fields.
        for line in self.data.replace("\r\n", "\n").split(['\n', '\r']) {
            wire.push_str("data: ");
            wire.push_str(line);
            wire.push('\n');
        }
        wire.push('\n');
        wire
    }
}

/// Answer of a source that was asked for its next event.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NextEvent {
    /// The next event.
    Event(Event),
    /// No event is ready.
    NotYet,
    /// No more events will follow.
    End,
}

/// Source of a stream of events. Slow clients ask less often, so a source that returns the newest state instead of
/// every state needs no memory for them.
pub trait EventSource: Send {
    /// Returns the next event. Waits at most `patience`.
    fn next(&mut self, patience: Duration) -> NextEvent;
}

impl EventSource for Receiver<Event> {
    fn next(&mut self, patience: Duration) -> NextEvent {
        match self.recv_timeout(patience) {
            Ok(event) => NextEvent::Event(event),
            Err(RecvTimeoutError::Timeout) => NextEvent::NotYet,
            Err(RecvTimeoutError::Disconnected) => NextEvent::End,
        }
    }
}
