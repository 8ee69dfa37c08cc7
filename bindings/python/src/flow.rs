//! `truetail.flow`: sessions that follow a coroutine function, over real sockets.

use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use pyo3::prelude::*;
use truetail_analysis::gates::{Gate, PlannedRun, ReadingMode};
use truetail_engine::{AddressOverrides, Control, HttpVersion, Plan, Target};
use truetail_flow::{GuidedPlan, GuidedRun, PlanError};
use truetail_model::time::{Nanos, Timestamp};
use truetail_model::workload::{Limits, LoadModel, Workload};

use crate::arguments::{count, value_error, whole_number};
use crate::bench::progress_line;
use crate::calls::CallFailures;
use crate::gate;
use crate::guide::make_guide;
use crate::load::{LoadArguments, OptionalArg, limits};
use crate::request::{TlsArguments, target_error_of};
use crate::result::RunResult;
use crate::watched::{preflight_error, too_few_files_error, watched};

/// The plan of a run of sessions, and its controls.
#[pyclass(module = "truetail._native", frozen)]
pub struct FlowRun {
    plan: Plan,
    sessions: GuidedRun,
    failures: Arc<CallFailures>,
    notes: Vec<String>,
    gates: Vec<Gate>,
    preflight: bool,
    /// True if a service may fail all requests.
    allow_errors: bool,
    control: Control,
    created: Instant,
}

/// The sessions and their server; not yet converted. Passed as a dictionary.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct SessionArguments {
    name: String,
    steps: Vec<String>,
    origins: Vec<String>,
    resolve: Vec<String>,
    http2: bool,
    /// Function that returns the sessions of a worker.
    make: Py<PyAny>,
}

#[pymethods]
impl FlowRun {
    #[new]
    #[pyo3(signature = (*, session, tls, rate, duration, warmup, sessions, spacing, seed, connections, connection_per_session,
                        max_streams, timeout, drain, threads, preflight, slo, fail_if, allow_errors))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments, each with its name on both sides")]
    fn new<'py>(
        py: Python<'py>,
        session: SessionArguments,
        tls: TlsArguments,
        rate: OptionalArg<'py>,
        duration: OptionalArg<'py>,
        warmup: Bound<'py, PyAny>,
        sessions: OptionalArg<'py>,
        spacing: String,
        seed: Bound<'py, PyAny>,
        connections: OptionalArg<'py>,
        connection_per_session: bool,
        max_streams: OptionalArg<'py>,
        timeout: OptionalArg<'py>,
        drain: Bound<'py, PyAny>,
        threads: Bound<'py, PyAny>,
        preflight: bool,
        slo: Vec<String>,
        fail_if: Vec<String>,
        allow_errors: bool,
    ) -> PyResult<FlowRun> {
        let gates = gate::gates(&slo, &fail_if)?;
        let limits = limits(("connections", &connections), connection_per_session, &timeout, &drain)?;
        let guided = session.plan()?;
        let workload = of_sessions(rate, duration, warmup, sessions, (spacing, seed), limits, &session)?;
        let mut plan = Plan::new(workload, session.target(py, &guided, &tls)?);
        plan.threads = Some(count("threads", &threads)?);
        plan.max_streams = max_streams.as_ref().map(|given| count("max_streams", given)).transpose()?;
        plan.check_open_files().map_err(too_few_files_error)?;
        refuse_undecidable(&plan, &gates, guided.name())?;
        let control = Control::new();
        let failures = Arc::<CallFailures>::default();
        let make = make_guide(session.make, Arc::clone(&failures), control.clone());
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64);
        let sessions = GuidedRun::new(guided, make, Timestamp(plan.workload.warmup.0), now);
        plan.observer = Some(sessions.observer_factory());
        let notes = tls.notes().into_iter().collect();
        let created = Instant::now();
        Ok(FlowRun { plan, sessions, failures, notes, gates, preflight, allow_errors, control, created })
    }

    /// Offers the load. Returns the result, and the exception that ended the run early, if any.
    fn run(&self, py: Python<'_>) -> PyResult<(RunResult, Option<Py<PyAny>>)> {
        let mut plan = self.plan.clone();
        if self.preflight {
            // Only the function knows the first request, and a trial session would not be part of the load.
            py.detach(|| plan.try_connection().map_err(|error| preflight_error(&plan.target, &error)))?;
        }
        let (run, ended_by) = watched(py, &plan, &self.control);
        let mut run = run?;
        run.facts.offered.allow_errors = self.allow_errors;
        run.facts.notes.extend(self.notes.iter().cloned().chain(self.sessions.notes()));
        run.facts.sessions = Some(self.sessions.facts());
        let failures = self.failures.take();
        let ended_by = ended_by.map(|error| error.into_value(py).into_any()).or(failures.ended_by);
        Ok((RunResult::new(py, run, failures.exceptions).judged(&self.gates), ended_by))
    }

    /// Returns the progress of the run in one line.
    fn progress_text(&self) -> String {
        progress_line(&self.control, self.created, self.plan.workload.model.horizon().duration)
    }
}

impl SessionArguments {
    fn plan(&self) -> PyResult<GuidedPlan> {
        let version = if self.http2 { HttpVersion::Http2 } else { HttpVersion::Http1 };
        GuidedPlan::new(&self.name, &self.origins, &self.steps, version).map_err(|error| match error {
            PlanError::Origin(_) => value_error("origin", error),
            PlanError::Steps(_) => value_error("steps", error),
        })
    }

    fn target(&self, py: Python<'_>, plan: &GuidedPlan, tls: &TlsArguments) -> PyResult<Target> {
        let resolve = self.resolve.iter().map(|entry| entry.parse().map_err(|error| value_error("resolve", error)));
        let overrides = AddressOverrides { resolve: resolve.collect::<PyResult<_>>()?, unix_socket: None };
        let refused = |error| target_error_of("origin", error);
        let target = py.detach(|| Target::for_origins(plan.requests(), plan.origins().cloned().collect(), &overrides));
        let mut target = target.map_err(refused)?;
        if self.http2 {
            target.use_http2().map_err(refused)?;
        }
        tls.secure(&mut target)?;
        Ok(target)
    }
}

/// Returns the load of sessions that arrive on this schedule.
fn of_sessions<'py>(
    rate: OptionalArg<'py>,
    duration: OptionalArg<'py>,
    warmup: Bound<'py, PyAny>,
    sessions: OptionalArg<'py>,
    (spacing, seed): (String, Bound<'py, PyAny>),
    limits: Limits,
    of: &SessionArguments,
) -> PyResult<Workload> {
    sessions.as_ref().map(|given| whole_number("sessions", given, 1)).transpose()?;
    let users = None;
    let think_time = None;
    let session_length = None;
    let model = "open".to_owned();
    let requests = sessions;
    let load = LoadArguments {
        rate,
        duration,
        warmup,
        requests,
        spacing,
        seed,
        model,
        users,
        think_time,
        session_length,
        usual_duration: Nanos::from_secs(10),
    };
    let arrivals = load.workload(limits, "sessions")?;
    let LoadModel::Open(sessions) = arrivals.model else { unreachable!("arrivals on a schedule") };
    // Only the function knows the number of requests, so take the number of steps.
    let requests_per_session = of.steps.len() as u32;
    let model = LoadModel::PartlyOpen { sessions, requests_per_session, think_time: Nanos::ZERO };
    Ok(Workload { model, ..arrivals })
}

/// Rejects gates that this load can never decide.
fn refuse_undecidable(plan: &Plan, gates: &[Gate], name: &str) -> PyResult<()> {
    let offered = plan.offered();
    let planned = PlannedRun::new(&plan.workload, &offered, false, ReadingMode::Whole).with_unknown_shares();
    let planned = PlannedRun { flows: vec![name.to_owned()], asks_again: true, ..planned };
    gate::refuse_undecidable(&planned, gates, "sessions")
}
