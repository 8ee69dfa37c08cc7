//! The progress of one channel within its exchanges.

use truetail_model::record::Cause;
use truetail_model::time::Timestamp;

use super::exchange::{Exchange, ExchangeStep, Expectation};
use super::framing::Framing;
use super::options::MessageOptions;
use super::redis::Reply;
use super::splitter::{Control, Part, Splitter};
use super::varying::Varying;
use super::websocket::{Opcode, put_frame};

/// Limit on the bytes that a peer may send within an exchange: 1 MiB.
const MAX_RECEIVED: usize = 1 << 20;
/// Bytes of a message that an error may quote.
const QUOTED: usize = 120;

/// An exchange that has begun.
#[derive(Debug)]
pub(super) struct Hello {
    /// The exchanges, one after the other.
    exchanges: [Exchange; 2],
    /// Number of the current step in both together.
    at: usize,
    /// End of the current wait; [`Timestamp::NEVER`] until it is known when the wait began.
    deadline: Timestamp,
    received: usize,
    /// The message that is being received.
    message: Vec<u8>,
}

/// The parts of a channel that its exchange uses.
pub(super) struct HelloParts<'a> {
    pub(super) options: &'a MessageOptions,
    pub(super) splitter: &'a mut Splitter,
    pub(super) varying: &'a mut Varying,
    /// Bytes to send.
    pub(super) out: &'a mut Vec<u8>,
}

impl Hello {
    /// Begins the exchanges: appends everything up to the first wait to `out`.
    pub(super) fn begin(options: &MessageOptions, varying: &mut Varying, out: &mut Vec<u8>) -> Hello {
        let exchanges = [options.hello.clone(), options.subscription.clone()];
        let mut hello = Hello { exchanges, at: 0, deadline: Timestamp::NEVER, received: 0, message: Vec::new() };
        hello.send(&options.framing, varying, out);
        hello
    }

    fn step(&self) -> Option<&ExchangeStep> {
        let [first, second] = &self.exchanges;
        first.step(self.at).or_else(|| second.step(self.at.checked_sub(first.len())?))
    }

    /// Appends the messages before the next wait.
    fn send(&mut self, framing: &Framing, varying: &mut Varying, out: &mut Vec<u8>) {
        self.deadline = Timestamp::NEVER;
        while let Some(ExchangeStep::Send { message, is_binary }) = self.step() {
            let of_kind = Framing::WebSocket { is_text: !is_binary };
            let framing = if matches!(framing, Framing::WebSocket { .. }) { &of_kind } else { framing };
            framing.put(message, varying, out);
            self.at += 1;
        }
    }

    pub(super) fn is_complete(&self) -> bool {
        self.step().is_none()
    }

    fn expectation(&self) -> Option<&Expectation> {
        if let Some(ExchangeStep::Expect(expected)) = self.step() { Some(expected) } else { None }
    }

    /// Records that what was ready was given to the transport by `now`: a wait that has begun counts from then.
    pub(super) fn wait_from(&mut self, now: Timestamp) {
        if self.deadline == Timestamp::NEVER
            && let Some(expected) = self.expectation()
        {
            self.deadline = now + expected.within;
        }
    }

    pub(super) fn deadline(&self) -> Timestamp {
        self.deadline
    }

    /// Takes received bytes. Returns their number up to the end of the exchange.
    ///
    /// # Errors
    /// [`Cause::HelloRefused`], and the errors of the framing.
    pub(super) fn receive(&mut self, bytes: &[u8], parts: HelloParts<'_>) -> Result<usize, Cause> {
        let HelloParts { options, splitter, varying, out } = parts;
        let framing = &options.framing;
        let mut rest = bytes;
        while !rest.is_empty() && !self.is_complete() {
            let before = rest.len();
            let mut ended = None;
            let message = &mut self.message;
            splitter.feed(framing, &mut rest, &mut |part| match part {
                Part::Begin { .. } => message.clear(),
                Part::Bytes(bytes) => message.extend_from_slice(bytes),
                Part::End { kind, .. } => ended = Some(kind),
            })?;
            self.received += before - rest.len();
            if self.received > MAX_RECEIVED {
                return Err(Cause::MessageTooLarge);
            }
            match splitter.take_control() {
                None => {}
                Some(Control::Ping(payload)) => put_frame(Opcode::Pong, &payload, &mut varying.masks, out),
                Some(Control::Close(_)) => return Err(Cause::HelloRefused),
            }
            let Some(kind) = ended else { continue };
            if let Some(forms) = &options.forms
                && let Some(json) = forms.of_reply(framing.content(&self.message))
            {
                self.message = json.into_bytes();
            }
            if self.judge(kind)? {
                self.at += 1;
                self.message.clear();
                self.send(framing, varying, out);
            }
        }
        Ok(bytes.len() - rest.len())
    }

    /// Returns true if the message that has ended is the expected one.
    fn judge(&self, kind: Reply) -> Result<bool, Cause> {
        match self.expectation() {
            _ if kind == Reply::Error => Err(Cause::HelloRefused),
            Some(expected) if expected.is_met_by(&self.message) => Ok(true),
            Some(expected) if expected.passes_over => Ok(false),
            _ => Err(Cause::HelloRefused),
        }
    }

    /// Says what was awaited, and what came last.
    pub(super) fn complaint(&self) -> Option<String> {
        let shown = |bytes: &[u8]| {
            let text = String::from_utf8_lossy(&bytes[..bytes.len().min(QUOTED)]).into_owned();
            text.chars().map(|c| if c.is_control() { c.escape_default().to_string() } else { c.into() }).collect()
        };
        let awaited: String = shown(&self.expectation()?.content);
        let came: String = shown(&self.message);
        let came = if came.is_empty() { "nothing came".to_owned() } else { format!("'{came}' came") };
        Some(if awaited.is_empty() { came } else { format!("{came}, and '{awaited}' was expected") })
    }
}
