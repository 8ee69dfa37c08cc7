//! The misbehaving server, in HTTP/1.1, over TLS too, and with the feature `http2` in HTTP/2. It follows [`truetail_model::service::ServiceState`] in real time and logs what it
//! did, so that every claim about a load generator can be checked against the truth.
//!
//! | path | what it does |
//! |---|---|
//! | `/healthy` | answers after the baseline time, whatever the faults; not counted, and not queued |
//! | `/health`, `/metrics`, `/v1/models` | the same, where the service's answers are streams: what clients of models ask besides |
//! | `/get_server_info` | status 404, where the service's answers are streams: what sglang's client asks |
//! | `POST /clock` | restarts the fault clock now, with no requests in the service and numbers from 1; answers 204 at once, and 403 to pages of other sites |
//! | `/stream?…` | the service, whose answer is a stream of server-sent events where it answers with 200 |
//! | `/v1/chat/completions`, `/v1/completions` | the service as a language model: streams as OpenAI sends them |
//! | any other, usually `/api` | the service; its description decides what happens to the request |
//!
//! The query of `/stream` says what the stream does: `events=10` (how many), `first=0ms` (from the head to the first event),
//! `gap=10ms` (between two writes) and with `exponential=SEED` random gaps of that mean, `burst=1` (events in one write),
//! `stall=K:300ms` (before event K, from 0), `cut=K` (the connection is closed before event K), `end=whole`, `done` (with a
//! last event `[DONE]`) or `unfinished` (inside an event), `bytes=0` (of data in each event, at least), `trickle=0ms` (so long
//! before an event is complete its first bytes leave). It is at its own pace, whatever the description says.
//!
//! A request to a model has its answer's length in its body (`max_tokens`); without a body it gets a stream. It joins the
//! batch, if the service has one, when its body has been read.
//!
//! On every path, a request with the header `truetail-preflight` counts as a health check. The fault clock starts at the
//! first request that is not a health check; that request arrives at 0.
//!
//! One thread does everything. It reads before it writes, and it keeps reading during a burst of answers, so the timestamp
//! of an arrival does not wait for other answers.
//!
//! In HTTP/2 answers leave when they are due, and a client may have 4,096 streams open. What follows is about HTTP/1.
//!
//! A request arrives when its head has been read. Its answer leaves after its body has been read too, and answers on one
//! connection leave in the order of the requests. A connection holds at most 256 requests; further ones stay in the
//! system's buffers and arrive when some have been answered.
//!
//! If a client closes its side of a connection or resets it, the server sends nothing more. As in most servers, its
//! requests stay admitted and keep their places; their rows say [`Ending::ClientGone`].

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
pub use server::{Server, ServerOptions};
pub use stream::{EventKind, StreamTruth};
pub use tls::Certificate;
pub use truth::{Ending, ServerTruth, Totals, TruthRow};
