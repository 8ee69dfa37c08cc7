use std::io::ErrorKind;

use truetail_model::service::{ReplyOrder, RouteId};

use super::codec::{Codec, Framed};
use super::framing::MessageFraming;
use super::incoming::{Incoming, Payload};
use super::websocket::{Upgrade, WebSocket};
use crate::answer_queue::AnswerQueue;
use crate::close_reason::CloseReason;
use crate::shared_state::SharedState;

/// Maximum number of messages that a channel holds. Further messages stay unread until some are answered.
const MAX_MESSAGES: usize = 16 * 1024;
/// Reads of one connection per turn.
const READS_PER_TURN: usize = 8;

/// A channel. It reads messages, queues an exchange for each, and sends due answers.
#[derive(Debug)]
pub(crate) struct MessageConnection {
    pub(crate) answers: AnswerQueue,
    codec: Codec,
    /// Route of the service that answers the messages.
    route: RouteId,
    /// Answer to the opening handshake, until the first turn.
    greeting: Option<Vec<u8>>,
    /// The client has sent its last message.
    has_ended: bool,
    /// True if reading stopped because there was no room for more messages, so that bytes may wait.
    unread: bool,
}

impl MessageConnection {
    /// Creates a channel on TCP.
    pub(crate) fn framed(answers: AnswerQueue, framing: MessageFraming) -> MessageConnection {
        MessageConnection::new(answers, Codec::Framed(Framed::new(framing)), RouteId::default(), None)
    }

    /// Creates a channel in WebSocket to a route, which the client asked for with `upgrade`. `input` has the bytes
    /// after its request.
    pub(crate) fn websocket(
        answers: AnswerQueue,
        upgrade: &Upgrade,
        route: RouteId,
        input: &[u8],
    ) -> MessageConnection {
        let mut codec = Codec::WebSocket(Box::new(WebSocket::new()));
        codec.receive(input);
        MessageConnection::new(answers, codec, route, Some(upgrade.answer()))
    }

    /// Creates a channel in WebSocket on a stream of HTTP/2, whose request was answered already.
    #[cfg(feature = "http2")]
    pub(crate) fn on_stream(answers: AnswerQueue, route: RouteId) -> MessageConnection {
        MessageConnection::new(answers, Codec::WebSocket(Box::new(WebSocket::new())), route, None)
    }

    fn new(answers: AnswerQueue, codec: Codec, route: RouteId, greeting: Option<Vec<u8>>) -> MessageConnection {
        let answers = answers.with_room_for(MAX_MESSAGES);
        MessageConnection { answers, codec, route, greeting, has_ended: false, unread: false }
    }

    /// Reads the received bytes, through `buffer`. Returns true if more bytes may wait for another turn.
    pub(crate) fn read(&mut self, shared: &mut SharedState, buffer: &mut [u8]) -> Result<bool, CloseReason> {
        if let Some(greeting) = self.greeting.take() {
            let exchange = shared.control_message(greeting);
            self.answers.push(shared, exchange);
        }
        self.unread = false;
        for _ in 0..READS_PER_TURN {
            self.take_messages(shared)?;
            if self.unread {
                return Ok(false);
            }
            match self.answers.transport.read(buffer) {
                Ok(0) => return Err(CloseReason::ClientGone),
                Ok(length) if !self.is_over() => self.codec.receive(&buffer[..length]),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Err(CloseReason::ClientGone),
            }
        }
        Ok(true)
    }

    /// Returns true if bytes were left unread for lack of room, and there is room now.
    pub(crate) fn wants_reading(&self) -> bool {
        self.unread && !self.answers.is_full()
    }

    /// Returns true if further bytes of the client have no meaning.
    fn is_over(&self) -> bool {
        self.has_ended || self.answers.is_lingering()
    }

    /// Begins an exchange for each complete message, while there is room.
    fn take_messages(&mut self, shared: &mut SharedState) -> Result<(), CloseReason> {
        while !self.is_over() {
            if self.answers.is_full() {
                self.unread = true;
                return Ok(());
            }
            match self.codec.next() {
                Ok(None) => return Ok(()),
                Ok(Some(Incoming::Message(message))) => self.admit(shared, message),
                Ok(Some(Incoming::Urgent(bytes))) => {
                    let exchange = shared.control_message(bytes);
                    self.answers.push_first(shared, exchange);
                }
                Ok(Some(Incoming::Last(bytes))) => {
                    let exchange = shared.control_message(bytes).and_close();
                    self.answers.push(shared, exchange);
                    self.has_ended = true;
                }
                Err(_) => {
                    shared.recorder.totals.refused += 1;
                    return Err(CloseReason::Finished);
                }
            }
        }
        Ok(())
    }

    fn admit(&mut self, shared: &mut SharedState, message: Payload) {
        if shared.replies() == ReplyOrder::AsReady {
            self.answers.leave_as_ready();
        }
        let mut exchange = shared.admit_message(self.route);
        let bytes = self.codec.answer(message, exchange.error_status());
        exchange.answer_with(bytes, 0);
        self.answers.push(shared, exchange);
    }
}
