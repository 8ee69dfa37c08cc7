//! The loop that moves virtual time.

use truetail_model::arrival::{Horizon, ScheduleHash};
use truetail_model::driver::{Driver, Hand, Start, Turn};
use truetail_model::record::{Outcome, RequestRecord, StartDelay};
use truetail_model::service::{Service, ServiceState};
use truetail_model::time::{Nanos, Timestamp};
use truetail_model::workload::{LoadModel, Workload};

use crate::ending::ending;
use crate::pending::{Flight, Pending};
use crate::{SimError, Sink};

/// When the fault clock of the service starts.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum FaultClockStart {
    /// With the first request, as the server's does.
    #[default]
    FirstRequest,
    /// With the run's origin, as the server's does when it is told to.
    Origin,
}

/// A workload and a service in virtual time.
///
/// At one instant things happen in this order: requests that end, in the order in which they were started; then, one
/// by one, the starts that the driver asks for. A request that takes no time ends at the instant of its start, after
/// every start that was due with it. An answer at the instant of the timeout counts as an answer, and an end at the
/// instant of the drain limit as an end.
#[derive(Clone, Debug)]
pub struct Simulation {
    driver: Driver,
    service: ServiceState,
    timeout: Option<Nanos>,
    fault_clock: Option<Timestamp>,
    pending: Pending,
    now: Timestamp,
    /// No end can change what starts when, and the drain limit is known, so that each request is settled at its start.
    settles_at_start: bool,
    last_end: Timestamp,
    standing: Standing,
}

/// How a simulation ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SimulationEnd {
    /// The instant at which the last request had ended or was counted out.
    pub at: Timestamp,
    /// The hash of all arrivals.
    pub schedule_hash: ScheduleHash,
    /// Requests were under way that would never end, with neither a timeout nor a drain limit: a real run would have
    /// waited for ever.
    pub stuck: bool,
}

impl Simulation {
    /// The simulation of `workload` on `service`, before anything has happened.
    ///
    /// # Errors
    /// [`SimError::NoEnd`] when the workload has neither a duration nor a number of requests.
    pub fn new(service: &Service, workload: &Workload, fault_clock: FaultClockStart) -> Result<Simulation, SimError> {
        if workload.model.horizon() == Horizon::default() {
            return Err(SimError::NoEnd);
        }
        let driver = Driver::new(workload, Hand::ALONE);
        // With an endless drain, when a run ends that waits for what never comes is known only then.
        let knows_its_end = driver.deadline() != Timestamp::NEVER;
        let no_feedback = matches!(workload.model, LoadModel::Open(_)) && workload.limits.connections.is_none();
        Ok(Simulation {
            driver,
            service: ServiceState::new(service.clone()),
            timeout: workload.limits.timeout,
            fault_clock: match fault_clock {
                FaultClockStart::FirstRequest => None,
                FaultClockStart::Origin => Some(Timestamp::ZERO),
            },
            pending: Pending::default(),
            now: Timestamp::ZERO,
            settles_at_start: no_feedback && knows_its_end,
            last_end: Timestamp::ZERO,
            standing: Standing::new(&workload.model),
        })
    }

    /// Runs to the end and hands every arrival to `sink`.
    ///
    /// Records come in the order of their ends, except with an open model without a cap on connections and with a drain
    /// limit, where nothing depends on an end: there they come in the order of their starts.
    ///
    /// # Errors
    /// [`SimError::NoProgress`] when closed users ask again and again in no time.
    pub fn run(mut self, sink: &mut impl Sink) -> Result<SimulationEnd, SimError> {
        let stuck = loop {
            match self.driver.turn(self.now) {
                Turn::Start(start) => self.begin(start, sink)?,
                Turn::Wait { until } => {
                    if !self.advance(until, sink) {
                        break true;
                    }
                }
                Turn::Finished | Turn::Expired => break false,
            }
        };
        Ok(self.close(stuck, sink))
    }

    #[inline]
    fn begin(&mut self, start: Start, sink: &mut impl Sink) -> Result<(), SimError> {
        sink.planned(start.arrival.intended_start);
        self.standing.check(self.now)?;
        let mut record = self.ask(start);
        if self.settles_at_start {
            self.settle(start.user, &mut record);
            sink.ended(&record);
        } else {
            self.pending.push(Flight { user: start.user, record });
        }
        Ok(())
    }

    /// Asks the service what becomes of a request that starts now.
    #[inline]
    fn ask(&mut self, start: Start) -> RequestRecord {
        let clock = *self.fault_clock.get_or_insert(self.now);
        let fate = self.service.admit(Timestamp(self.now.since(clock).0));
        // The end of the timescale stays where it is: never is never on either clock.
        let completed = clock + fate.completed().since_origin();
        let gives_up = self.timeout.map_or(Timestamp::NEVER, |timeout| self.now + timeout);
        let (end, outcome) = ending(fate.action, completed, gives_up);
        let Start { arrival, connection_wait, .. } = start;
        RequestRecord {
            index: arrival.index,
            intended_start: arrival.intended_start,
            actual_start: self.now,
            end,
            delay: StartDelay::split(arrival.intended_start, self.now, connection_wait, Nanos::ZERO),
            connected: false,
            tls_handshake: None,
            read_lag: None,
            outcome,
            bytes_in: 0,
        }
    }

    /// Ends a request that was just started, at the end it will have.
    #[inline]
    fn settle(&mut self, user: u32, record: &mut RequestRecord) {
        let deadline = self.driver.deadline();
        if record.end > deadline {
            cut_off(record, deadline);
        }
        self.last_end = self.last_end.max(record.end);
        self.driver.finish(user, record.end);
    }

    /// Moves to the next instant at which something happens, at the latest `until`, and ends what ends there. False
    /// when nothing ever will.
    #[inline]
    fn advance(&mut self, until: Timestamp, sink: &mut impl Sink) -> bool {
        let next = self.pending.next_end().min(until);
        if next == Timestamp::NEVER {
            return false;
        }
        self.now = next;
        while let Some(flight) = self.pending.pop_ended(next) {
            self.driver.finish(flight.user, flight.record.end);
            sink.ended(&flight.record);
        }
        true
    }

    /// Counts out what is still under way and what was never issued.
    fn close(mut self, stuck: bool, sink: &mut impl Sink) -> SimulationEnd {
        let at = self.now.max(self.last_end);
        for mut flight in self.pending.into_started_order() {
            cut_off(&mut flight.record, at);
            sink.ended(&flight.record);
        }
        while let Some(arrival) = self.driver.unissued() {
            sink.planned(arrival.intended_start);
            sink.ended(&RequestRecord::never_issued(arrival, at));
        }
        SimulationEnd { at, schedule_hash: self.driver.schedule_hash(), stuck }
    }
}

/// Makes of `record` that of a request which is still under way when the run ends at `at`.
fn cut_off(record: &mut RequestRecord, at: Timestamp) {
    record.end = at;
    record.outcome = Outcome::InFlightAtEnd;
}

/// Watches for a clock that does not move.
#[derive(Clone, Copy, Debug)]
struct Standing {
    at: Timestamp,
    starts: u64,
    limit: u64,
}

/// More starts than this by each user at one instant, on average, with no end in sight, are a clock that stands.
const STANDING_LIMIT: u64 = 1_000_000;

impl Standing {
    fn new(model: &LoadModel) -> Standing {
        let limit = match model {
            LoadModel::Closed { users, horizon, .. } if horizon.requests.is_none() => {
                STANDING_LIMIT.saturating_mul(u64::from(*users))
            }
            _ => u64::MAX,
        };
        Standing { at: Timestamp::ZERO, starts: 0, limit }
    }

    #[inline]
    fn check(&mut self, now: Timestamp) -> Result<(), SimError> {
        if now > self.at {
            *self = Standing { at: now, starts: 0, ..*self };
        }
        self.starts += 1;
        if self.starts > self.limit {
            return Err(SimError::NoProgress { at: now, starts: self.starts });
        }
        Ok(())
    }
}
