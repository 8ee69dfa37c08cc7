//! Answers of the live page, its events, and `/metrics`.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use truetail_engine::host;
use truetail_page::web::{Event, EventSource, Handler, NextEvent, Request, Response};
use truetail_page::{RunPage, live_update, run_page};
use truetail_report::{LiveState, metrics};

use super::states::{LiveStates, Next};

/// Time that the page waits for the first state before it says that the run has not begun.
const FIRST_STATE: Duration = Duration::from_secs(2);
/// Page before the first state. It reloads every second.
const NOT_YET: &str = "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"1\">\
    <title>truetail</title></head><body><p>The run has not begun yet.</p></body></html>";

/// Live site of a run. Each state is drawn at most once, for all clients together, and only if a client asks.
#[derive(Clone, Debug)]
pub(super) struct Site(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    states: LiveStates,
    drawn: Mutex<Drawn>,
    end: OnceLock<Event>,
}

/// Cached drawings of the state with number `version`.
#[derive(Default, Debug)]
struct Drawn {
    version: u64,
    page: Option<Arc<str>>,
    event: Option<Event>,
    text: Option<Arc<str>>,
    protobuf: Option<Arc<[u8]>>,
}

impl Site {
    pub(super) fn new(states: LiveStates) -> Site {
        Site(Arc::new(Shared { states, drawn: Mutex::default(), end: OnceLock::new() }))
    }

    /// Returns a part of the drawings of a state, and draws it if necessary. Concurrent callers wait for the drawing.
    fn drawn<T: Clone>(
        &self,
        version: u64,
        part: impl FnOnce(&mut Drawn) -> &mut Option<T>,
        draw: impl FnOnce() -> T,
    ) -> T {
        let mut drawn = self.0.drawn.lock().unwrap_or_else(PoisonError::into_inner);
        // A late observer draws its old state again, so that the newest state stays in the cache.
        if version < drawn.version {
            return draw();
        }
        if version > drawn.version {
            *drawn = Drawn { version, ..Drawn::default() };
        }
        let part = part(&mut drawn);
        if part.is_none() {
            let before = host::thread_cpu_time();
            *part = Some(draw());
            self.0.states.spent(host::thread_cpu_time().saturating_sub(before));
        }
        part.clone().expect("drawn just now")
    }

    fn page(&self) -> Response {
        match self.0.states.newer_than(0, FIRST_STATE) {
            Next::State(version, state) => {
                Response::html(self.drawn(version, |drawn| &mut drawn.page, || page_of(&state).into()))
            }
            Next::NotYet | Next::Closed => Response::html(NOT_YET),
        }
    }

    /// Draws the last event here: threads that serve the page have low priority, and the process does not wait long.
    pub(super) fn draw_end(&self, last: &LiveState) {
        self.0.end.get_or_init(|| event_of(last));
    }

    fn event(&self, version: u64, state: &LiveState) -> Event {
        if let Some(end) = self.0.end.get().filter(|_| state.ended) {
            return end.clone();
        }
        self.drawn(version, |drawn| &mut drawn.event, || event_of(state))
    }

    fn metrics(&self, request: &Request) -> Response {
        let (version, state) = match self.0.states.newer_than(0, Duration::ZERO) {
            Next::State(version, state) => (version, Some(state)),
            Next::NotYet | Next::Closed => (0, None),
        };
        let families = || metrics::families(state.as_deref());
        if request.header("accept").is_some_and(wants_protobuf) {
            let draw = || metrics::protobuf(&families()).into();
            let bytes: Arc<[u8]> = self.drawn(version, |drawn| &mut drawn.protobuf, draw);
            return Response::bytes(metrics::PROTOBUF_TYPE, bytes);
        }
        let text: Arc<str> = self.drawn(version, |drawn| &mut drawn.text, || metrics::text(&families()).into());
        Response::text(metrics::TEXT_TYPE, text)
    }
}

/// Returns true if the client takes protobuf. Prometheus names this format in `Accept` if it reads native histograms.
fn wants_protobuf(accept: &str) -> bool {
    accept.contains("application/vnd.google.protobuf") && accept.contains("io.prometheus.client.MetricFamily")
}

impl Handler for Site {
    fn handle(&self, request: &Request) -> Response {
        match (request.method.as_str(), request.path.as_str()) {
            ("GET" | "HEAD", "/") => self.page(),
            ("GET" | "HEAD", "/events") => Response::events(StateEvents { site: self.clone(), seen: 0, ended: false }),
            ("GET" | "HEAD", "/metrics") => self.metrics(request),
            ("GET" | "HEAD", _) => Response::error(404, "there are /, /events and /metrics"),
            _ => Response::error(405, "only GET and HEAD are answered"),
        }
    }
}

/// Events of one client: the newest state each time, and finally the result.
struct StateEvents {
    site: Site,
    seen: u64,
    ended: bool,
}

impl EventSource for StateEvents {
    fn next(&mut self, patience: Duration) -> NextEvent {
        if self.ended {
            return NextEvent::End;
        }
        match self.site.0.states.newer_than(self.seen, patience) {
            Next::State(version, state) => {
                (self.seen, self.ended) = (version, state.ended);
                NextEvent::Event(self.site.event(version, &state))
            }
            Next::NotYet => NextEvent::NotYet,
            Next::Closed => NextEvent::End,
        }
    }
}

/// Returns the page of a state. The page of the last state is the report.
fn page_of(state: &LiveState) -> String {
    run_page(&RunPage::new(&state.run, &state.findings, &state.series).live(!state.ended))
}

fn event_of(state: &LiveState) -> Event {
    if state.ended {
        let html = serde_json::json!({ "html": page_of(state) });
        return Event { name: "end", data: html.to_string().into() };
    }
    let page = RunPage::new(&state.run, &state.findings, &state.series).live(true);
    Event { name: "update", data: live_update(&page).into() }
}
