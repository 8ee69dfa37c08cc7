//! The opening of a channel: everything before its first message.

use truetail_model::record::Cause;

use super::redis::{Redis, Reply};
use super::websocket::{Handshake, WebSocketRequest};

/// Exchange that opens each channel.
#[derive(Clone, PartialEq, Eq, Default)]
pub enum Opening {
    /// A channel is open with its connection.
    #[default]
    Nothing,
    /// The handshake of WebSocket.
    WebSocket(WebSocketRequest),
    /// Commands for Redis, made by [`redis_command`](super::framing::redis_command), such as a login. Each needs a good
    /// reply.
    Redis(Vec<Vec<u8>>),
}

/// Leaves out what is sent, which may have a password.
impl std::fmt::Debug for Opening {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Opening::Nothing => "Nothing",
            Opening::WebSocket(_) => "WebSocket",
            Opening::Redis(_) => "Redis",
        })
    }
}

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
}

impl Greeting {
    /// Begins an opening; `None` if a channel needs no such exchange. `seed` differs from channel to channel.
    pub(super) fn begin(opening: &Opening, seed: u64) -> Option<Greeting> {
        let mut out = Vec::new();
        let awaited = match opening {
            Opening::Nothing => return None,
            Opening::WebSocket(request) => Awaited::WebSocket(Handshake::begin(request, seed, &mut out)),
            Opening::Redis(commands) => {
                out = commands.concat();
                Awaited::Redis(commands.len(), Box::default())
            }
        };
        Some(Greeting { out, sent: 0, awaited })
    }

    pub(super) fn output(&self) -> &[u8] {
        &self.out[self.sent..]
    }

    pub(super) fn sent(&mut self, count: usize) {
        self.sent += count;
    }

    /// Takes received bytes. Returns their number up to the end of the opening, once it is complete.
    ///
    /// # Errors
    /// [`Cause::NoWebSocket`], [`Cause::LoginRefused`], and the errors of Redis's replies.
    pub(super) fn receive(&mut self, opening: &Opening, bytes: &[u8]) -> Result<Option<usize>, Cause> {
        match (&mut self.awaited, opening) {
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
                Ok((*missing == 0).then_some(taken))
            }
            (Awaited::WebSocket(_), _) => unreachable!("a channel keeps its opening"),
        }
    }
}
