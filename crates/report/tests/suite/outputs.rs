//! Tests of the output for build servers and pull requests.

use junit_parser::{TestCase, TestStatus};
use truetail_analysis::gates::{Gate, judge_all};
use truetail_model::record::TargetTimes;
use truetail_report::{JunitSuite, junit, markdown_summary};
use truetail_run::{CheckCounts, Findings, Run, TargetFindings};

use crate::fixtures;

fn judged(name: &str, gates: &[&str]) -> (Run, Findings) {
    let fixture = fixtures::all().iter().find(|fixture| fixture.name == name).expect(name);
    let run = fixture.run.clone();
    let mut findings = fixture.findings.clone();
    let gates: Vec<Gate> = gates.iter().map(|gate| gate.parse().expect(gate)).collect();
    findings.gates = judge_all(&gates, &run, &findings);
    (run, findings)
}

/// Reads the JUnit file of a run: the name of the suite and its cases.
fn read(run: &Run, findings: &Findings) -> (String, Vec<TestCase>) {
    let text = junit(&[JunitSuite::for_run(None, run, findings)]).unwrap();
    let suites = junit_parser::from_reader(text.as_bytes()).unwrap_or_else(|error| panic!("{error:?} in {text}"));
    let [suite] = <[_; 1]>::try_from(suites.suites).expect("one suite");
    assert_eq!(suite.tests, suite.cases.len() as u64, "{text}");
    (suite.name, suite.cases)
}

/// Returns `name: status message` for each case.
fn told(cases: &[TestCase]) -> Vec<String> {
    let one = |case: &TestCase| {
        let (status, message) = match &case.status {
            TestStatus::Success => ("passed", String::new()),
            TestStatus::Failure(failure) => ("failed", failure.message.clone()),
            TestStatus::Error(error) => ("error", error.message.clone()),
            TestStatus::Skipped(skipped) => ("skipped", skipped.message.clone()),
        };
        format!("{}: {status} {}", case.original_name, message.lines().next().unwrap_or_default()).trim().to_owned()
    };
    cases.iter().map(one).collect()
}

#[test]
fn a_junit_reader_sees_the_measurement_each_gate_and_each_check() {
    let (mut run, findings) = judged("few", &["p50 > 1h", "p50 > 1ms", "p99.9 > 50ms", "throughput < 1/s"]);
    run.facts.checks = vec![
        CheckCounts { text: "body contains \"<ok>\" & more".into(), passed: 70, failed: 1 },
        CheckCounts { text: "status == 200".into(), passed: 71, failed: 0 },
    ];
    let (name, cases) = read(&run, &findings);
    assert_eq!(name, "GET http://127.0.0.1:8080/api");
    let told = told(&cases);
    let open = "p99.9 > 50ms: error this percentile needs 3688 arrivals, not 71: run longer or raise the rate";
    assert_eq!(told[..2], ["measurement: passed", "p50 > 1h: passed"]);
    assert!(told[2].starts_with("p50 > 1ms: failed measured "), "{told:?}");
    assert_eq!(told[3..5], [open, "throughput < 1/s: passed"]);
    let failed = "body contains \"<ok>\" & more: failed 1 of 71 answers failed";
    assert_eq!(told[5..], [failed, "status == 200: passed"]);
    let classes: Vec<_> = cases.iter().filter_map(|case| case.classname.as_deref()).collect();
    assert_eq!((classes[0], classes[1], classes[6]), ("truetail.measurement", "truetail.gate", "truetail.check"));
}

#[test]
fn an_invalid_measurement_is_red_only_where_no_gate_was_set() {
    let (run, findings) = judged("nothing", &[]);
    assert_eq!(told(&read(&run, &findings).1), ["measurement: error INVALID"]);
    let (run, findings) = judged("saturated", &["p99 > 1ms"]);
    let told = told(&read(&run, &findings).1);
    assert_eq!(told[0], "measurement: skipped INVALID");
    assert!(told[1].starts_with("p99 > 1ms: failed measured "), "{told:?}");
}

#[test]
fn every_run_has_a_junit_file() {
    for fixture in fixtures::all() {
        let (run, findings) = judged(fixture.name, &["p99 > 50ms", "error-rate > 1%"]);
        // The measurement, two gates, and the checks.
        assert_eq!(read(&run, &findings).1.len(), 3 + run.facts.checks.len(), "{}", fixture.name);
    }
}

#[test]
fn the_page_shows_verdict_gates_quantiles_and_targets() {
    let (run, mut findings) = judged("hiccup", &["p50 > 1h", "p99 > 1ms"]);
    let response_time = findings.response_time.clone();
    findings.targets = vec![TargetFindings { name: "GET /a|b".into(), tally: findings.tally, response_time }];
    let page = markdown_summary(&run, &findings);
    for part in [
        "## truetail: GET http://127.0.0.1:8080/api\n",
        " Measurement **",
        "| Gate | Fails if |  |\n| --- | --- | --- |\n| ✅ passed | p50 > 1h | measured ",
        "| ❌ FAILED | p99 > 1ms | measured ",
        "|  | Response time | 95 % interval | Service time |\n| --- | --: | --- | --: |\n| p50 | ",
        "| Target | Requests | Unanswered | p50 | p99 | max |\n",
        "| GET /a\\|b | 60000 | 0 | ",
    ] {
        assert!(page.contains(part), "{part:?} in {page}");
    }
    assert!(!markdown_summary(&run, &fixtures::all()[0].findings).contains("| Gate |"), "there is none");
    assert_eq!(run.snapshot.targets, Vec::<TargetTimes>::new());
}
