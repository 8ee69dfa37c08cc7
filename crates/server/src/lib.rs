//! The misbehaving server, in HTTP/1.1, with messages in WebSocket and on TCP, over TLS, and with the feature `http2`
//! also in HTTP/2. It follows [`truetail_model::service::ServiceState`] in real time and logs its actions, so that any
//! claim about a load generator can be checked against the truth.
//!
//! | path | behaviour |
//! |---|---|
//! | `/healthy` | answers after the baseline time, without faults; neither counted nor queued |
//! | `/health`, `/metrics`, `/v1/models` | for clients of models: like `/healthy` if the answers are streams |
//! | `/get_server_info` | status 404 if the answers of the service are streams; sglang's client requests it |
//! | `POST /clock` | restarts the fault clock with an empty service; answers 204 at once, and 403 to foreign pages |
//! | `/stream?…` | the service; an answer with status 200 is a stream of server-sent events |
//! | `/v1/chat/completions`, `/v1/completions` | the service as a language model, with streams in OpenAI's format |
//! | any other, usually `/api` | the service; its description decides the fate of the request |
//!
//! The query of `/stream` describes the stream. Its pace does not depend on the description of the service.
//!
//! | parameter | meaning |
//! |---|---|
//! | `events=10` | number of events |
//! | `first=0ms`, `gap=10ms` | time from the head to the first event, and between two writes |
//! | `exponential=SEED` | random gaps with the mean `gap` |
//! | `burst=1` | events per write |
//! | `stall=K:300ms`, `cut=K` | a stall, or the end of the connection, before event K (from 0) |
//! | `end=whole` | end after the last event; `done`: after one more, `[DONE]`; `unfinished`: inside an event |
//! | `bytes=0` | minimum of data in each event |
//! | `trickle=0ms` | time from the first bytes of an event to its last |
//!
//! The body of a request to a model states the length of the answer (`max_tokens`); without a body, the answer is a
//! stream. The request joins the batch, if the service has one, when its body has been read.
//!
//! On every path, a request with the header `truetail-preflight` counts as a health check. A model answers it as it
//! would answer the request, but at once and with few tokens. The fault clock starts at the first request that is not a
//! health check; that request arrives at 0.
//!
//! A `GET` with `Upgrade: websocket` opens a channel on any path: the service answers each message with the same
//! message. With [`ServerOptions::framing`], connections are channels on TCP. An error with a status is the text
//! `error 503`. Answers leave in the order of the messages, and a message has at most 1 MiB. A channel holds 16,384
//! messages and 4 MiB; further messages stay in the system's buffers and arrive when some have been answered.
//!
//! One thread does everything. It reads before it writes, and continues to read during a burst of answers, so the
//! timestamp of an arrival does not wait for other answers.
//!
//! In HTTP/2, answers leave when they are due, and a client may have 4,096 streams open. In HTTP/1:
//!
//! - A request arrives when its head has been read. Its answer leaves after its body has been read too. Answers on one
//!   connection leave in the order of the requests.
//! - A connection holds at most 256 requests. Further requests stay in the system's buffers and arrive when some have
//!   been answered.
//! - If a client closes its side of a connection or resets it, the server sends nothing more. As in most servers, its
//!   requests stay admitted and keep their places; their rows say [`Ending::ClientGone`].

#![warn(unreachable_pub)]

mod answer_queue;
mod close_reason;
mod connection;
mod event_loop;
mod exchange;
mod fault_clock;
mod http;
mod http1_connection;
#[cfg(feature = "http2")]
mod http2;
mod log_file;
mod messages;
mod response_form;
mod server;
mod shared_state;
mod slots;
mod stream;
mod timers;
mod tls;
mod transport;
mod truth;
mod truth_log;
mod truth_recorder;

pub use log_file::LogFile;
pub use messages::{FramingError, MessageFraming};
pub use server::{Server, ServerOptions};
pub use stream::{EventKind, StreamTruth};
pub use tls::Certificate;
pub use truth::{Ending, ServerTruth, Totals, TruthRow};

/// Whether this build of the server speaks HTTP/2.
pub const SPEAKS_HTTP2: bool = cfg!(feature = "http2");
