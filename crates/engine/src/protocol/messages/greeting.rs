//! The opening of a channel: everything before its first message.

use truetail_model::record::Cause;
use truetail_model::time::Timestamp;

use super::hello::{Hello, HelloParts};
use super::opening::Opening;
use super::options::MessageOptions;
use super::redis::{Redis, Reply};
use super::splitter::Splitter;
use super::varying::Varying;
use super::websocket::{Agreement, Handshake};

/// The opening of one channel.
#[derive(Debug)]
pub(super) struct Greeting {
    out: Vec<u8>,
    sent: usize,
    awaited: Awaited,
}

#[derive(Debug)]
enum Awaited {
    WebSocket(Handshake),
    /// This many replies are missing.
    Redis(usize, Box<Redis>),
    Hello(Hello),
}

impl Greeting {
    /// Begins an opening, which may be complete at once. `seed` differs from channel to channel.
    pub(super) fn begin(options: &MessageOptions, seed: u64, varying: &mut Varying) -> Greeting {
        let mut out = Vec::new();
        let awaited = match &options.opening {
            Opening::Nothing | Opening::Call(_) => Awaited::Hello(Hello::begin(options, varying, &mut out)),
            // The stream that carries the channel asks for it.
            Opening::WebSocket(request) if request.is_over_http2() => {
                Awaited::Hello(Hello::begin(options, varying, &mut out))
            }
            Opening::WebSocket(request) => Awaited::WebSocket(Handshake::begin(request, seed, &mut out)),
            Opening::Redis(commands) => {
                out = commands.concat();
                Awaited::Redis(commands.len(), Box::default())
            }
        };
        Greeting { out, sent: 0, awaited }
    }

    /// Returns true once the channel is open. [`Greeting::output`] must still be sent.
    pub(super) fn is_complete(&self) -> bool {
        matches!(&self.awaited, Awaited::Hello(hello) if hello.is_complete())
    }

    pub(super) fn output(&self) -> &[u8] {
        &self.out[self.sent..]
    }

    /// Records that the transport took bytes at `now`.
    pub(super) fn sent(&mut self, count: usize, now: Timestamp) {
        self.sent += count;
        if let Awaited::Hello(hello) = &mut self.awaited {
            hello.wait_from(now);
        }
    }

    pub(super) fn deadline(&self) -> Timestamp {
        if let Awaited::Hello(hello) = &self.awaited { hello.deadline() } else { Timestamp::NEVER }
    }

    /// Says what was awaited, and what came last.
    pub(super) fn complaint(&self) -> Option<String> {
        if let Awaited::Hello(hello) = &self.awaited { hello.complaint() } else { None }
    }

    /// Takes received bytes. Returns their number up to the end of the opening.
    ///
    /// # Errors
    /// [`Cause::NoWebSocket`], [`Cause::LoginRefused`], [`Cause::HelloRefused`], and the errors of the framing.
    pub(super) fn receive(
        &mut self,
        options: &MessageOptions,
        bytes: &[u8],
        splitter: &mut Splitter,
        varying: &mut Varying,
    ) -> Result<usize, Cause> {
        let mut taken = 0;
        if !matches!(self.awaited, Awaited::Hello(_)) {
            let Some((length, agreement)) = self.receive_opening(options, bytes)? else { return Ok(bytes.len()) };
            taken = length;
            agreement.apply(splitter, varying);
            self.awaited = Awaited::Hello(Hello::begin(options, varying, &mut self.out));
        }
        let Awaited::Hello(hello) = &mut self.awaited else { return Ok(taken) };
        Ok(taken + hello.receive(&bytes[taken..], HelloParts { options, splitter, varying, out: &mut self.out })?)
    }

    /// Takes bytes of the protocol's own opening. Once it is complete, returns their number up to its end, and the
    /// agreement of both sides.
    fn receive_opening(&mut self, options: &MessageOptions, bytes: &[u8]) -> Result<Option<(usize, Agreement)>, Cause> {
        match (&mut self.awaited, &options.opening) {
            (Awaited::WebSocket(handshake), Opening::WebSocket(request)) => handshake.receive(request, bytes),
            (Awaited::Redis(missing, redis), _) => {
                let mut taken = 0;
                while *missing > 0 && taken < bytes.len() {
                    let (read, reply) = redis.feed(&bytes[taken..])?;
                    taken += read;
                    match reply {
                        Some(Reply::Error) => return Err(Cause::LoginRefused),
                        Some(Reply::Good) => {
                            *missing -= 1;
                            **redis = Redis::default();
                        }
                        None => {}
                    }
                }
                Ok((*missing == 0).then_some((taken, Agreement::default())))
            }
            (Awaited::WebSocket(_) | Awaited::Hello(_), _) => unreachable!("a channel keeps its opening"),
        }
    }
}
