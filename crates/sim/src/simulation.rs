//! The event loop of virtual time.

use truetail_model::arrival::{Horizon, ScheduleHash};
use truetail_model::driver::{Directive, Driver, DueRequest, Stripe, Unissued, WorkerShare};
use truetail_model::record::{KnockOn, Outcome, RequestRecord};
use truetail_model::service::{Action, Service, VirtualAnswer, VirtualService};
use truetail_model::time::{Nanos, Timestamp};
use truetail_model::workload::{LoadModel, Workload};

use crate::channels::Channels;
use crate::client_outcome::client_outcome;
use crate::flaws::{FlawedGenerator, GeneratorFlaws};
use crate::generators::Generators;
use crate::in_flight::{InFlightQueue, InFlightRequest};
use crate::livelock::LivelockGuard;
use crate::sessions::{NoSessions, SessionRequest, Sessions};
use crate::stream_ticket::StreamTicket;
use crate::streams::OpenStreams;
use crate::{SimError, Sink, limits};

/// Start of the fault clock of the service, in a simulation.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum FaultClockStart {
    /// At the first request, like the default of the server.
    #[default]
    FirstRequest,
    /// At the origin of the run, like the server after `POST /clock`.
    Origin,
}

/// A workload and a service in virtual time.
///
/// At one instant, first requests end, in the order of their starts. Then requests start, one by one. A request that
/// takes no time ends at the instant of its start, after every start that was due with it. An answer at the instant of
/// the timeout counts as an answer, and an end at the instant of the drain limit as an end.
#[derive(Clone, Debug)]
pub struct Simulation {
    generators: Generators,
    service: VirtualService<StreamTicket>,
    /// Open answers, if the service streams.
    streams: Option<OpenStreams>,
    /// Channels whose replies keep the order of their messages, if requests are such messages.
    channels: Option<Channels>,
    timeout: Option<Nanos>,
    fault_clock: Option<Timestamp>,
    in_flight: InFlightQueue,
    now: Timestamp,
    /// True if no end can influence a later start and the drain limit is known: each request is settled at its start.
    settles_at_start: bool,
    last_end: Timestamp,
    livelock: LivelockGuard,
    generator: Option<LateGenerator>,
}

#[derive(Clone, Debug)]
struct LateGenerator {
    flawed: FlawedGenerator,
    knock_on: KnockOn,
    /// It does nothing before this instant.
    wakes: Timestamp,
}

/// End of a simulation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SimulationEnd {
    /// Instant when the last request had ended or was cut off.
    pub at: Timestamp,
    /// Hash of all planned arrivals.
    pub schedule_hash: ScheduleHash,
    /// True if requests in flight would never end, without a timeout or a drain limit: a real run would wait forever.
    pub stuck: bool,
}

impl Simulation {
    /// Creates a simulation of `workload` on `service`.
    ///
    /// # Errors
    /// [`SimError::NoEnd`] if the workload has neither a duration nor a number of requests, or [`SimError::TooLarge`].
    pub fn new(service: &Service, workload: &Workload, fault_clock: FaultClockStart) -> Result<Simulation, SimError> {
        Simulation::with_machines(service, workload, fault_clock, 1)
    }

    /// Creates a simulation with `machines` generators, at least one, that share the load, and fails like
    /// [`Simulation::new`].
    pub fn with_machines(
        service: &Service,
        workload: &Workload,
        fault_clock: FaultClockStart,
        machines: u32,
    ) -> Result<Simulation, SimError> {
        if workload.model.horizon() == Horizon::default() {
            return Err(SimError::NoEnd);
        }
        limits::check(service, workload)?;
        let driver = |stripe| Driver::new(&workload.for_stripe(stripe), WorkerShare { stripe, ..WorkerShare::WHOLE });
        let generators = Generators::new(Stripe::all(machines).map(driver).collect());
        let livelock = LivelockGuard::new(&workload.model, service);
        // With an endless drain, the end of the run is not known while requests start.
        let service = VirtualService::new(service, "");
        let knows_its_end = generators.deadline() != Timestamp::NEVER;
        let no_feedback = matches!(workload.model, LoadModel::Open(_)) && workload.limits.connections.is_none();
        Ok(Simulation {
            generators,
            streams: service.outline().map(OpenStreams::new),
            channels: Channels::in_order(service.service(), workload),
            timeout: workload.limits.timeout,
            fault_clock: match fault_clock {
                FaultClockStart::FirstRequest => None,
                FaultClockStart::Origin => Some(Timestamp::ZERO),
            },
            in_flight: InFlightQueue::default(),
            now: Timestamp::ZERO,
            settles_at_start: no_feedback && knows_its_end && !service.is_batched(),
            service,
            last_end: Timestamp::ZERO,
            livelock,
            generator: None,
        })
    }

    /// Sets the path of all requests, which determines the format of streams.
    #[must_use]
    pub fn at_path(self, path: &str) -> Simulation {
        let service = VirtualService::new(self.service.service(), path);
        Simulation { streams: service.outline().map(OpenStreams::new), service, ..self }
    }

    /// Makes the generator late.
    #[must_use]
    pub fn with_flaws(self, flaws: GeneratorFlaws) -> Simulation {
        let generator =
            LateGenerator { flawed: FlawedGenerator::new(flaws), knock_on: KnockOn::default(), wakes: Timestamp::ZERO };
        // The requests in flight are known only if requests end one by one.
        Simulation { generator: Some(generator), settles_at_start: false, ..self }
    }

    /// Runs to the end and hands every arrival to `sink`, in the order of ends. In an open model with a drain limit and
    /// without a cap on connections, no start depends on an end. Then the order is that of the starts.
    ///
    /// # Errors
    /// [`SimError::NoProgress`] if virtual time does not advance.
    pub fn run(self, sink: &mut impl Sink) -> Result<SimulationEnd, SimError> {
        Ok(self.run_apart(std::slice::from_mut(sink))?[0])
    }

    /// Runs to the end and hands the arrivals of each machine to its own sink. All machines end together.
    /// Fails like [`Simulation::run`].
    ///
    /// # Panics
    /// If the number of sinks is not the number of machines.
    pub fn run_apart<S: Sink>(self, sinks: &mut [S]) -> Result<Vec<SimulationEnd>, SimError> {
        let route = self.service.route();
        self.run_with(sinks, &mut NoSessions(route))
    }

    /// Runs a partly open load like [`Simulation::run`], and fails like it, but `sessions` decides about its sessions.
    pub fn run_sessions(
        mut self,
        sink: &mut impl Sink,
        sessions: &mut impl Sessions,
    ) -> Result<SimulationEnd, SimError> {
        self.generators.driver_mut(0).follow_script();
        Ok(self.run_with(std::slice::from_mut(sink), sessions)?[0])
    }

    fn run_with<S: Sink>(
        mut self,
        sinks: &mut [S],
        sessions: &mut impl Sessions,
    ) -> Result<Vec<SimulationEnd>, SimError> {
        assert_eq!(sinks.len(), self.generators.len(), "a sink for each machine");
        let stuck = loop {
            if let Some(wakes) = self.sleeps_until() {
                self.advance(wakes, sinks, sessions);
                continue;
            }
            match self.generators.poll(self.now) {
                (machine, Directive::Start(start)) => {
                    self.begin(machine, start, &mut sinks[machine as usize], sessions)?;
                }
                (_, Directive::Wait { until }) => {
                    if !self.advance(until, sinks, sessions) {
                        break true;
                    }
                    self.fall_due();
                }
                (_, Directive::Finished | Directive::Expired) => break false,
            }
        };
        Ok(self.close(stuck, sinks, sessions))
    }

    /// Returns when a late generator wakes, if it sleeps though something is due.
    #[inline]
    fn sleeps_until(&self) -> Option<Timestamp> {
        self.generator.as_ref().map(|generator| generator.wakes).filter(|wakes| *wakes > self.now)
    }

    /// Puts a late generator to sleep if something has just fallen due.
    #[inline]
    fn fall_due(&mut self) {
        if let Some(generator) = &mut self.generator
            && self.generators.can_start(self.now)
        {
            generator.wakes = generator.flawed.wake_time(self.now);
        }
    }

    #[inline]
    fn begin<F: Sessions>(
        &mut self,
        machine: u32,
        start: DueRequest,
        sink: &mut impl Sink,
        sessions: &mut F,
    ) -> Result<(), SimError> {
        sink.planned(start.arrival.intended_start);
        self.livelock.check(self.now)?;
        let clock = *self.fault_clock.get_or_insert(self.now);
        let ticket = self.streams.as_ref().map(OpenStreams::next_ticket);
        let number = if F::HAS_SESSIONS { self.generators.driver_mut(machine).session_number(start.user) } else { 0 };
        let asked = sessions.next_request(start.user, number, start.arrival);
        if F::HAS_SESSIONS {
            self.plan_branches(machine, start.user, sessions);
        }
        let arrived = Timestamp(self.now.since(clock).0);
        let mut answer = self.service.admit_on(asked.route, arrived, ticket.unwrap_or_default());
        if let Some((channels, ready)) = self.channels.as_mut().zip(answer.completed) {
            answer.completed = Some(channels.leaves(start.arrival.index, ready));
        }
        if let Some(streams) = &mut self.streams {
            streams.begin(&answer, clock);
        }
        let record = self.submit(machine, start, asked, clock, &answer);
        let mut request = InFlightRequest { machine, user: start.user, record, stream: ticket };
        if self.settles_at_start {
            self.settle(machine, start.user, &mut request.record);
            self.hand_over(&request, sink);
        } else if answer.completed.is_some() {
            self.in_flight.push(request);
        } else if let (Some(streams), Some(ticket)) = (&mut self.streams, ticket) {
            streams.wait(ticket, request);
        }
        Ok(())
    }

    /// Returns the record of a request that starts now and gets `answer`. The fault clock started at `clock`. If only
    /// the batch knows the end, the record ends when the client gives up.
    #[inline]
    fn submit(
        &mut self,
        machine: u32,
        start: DueRequest,
        asked: SessionRequest,
        clock: Timestamp,
        answer: &VirtualAnswer,
    ) -> RequestRecord {
        // NEVER saturates, so it is the same on both clocks.
        let completed = clock + answer.completed.unwrap_or(Timestamp::NEVER).since_origin();
        let limit = asked.max_time.map_or(Timestamp::NEVER, |time| start.arrival.intended_start + time);
        let gives_up = self.timeout.map_or(limit, |timeout| limit.min(self.now + timeout)).max(self.now);
        let (end, outcome) = client_outcome(self.action(answer), completed, gives_up);
        let DueRequest { arrival, place, connection_wait, .. } = start;
        let record = RequestRecord::new(arrival, self.now, end, outcome).with_start_delay(connection_wait, None);
        let record = RequestRecord { place, target: asked.target, ..record };
        let Some(generator) = &mut self.generator else { return record };
        let lag = record.delay.generator_lag;
        // A request that waited for a permit was behind another request, which may have ended meanwhile.
        let is_idle = self.generators.driver_mut(machine).in_flight() == 1 && connection_wait.is_zero();
        let passed_on = generator.knock_on.start(self.now, lag, is_idle);
        RequestRecord { knock_on: passed_on.saturating_sub(lag), ..record }
    }

    /// Returns the action that a client meets: a cut stream is a short body.
    #[inline]
    fn action(&self, answer: &VirtualAnswer) -> Action {
        let is_cut = answer.is_stream && self.service.outline().is_some_and(|outline| outline.is_cut);
        if is_cut { Action::ShortBody } else { answer.plan.action }
    }

    /// Hands over a request that has ended, with its stream as far as it came.
    #[inline]
    fn hand_over(&mut self, request: &InFlightRequest, sink: &mut impl Sink) {
        if let (Some(streams), Some(ticket)) = (&mut self.streams, request.stream) {
            sink.streamed(&request.record, streams.take(ticket));
        }
        sink.ended(&request.record);
    }

    /// Settles a request that was just started, with the end it will have.
    #[inline]
    fn settle(&mut self, machine: u32, user: u32, record: &mut RequestRecord) {
        let driver = self.generators.driver_mut(machine);
        let deadline = driver.deadline();
        if record.end > deadline {
            cut_off(record, deadline);
        }
        driver.complete(user, record.end);
        self.last_end = self.last_end.max(record.end);
    }

    /// Advances to the next event, at the latest `until`, and ends the requests that end then. False if nothing can
    /// happen.
    #[inline]
    fn advance<S: Sink, F: Sessions>(&mut self, until: Timestamp, sinks: &mut [S], sessions: &mut F) -> bool {
        let next = self.in_flight.next_end().min(until).min(self.next_of_streams());
        if next == Timestamp::NEVER {
            return false;
        }
        self.now = next;
        if self.streams.is_some() {
            self.advance_streams(next);
        }
        while let Some(flight) = self.in_flight.pop_ended(next) {
            let end = flight.record.end;
            if F::HAS_SESSIONS {
                let think = sessions.ended(flight.user, &flight.record);
                self.plan_branches(flight.machine, flight.user, sessions);
                let driver = self.generators.driver_mut(flight.machine);
                driver.complete_step(flight.user, end, think.map(|think| end + think));
            } else {
                self.generators.driver_mut(flight.machine).complete(flight.user, end);
            }
            self.hand_over(&flight, &mut sinks[flight.machine as usize]);
        }
        true
    }

    /// Plans the further requests of the session of `user`, one of whose requests is in flight.
    fn plan_branches<F: Sessions>(&mut self, machine: u32, user: u32, sessions: &mut F) {
        // Without branches, nothing is allocated.
        let mut due = Vec::new();
        sessions.branches(user, &mut due);
        let driver = self.generators.driver_mut(machine);
        due.into_iter().for_each(|at| driver.branch(user, at));
    }

    /// Returns the time of the next event of the batch, or of the next client that gives up on it.
    #[inline]
    fn next_of_streams(&mut self) -> Timestamp {
        let Some(streams) = &mut self.streams else { return Timestamp::NEVER };
        let clock = self.fault_clock.unwrap_or(Timestamp::ZERO);
        (clock + self.service.next_event().since_origin()).min(streams.next_deadline())
    }

    /// Ends the streams of the batch that end at `now`. An event at the instant of the timeout still comes.
    fn advance_streams(&mut self, now: Timestamp) {
        let clock = self.fault_clock.unwrap_or(Timestamp::ZERO);
        let Some(streams) = &mut self.streams else { return };
        let is_cut = self.service.outline().is_some_and(|outline| outline.is_cut);
        let action = if is_cut { Action::ShortBody } else { Action::Answer { status: 200 } };
        let in_flight = &mut self.in_flight;
        self.service.advance(Timestamp(now.since(clock).0), &mut |event| {
            let at = clock + event.at.since_origin();
            if let Some(mut request) = streams.step(event.key, at, event.is_last) {
                (request.record.end, request.record.outcome) = client_outcome(action, at, Timestamp::NEVER);
                in_flight.push(request);
            }
        });
        while let Some(request) = streams.take_given_up(now) {
            in_flight.push(request);
        }
    }

    /// Cuts off the requests still in flight, and records the arrivals that were never issued.
    fn close<S: Sink, F: Sessions>(mut self, stuck: bool, sinks: &mut [S], sessions: &mut F) -> Vec<SimulationEnd> {
        let at = self.now.max(self.last_end);
        let mut open = std::mem::take(&mut self.in_flight).into_started_order();
        if let Some(streams) = &mut self.streams {
            open.extend(streams.take_waiting());
            open.sort_by_key(|request| (request.record.actual_start, request.record.index));
        }
        for mut request in open {
            cut_off(&mut request.record, at);
            if F::HAS_SESSIONS {
                let _ = sessions.ended(request.user, &request.record);
                self.generators.driver_mut(request.machine).complete_step(request.user, at, None);
            }
            self.hand_over(&request, &mut sinks[request.machine as usize]);
        }
        for (machine, sink) in (0..).zip(sinks) {
            if F::HAS_SESSIONS {
                self.generators.driver_mut(machine).end_sessions_at(at);
            }
            while let Some(unissued) = self.generators.driver_mut(machine).pop_unissued_with_session() {
                let Unissued { arrival, user, session, .. } = unissued;
                sessions.never_issued(user, session, arrival, at);
                sink.planned(arrival.intended_start);
                sink.ended(&unissued.record(at));
            }
        }
        sessions.run_ended(at);
        self.generators.hashes().map(|schedule_hash| SimulationEnd { at, schedule_hash, stuck }).collect()
    }
}

fn cut_off(record: &mut RequestRecord, at: Timestamp) {
    record.end = at;
    record.outcome = Outcome::InFlightAtEnd;
}
