//! A few sessions of a run in full: the slowest ones, and random ones.

use serde::{Deserialize, Serialize};

use super::sampled::{RANDOM, SLOWEST, Sampleable, Sampled};
use super::session_books::{EarlyEnd, is_zero};
use super::session_part::SessionPart;
use crate::limits::LONGEST_NS;

/// Number of requests that are kept of a longer session: the last one, and the others from its beginning.
const MAX_REQUESTS: usize = 50;

/// Ending of a begun session.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionEnding {
    /// Every step was answered as expected.
    Completed,
    /// Its last request ended it.
    EndedEarly(EarlyEnd),
    /// The run ended first.
    InFlightAtEnd,
}

/// One request of a session. Instants are in nanoseconds since the origin of the run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SampledRequest {
    /// Index of its step among the steps in `run.json`, from 0.
    pub step: u32,
    /// Due time: the intended arrival of the session, or the end of the previous request plus the think time.
    pub due_ns: u64,
    /// Sending time, or the time of the first attempt if it was never sent.
    pub sent_ns: u64,
    /// Time of its end, successful or not; `None` if it was in flight at the end of the run.
    pub end_ns: Option<u64>,
}

/// One session. Instants are in nanoseconds since the origin of the run.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SampledSession {
    /// Its intended arrival.
    pub intended_start_ns: u64,
    /// End of the session.
    pub end_ns: u64,
    /// Planned think time of all requests.
    pub think_ns: u64,
    /// Ending of the session.
    pub ending: SessionEnding,
    /// Number of requests before the last one that `requests` omits because of the limit.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: u64,
    /// The issued requests, in order.
    pub requests: Vec<SampledRequest>,
}

impl SampledSession {
    /// Returns the session response time: from the intended arrival to the end, less the planned think time.
    pub fn time_ns(&self) -> u64 {
        self.end_ns.saturating_sub(self.intended_start_ns).saturating_sub(self.think_ns)
    }

    fn latest_ns(&self) -> u64 {
        let last = self.requests.last().map(|last| last.end_ns.unwrap_or(last.sent_ns));
        self.end_ns.max(last.unwrap_or(0))
    }

    /// Returns true if no instant is earlier than the one before it.
    fn ascends(&self) -> bool {
        let of = |request: &SampledRequest| [Some(request.due_ns), Some(request.sent_ns), request.end_ns];
        let instants = self.requests.iter().flat_map(of).flatten().chain([self.end_ns]);
        std::iter::once(self.intended_start_ns).chain(instants).is_sorted()
    }

    fn problem(&self, flows: &[SessionPart<'_>]) -> Option<&'static str> {
        let Some((last, others)) = self.requests.split_last() else {
            return Some("a session has no request, and only those that have begun are sampled");
        };
        let Some(flow) = flows.iter().find(|flow| flow.step(last.step).is_some()) else {
            return Some("a request is of a step that is not in run.json");
        };
        let SessionPart { tally, steps, .. } = *flow;
        let in_books = match self.ending {
            SessionEnding::Completed => tally.completed > 0,
            SessionEnding::InFlightAtEnd => tally.in_flight_at_end > 0,
            SessionEnding::EndedEarly(cause) => {
                flow.step(last.step).is_some_and(|step| step.ended_here.contains_key(&cause))
            }
        };
        let is_open = last.end_ns.is_none();
        let is_cut = self.left_out > 0 && self.requests.len() < MAX_REQUESTS;
        let most = steps.iter().fold(0u64, |sum, step| sum.saturating_add(step.most_in_session()));
        let is_too_long = self.left_out.saturating_add(self.requests.len() as u64) > most;
        if self.requests.len() > MAX_REQUESTS || is_cut || is_too_long {
            Some("a session has another number of requests than are kept")
        } else if others.iter().any(|request| flow.step(request.step).is_none()) {
            Some("the requests of a session are not all of steps of one flow")
        } else if others.iter().any(|request| request.end_ns.is_none()) {
            Some("a request has no end, and is not the last of its session")
        } else if !self.ascends() {
            Some("the instants of a session are not in order")
        } else if self.think_ns > LONGEST_NS {
            Some("a session thinks for longer than any run is long")
        } else if self.latest_ns() > LONGEST_NS {
            Some("a session has an instant that is later than any run is long")
        } else if !in_books || (is_open && self.ending != SessionEnding::InFlightAtEnd) {
            Some("a session ended as none does in run.json")
        } else {
            None
        }
    }
}

impl Sampleable for SampledSession {
    fn length_ns(&self) -> u64 {
        self.time_ns()
    }

    fn instants_ns(&self) -> [u64; 3] {
        instants_ns(self.intended_start_ns, self.requests.first(), self.end_ns)
    }
}

fn instants_ns(intended_start_ns: u64, first: Option<&SampledRequest>, end_ns: u64) -> [u64; 3] {
    [intended_start_ns, first.map_or(intended_start_ns, |first| first.sent_ns), end_ns]
}

/// Begun sessions of a run: the slowest by session response time, however they ended, and random ones.
pub type SampledSessions = Sampled<SampledSession>;

impl SampledSessions {
    /// Offers a session that has ended.
    pub fn offer_session(&mut self, trail: &SessionTrail, end_ns: u64, think_ns: u64, ending: SessionEnding) {
        let intended_start_ns = trail.intended_start_ns;
        let end_ns = end_ns.max(trail.latest_ns);
        let time_ns = end_ns.saturating_sub(intended_start_ns).saturating_sub(think_ns);
        let instants_ns = instants_ns(intended_start_ns, trail.requests.first(), end_ns);
        self.offer_with(time_ns, instants_ns, || SampledSession {
            intended_start_ns,
            end_ns,
            think_ns,
            ending,
            left_out: trail.left_out,
            requests: trail.requests.clone(),
        });
    }

    /// Returns the reason why no run with `begun` begun sessions can have these samples; `None` if they are possible.
    pub(super) fn problem(&self, begun: u64, flows: &[SessionPart<'_>]) -> Option<&'static str> {
        let kept = |most: usize| begun.min(most as u64);
        if (self.slowest.len() as u64, self.random.len() as u64) != (kept(SLOWEST), kept(RANDOM)) {
            return Some("another number of sessions is sampled than are kept");
        }
        if !self.is_in_order() {
            return Some("the slowest sessions are not in order");
        }
        self.all().find_map(|session| session.problem(flows))
    }
}

/// The kept requests of a session in progress. The next session reuses the memory.
#[derive(Clone, Default, Debug)]
pub struct SessionTrail {
    intended_start_ns: u64,
    /// Lower bound of all later instants, in case clocks disagree.
    latest_ns: u64,
    left_out: u64,
    requests: Vec<SampledRequest>,
}

impl SessionTrail {
    /// Begins another session.
    pub fn restart(&mut self, intended_start_ns: u64) {
        (self.intended_start_ns, self.latest_ns, self.left_out) = (intended_start_ns, intended_start_ns, 0);
        self.requests.clear();
    }

    /// Adds the next request, of this step, which was due at `due_ns`.
    pub fn issue(&mut self, step: u32, due_ns: u64) {
        self.latest_ns = self.latest_ns.max(due_ns);
        if self.requests.len() == MAX_REQUESTS {
            self.requests.pop();
            self.left_out += 1;
        }
        self.requests.push(SampledRequest { step, due_ns: self.latest_ns, sent_ns: self.latest_ns, end_ns: None });
    }

    /// Records when the last request was sent and ended. `None` if the run ended first.
    pub fn end(&mut self, sent_ns: u64, end_ns: Option<u64>) {
        let Some(last) = self.requests.last_mut() else { return };
        last.sent_ns = sent_ns.max(last.due_ns);
        last.end_ns = end_ns.map(|end_ns| end_ns.max(last.sent_ns));
        self.latest_ns = last.end_ns.unwrap_or(last.sent_ns);
    }
}
