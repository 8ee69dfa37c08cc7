//! Answers to messages with spans.

use std::borrow::Cow;
use std::cell::Cell;
use std::io::Read;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use flate2::read::MultiGzDecoder;
use truetail_engine::host;
use truetail_model::time::Nanos;
use truetail_page::web::{Handler, Request, Response};
use truetail_spans::SpanStore;

use crate::background::rest_after;

const PATH: &str = "/v1/traces";
/// Paths of OTLP that have no spans. SDKs send to them too, by the same endpoint.
const OTHER_PATHS: [&str; 2] = ["/v1/metrics", "/v1/logs"];
/// Longest message in bytes, as it is sent and inflated. An SDK sends 512 spans of about 500 bytes at once.
const LONGEST: usize = 4 << 20;
const LONGEST_INFLATED: u64 = 16 << 20;
/// Longest rest after a message: the sender waits for its answer. It is enough for messages that cost 100 ms.
const LONGEST_REST: Duration = Duration::from_secs(2);

/// Reads messages with spans into a store, one at a time. During the run it rests after each message, so that receiving
/// costs at most 5 % of a processor. Only messages that cost more than 100 ms exceed this. Senders wait meanwhile.
#[derive(Debug)]
pub(super) struct Receiver {
    state: Mutex<State>,
    /// Notified when a rest ends, and when there are no more rests.
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    store: Option<SpanStore>,
    /// True during the run.
    rests: bool,
    is_resting: bool,
}

/// Refusal of a message: a status and a sentence.
struct Refusal(u16, &'static str);

impl Receiver {
    pub(super) fn new(store: SpanStore) -> Receiver {
        let state = State { store: Some(store), rests: true, is_resting: false };
        Receiver { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Ends the rest and reads without rests from now on, because the run has ended.
    pub(super) fn hurry(&self) {
        self.state().rests = false;
        self.changed.notify_all();
    }

    /// Returns the store. Later messages are refused.
    pub(super) fn take(&self) -> Option<SpanStore> {
        self.state().store.take()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls `take` when the rests of others are over, and rests for what this message cost.
    fn in_turn<T>(&self, take: impl FnOnce(Option<&mut SpanStore>) -> T) -> T {
        let waits = |state: &mut State| state.rests && state.is_resting;
        let mut state = self.changed.wait_while(self.state(), waits).unwrap_or_else(PoisonError::into_inner);
        let taken = take(state.store.as_mut());
        let rest = rest_after(cost(), Duration::ZERO).min(LONGEST_REST);
        if state.rests {
            state.is_resting = true;
            let rested = self.changed.wait_timeout_while(state, rest, |state| state.rests);
            rested.unwrap_or_else(PoisonError::into_inner).0.is_resting = false;
            self.changed.notify_all();
        }
        taken
    }
}

/// Returns the processor time of this thread since the last call. It includes reading messages from the connection.
fn cost() -> Nanos {
    thread_local! {
        static SEEN: Cell<Nanos> = const { Cell::new(Nanos::ZERO) };
    }
    let now = host::thread_cpu_time();
    now.saturating_sub(SEEN.replace(now))
}

/// Adds the spans of a message.
fn add(spans: &mut SpanStore, request: &Request) -> Result<Response, Refusal> {
    check_place(request)?;
    let is_json = is_json(request)?;
    let body = inflated(request)?;
    let added = if is_json { spans.add_json(&body) } else { spans.add_protobuf(&body) };
    Ok(match added {
        Err(error) => Response::error(400, &format!("these spans cannot be read: {error}")),
        // An empty message: everything was taken.
        Ok(()) if is_json => Response::json("{}"),
        Ok(()) => Response::bytes("application/x-protobuf", Vec::new()),
    })
}

fn check_place(request: &Request) -> Result<(), Refusal> {
    match (request.path.as_str(), request.method.as_str()) {
        (PATH, "POST") => Ok(()),
        (PATH, _) => Err(Refusal(405, "send spans by POST")),
        _ => Err(Refusal(404, "this receiver takes spans: POST /v1/traces")),
    }
}

/// Returns true for a message in JSON, and false for one in protobuf encoding.
fn is_json(request: &Request) -> Result<bool, Refusal> {
    let content_type = request.header("content-type").unwrap_or_default();
    match content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase().as_str() {
        "application/x-protobuf" => Ok(false),
        "application/json" => Ok(true),
        _ => Err(Refusal(415, "send spans as application/x-protobuf or application/json")),
    }
}

/// Returns the message without compression.
fn inflated(request: &Request) -> Result<Cow<'_, [u8]>, Refusal> {
    let coding = request.header("content-encoding").unwrap_or("identity");
    if coding.eq_ignore_ascii_case("identity") {
        return Ok(Cow::Borrowed(&request.body));
    }
    if !coding.eq_ignore_ascii_case("gzip") {
        return Err(Refusal(415, "send spans plain, or compressed by gzip"));
    }
    let mut body = Vec::new();
    let read = MultiGzDecoder::new(request.body.as_slice()).take(LONGEST_INFLATED + 1).read_to_end(&mut body);
    match read {
        Err(_) => Err(Refusal(400, "the message is not what gzip writes")),
        Ok(length) if length as u64 > LONGEST_INFLATED => {
            Err(Refusal(413, "the message has more than 16 MiB without gzip"))
        }
        Ok(_) => Ok(Cow::Owned(body)),
    }
}

/// Counts a refused message in the books, if it may have had spans. Visitors and metrics do not.
fn refuse(spans: &mut SpanStore, request: Option<&Request>, status: u16, why: &str) {
    let may_have = |request: &Request| request.method == "POST" && !OTHER_PATHS.contains(&request.path.as_str());
    if request.is_none_or(may_have) {
        let hint = if status == 505 { " (OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf)" } else { "" };
        spans.refuse(&format!("{status}, {why}{hint}"));
    }
}

impl Handler for Receiver {
    fn handle(&self, request: &Request) -> Response {
        self.in_turn(|spans| {
            let Some(spans) = spans else { return Response::error(503, "the run has ended") };
            add(spans, request).unwrap_or_else(|Refusal(status, why)| {
                refuse(spans, Some(request), status, why);
                Response::error(status, why)
            })
        })
    }

    fn refused(&self, request: Option<&Request>, status: u16, why: &str) {
        self.in_turn(|spans| spans.into_iter().for_each(|spans| refuse(spans, request, status, why)));
    }

    fn longest_body(&self) -> usize {
        LONGEST
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::thread;
    use std::time::Instant;

    use truetail_model::trace::{TraceFormat, TraceIds};

    use super::*;

    fn receiver() -> Arc<Receiver> {
        Arc::new(Receiver::new(SpanStore::new(TraceIds::new(7, TraceFormat::W3c, 1.0))))
    }

    /// Uses the processor for so long that the rest is the longest one.
    fn work() {
        let end = host::thread_cpu_time().0 + 150_000_000;
        while host::thread_cpu_time().0 < end {}
    }

    /// The messages that wait for the rest of another are all taken at the end of the run, without their rests: 8 s.
    #[test]
    fn the_end_of_the_run_wakes_the_receiver() {
        let receiver = receiver();
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let receiver = Arc::clone(&receiver);
                thread::spawn(move || {
                    receiver.in_turn(|spans| {
                        work();
                        spans.expect("it has not ended").refuse("for the test");
                    });
                })
            })
            .collect();
        while !receiver.state().is_resting {
            thread::yield_now();
        }
        let begin = Instant::now();
        receiver.hurry();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        // Four times 150 ms of work, on a busy machine.
        assert!(begin.elapsed() < Duration::from_secs(6), "{:?}", begin.elapsed());
        let timing = receiver.take().expect("a store").times(&truetail_model::record::Samples::default());
        assert_eq!(timing.spans.map(|books| books.unread), Some(4));
        assert!(receiver.in_turn(|spans| spans.is_none()));
    }

    /// A rest does not hold the store.
    #[test]
    fn the_store_is_free_during_a_rest() {
        let receiver = receiver();
        let resting = Arc::clone(&receiver);
        let thread = thread::spawn(move || resting.in_turn(|_| work()));
        while !receiver.state().is_resting {
            thread::yield_now();
        }
        assert!(receiver.take().is_some() && receiver.state().is_resting);
        receiver.hurry();
        thread.join().unwrap();
    }

    #[test]
    fn only_what_may_have_spans_is_counted() {
        let receiver = receiver();
        let of = |method: &str, path: &str| {
            let mut request = Request::default();
            method.clone_into(&mut request.method);
            path.clone_into(&mut request.path);
            request
        };
        receiver.hurry();
        for (method, path) in [
            ("POST", "/"),
            ("POST", "/v1/traces"),
            ("POST", "/v1/metrics"),
            ("POST", "/v1/logs"),
            ("GET", "/v1/traces"),
            ("GET", "/favicon.ico"),
        ] {
            receiver.handle(&of(method, path));
        }
        receiver.refused(None, 505, "this is HTTP/2");
        let timing = receiver.take().expect("a store").times(&truetail_model::record::Samples::default());
        let books = timing.spans.expect("books");
        assert_eq!(
            (books.unread, books.problem.as_deref()),
            (3, Some("404, this receiver takes spans: POST /v1/traces"))
        );
    }
}
