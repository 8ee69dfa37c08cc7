//! Flows in virtual time.
//!
//! There are no answers to look into. One that the service gives as it should is what its step expects: asserts hold, and a
//! capture finds something, and none is a redirect. Judged are what virtual time knows: the status of an answer that a fault changed, and `duration`.

use std::collections::BTreeSet;

use truetail_engine::{FieldList, RequestSet};
use truetail_model::arrival::Arrival;
use truetail_model::record::{Outcome, RequestRecord, TargetLedger};
use truetail_model::scenario::Scenario;
use truetail_model::service::{RouteId, Service};
use truetail_model::time::{Nanos, Timestamp};
use truetail_model::workload::{LoadModel, Workload};
use truetail_run::{OfferedLoad, Run};
use truetail_sim::{SessionRequest, Sessions, SimError, SimOptions, simulate_sessions};

use crate::books::Itinerary;
use crate::course::{Course, MeasuredSessions};
use crate::error::FlowError;
use crate::evaluate::answer::Answer;
use crate::evaluate::query::Query;
use crate::flow::Flow;
use crate::flow_run::notes;
use crate::judge::judge_simulated;
use crate::scope::{Scope, VariableId};
use crate::step::Step;
use crate::template::{Expression, Source};

/// The status of an answer that no fault changed.
const GOOD: u16 = 200;

/// Why a flow cannot be simulated.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum SimulateError {
    /// Something in the flow.
    #[error(transparent)]
    Flow(#[from] FlowError),
    /// Something in the scenario.
    #[error("{0}")]
    Scenario(String),
    /// The load has no end.
    #[error(transparent)]
    Simulation(#[from] SimError),
}

/// Runs sessions of `flow` in virtual time: they arrive on the schedule of `scenario`, and meet its service. The books, the
/// targets and the times are those of a run over sockets with an ideal network and an ideal generator.
///
/// # Errors
/// What cannot be simulated, and why.
pub fn simulate(flow: &Flow, scenario: &Scenario, options: SimOptions) -> Result<Run, SimulateError> {
    let scenario = Scenario { workload: of_sessions(&scenario.workload, flow)?, ..scenario.clone() };
    if scenario.service.stream.is_some() {
        let help = "leave out [service.stream] and [service.batch]";
        return Err(SimulateError::Scenario(format!("the steps of a flow are whole answers, and no streams; {help}")));
    }
    let mut sessions = SimulatedSessions::new(flow, &scenario)?;
    let run = simulate_sessions(&scenario, options, &mut sessions)?;
    Ok(sessions.finish(run))
}

/// The load with sessions of `flow`, which arrive on its schedule.
fn of_sessions(workload: &Workload, flow: &Flow) -> Result<Workload, SimulateError> {
    let mine = flow.requests_per_session();
    let sessions = match &workload.model {
        LoadModel::Open(schedule) => schedule.clone(),
        LoadModel::PartlyOpen { sessions, requests_per_session, think_time } => {
            if (*requests_per_session, *think_time) != (mine, Nanos::ZERO) {
                let help =
                    "leave out model, requests-per-session and think-time in [workload]; rate is that of sessions";
                return Err(SimulateError::Scenario(format!(
                    "the scenario says what a session does, and so does the flow; {help}"
                )));
            }
            sessions.clone()
        }
        LoadModel::Closed { .. } => {
            let help = "write rate in [workload] in place of model = \"closed\"";
            return Err(SimulateError::Scenario(format!("sessions of a flow arrive on a schedule; {help}")));
        }
    };
    let model = LoadModel::PartlyOpen { sessions, requests_per_session: mine, think_time: Nanos::ZERO };
    Ok(Workload { model, ..workload.clone() })
}

/// The sessions of a run in virtual time.
struct SimulatedSessions<'a> {
    flow: &'a Flow,
    itinerary: Itinerary,
    /// The route of each step.
    routes: Vec<RouteId>,
    seed: u64,
    measure_from: Timestamp,
    measured: MeasuredSessions,
    /// By user.
    courses: Vec<Course>,
    /// By step.
    ledgers: Vec<TargetLedger>,
}

impl<'a> SimulatedSessions<'a> {
    fn new(flow: &'a Flow, scenario: &Scenario) -> Result<SimulatedSessions<'a>, FlowError> {
        let changing = changing(flow);
        check_asserts(flow, &changing)?;
        let measure_from = Timestamp(scenario.workload.warmup.0);
        let itinerary = flow.itinerary();
        Ok(SimulatedSessions {
            flow,
            routes: routes(flow, &changing, &scenario.service)?,
            seed: scenario.workload.model.seed().unwrap_or_default(),
            measure_from,
            measured: MeasuredSessions::new(&itinerary, measure_from),
            itinerary,
            courses: Vec::new(),
            ledgers: vec![TargetLedger::default(); flow.steps.len()],
        })
    }

    /// The books of a step, if they take in what was due at `intended`.
    fn ledger(&mut self, step: u32, intended: Timestamp) -> Option<&mut TargetLedger> {
        if intended < self.measure_from { None } else { Some(&mut self.ledgers[step as usize]) }
    }

    fn judge(&mut self, user: u32, status: u16, record: &RequestRecord) {
        let (flow, course) = (self.flow, &mut self.courses[user as usize]);
        let mut scope = Scope { values: flow.initial.clone(), random: 1 };
        let (fields, duration) = (FieldList::default(), record.end.since(record.intended_start));
        let answer = Answer::new(status, "1.1", &fields, &[], duration);
        course.answered(record.actual_start, record.end);
        match judge_simulated(course.last_step(flow), &answer, status == GOOD, &mut scope) {
            Ok(()) => {
                course.go_on(flow);
            }
            Err(disappointment) => {
                if let Some(due) = course.retry_due(flow) {
                    return course.retry(due);
                }
                course.end_early(disappointment.cause);
                self.measured.disappointed(flow, course, disappointment.why);
            }
        }
    }

    fn unanswered(&mut self, user: u32, outcome: Outcome, record: &RequestRecord) {
        let course = &mut self.courses[user as usize];
        course.unanswered(outcome, record.actual_start, record.end);
        if let Some(due) = course.retry_due(self.flow) {
            course.retry(due);
        }
    }

    /// Adds what was found to the run.
    fn finish(mut self, mut run: Run) -> Run {
        self.measured.finish(self.flow, self.courses.iter_mut());
        let requests: RequestSet = self.flow.requests();
        if requests.only().is_none() {
            let books = requests.targets().iter().zip(&self.ledgers).map(|(target, ledger)| target.books(ledger));
            run.facts.by_target = books.collect();
            run.snapshot.targets = self.ledgers.into_iter().map(|ledger| ledger.times).collect();
        }
        run.facts.offered = OfferedLoad { mix: requests.mix(), ..run.facts.offered };
        let facts = self.measured.facts(self.flow, &self.itinerary);
        run.facts.notes.extend(notes(&facts, &self.itinerary, &self.measured.examples));
        run.facts.sessions = Some(facts);
        run
    }
}

impl Sessions for SimulatedSessions<'_> {
    fn next_request(&mut self, user: u32, number: u64, arrival: Arrival) -> SessionRequest {
        let at = user as usize;
        if self.courses.len() <= at {
            self.courses.resize_with(at + 1, Course::new);
        }
        let (flow, seed, course) = (self.flow, self.seed, &mut self.courses[at]);
        course.open(number, arrival, seed);
        course.issue(flow, arrival.intended_start);
        let (step, max_time) = (course.last_move(flow), course.last_step(flow).max_time);
        self.ledger(step, arrival.intended_start).into_iter().for_each(TargetLedger::plan);
        SessionRequest { route: self.routes[step as usize], max_time }
    }

    fn ended(&mut self, user: u32, record: &RequestRecord) -> Option<Nanos> {
        let step = self.courses[user as usize].last_move(self.flow);
        self.ledger(step, record.intended_start).into_iter().for_each(|ledger| ledger.record(record));
        match record.outcome {
            Outcome::Response { status } => self.judge(user, status, record),
            outcome => self.unanswered(user, outcome, record),
        }
        self.measured.think(self.flow, &mut self.courses[user as usize])
    }

    fn never_issued(&mut self, user: Option<u32>, arrival: Arrival, now: Timestamp) {
        let course = user.and_then(|user| self.courses.get_mut(user as usize));
        let step = self.measured.never_issued(self.flow, course, arrival, now);
        if let Some(ledger) = self.ledger(step, arrival.intended_start) {
            ledger.plan();
            ledger.record(&RequestRecord::never_issued(arrival, now));
        }
    }
}

/// Variables that are not the same in all sessions, or change in one.
fn changing(flow: &Flow) -> BTreeSet<VariableId> {
    let set = flow.steps.iter().flat_map(|step| step.settings.iter().map(|(variable, _)| *variable));
    let expected = flow.steps.iter().filter_map(|step| step.expected.as_ref());
    let captured = expected.flat_map(|expected| expected.captures.iter().map(|capture| capture.variable));
    let of_rows = flow.rows.iter().flat_map(|rows| rows.variables.iter().copied());
    set.chain(captured).chain(of_rows).collect()
}

/// The route of each step, as far as that is known without answers.
fn routes(flow: &Flow, changing: &BTreeSet<VariableId>, service: &Service) -> Result<Vec<RouteId>, FlowError> {
    let mut scope = Scope { values: flow.initial.clone(), random: 1 };
    let is_known = |value: &Expression| {
        value.source != Source::NewUuid && value.variables().iter().all(|variable| !changing.contains(variable))
    };
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

/// Refuses to compare what is judged with what is not known.
fn check_asserts(flow: &Flow, changing: &BTreeSet<VariableId>) -> Result<(), FlowError> {
    let expected = flow.steps.iter().filter_map(|step| step.expected.as_ref());
    for assert in expected.flat_map(|expected| &expected.asserts) {
        let name = match assert.look.query {
            Query::Status => "status",
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
