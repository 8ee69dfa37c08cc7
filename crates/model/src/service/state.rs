//! A service in operation. It decides about a request on arrival, since everything that happens is determined by then.

use super::concurrency::ConcurrencyLimit;
use super::description::{Service, Variation};
use super::effect::{Action, AnswerChange, FaultEffect, Gate, pass_gates};
use super::fault::{Fault, FaultKind, FaultSet};
use super::route::RouteId;
use super::stream::{StreamOutline, StreamTiming, StreamWrite};
use crate::random::Random;
use crate::time::{Nanos, Timestamp};

/// Purpose of the random numbers for the variation of work.
const WORK_STREAM: u64 = 0x574f_524b;

/// Plan of the service for one request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ResponsePlan {
    /// Number on the fault clock, from 1.
    pub number: u64,
    /// Instant of arrival.
    pub arrived: Timestamp,
    /// Start of its work.
    pub began: Timestamp,
    /// Instant of `action`; [`Timestamp::NEVER`] for a black hole.
    pub due: Timestamp,
    /// Action at `due`.
    pub action: Action,
    /// Faults that the request met.
    pub faults: FaultSet,
}

impl ResponsePlan {
    /// Returns when the last byte of the answer leaves; [`Timestamp::NEVER`] without an answer.
    pub fn completed(&self) -> Timestamp {
        match self.action {
            Action::SlowBody { until } => until,
            Action::Answer { .. } | Action::ShortBody | Action::Garbage | Action::Reset | Action::BlackHole => self.due,
        }
    }
}

/// Service in operation. Requests are admitted in the order of their arrival. A client that gives up does not cancel
/// its request: the work is still done and still holds its slot, as in most servers.
#[derive(Clone, Debug)]
pub struct ServiceState {
    service: Service,
    admitted: u64,
    work: Random,
    slots: Option<ConcurrencyLimit>,
    /// Treatment of the requests of each route, by [`RouteId`].
    lanes: Vec<RouteState>,
    /// If true, streams pass the gate for arrivals when they enter the batch.
    is_batched: bool,
    /// True without faults, routes, queue and random numbers, and with a finite baseline: all requests are alike.
    is_plain: bool,
}

#[derive(Clone, Debug)]
struct RouteState {
    baseline: Nanos,
    /// Its own faults, then the faults of the service. If empty, every search for faults is skipped.
    faults: Vec<Fault>,
    own_faults: usize,
    /// Number of requests of this route. Its own faults count these.
    admitted: u64,
    /// By [`Gate`]: earliest known instant after which the gate never opens again.
    shut_from: [Timestamp; Gate::ALL.len()],
}

impl RouteState {
    fn new(service: &Service, route: RouteId) -> RouteState {
        RouteState {
            baseline: service.baseline_at(route),
            faults: service.faults_at(route).cloned().collect(),
            own_faults: service.own_faults(route).len(),
            admitted: 0,
            shut_from: [Timestamp::NEVER; Gate::ALL.len()],
        }
    }

    /// Returns each fault with the number of the request for it: among the requests of the route, or among all.
    fn numbered(&self, number: u64) -> impl Iterator<Item = (&Fault, u64)> {
        let number_of = move |nth| if nth < self.own_faults { self.admitted } else { number };
        self.faults.iter().enumerate().map(move |(nth, fault)| (fault, number_of(nth)))
    }
}

impl ServiceState {
    /// Creates the service at the start of its fault clock, with nothing admitted.
    pub fn new(service: Service) -> ServiceState {
        ServiceState {
            admitted: 0,
            work: Random::new(service.seed, WORK_STREAM),
            slots: service.concurrency.map(ConcurrencyLimit::new),
            lanes: service.route_ids().map(|route| RouteState::new(&service, route)).collect(),
            is_batched: service.is_batched(),
            is_plain: service.baseline < Nanos(1 << 62)
                && service.faults.is_empty()
                && service.routes.is_empty()
                && service.concurrency.is_none()
                && service.variation == Variation::Constant,
            service,
        }
    }

    /// Returns the description of the service.
    pub fn service(&self) -> &Service {
        &self.service
    }

    /// Returns the number of admitted requests.
    pub fn admitted(&self) -> u64 {
        self.admitted
    }

    /// Admits a request without a route, and returns its plan. Requests come in order of `arrived`.
    #[inline]
    pub fn admit(&mut self, arrived: Timestamp) -> ResponsePlan {
        self.admit_on(RouteId::default(), arrived)
    }

    /// Admits a request of `route` that arrives at `arrived`, and returns its plan. Requests come in order of arrival.
    #[inline]
    pub fn admit_on(&mut self, route: RouteId, arrived: Timestamp) -> ResponsePlan {
        self.admitted += 1;
        if self.is_plain {
            return self.plain_plan(arrived);
        }
        self.lanes[route.0].admitted += 1;
        let mut met = FaultSet::NONE;
        let change = self.answer_change(route, arrived, &mut met);
        let mut plan = ResponsePlan {
            number: self.admitted,
            arrived,
            began: arrived,
            due: arrived,
            action: Action::BlackHole,
            faults: met,
        };
        match change {
            AnswerChange::Never => plan.due = Timestamp::NEVER,
            AnswerChange::AtOnce(action) => plan.action = action,
            AnswerChange::WhenDone(action) => self.work_on(route, &mut plan, |_| action),
            AnswerChange::SlowBody(over) => {
                self.work_on(route, &mut plan, |due| Action::SlowBody { until: due + over })
            }
        }
        plan
    }

    /// Returns the writes of the stream that answers the request of `plan`, and adds the faults that it meets to the
    /// plan.
    pub fn stream_writes(
        &mut self,
        plan: &mut ResponsePlan,
        timing: &StreamTiming,
        outline: &StreamOutline,
    ) -> Vec<StreamWrite> {
        let mut met = plan.faults;
        let writes = timing.writes(plan.number, plan.due, outline, |at| {
            self.pass_gate(RouteId::default(), Gate::Events, at, &mut met)
        });
        plan.faults = met;
        writes
    }

    /// Returns the plan of a plain service, without the searches of [`ServiceState::admit`].
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

    /// Passes a request through entry gate, queue, work and exit gate. `action_at` gets the instant when it is through.
    fn work_on(&mut self, route: RouteId, plan: &mut ResponsePlan, action_at: impl FnOnce(Timestamp) -> Action) {
        let admitted_at = match self.is_batched {
            true => plan.arrived,
            false => self.pass_gate(route, Gate::Arrivals, plan.arrived, &mut plan.faults),
        };
        if admitted_at == Timestamp::NEVER {
            plan.due = Timestamp::NEVER;
            return;
        }
        plan.began = self.slots.as_mut().map_or(admitted_at, |slots| slots.acquire(admitted_at));
        if plan.began > admitted_at {
            plan.faults.insert(FaultKind::Queue);
        }
        let work = self.work_at(route, plan.number, plan.began, &mut plan.faults);
        plan.due = self.pass_gate(route, Gate::Answers, plan.began + work, &mut plan.faults);
        if plan.due != Timestamp::NEVER {
            plan.action = action_at(plan.due);
        }
        if let Some(slots) = &mut self.slots {
            slots.release_at(plan.completed());
        }
    }

    /// Returns the change by the first fault in the list that changes the answer to the admitted request.
    fn answer_change(&self, route: RouteId, arrived: Timestamp, met: &mut FaultSet) -> AnswerChange {
        let healthy = AnswerChange::WhenDone(Action::Answer { status: 200 });
        let lane = &self.lanes[route.0];
        if lane.faults.is_empty() {
            return healthy;
        }
        let decides = |(fault, number): (&Fault, u64)| match fault.effect() {
            FaultEffect::Answer { select, change } => {
                select.meets(self.service.seed, number, arrived).then_some((fault.kind(), change))
            }
            FaultEffect::Stall(_) | FaultEffect::Ramp { .. } | FaultEffect::Pause { .. } => None,
        };
        lane.numbered(self.admitted).find_map(decides).map_or(healthy, |(kind, change)| {
            met.insert(kind);
            change
        })
    }

    /// Returns when a request of `route` that reaches the gates of `side` at `instant` has passed all of them.
    fn pass_gate(&mut self, route: RouteId, side: Gate, instant: Timestamp, met: &mut FaultSet) -> Timestamp {
        let RouteState { faults, shut_from, .. } = &mut self.lanes[route.0];
        if faults.is_empty() {
            return instant;
        }
        let shut_from = &mut shut_from[side as usize];
        if instant >= *shut_from {
            return Timestamp::NEVER;
        }
        let opens = pass_gates(instant, |at| {
            let shut = |fault: &Fault| fault.stall_schedule()?.opens_at(side, at).map(|opens| (opens, fault.kind()));
            let (opens, kind) = faults.iter().find_map(shut)?;
            met.insert(kind);
            Some(opens)
        });
        if opens == Timestamp::NEVER {
            *shut_from = instant.min(*shut_from);
        }
        opens
    }

    fn work_at(&mut self, route: RouteId, number: u64, began: Timestamp, met: &mut FaultSet) -> Nanos {
        let lane = &self.lanes[route.0];
        let baseline = lane.ramped_baseline(began, met);
        let work = match self.service.variation {
            Variation::Constant => baseline,
            Variation::Exponential => Nanos((baseline.0 as f64 * self.work.exponential()).round() as u64),
        };
        lane.paused_work(number, work, met)
    }
}

impl RouteState {
    fn ramped_baseline(&self, began: Timestamp, met: &mut FaultSet) -> Nanos {
        let mut baseline = self.baseline;
        for fault in &self.faults {
            match fault.effect() {
                FaultEffect::Ramp { from, to, target } if began >= from => {
                    met.insert(fault.kind());
                    baseline = along(baseline, target, began.since(from), to.since(from));
                }
                FaultEffect::Ramp { .. }
                | FaultEffect::Stall(_)
                | FaultEffect::Pause { .. }
                | FaultEffect::Answer { .. } => {}
            }
        }
        baseline
    }

    /// Returns the work of request `number`: `work`, unless a fault replaces it.
    fn paused_work(&self, number: u64, mut work: Nanos, met: &mut FaultSet) -> Nanos {
        for (fault, number) in self.numbered(number) {
            match fault.effect() {
                FaultEffect::Pause { every, pause } if number.is_multiple_of(every) => {
                    met.insert(fault.kind());
                    work = pause;
                }
                FaultEffect::Pause { .. }
                | FaultEffect::Stall(_)
                | FaultEffect::Ramp { .. }
                | FaultEffect::Answer { .. } => {}
            }
        }
        work
    }
}

/// Returns the point after `passed` of `whole` on the line from `start` to `end`, to the nearest nanosecond.
fn along(start: Nanos, end: Nanos, passed: Nanos, whole: Nanos) -> Nanos {
    if passed >= whole {
        return end;
    }
    let passed = u128::from(passed.0);
    let whole = u128::from(whole.0);
    // passed < whole, so the moved distance is at most the whole distance.
    let moved = |distance: u64| ((u128::from(distance) * passed + whole / 2) / whole) as u64;
    if end >= start { Nanos(start.0 + moved(end.0 - start.0)) } else { Nanos(start.0 - moved(start.0 - end.0)) }
}
