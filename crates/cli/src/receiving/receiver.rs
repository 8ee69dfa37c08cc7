//! Answers to messages with spans.

use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use flate2::read::MultiGzDecoder;
use truetail_engine::host;
use truetail_page::web::{Handler, Request, Response};
use truetail_spans::SpanStore;

use crate::background::rest_after;

const PATH: &str = "/v1/traces";
/// Longest message in bytes, as it is sent and inflated. An SDK sends 512 spans of about 500 bytes at once.
const LONGEST: usize = 4 << 20;
const LONGEST_INFLATED: u64 = 16 << 20;
/// Longest rest after a message.
const LONGEST_REST: Duration = Duration::from_secs(2);

/// Reads messages with spans into a store, one at a time. During the run it rests after each, so that reading costs at
/// most 5 % of a processor; senders wait meanwhile.
#[derive(Debug)]
pub(super) struct Receiver {
    store: Mutex<Option<SpanStore>>,
    rests: AtomicBool,
}

impl Receiver {
    pub(super) fn new(store: SpanStore) -> Receiver {
        Receiver { store: Mutex::new(Some(store)), rests: AtomicBool::new(true) }
    }

    /// Reads without rests from now on, because the run has ended.
    pub(super) fn hurry(&self) {
        self.rests.store(false, Ordering::Relaxed);
    }

    /// Returns the store. Later messages are refused.
    pub(super) fn take(&self) -> Option<SpanStore> {
        self.store().take()
    }

    fn store(&self) -> MutexGuard<'_, Option<SpanStore>> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, request: &Request, is_json: bool) -> Response {
        let mut store = self.store();
        let Some(spans) = store.as_mut() else { return Response::error(503, "the run has ended") };
        let before = host::thread_cpu_time();
        let added = inflated(request).map(|body| match is_json {
            true => spans.add_json(&body),
            false => spans.add_protobuf(&body),
        });
        let cost = host::thread_cpu_time().saturating_sub(before);
        if self.rests.load(Ordering::Relaxed) {
            thread::sleep(rest_after(cost, Duration::ZERO).min(LONGEST_REST));
        }
        drop(store);
        match added {
            Err(refusal) => refusal,
            Ok(Err(error)) => Response::error(400, &format!("these spans cannot be read: {error}")),
            // An empty message: everything was taken.
            Ok(Ok(())) if is_json => Response::json("{}"),
            Ok(Ok(())) => Response::bytes("application/x-protobuf", Vec::new()),
        }
    }
}

/// Returns the message without compression.
fn inflated(request: &Request) -> Result<Vec<u8>, Response> {
    let coding = request.header("content-encoding").unwrap_or("identity");
    if coding.eq_ignore_ascii_case("identity") {
        return Ok(request.body.clone());
    }
    if !coding.eq_ignore_ascii_case("gzip") {
        return Err(Response::error(415, "send spans plain, or compressed by gzip"));
    }
    let mut body = Vec::new();
    let read = MultiGzDecoder::new(request.body.as_slice()).take(LONGEST_INFLATED + 1).read_to_end(&mut body);
    match read {
        Err(_) => Err(Response::error(400, "the message is not what gzip writes")),
        Ok(length) if length as u64 > LONGEST_INFLATED => Err(Response::error(413, "the message is too long")),
        Ok(_) => Ok(body),
    }
}

impl Handler for Receiver {
    fn handle(&self, request: &Request) -> Response {
        if request.path != PATH {
            return Response::error(404, "this receiver takes spans: POST /v1/traces");
        }
        if request.method != "POST" {
            return Response::error(405, "send spans by POST");
        }
        let content_type = request.header("content-type").unwrap_or_default();
        match content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase().as_str() {
            "application/x-protobuf" => self.add(request, false),
            "application/json" => self.add(request, true),
            _ => Response::error(415, "send spans as application/x-protobuf or application/json"),
        }
    }

    fn longest_body(&self) -> usize {
        LONGEST
    }
}
