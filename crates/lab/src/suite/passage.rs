//! One tool in one situation.

use std::io;
use std::path::Path;

use truetail_analysis::league::{StreamTrial, SuiteEvidence, SuiteJudgement, SuiteRow, SuiteState, judge, window};
use truetail_model::scenario::Scenario;
use truetail_model::time::Nanos;
use truetail_server::SPEAKS_HTTP2;
use truetail_tools::{SearchPath, Tool};

use super::situations::{Needs, Situation};
use crate::cancel::CancelToken;
use crate::tool_result::ToolResult;
use crate::trial::run_trial;
use crate::trial_plan::{TrialPlan, USERS};

/// A load tool that goes through the suite.
pub struct Subject {
    /// Name in the report.
    pub name: String,
    /// The tool.
    pub plain: Box<dyn Tool>,
    /// The same with HTTP/2, if the adapter says how.
    pub http2: Option<Box<dyn Tool>>,
    /// Its mode that measures streams, if any.
    pub streams: Option<&'static dyn Tool>,
}

/// Returns the plan of a situation, scaled to a duration if one is given.
///
/// # Panics
/// If the situation's own scenario is not valid.
pub fn plan(situation: &Situation, duration: Option<Nanos>) -> TrialPlan {
    let scenario = Scenario::parse(situation.scenario, situation.name).expect("a scenario of the suite");
    // Refused connections show in three seconds what they show in ten.
    let duration = duration.filter(|_| situation.needs != Needs::ClosedPort);
    let scenario = duration.map_or(Ok(scenario.clone()), |duration| scenario.scaled_to(duration));
    let plan = TrialPlan::new(scenario.expect("it has a duration")).expect("it has an even rate");
    TrialPlan { refuses: situation.needs == Needs::ClosedPort, ..plan }
}

/// Runs a tool through a situation, and judges what it reports. `None` if the user cancelled it.
///
/// # Errors
/// If no server can be started, or the folder cannot be written.
pub fn go_through(
    subject: &Subject,
    situation: &Situation,
    plan: &TrialPlan,
    folder: &Path,
    token: &CancelToken,
) -> io::Result<Option<SuiteRow>> {
    let row = |judgement, command| {
        let [name, tests, source] = [situation.name, situation.tests, situation.source].map(str::to_owned);
        SuiteRow { situation: name, tests, source, judgement, command }
    };
    let tool = match tool_for(subject, situation) {
        Ok(tool) => tool,
        Err(why) => return Ok(Some(row(SuiteJudgement::new(SuiteState::NotTested, why), Vec::new()))),
    };
    let found = match tool.locate(&SearchPath::from_env()) {
        Ok(found) => found,
        Err(missing) => {
            return Ok(Some(row(SuiteJudgement::new(SuiteState::NotTested, missing.to_string()), Vec::new())));
        }
    };
    let ran = run_trial(tool, &found, plan, folder, token)?;
    let Some(result) = ToolResult::read(tool, folder).filter(|_| !token.is_cancelled()) else { return Ok(None) };
    result.write_report(folder)?;
    let league = result.row(tool, plan, &window(&plan.scenario, USERS));
    let truth = plan.stream_truth.as_ref();
    let streams = truth.and_then(|truth| Some(StreamTrial::new(result.stream_row(&league, plan)?, truth)));
    let evidence = SuiteEvidence {
        row: &league,
        truth: &plan.truth,
        scenario: &plan.scenario,
        server: result.server_view.as_ref(),
        streams: streams.as_ref().filter(|_| tool.measures_streams()),
        exit_code: ran.ended.and_then(|ended| ended.exit_code),
    };
    Ok(Some(row(judge(situation.question, &evidence), ran.argv)))
}

const NO_HTTP2: &str = "this build's server has no HTTP/2: cargo build --features serve-http2";

/// Returns the mode of the tool for a situation, or the reason that it has no such mode.
fn tool_for<'a>(subject: &'a Subject, situation: &Situation) -> Result<&'a dyn Tool, &'static str> {
    match situation.needs {
        Needs::Server if !SPEAKS_HTTP2 && !subject.plain.protocols().can(false) => Err(NO_HTTP2),
        Needs::Server | Needs::ClosedPort => Ok(&*subject.plain),
        Needs::Http2 if !SPEAKS_HTTP2 => Err(NO_HTTP2),
        Needs::Http2 => subject.http2.as_deref().ok_or("the adapter names no HTTP/2 mode of the tool"),
        Needs::Streams => subject.streams.ok_or("the adapter names no mode of the tool that measures streams"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::SITUATIONS;
    use super::*;

    #[test]
    fn each_situation_has_a_plan_of_its_name_whole_and_shortened() {
        for situation in &SITUATIONS {
            let whole = plan(situation, None);
            assert_eq!(whole.scenario.name, situation.name);
            assert!(whole.truth.count() >= 50 && whole.duration <= Nanos::from_secs(10), "{}", situation.name);
            let short = plan(situation, Some(Nanos::from_secs(2)));
            assert!(short.duration <= Nanos::from_secs(3), "{}", situation.name);
            assert_eq!(whole.refuses, situation.name == "refused");
            assert!(situation.tests.ends_with('.') && !situation.source.is_empty());
        }
    }
}
