//! A run as a JUnit file for build servers: one test case for the measurement, each gate and each check.
//!
//! The test cases match the exit code. A failed gate or check is a failure, an open gate an error. An INVALID
//! measurement is an error if no gate was set; otherwise it is skipped, because the gates decide.

use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, SerializeError, TestCase, TestCaseStatus, TestSuite};
use truetail_analysis::gates;
use truetail_run::{CheckCounts, Findings, GateFinding, GateState, Run, VerdictState};

use crate::number;
use crate::summary::measured;
use crate::text::is_unprintable;

/// Test suite of one run.
#[derive(Clone, Debug)]
pub struct JunitSuite {
    suite: TestSuite,
    elapsed: Duration,
}

impl JunitSuite {
    /// Returns the suite of a run, named `name` or after the measured target.
    pub fn for_run(name: Option<&str>, run: &Run, findings: &Findings) -> JunitSuite {
        let named = name.map(str::to_owned).or_else(|| measured(run));
        let mut suite = TestSuite::new(named.unwrap_or_else(|| "a run of truetail".to_owned()));
        let elapsed = Duration::from_nanos(run.facts.elapsed_ns);
        suite.set_time(elapsed);
        suite.add_test_case(measurement(findings));
        suite.add_test_cases(findings.gates.iter().map(gate));
        let counts = gates::a_check_fails(run, findings);
        suite.add_test_cases(run.facts.checks.iter().map(|one| check(one, counts)));
        JunitSuite { suite, elapsed }
    }

    /// Returns the suite of a run without a result.
    pub fn without_result(name: &str, why: &str) -> JunitSuite {
        let mut suite = TestSuite::new(name);
        suite.add_test_case(case(
            "measurement",
            "measurement",
            non_success(NonSuccessKind::Error, "not measured", why),
        ));
        JunitSuite { suite, elapsed: Duration::ZERO }
    }
}

/// Returns the content of the file, one suite per run.
///
/// # Errors
/// Fails if the document cannot be written, which no content causes.
pub fn junit(suites: &[JunitSuite]) -> Result<String, SerializeError> {
    let mut report = Report::new("truetail");
    report.set_time(suites.iter().map(|suite| suite.elapsed).sum());
    report.add_test_suites(suites.iter().map(|suite| suite.suite.clone()));
    // Checks, gates and URLs may contain untrusted text. Unprintable characters never belong to the document's markup.
    report.to_string().map(|document| document.chars().filter(|c| !is_unprintable(*c)).collect())
}

fn case(class: &str, name: &str, status: TestCaseStatus) -> TestCase {
    let mut case = TestCase::new(name, status);
    case.set_classname(format!("truetail.{class}"));
    case
}

fn non_success(kind: NonSuccessKind, class: &str, message: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(kind);
    status.set_type(class).set_message(message);
    status
}

fn measurement(findings: &Findings) -> TestCase {
    let verdict = &findings.verdict;
    let reasons: Vec<String> =
        verdict.reasons.iter().map(|reason| format!("{}: {}", reason.code, reason.message)).collect();
    let told = format!("{}\n{}", verdict.state.name(), reasons.join("\n"));
    let status = match verdict.state {
        VerdictState::Valid | VerdictState::Suspect => TestCaseStatus::success(),
        VerdictState::Invalid if findings.gates.is_empty() => {
            non_success(NonSuccessKind::Error, verdict.state.name(), told.trim())
        }
        VerdictState::Invalid => {
            let mut skipped = TestCaseStatus::skipped();
            skipped.set_message(told.trim());
            skipped
        }
    };
    let mut case = case("measurement", "measurement", status);
    case.set_system_out(told.trim());
    case
}

fn gate(gate: &GateFinding) -> TestCase {
    let status = match gate.state {
        GateState::Holds => TestCaseStatus::success(),
        GateState::Fails => non_success(NonSuccessKind::Failure, "failed", &gate.message),
        GateState::Open => non_success(NonSuccessKind::Error, "open", &gate.message),
    };
    let mut case = case("gate", &gate.text, status);
    case.set_system_out(gate.message.as_str());
    case
}

/// `counts`: a failed answer fails the run.
fn check(check: &CheckCounts, counts: bool) -> TestCase {
    let told = format!("{} of {} answers failed", number::count(check.failed), number::count(check.answers()));
    let fails = counts && check.failed > 0;
    let status = if fails {
        non_success(NonSuccessKind::Failure, "failed", &told)
    } else if check.answers() == 0 {
        non_success(NonSuccessKind::Error, "open", "there was no answer to check")
    } else {
        TestCaseStatus::success()
    };
    let mut case = case("check", &check.text, status);
    case.set_system_out(told);
    case
}
