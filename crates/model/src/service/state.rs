//! What becomes of each request: decided on its arrival, because everything the service does is determined by then.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Fault, FaultKind, FaultSet, Gate, Service, Variation};
use crate::random::Random;
use crate::time::{Nanos, Timestamp};

/// The stream of [`Random`] that the work's variation draws from.
const WORK_STREAM: u64 = 0x574f_524b;

/// What the service does when a request's time has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// A whole answer with this status.
    Answer {
        /// 200, or what an error-status fault says.
        status: u16,
    },
    /// Head and half of the body now, the rest at this instant.
    SlowBody {
        /// When the last byte leaves.
        until: Timestamp,
    },
    /// The head promises more than comes, then the connection is closed.
    ShortBody,
    /// Bytes that are not HTTP, then the connection is closed.
    Garbage,
    /// A TCP reset.
    Reset,
    /// Nothing, ever.
    BlackHole,
}

/// What becomes of one request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fate {
    /// Its number on the fault clock, from 1.
    pub number: u64,
    /// When it arrived.
    pub arrived: Timestamp,
    /// When its work began.
    pub began: Timestamp,
    /// When `action` happens; [`Timestamp::NEVER`] for a black hole.
    pub due: Timestamp,
    /// What happens then.
    pub action: Action,
    /// The faults it met on its way.
    pub faults: FaultSet,
}

impl Fate {
    /// When the last byte of the answer leaves; [`Timestamp::NEVER`] where none does.
    pub fn completed(&self) -> Timestamp {
        match self.action {
            Action::SlowBody { until } => until,
            _ => self.due,
        }
    }
}

/// A service in operation. Requests are admitted in the order of their arrival.
///
/// A client that gives up does not take its request back: the work is done all the same and holds its place, as most
/// servers do.
#[derive(Clone, Debug)]
pub struct ServiceState {
    service: Service,
    admitted: u64,
    work: Random,
    /// With a concurrency cap: when each place is free again.
    places: Option<BinaryHeap<Reverse<Timestamp>>>,
    /// What the description contains, so that a healthy service costs next to nothing.
    has_faults: bool,
}

impl ServiceState {
    /// The service at the start of its fault clock, with nothing admitted.
    pub fn new(service: Service) -> ServiceState {
        ServiceState {
            admitted: 0,
            work: Random::new(service.seed, WORK_STREAM),
            places: service.concurrency.map(|cap| (0..cap.max(1)).map(|_| Reverse(Timestamp::ZERO)).collect()),
            has_faults: !service.faults.is_empty(),
            service,
        }
    }

    /// The description it obeys.
    pub fn service(&self) -> &Service {
        &self.service
    }

    /// How many requests were admitted.
    pub fn admitted(&self) -> u64 {
        self.admitted
    }

    /// Admits a request that arrives at `arrived`, not earlier than the one before it, and says what becomes of it.
    pub fn admit(&mut self, arrived: Timestamp) -> Fate {
        self.admitted += 1;
        let mut met = FaultSet::NONE;
        let action = self.action(arrived, &mut met);
        let mut fate = Fate {
            number: self.admitted,
            arrived,
            began: arrived,
            due: arrived,
            action: Action::BlackHole,
            faults: met,
        };
        match action {
            Decided::Never => fate.due = Timestamp::NEVER,
            Decided::AtOnce(action) => fate.action = action,
            Decided::WhenDone(answer) => self.work_on(&mut fate, answer),
        }
        fate
    }

    /// Passes a request through the entry gate, the queue, the work and the exit gate.
    fn work_on(&mut self, fate: &mut Fate, answer: Answer) {
        let admitted_at = self.pass_gate(Gate::Arrivals, fate.arrived, &mut fate.faults);
        let place = self.places.as_mut().and_then(BinaryHeap::pop).map(|Reverse(free_at)| free_at);
        fate.began = place.map_or(admitted_at, |free_at| free_at.max(admitted_at));
        if fate.began > admitted_at {
            fate.faults.insert(FaultKind::Queue);
        }
        let work = self.work_at(fate.number, fate.began, &mut fate.faults);
        fate.due = self.pass_gate(Gate::Answers, fate.began + work, &mut fate.faults);
        fate.action = match answer {
            Answer::Whole(action) => action,
            Answer::Slow(over) => Action::SlowBody { until: fate.due + over },
        };
        if let Some(places) = &mut self.places {
            places.push(Reverse(fate.completed()));
        }
    }

    /// The first fault in the list that decides the kind of answer for the request being admitted.
    fn action(&self, arrived: Timestamp, met: &mut FaultSet) -> Decided {
        if self.has_faults {
            for fault in &self.service.faults {
                if let Some(decided) = self.decided_by(fault, arrived) {
                    met.insert(fault.kind());
                    return decided;
                }
            }
        }
        Decided::WhenDone(Answer::Whole(Action::Answer { status: 200 }))
    }

    fn decided_by(&self, fault: &Fault, arrived: Timestamp) -> Option<Decided> {
        let meets = |select: &super::Select| select.meets(self.service.seed, self.admitted, arrived);
        let whole = |action| Decided::WhenDone(Answer::Whole(action));
        match fault {
            Fault::ErrorStatus { status, immediately, select } if meets(select) => {
                let answer = Action::Answer { status: *status };
                Some(if *immediately { Decided::AtOnce(answer) } else { whole(answer) })
            }
            Fault::Reset { select } if meets(select) => Some(whole(Action::Reset)),
            Fault::BlackHole { select } if meets(select) => Some(Decided::Never),
            Fault::SlowBody { over, select } if meets(select) => Some(Decided::WhenDone(Answer::Slow(*over))),
            Fault::ShortBody { select } if meets(select) => Some(whole(Action::ShortBody)),
            Fault::Garbage { select } if meets(select) => Some(whole(Action::Garbage)),
            _ => None,
        }
    }

    /// When a request that reaches the gates of `side` at `instant` is through all of them.
    fn pass_gate(&self, side: Gate, mut instant: Timestamp, met: &mut FaultSet) -> Timestamp {
        if !self.has_faults {
            return instant;
        }
        // A gate that opens may lead to another that is shut by then, so look again until none is.
        while let Some((opens, kind)) =
            self.service.faults.iter().find_map(|f| f.opens_at(side, instant).map(|opens| (opens, f.kind())))
        {
            met.insert(kind);
            instant = opens;
        }
        instant
    }

    /// How long the work of request `number` takes when it begins at `began`.
    fn work_at(&mut self, number: u64, began: Timestamp, met: &mut FaultSet) -> Nanos {
        let mut work = self.service.baseline;
        if self.has_faults {
            for fault in &self.service.faults {
                if let Fault::Ramp { from, to, target } = *fault
                    && began >= from
                {
                    met.insert(FaultKind::Ramp);
                    work = along(work, target, began.since(from), to.since(from));
                }
            }
        }
        if self.service.variation == Variation::Exponential {
            work = Nanos((work.0 as f64 * self.work.exponential()).round() as u64);
        }
        if self.has_faults {
            for fault in &self.service.faults {
                if let Fault::EveryNth { every, pause } = *fault
                    && number.is_multiple_of(every)
                {
                    met.insert(FaultKind::EveryNth);
                    work = pause;
                }
            }
        }
        work
    }
}

/// The point after `passed` of `whole` on the line from `start` to `end`, to the nearest nanosecond; `end` thereafter.
fn along(start: Nanos, end: Nanos, passed: Nanos, whole: Nanos) -> Nanos {
    if passed >= whole {
        return end;
    }
    let (start, end) = (i128::from(start.0), i128::from(end.0));
    let (passed, whole) = (i128::from(passed.0), i128::from(whole.0));
    let moved = ((end - start) * passed * 2 + whole).div_euclid(2 * whole);
    Nanos(u64::try_from(start + moved).unwrap_or(0))
}

/// When the kind of answer takes effect.
enum Decided {
    /// After gates, queue and work.
    WhenDone(Answer),
    /// On arrival.
    AtOnce(Action),
    /// Not at all.
    Never,
}

/// What leaves when the work is done.
enum Answer {
    /// All of it at once.
    Whole(Action),
    /// The second half of the body this much later.
    Slow(Nanos),
}
