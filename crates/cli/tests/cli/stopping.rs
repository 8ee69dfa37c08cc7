//! Runs that end early because of a condition: `--until` and `--stop-when-saturated`.

use super::support::{ServeProcess, TestDir, assert_balanced};

const SMOOTH: &str = "name = \"smooth\"\nabout = \"always the same\"\n[workload]\nrate = 100\nduration = \"1s\"\n\
    [service]\nbaseline = \"50ms\"\n";

const FIFTY_A_SECOND: &str = "name = \"slow\"\nabout = \"50/s\"\n[workload]\nrate = 100\nduration = \"1s\"\n\
    [service]\nbaseline = \"100ms\"\nconcurrency = 5\n";

const FAILING: &str = "name = \"failing\"\nabout = \"every answer is an error\"\n[workload]\nrate = 100\nduration = \"1s\"\n\
    [service]\nbaseline = \"1ms\"\n[[service.fault]]\nkind = \"error-status\"\nstatus = 500\nevery = 1\n";

fn notes(run: &serde_json::Value) -> String {
    run["notes"].to_string()
}

#[test]
fn a_narrow_quantile_ends_the_run_at_the_first_look() {
    let dir = TestDir::new();
    let served = ServeProcess::start(&dir, dir.file("smooth.toml", SMOOTH));
    let output = dir.truetail(&["run", &served.api(), "-r", "200", "--until", "p50 ±50%", "--json", "--no-save"]);
    let run = output.json();
    output.assert_code(&run, 0);
    assert_balanced(&run);
    let planned = run["tally"]["planned"].as_u64().expect("a count");
    // The first look is after 10 s. A machine that stalls skips looks: at twelve times its capacity, for a minute.
    // Without the rule, the run would take ten minutes.
    assert!((1000..60_000).contains(&planned), "{planned}");
    assert!(notes(&run).contains("--until 'p50 ±50%' reached after "), "{}", notes(&run));
    assert_eq!(run["interrupted"], true);
}

#[test]
fn what_was_not_reached_is_told() {
    let dir = TestDir::new();
    let served = ServeProcess::start(&dir, dir.file("smooth.toml", SMOOTH));
    let output =
        dir.truetail(&["run", &served.api(), "-r", "100", "-d", "1s", "--until", "p99 +-5%", "--json", "--no-save"]);
    let run = output.json();
    output.assert_code(&run, 0);
    assert!(output.stderr.contains("--until 'p99 ±5%' not reached: needs at least 368 requests"), "{output:?}");
    assert!(notes(&run).contains("not reached"), "{}", notes(&run));
    assert_eq!(run["tally"]["planned"], 100);
}

#[test]
fn a_saturated_run_reports_it_at_once_and_stops_if_asked() {
    let dir = TestDir::new();
    let served = ServeProcess::start(&dir, dir.file("slow.toml", FIFTY_A_SECOND));
    let arguments = ["run", &served.api(), "-r", "100", "-d", "40s", "--stop-when-saturated", "--json", "--no-save"];
    let output = dir.truetail(&arguments);
    let run = output.json();
    assert_eq!((output.code, run["verdict"]["state"].as_str()), (Some(4), Some("INVALID")), "{output:?}");
    // The rate at that moment: on a machine that stalls, 99.92/s.
    let said = output.stderr.split("saturated: ").nth(1).and_then(|rest| rest.split("/s offered, ").next());
    let offered: f64 = said.and_then(|said| said.parse().ok()).unwrap_or_else(|| panic!("{output:?}"));
    assert!((75.0..=125.0).contains(&offered), "{offered}");
    assert_balanced(&run);
    let planned = run["tally"]["planned"].as_u64().expect("a count");
    assert!((1000..4000).contains(&planned), "12 s of 100/s, and a little: {planned}");
    let saturated = &run["verdict"]["reasons"][0];
    assert_eq!(saturated["code"], "saturated", "{}", run["verdict"]);
    let capacity = saturated["capacity_per_second"].as_f64().expect("a rate");
    // The server answers at most 50/s, and the load offers twice as much. A stall inside the window changes the rate.
    assert!((35.0..=65.0).contains(&capacity), "{capacity}");
    assert!(notes(&run).contains("--stop-when-saturated stopped the load after "), "{}", notes(&run));
}

#[test]
fn mistakes() {
    let dir = TestDir::new();
    for (arguments, says) in [
        (vec!["-r", "10", "--abort-on", "p99 < 5s"], "would end the run of a good service; write 'p99 > 5s'"),
        (vec!["-r", "10", "--abort-on", "p99.9 > 5s"], "--abort-on 'p99.9 > 5s' cannot be decided"),
        (vec!["-r", "10", "--until", "p99 5"], "such as 'p99 ±5%'"),
        (vec!["-r", "10", "--timing", "cheap", "--user-timestamps"], "leave one out"),
        (vec!["-r", "10", "--realtime", "--timing", "precise", "--threads", "1024"], "use fewer --threads"),
        (vec!["-r", "10", "--until", "p42 ±5%"], "no quantile"),
        (vec!["--model", "closed", "--users", "2", "--stop-when-saturated"], "use it with --model open"),
    ] {
        let output = dir.truetail(&[vec!["run", "http://127.0.0.1:1/"], arguments].concat());
        assert_eq!(output.code, Some(2), "{output:?}");
        assert!(output.stderr.contains(says), "{output:?}");
    }
}

/// A server whose requests fail. The schedule would take ten minutes.
#[test]
fn a_hopeless_run_ends_early_and_fails() {
    let dir = TestDir::new();
    let served = ServeProcess::start(&dir, dir.file("failing.toml", FAILING));
    let load = ["run", &served.api(), "-r", "100", "-d", "10m", "--allow-errors", "--json", "--no-save"];
    let output = dir.truetail(&[&load[..], &["--abort-on", "error-rate > 20%"]].concat());
    let run = output.json();
    output.assert_code(&run, 3);
    assert_balanced(&run);
    let planned = run["tally"]["planned"].as_u64().expect("a count");
    // The first look is after 5 s, and a machine that stalls lets looks pass.
    assert!((400..30_000).contains(&planned), "{planned}");
    assert!(notes(&run).contains("--abort-on 'error-rate > 20%': 100.0% of "), "{}", notes(&run));
    assert_eq!((&run["interrupted"], &run["gates"][0]["state"]), (&true.into(), &"fails".into()));
}

/// The same condition against a server that answers well: the run lasts as long as planned, and the gate holds.
#[test]
fn a_good_service_is_not_stopped() {
    let dir = TestDir::new();
    let served = ServeProcess::start(&dir, dir.file("smooth.toml", SMOOTH));
    let load = ["run", &served.api(), "-r", "100", "-d", "8s", "--json", "--no-save"];
    let output = dir.truetail(&[&load[..], &["--abort-on", "error-rate > 0%", "--abort-on", "p99 > 1h"]].concat());
    let run = output.json();
    output.assert_code(&run, 0);
    assert_eq!((&run["tally"]["planned"], &run["interrupted"]), (&800.into(), &false.into()));
    assert_eq!(run["gates"].as_array().map(Vec::len), Some(2));
}
