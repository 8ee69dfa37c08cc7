//! `--fail-if`, and the exit code of a measurement that is INVALID.

use super::support::{CommandOutput, ServeProcess, TestDir, assert_balanced};

fn run(dir: &TestDir, url: &str, more: &[&str]) -> CommandOutput {
    let arguments = ["run", url, "-r", "400", "--json", "--quiet", "--no-save"];
    dir.truetail(&[&arguments[..], more].concat())
}

#[test]
fn a_threshold_that_fails_is_told_with_its_number() {
    let dir = TestDir::new();
    let served = ServeProcess::start(&dir, "01-healthy");
    for (condition, code, part) in [
        ("p50 > 1ms", 3, "'p50 > 1ms' holds"),
        ("p75 > 1ms", 3, "'p75 > 1ms' holds"),
        ("p50 < 1h", 3, "'p50 < 1h' holds"),
        ("p99.99 > 1h", 3, "cannot be shown"),
        ("error-rate >= 0", 3, "0.000 %"),
        ("p50 > 1h", 0, ""),
        ("max < 1us", 0, ""),
        ("unanswered > 0%", 0, ""),
    ] {
        let output = run(&dir, &served.api(), &["-n", "100", "--fail-if", condition]);
        let expected_lines = usize::from(code == 3);
        output.assert_code(&output.json(), code);
        assert_eq!(output.stderr.lines().count(), expected_lines, "{condition}: {output:?}");
        assert!(output.stderr.contains(part), "{condition}: {output:?}");
    }
    let both = run(&dir, &served.api(), &["-n", "100", "--fail-if", "p50 > 1ms", "--fail-if", "max > 1us"]);
    assert_eq!(both.stderr.lines().count(), 2, "{both:?}");
}

#[test]
fn no_answer_at_all_is_invalid_and_counts_as_at_least_what_was_waited() {
    let dir = TestDir::new();
    let fault = "[[service.fault]]\nkind = \"black-hole\"\n";
    let text = format!("[workload]\nrate = 400\nduration = \"1s\"\n[service]\nbaseline = \"1ms\"\n{fault}");
    let served = ServeProcess::start(&dir, dir.file("hole.toml", &text));
    let thresholds = ["-n", "40", "--timeout", "100ms", "--no-preflight", "--fail-if", "p50 > 50ms"];
    let output = run(
        &dir,
        &served.api(),
        &[&thresholds[..], &["--fail-if", "p50 > 10s", "--fail-if", "unanswered > 99%"]].concat(),
    );
    let result = output.json();
    assert_balanced(&result);
    assert_eq!(
        (result["tally"]["timed_out"].as_u64(), result["verdict"]["state"].as_str()),
        (Some(40), Some("INVALID"))
    );
    assert_eq!(output.code, Some(4), "INVALID outweighs a threshold: {output:?}");
    assert!(output.stderr.contains("'p50 > 50ms' holds: it is at least"), "{output:?}");
    assert!(output.stderr.contains("'p50 > 10s' cannot be shown"), "{output:?}");
    assert!(output.stderr.contains("'unanswered > 99%' holds: it is 100.000 %"), "{output:?}");
}
