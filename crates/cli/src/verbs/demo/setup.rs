//! Server of the demo, the two loops against it, and their results.

use std::path::PathBuf;

use truetail_engine::{Method, Plan, Target};
use truetail_model::scenario::Scenario;
use truetail_model::service::Fault;
use truetail_model::time::{Nanos, Timestamp};
use truetail_model::workload::{LoadModel, Workload};
use truetail_report::Style;
use truetail_run::{Findings, Run, VerdictState};
use truetail_server::{Server, ServerOptions, ServerTruth};

use crate::after_load::AfterLoad;
use crate::error::{Result, runtime_error};
use crate::gating::Gating;
use crate::labels::RunLabels;
use crate::output;
use crate::output_folder::OutputFolder;
use crate::stages::{Judged, RunContext, measure};

/// Service and open loop.
const SCENARIO: &str = include_str!("scenario.toml");
/// Users of the closed loop. They reach the rate of the open loop while the service is healthy.
const USERS: u32 = 10;

/// Scenario of the demo and its stall.
pub(super) struct DemoSetup {
    pub scenario: Scenario,
    /// Start and length of the stall.
    pub stall: (Timestamp, Nanos),
    pub command: String,
    quiet: bool,
}

pub(super) struct LoopResult {
    pub run: Run,
    pub findings: Findings,
    /// Requests that arrived at the server during the stall, from the server's truth log.
    pub arrived_in_stall: u64,
    /// Folder of the saved run.
    pub saved: Option<PathBuf>,
}

impl DemoSetup {
    pub(super) fn new(quiet: bool, command: String) -> DemoSetup {
        let scenario = Scenario::parse(SCENARIO, "demo/scenario.toml").unwrap_or_else(|error| panic!("{error}"));
        let stall = scenario.service.faults.iter().find_map(Fault::stall_schedule);
        let stall = stall.map(|schedule| (schedule.first, schedule.length));
        DemoSetup { stall: stall.expect("the demo is about a stall"), scenario, command, quiet }
    }

    /// Returns the load on a schedule.
    pub(super) fn open_loop(&self) -> Workload {
        self.scenario.workload.clone()
    }

    /// Returns the load of users who wait for their answers, for the same duration.
    pub(super) fn closed_loop(&self) -> Workload {
        let horizon = self.scenario.workload.model.horizon();
        let model = LoadModel::Closed { users: USERS.into(), think_time: Nanos::ZERO, horizon };
        Workload { model, ..self.scenario.workload.clone() }
    }

    /// Returns the text printed before the runs.
    pub(super) fn introduction(&self, style: Style) -> String {
        style.wrap(&self.about(), style.columns()).into_iter().map(|line| line + "\n").collect()
    }

    /// Describes the demo in two sentences.
    pub(super) fn about(&self) -> String {
        let (at, length) = self.stall;
        let duration = self.scenario.workload.model.horizon().duration.unwrap_or_default();
        format!(
            "A server answers in {}, but {} into the run it freezes once, for {length}. The demo measures it twice for \
             {duration}: first with {USERS} users who each wait for an answer before they send the next request \
             (closed loop), then on a schedule that does not wait for answers (open loop).",
            self.scenario.service.baseline,
            at.since_origin(),
        )
    }

    /// Offers `workload` to a new server, so that both loops meet the stall at the same time.
    ///
    /// # Errors
    /// If no server can be started or no load offered. A failure to save the run goes to `steps`.
    pub(super) fn measure(
        &self,
        workload: Workload,
        folder: Option<OutputFolder>,
        steps: &mut AfterLoad,
    ) -> Result<LoopResult> {
        if !self.quiet {
            output::note(&format!("measuring the {} loop …", workload.model.kind().name()));
        }
        let server = Server::start(ServerOptions::new(self.scenario.service.clone(), ServerOptions::ANY_PORT))
            .map_err(runtime_error)?;
        let url = format!("http://{}{}", server.addr(), self.scenario.path);
        let target = Target::resolve(Method::Get, &url, &[], Vec::new()).map_err(runtime_error)?;
        let context = RunContext {
            labels: RunLabels {
                name: Some(self.scenario.name.clone()),
                command: Some(self.command.clone()),
                ..RunLabels::default()
            },
            quiet: self.quiet,
            ..RunContext::default()
        };
        let (run, _) = measure(&Plan::new(workload, target), context)?;
        let truth = server.stop();
        let mut judged = Judged { folder, ..Judged::of(run, Gating::default(), &[]) };
        steps.tried(judged.save());
        let Judged { run, findings, saved, .. } = judged;
        Ok(LoopResult { arrived_in_stall: self.arrived_in_stall(&truth), run, findings, saved })
    }

    fn arrived_in_stall(&self, truth: &ServerTruth) -> u64 {
        let (at, length) = self.stall;
        truth.arrivals_between(at.0, (at + length).0) as u64
    }
}

impl LoopResult {
    /// Returns true if the user ended the run early.
    pub(super) fn was_interrupted(&self) -> bool {
        self.run.facts.interrupted
    }

    /// Returns a line with the folder of the run, if it was saved.
    pub(super) fn saved_line(&self) -> Option<String> {
        let folder = self.saved.as_ref()?.display();
        Some(format!("  Saved the {} loop in {folder}\n", self.name()))
    }

    /// Returns a line on the verdict; `None` if it is VALID.
    pub(super) fn doubts(&self) -> Option<String> {
        let verdict = &self.findings.verdict;
        let codes: Vec<_> = verdict.reasons.iter().map(|reason| reason.code.as_str()).collect();
        if verdict.state == VerdictState::Valid {
            return None;
        }
        let state = verdict.state.name();
        Some(format!("  The {} loop is {state}: {} (see docs/honesty.md)\n", self.name(), codes.join(", ")))
    }

    pub(super) fn name(&self) -> &'static str {
        self.run.facts.offered.model.name()
    }
}

#[cfg(test)]
mod tests {
    use truetail_sim::{SimOptions, simulate};

    use super::*;

    /// Simulates an ideal client on this setup. Returns its p99 and maximum in ms.
    fn simulated(workload: Workload) -> (f64, f64) {
        let scenario = Scenario { workload, ..DemoSetup::new(true, String::new()).scenario };
        let findings = truetail_analysis::findings(&simulate(&scenario, SimOptions::default()).expect("it has an end"));
        let at = |q| findings.response_time.quantiles.iter().find(|quantile| quantile.q == q).and_then(|q| q.value_ns);
        (at(0.99).expect("p99") as f64 / 1e6, at(1.0).expect("max") as f64 / 1e6)
    }

    #[test]
    fn the_closed_loop_hides_what_the_open_loop_shows() {
        let setup = DemoSetup::new(true, String::new());
        assert_eq!(simulated(setup.open_loop()), (810.0, 1010.0));
        assert_eq!(simulated(setup.closed_loop()), (10.0, 1010.0));
    }
}
