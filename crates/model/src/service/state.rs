//! What becomes of each request: decided on its arrival, because everything the service does is determined by then.

use super::concurrency::ConcurrencyLimit;
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
pub struct ResponsePlan {
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

impl ResponsePlan {
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
    /// With a concurrency cap: who is being worked on until when.
    slots: Option<ConcurrencyLimit>,
    /// For each [`Gate`]: the earliest instant from which it was found shut for ever.
    shut_from: [Timestamp; 2],
    /// What the description contains, so that a healthy service costs next to nothing.
    has_faults: bool,
    /// No fault, no queue, nothing drawn, and an end that comes: every fate is the same.
    is_plain: bool,
}

impl ServiceState {
    /// The service at the start of its fault clock, with nothing admitted.
    pub fn new(service: Service) -> ServiceState {
        ServiceState {
            admitted: 0,
            work: Random::new(service.seed, WORK_STREAM),
            slots: service.concurrency.map(ConcurrencyLimit::new),
            shut_from: [Timestamp::NEVER; 2],
            is_plain: service.baseline < Nanos(1 << 62)
                && service.faults.is_empty()
                && service.concurrency.is_none()
                && service.variation == Variation::Constant,
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
    #[inline]
    pub fn admit(&mut self, arrived: Timestamp) -> ResponsePlan {
        self.admitted += 1;
        if self.is_plain {
            return self.plain_plan(arrived);
        }
        let mut met = FaultSet::NONE;
        let action = self.action(arrived, &mut met);
        let mut plan = ResponsePlan {
            number: self.admitted,
            arrived,
            began: arrived,
            due: arrived,
            action: Action::BlackHole,
            faults: met,
        };
        match action {
            Effect::Never => plan.due = Timestamp::NEVER,
            Effect::AtOnce(action) => plan.action = action,
            Effect::WhenDone(answer) => self.work_on(&mut plan, answer),
        }
        plan
    }

    /// What the long way would say when there is nothing on it.
    fn plain_plan(&self, arrived: Timestamp) -> ResponsePlan {
        ResponsePlan {
            number: self.admitted,
            arrived,
            began: arrived,
            due: arrived + self.service.baseline,
            action: Action::Answer { status: 200 },
            faults: FaultSet::NONE,
        }
    }

    /// Passes a request through the entry gate, the queue, the work and the exit gate.
    fn work_on(&mut self, plan: &mut ResponsePlan, answer: Answer) {
        let admitted_at = self.pass_gate(Gate::Arrivals, plan.arrived, &mut plan.faults);
        if admitted_at == Timestamp::NEVER {
            plan.due = Timestamp::NEVER;
            return;
        }
        plan.began = self.slots.as_mut().map_or(admitted_at, |slots| slots.acquire(admitted_at));
        if plan.began > admitted_at {
            plan.faults.insert(FaultKind::Queue);
        }
        let work = self.work_at(plan.number, plan.began, &mut plan.faults);
        plan.due = self.pass_gate(Gate::Answers, plan.began + work, &mut plan.faults);
        plan.action = match answer {
            _ if plan.due == Timestamp::NEVER => Action::BlackHole,
            Answer::Whole(action) => action,
            Answer::Slow(over) => Action::SlowBody { until: plan.due + over },
        };
        if let Some(slots) = &mut self.slots {
            slots.release_at(plan.completed());
        }
    }

    /// The first fault in the list that decides the kind of answer for the request being admitted.
    fn action(&self, arrived: Timestamp, met: &mut FaultSet) -> Effect {
        if self.has_faults {
            for fault in &self.service.faults {
                if let Some(decided) = self.decided_by(fault, arrived) {
                    met.insert(fault.kind());
                    return decided;
                }
            }
        }
        Effect::WhenDone(Answer::Whole(Action::Answer { status: 200 }))
    }

    fn decided_by(&self, fault: &Fault, arrived: Timestamp) -> Option<Effect> {
        let meets = |select: &super::Selector| select.meets(self.service.seed, self.admitted, arrived);
        let whole = |action| Effect::WhenDone(Answer::Whole(action));
        match fault {
            Fault::ErrorStatus { status, immediately, select } if meets(select) => {
                let answer = Action::Answer { status: *status };
                Some(if *immediately { Effect::AtOnce(answer) } else { whole(answer) })
            }
            Fault::Reset { select } if meets(select) => Some(whole(Action::Reset)),
            Fault::BlackHole { select } if meets(select) => Some(Effect::Never),
            Fault::SlowBody { over, select } if meets(select) => Some(Effect::WhenDone(Answer::Slow(*over))),
            Fault::ShortBody { select } if meets(select) => Some(whole(Action::ShortBody)),
            Fault::Garbage { select } if meets(select) => Some(whole(Action::Garbage)),
            _ => None,
        }
    }

    /// When a request that reaches the gates of `side` at `instant` is through all of them.
    fn pass_gate(&mut self, side: Gate, instant: Timestamp, met: &mut FaultSet) -> Timestamp {
        if !self.has_faults {
            return instant;
        }
        let shut_from = &mut self.shut_from[side as usize];
        let opens =
            if instant >= *shut_from { Timestamp::NEVER } else { pass_gates(&self.service.faults, side, instant, met) };
        if opens == Timestamp::NEVER {
            *shut_from = instant.min(*shut_from);
        }
        opens
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

/// After so many openings that each led to another shut gate, there is no way through.
const MAX_GATES: usize = 100_000;

/// When a request that reaches the gates of `side` at `instant` is through all of them; [`Timestamp::NEVER`] where
/// recurring stalls take turns and leave no gap.
pub(super) fn pass_gates(faults: &[Fault], side: Gate, mut instant: Timestamp, met: &mut FaultSet) -> Timestamp {
    // A gate that opens may lead to another that is shut by then, so look again until none is.
    for _ in 0..MAX_GATES {
        let shut = faults.iter().find_map(|fault| fault.opens_at(side, instant).map(|opens| (opens, fault.kind())));
        let Some((opens, kind)) = shut else { return instant };
        met.insert(kind);
        instant = opens;
    }
    Timestamp::NEVER
}

/// The point after `passed` of `whole` on the line from `start` to `end`, to the nearest nanosecond; `end` thereafter.
fn along(start: Nanos, end: Nanos, passed: Nanos, whole: Nanos) -> Nanos {
    if passed >= whole {
        return end;
    }
    let (passed, whole) = (u128::from(passed.0), u128::from(whole.0));
    // passed < whole, so that the moved distance is at most the whole one.
    let moved = |distance: u64| ((u128::from(distance) * passed + whole / 2) / whole) as u64;
    if end >= start { Nanos(start.0 + moved(end.0 - start.0)) } else { Nanos(start.0 - moved(start.0 - end.0)) }
}

/// When the kind of answer takes effect.
enum Effect {
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
