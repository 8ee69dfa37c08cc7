//! `truetail.run`: HTTP, messages and gRPC over real sockets.

use std::time::Instant;

use pyo3::prelude::*;
use truetail_analysis::gates::{Gate, PlannedRun, ReadingMode};
use truetail_checks::{Check, CheckRun};
use truetail_cli::library::LoadOptions;
use truetail_engine::{Control, Plan};
use truetail_model::time::{Nanos, Timestamp};
use truetail_stream::{StreamOptions, StreamRun};

use crate::arguments::{count, value_error, whole_number};
use crate::bench::progress_line;
use crate::channel::{ChannelArguments, load_error};
use crate::gate::{self, parsed};
use crate::load::{LoadArguments, OptionalArg, limits};
use crate::request::{RequestArguments, TlsArguments};
use crate::result::RunResult;
use crate::spelling::in_python;
use crate::streams::StreamArguments;
use crate::watched::{preflight_error, too_few_files_error, watched};

/// The plan of a run over real sockets, and its controls.
#[pyclass(module = "truetail._native", frozen)]
pub struct HttpRun {
    plan: Plan,
    notes: Vec<String>,
    gates: Vec<Gate>,
    checks: Option<CheckRun>,
    streams: Option<StreamRun>,
    preflight: bool,
    /// True if a service may fail all requests.
    allow_errors: bool,
    control: Control,
    created: Instant,
}

#[pymethods]
impl HttpRun {
    #[new]
    #[pyo3(signature = (*, request, channel, tls, streams, rate, duration, warmup, requests, spacing, seed, model, users, think_time,
                        session_length, connections, connection_per_session, max_streams, timeout, drain, threads, preflight, fail_if,
                        checks, allow_errors))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments, each with its name on both sides")]
    fn new<'py>(
        py: Python<'py>,
        request: RequestArguments<'py>,
        channel: ChannelArguments,
        tls: TlsArguments,
        streams: StreamArguments<'py>,
        rate: OptionalArg<'py>,
        duration: OptionalArg<'py>,
        warmup: Bound<'py, PyAny>,
        requests: OptionalArg<'py>,
        spacing: String,
        seed: Bound<'py, PyAny>,
        model: String,
        users: OptionalArg<'py>,
        think_time: OptionalArg<'py>,
        session_length: OptionalArg<'py>,
        connections: OptionalArg<'py>,
        connection_per_session: bool,
        max_streams: OptionalArg<'py>,
        timeout: OptionalArg<'py>,
        drain: Bound<'py, PyAny>,
        threads: OptionalArg<'py>,
        preflight: bool,
        fail_if: Vec<String>,
        checks: Vec<String>,
        allow_errors: bool,
    ) -> PyResult<HttpRun> {
        let checks: Vec<Check> = parsed("checks", &checks)?;
        let gates = gate::gates(&streams.slo_of_run(), &fail_if)?;
        let seed_of_choice = whole_number("seed", &seed, 0)?;
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
        let limits = limits(("connections", &connections), connection_per_session, &timeout, &drain)?;
        let workload = load.workload(limits, "requests")?;
        if connection_per_session && !workload.has_connection_per_session() {
            let problem = "only sessions have connections of their own; use model='partly-open'";
            return Err(value_error("connection_per_session", problem));
        }
        if connection_per_session && request.closes_connections() {
            return Err(value_error("connection_per_session", "it contradicts keepalive=False; give one of them"));
        }
        if channel.is_meant() {
            streams.refuse_slo_without_llm()?;
        }
        let over_http = (!channel.is_meant()).then(|| streams.options()).transpose()?.flatten();
        let (target, options) = match channel.is_meant() {
            true => channel.resolve(py).map(|(target, options)| (target, Some(options)))?,
            false => (request.target(py, seed_of_choice, &tls, streams.api()?)?, None),
        };
        let mut workload = workload;
        if let Some(deadline) = options.as_ref().and_then(LoadOptions::deadline) {
            workload.limits.timeout = Some(deadline);
        }
        let reading = options.as_ref().map_or_else(|| streams.reading(), LoadOptions::reading);
        let mut plan = Plan::new(workload, target);
        plan.threads = threads.as_ref().map(|given| count("threads", given)).transpose()?;
        plan.max_streams = max_streams.as_ref().map(|given| count("max_streams", given)).transpose()?;
        plan.keep_alive = !request.closes_connections();
        plan.check_open_files().map_err(too_few_files_error)?;
        refuse_undecidable(&plan, &gates, !checks.is_empty(), reading)?;
        let of_options = options.iter().flat_map(LoadOptions::notes);
        let notes = tls.notes().into_iter().chain(of_options.map(|note| in_python(&note))).collect();
        let (checks, streams) = match options {
            Some(options) => options.observe(&mut plan).map_err(load_error)?,
            None => (observe(&mut plan, checks), over_http.map(|options| read_streams(&mut plan, options))),
        };
        let control = Control::new();
        let created = Instant::now();
        Ok(HttpRun { plan, notes, gates, checks, streams, preflight, allow_errors, control, created })
    }

    /// Offers the load. Returns the result, and the exception that ended the run early, if any.
    fn run(&self, py: Python<'_>) -> PyResult<(RunResult, Option<Py<PyAny>>)> {
        let mut plan = self.plan.clone();
        let is_stream = self.streams.is_some();
        let note = if self.preflight { py.detach(|| preflight(&mut plan, is_stream))? } else { None };
        let (run, ended_by) = watched(py, &plan, &self.control);
        let mut run = run?;
        run.facts.offered.allow_errors = self.allow_errors;
        run.facts.notes.extend(self.notes.iter().cloned().chain(note));
        run.facts.stream = self.streams.as_ref().map(|streams| streams.facts(&run.snapshot.samples));
        if let Some(checks) = &self.checks {
            run.facts.checks = checks.counts(run.snapshot.measure_from);
            run.facts.failed_answers = checks.failed_answers();
        }
        Ok((
            RunResult::new(py, run, Default::default()).judged(&self.gates),
            ended_by.map(|error| error.into_value(py).into_any()),
        ))
    }

    /// Returns the progress of the run in one line.
    fn progress_text(&self) -> String {
        progress_line(&self.control, self.created, self.plan.workload.model.horizon().duration)
    }
}

/// Rejects gates that this load can never decide.
fn refuse_undecidable(plan: &Plan, gates: &[Gate], has_checks: bool, reading: ReadingMode) -> PyResult<()> {
    let planned = PlannedRun::new(&plan.workload, &plan.offered(), has_checks, reading);
    gate::refuse_undecidable(&planned, gates, "requests")
}

/// Adds the checks to the plan; `None` without checks.
fn observe(plan: &mut Plan, checks: Vec<Check>) -> Option<CheckRun> {
    if checks.is_empty() {
        return None;
    }
    let run = CheckRun::new(checks, plan.target.requests(), Timestamp(plan.workload.warmup.0), false);
    plan.observer = Some(run.observer_factory());
    Some(run)
}

/// Adds the observer of streams to the plan, next to that of checks.
fn read_streams(plan: &mut Plan, options: StreamOptions) -> StreamRun {
    let streams = StreamRun::new(options, Timestamp(plan.workload.warmup.0));
    let observer = streams.observer_factory();
    plan.observer = Some(match plan.observer.take() {
        Some(other) => observer.and(other),
        None => observer,
    });
    streams
}

/// Sends one request before the load, or only connects if a stream might never end. Returns a note about the answer.
fn preflight(plan: &mut Plan, is_stream: bool) -> PyResult<Option<String>> {
    if is_stream {
        plan.try_connection().map_err(|error| preflight_error(&plan.target, &error))?;
        return Ok(None);
    }
    let answer = plan.preflight(None).map_err(|error| preflight_error(&plan.target, &error))?;
    Ok(answer.note())
}
