//! Agents in virtual time. Simulated answers have no content: what the model says is not known, and does not matter.

use std::collections::HashMap;

use truetail_engine::{Method, Request};
use truetail_model::arrival::Arrival;
use truetail_model::record::{Outcome, RequestRecord, TargetLedger, TargetPlace};
use truetail_model::scenario::Scenario;
use truetail_model::service::RouteId;
use truetail_model::time::{Nanos, Timestamp};
use truetail_run::{OfferedLoad, Run};
use truetail_sim::{SessionRequest, Sessions, SimOptions, simulate_sessions};
use truetail_stream::AnswerVerdict;

use super::books::AgentBooks;
use super::graph::AgentGraphs;
use super::open::OpenSessions;
use super::script::failure;
use super::session::CallEnd;
use crate::simulated::{SimulateError, session_workload};

/// Runs sessions of agents in virtual time. They arrive on the schedule of `scenario` and use its service. Books,
/// targets and times are the same as in a run over sockets with an ideal network and an ideal generator.
///
/// # Errors
/// The scenario does not fit, or its load has no end.
pub fn simulate_agents(agents: &AgentGraphs, scenario: &Scenario, options: SimOptions) -> Result<Run, SimulateError> {
    let workload = session_workload(&scenario.workload, agents.most_calls(), "the file of agents")?;
    let scenario = Scenario { workload, ..scenario.clone() };
    if scenario.service.stream.is_some() {
        let help = "leave out [service.stream] and [service.batch]";
        return Err(SimulateError::Scenario(format!("the calls of agents are simulated as whole answers; {help}")));
    }
    let mut sessions = SimulatedAgents::new(agents, &scenario);
    let run = simulate_sessions(&scenario, options, &mut sessions)?;
    Ok(sessions.finish(run, &scenario.path))
}

/// The sessions of a run in virtual time.
struct SimulatedAgents<'a> {
    agents: &'a AgentGraphs,
    route: RouteId,
    measure_from: Timestamp,
    open: OpenSessions,
    /// User and call of each request in flight, by the index of its arrival.
    in_flight: HashMap<u64, (u32, u32)>,
    /// By step.
    ledgers: Vec<TargetLedger>,
}

impl<'a> SimulatedAgents<'a> {
    fn new(agents: &'a AgentGraphs, scenario: &Scenario) -> SimulatedAgents<'a> {
        let measure_from = Timestamp(scenario.workload.warmup.0);
        SimulatedAgents {
            agents,
            route: scenario.service.route_of(&scenario.path),
            measure_from,
            open: OpenSessions::new(AgentBooks::new(agents, false), measure_from),
            in_flight: HashMap::new(),
            ledgers: vec![TargetLedger::default(); agents.step_count() as usize],
        }
    }

    /// Returns the books of a step, unless `intended` is in the warm-up.
    fn ledger(&mut self, step: u32, intended: Timestamp) -> Option<&mut TargetLedger> {
        if intended < self.measure_from { None } else { Some(&mut self.ledgers[step as usize]) }
    }

    /// Adds the results to the run. Nothing is sent, so that the URL of the targets is one of no server.
    fn finish(self, mut run: Run, path: &str) -> Run {
        let base = Request::new(Method::Other("POST".to_owned()), &format!("http://simulated{path}"), &[], Vec::new());
        let Ok(base) = base else { return run };
        let requests = self.agents.requests(&base);
        if requests.only().is_none() {
            let books = requests.targets().iter().zip(&self.ledgers).map(|(target, ledger)| target.books(ledger));
            run.facts.by_target = books.collect();
            run.snapshot.targets = self.ledgers.into_iter().map(|ledger| ledger.times).collect();
        }
        run.facts.offered = OfferedLoad { mix: requests.mix(), ..run.facts.offered };
        requests.tell_rows(&mut run.snapshot.samples);
        run.facts.notes.extend(self.open.books.notes());
        run.facts.sessions = Some(self.open.books.facts());
        run
    }
}

impl Sessions for SimulatedAgents<'_> {
    fn next_request(&mut self, user: u32, number: u64, arrival: Arrival) -> SessionRequest {
        let (session, graph) = self.open.open(self.agents, user, number, arrival);
        let (_, call) = session.progress.ask().expect("a call that is due");
        let step = graph.calls[call as usize].step();
        self.in_flight.insert(arrival.index, (user, call));
        self.ledger(step, arrival.intended_start).into_iter().for_each(TargetLedger::plan);
        let target = TargetPlace::among(self.ledgers.len(), step);
        SessionRequest { route: self.route, target, max_time: None }
    }

    fn ended(&mut self, user: u32, record: &RequestRecord) -> Option<Nanos> {
        let place = self.in_flight.remove(&record.index).expect("a request in flight");
        let step = self.open.graph(self.agents, user).calls[place.1 as usize].step();
        self.ledger(step, record.intended_start).into_iter().for_each(|ledger| ledger.record(record));
        let how = match record.outcome {
            Outcome::Response { status } => {
                let status = status.map_or(0, std::num::NonZero::get);
                failure(record.outcome, status).unwrap_or(CallEnd::Answered(None, AnswerVerdict::Met))
            }
            outcome => failure(outcome, 0).unwrap_or(CallEnd::CutOff),
        };
        self.open.ended(self.agents, place, how, record.end, false);
        self.open.think(self.agents, user)
    }

    fn branches(&mut self, user: u32, due: &mut Vec<Timestamp>) {
        self.open.branches(user, due);
    }

    fn run_ended(&mut self, now: Timestamp) {
        self.open.finish(self.agents, now);
    }

    fn never_issued(&mut self, user: Option<u32>, number: u64, arrival: Arrival, now: Timestamp) {
        let step = self.open.never_issued(self.agents, user, number, arrival, now);
        if let Some(ledger) = self.ledger(step, arrival.intended_start) {
            ledger.plan();
            ledger.record(&RequestRecord::never_issued(arrival, now));
        }
    }
}
