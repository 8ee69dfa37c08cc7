//! The misbehaving HTTP/1.1 server. It follows [`truetail_model::service::ServiceState`] in real time and records its own
//! truth, against which every claim about a load generator can be checked.
//!
//! | path | what it does |
//! |---|---|
//! | `/healthy` | answers after the plain baseline, whatever goes wrong; not counted, takes no place in the queue |
//! | `POST /clock` | starts the fault clock now, with nothing admitted and numbers from 1; answers 204 at once |
//! | any other, by custom `/api` | the service: what becomes of a request is what the service's description says |
//!
//! A request that carries the header `truetail-preflight` counts as a health check on every path. The fault clock
//! starts at the first request that is not a health check; that request arrives at 0.
//!
//! One thread does everything. It reads before it writes, and during a burst of answers it reads new requests in between,
//! so that the timestamp of an arrival does not wait for the answers to other requests.
//!
//! A request arrives when its head has been read. No answer leaves before the body of its request was read too; answers
//! on one connection leave in the order of the requests. At most 256 requests of one connection are held. Further requests
//! stay in the system's buffers, and arrive when some were answered.
//!
//! A client that ends its side of a connection (or is reset) is gone: nothing it still waited for is sent. Its requests
//! stay admitted and hold their places, as they do in most servers; their rows say [`Ending::ClientGone`].

mod connection;
mod event_loop;
mod exchange;
mod fault_clock;
mod http;
mod log_file;
mod server;
mod shared_state;
mod slots;
mod timers;
mod truth;
mod truth_log;
mod truth_recorder;

pub use log_file::LogFile;
pub use server::{Server, ServerOptions};
pub use truth::{Ending, ServerTruth, Totals, TruthRow};
