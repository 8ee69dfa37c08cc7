//! Flows in virtual time.
//!
//! Simulated answers have no content. An answer without a fault is what its step expects: asserts hold, a capture finds
//! a value, and no answer is a redirect. The status of an answer that a fault changed and `duration` are judged.

use std::collections::BTreeSet;

use truetail_engine::FieldList;
use truetail_model::arrival::Arrival;
use truetail_model::record::{GrpcStatus, Outcome, RequestRecord, TargetLedger, TargetPlace};
use truetail_model::scenario::Scenario;
use truetail_model::service::{RouteId, Service};
use truetail_model::time::{Nanos, Timestamp};
use truetail_model::workload::{LoadModel, Workload};
use truetail_run::{OfferedLoad, Run};
use truetail_sim::{SessionRequest, Sessions, SimError, SimOptions, simulate_sessions};

use crate::course::Course;
use crate::error::FlowError;
use crate::evaluate::answer::{Answer, STATUS_FIELD};
use crate::evaluate::query::Query;
use crate::flow::Flow;
use crate::flows::Flows;
use crate::judge::judge_simulated;
use crate::measured::MeasuredFlows;
use crate::scope::VariableId;
use crate::step::Step;
use crate::template::Expression;

/// The status of an answer that no fault changed.
const GOOD: u16 = 200;

/// Reason why a flow cannot be simulated.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum SimulateError {
    /// A flow cannot be simulated.
    #[error("{error}")]
    Flow {
        /// The index of the flow, from 0.
        nth: usize,
        /// The problem.
        error: FlowError,
    },
    /// The scenario does not fit the flows.
    #[error("{0}")]
    Scenario(String),
    /// The load has no end.
    #[error(transparent)]
    Simulation(#[from] SimError),
}

/// Runs sessions of `flows` in virtual time. They arrive on the schedule of `scenario` and use its service. Books,
/// targets and times are the same as in a run over sockets with an ideal network and an ideal generator.
///
/// # Errors
/// A flow or the scenario cannot be simulated.
pub fn simulate(flows: &Flows, scenario: &Scenario, options: SimOptions) -> Result<Run, SimulateError> {
    let scenario = Scenario {
        workload: session_workload(&scenario.workload, flows.requests_per_session(), "the flow")?,
        ..scenario.clone()
    };
    if scenario.service.stream.is_some() {
        let help = "leave out [service.stream] and [service.batch]";
        return Err(SimulateError::Scenario(format!("the steps of a flow are whole answers, and no streams; {help}")));
    }
    let mut sessions = SimulatedSessions::new(flows, &scenario)?;
    let run = simulate_sessions(&scenario, options, &mut sessions)?;
    Ok(sessions.finish(run))
}

/// Returns the workload with sessions of at most `mine` requests, which arrive on its schedule. `given` says what a
/// session does.
pub(crate) fn session_workload(workload: &Workload, mine: u32, given: &str) -> Result<Workload, SimulateError> {
    let sessions = match &workload.model {
        LoadModel::Open(schedule) => schedule.clone(),
        LoadModel::PartlyOpen { sessions, requests_per_session, think_time } => {
            if (*requests_per_session, *think_time) != (mine, Nanos::ZERO) {
                let help =
                    "leave out model, requests-per-session and think-time in [workload]; rate is that of sessions";
                return Err(SimulateError::Scenario(format!(
                    "the scenario says what a session does, and so does {given}; {help}"
                )));
            }
            sessions.clone()
        }
        LoadModel::Closed { .. } => {
            let help = "write rate in [workload] in place of model = \"closed\"";
            return Err(SimulateError::Scenario(format!("sessions of {given} arrive on a schedule; {help}")));
        }
    };
    if workload.limits.channels.is_some() {
        let help = "leave out channels in [workload]";
        return Err(SimulateError::Scenario(format!("the steps of {given} are requests, and no messages; {help}")));
    }
    let model = LoadModel::PartlyOpen { sessions, requests_per_session: mine, think_time: Nanos::ZERO };
    Ok(Workload { model, ..workload.clone() })
}

/// The sessions of a run in virtual time.
struct SimulatedSessions<'a> {
    flows: &'a Flows,
    /// The route of each step of all flows.
    routes: Vec<RouteId>,
    seed: u64,
    measure_from: Timestamp,
    measured: MeasuredFlows,
    /// By user.
    courses: Vec<Course>,
    /// By step of all flows.
    ledgers: Vec<TargetLedger>,
}

impl<'a> SimulatedSessions<'a> {
    fn new(flows: &'a Flows, scenario: &Scenario) -> Result<SimulatedSessions<'a>, SimulateError> {
        let mut all_routes = Vec::new();
        for (nth, flow) in flows.iter().enumerate() {
            let changing = flow.changing();
            let of_flow = check_steps(flow, &changing).and_then(|()| routes(flow, &changing, &scenario.service));
            all_routes.extend(of_flow.map_err(|error| SimulateError::Flow { nth, error })?);
        }
        let measure_from = Timestamp(scenario.workload.warmup.0);
        Ok(SimulatedSessions {
            flows,
            ledgers: vec![TargetLedger::default(); all_routes.len()],
            routes: all_routes,
            seed: scenario.workload.model.seed().unwrap_or_default(),
            measure_from,
            measured: MeasuredFlows::new(flows.itineraries(), measure_from),
            courses: Vec::new(),
        })
    }

    /// Returns the step of a user's last request, among the steps of all flows.
    fn last_step(&self, user: u32) -> u32 {
        let course = &self.courses[user as usize];
        let flow = self.flows.get(course.flow);
        flow.first_step + course.last_step_index()
    }

    /// Returns the books of a step, unless `intended` is in the warm-up.
    fn ledger(&mut self, step: u32, intended: Timestamp) -> Option<&mut TargetLedger> {
        if intended < self.measure_from { None } else { Some(&mut self.ledgers[step as usize]) }
    }

    fn judge(&mut self, user: u32, status: u16, record: &RequestRecord) {
        let course = &mut self.courses[user as usize];
        let flow = self.flows.get(course.flow);
        let mut scope = flow.sample_scope();
        let fields = FieldList::default();
        let duration = record.end.since(record.intended_start);
        let step = course.last_step(flow);
        let answer = Answer::new(status, "1.1", &fields, &[], duration);
        let answer = match step.call() {
            Some(_) => answer.of_call(GrpcStatus::of_recorded(status).unwrap_or_else(|| GrpcStatus::of_http(status))),
            None => answer,
        };
        course.record_answer(record.actual_start, record.end);
        match judge_simulated(step, &answer, status == GOOD, &mut scope) {
            Ok(()) => {
                course.plan_next_step(flow, |_| true);
            }
            Err(disappointment) => {
                if let Some(due) = course.retry_due(flow) {
                    return course.plan_retry(due);
                }
                course.end_early(disappointment.cause);
                self.measured.record_early_end(course, disappointment.why);
            }
        }
    }

    fn unanswered(&mut self, user: u32, outcome: Outcome, record: &RequestRecord) {
        let course = &mut self.courses[user as usize];
        course.record_unanswered(outcome, record.actual_start, record.end);
        if let Some(due) = course.retry_due(self.flows.get(course.flow)) {
            course.plan_retry(due);
        }
    }

    /// Adds the results to the run.
    fn finish(self, mut run: Run) -> Run {
        let requests = self.flows.requests();
        if requests.only().is_none() {
            let books = requests.targets().iter().zip(&self.ledgers).map(|(target, ledger)| target.books(ledger));
            run.facts.by_target = books.collect();
            run.snapshot.targets = self.ledgers.into_iter().map(|ledger| ledger.times).collect();
        }
        run.facts.offered = OfferedLoad { mix: requests.mix(), ..run.facts.offered };
        requests.tell_rows(&mut run.snapshot.samples);
        let found = self.measured.found();
        run.facts.notes.extend(found.notes());
        run.facts.sessions = Some(found.facts());
        run
    }
}

impl Sessions for SimulatedSessions<'_> {
    fn next_request(&mut self, user: u32, number: u64, arrival: Arrival) -> SessionRequest {
        let at = user as usize;
        if self.courses.len() <= at {
            self.courses.resize_with(at + 1, Course::new);
        }
        let course = &mut self.courses[at];
        if !course.is_open {
            course.open(self.flows.beginning(number, self.seed), arrival.intended_start);
        }
        course.issue(arrival.intended_start);
        let flow = self.flows.get(course.flow);
        let max_time = course.last_step(flow).max_time;
        let step = self.last_step(user);
        self.ledger(step, arrival.intended_start).into_iter().for_each(TargetLedger::plan);
        let target = TargetPlace::among(self.ledgers.len(), step);
        SessionRequest { route: self.routes[step as usize], target, max_time }
    }

    fn ended(&mut self, user: u32, record: &RequestRecord) -> Option<Nanos> {
        let step = self.last_step(user);
        self.ledger(step, record.intended_start).into_iter().for_each(|ledger| ledger.record(record));
        match record.outcome.status() {
            Some(status) => self.judge(user, status, record),
            None => self.unanswered(user, record.outcome, record),
        }
        self.measured.think(&mut self.courses[user as usize])
    }

    fn run_ended(&mut self, now: Timestamp) {
        self.measured.finish(self.courses.iter_mut(), now);
    }

    fn never_issued(&mut self, user: Option<u32>, number: u64, arrival: Arrival, now: Timestamp) {
        let course = user.and_then(|user| self.courses.get_mut(user as usize));
        let flow = self.flows.flow_of_session(number, self.seed);
        let step = self.measured.never_issued(course, flow, arrival, now);
        if let Some(ledger) = self.ledger(step, arrival.intended_start) {
            ledger.plan();
            ledger.record(&RequestRecord::never_issued(arrival, now));
        }
    }
}

/// Returns the route of each step. It must be known without answers.
fn routes(flow: &Flow, changing: &BTreeSet<VariableId>, service: &Service) -> Result<Vec<RouteId>, FlowError> {
    let mut scope = flow.sample_scope();
    let is_known = |value: &Expression| value.is_known(changing);
    let of_step = |step: &Step| {
        let (known, is_whole) = step.request.known_path(&mut scope, is_known);
        let route = if is_whole { Some(service.route_of(&known)) } else { service.route_of_beginning(&known) };
        route.ok_or_else(|| {
            let help = "write the beginning of the path out, as far as it tells the routes apart";
            let problem = format!(
                "which [[service.route]] {} has is not the same in all sessions, or depends on answers",
                step.url
            );
            FlowError::new(step.line, format!("{problem}; {help}"))
        })
    };
    flow.steps.iter().map(of_step).collect()
}

/// Refuses steps that depend on values, and asserts that compare a status or a duration with an unknown value.
fn check_steps(flow: &Flow, changing: &BTreeSet<VariableId>) -> Result<(), FlowError> {
    if let Some(step) = flow.steps.iter().find(|step| step.coming.only_while.is_some()) {
        let problem = "'while' makes the number of steps depend on a value, which a simulation has none of";
        return Err(FlowError::new(step.line, format!("{problem}; leave it out")));
    }
    let expected = flow.steps.iter().filter_map(|step| step.expected.as_ref());
    for assert in expected.flat_map(|expected| &expected.asserts) {
        let name = match &assert.look.query {
            Query::Status => "status",
            query if flow.makes_calls() && query.is_call_status() => STATUS_FIELD,
            Query::Duration => "duration",
            _ => continue,
        };
        let mut needed = assert.look.variables().into_iter().chain(assert.predicate.variables());
        if needed.any(|variable| changing.contains(&variable)) {
            let problem =
                format!("{name} is compared with a value that comes from answers, which a simulation has none of");
            return Err(FlowError::new(assert.line, format!("{problem}; write the value out")));
        }
    }
    Ok(())
}
