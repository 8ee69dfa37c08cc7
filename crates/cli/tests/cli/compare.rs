//! `truetail compare`: saved runs of the simulator, whose truth is known.

use super::support::TestDir;

/// Saves an M/M/1 queue with this service time and seed as `name`.
fn save(dir: &TestDir, name: &str, baseline: &str, seed: u64) {
    save_at(dir, name, baseline, seed, "200/s");
}

fn save_at(dir: &TestDir, name: &str, baseline: &str, seed: u64, rate: &str) {
    let scenario = format!(
        "name = \"queue\"\nabout = \"one at a time\"\n\n[service]\nbaseline = \"{baseline}\"\nvariation = \"exponential\"\n\
         concurrency = 1\nseed = {seed}\n\n[workload]\nmodel = \"open\"\nrate = \"{rate}\"\nspacing = \"poisson\"\n\
         seed = {seed}\nduration = \"60s\"\n"
    );
    let file = format!("{name}.toml");
    dir.file(&file, &scenario);
    let saved = dir.truetail(&["simulate", &file, "--out", name]);
    assert_eq!(saved.code, Some(0), "{saved:?}");
}

#[test]
fn two_runs_are_a_and_b() {
    let dir = TestDir::new();
    save(&dir, "before", "2ms", 1);
    save(&dir, "after", "4ms", 2);
    let output = dir.truetail(&["compare", "before", "after"]);
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""), "{output:?}");
    assert!(output.stdout.starts_with("A: before\nB: after\n"), "{}", output.stdout);
    let p50 = output.stdout.lines().find(|line| line.starts_with("p50")).expect("a row");
    assert!(p50.ends_with("B is slower"), "{p50}");
    assert!(output.stdout.contains("One run on each side: how much runs differ"), "{}", output.stdout);
    let json = dir.truetail(&["compare", "after", "before", "--json"]).json();
    assert_eq!((json["schema"].as_str(), json["comparable"].as_bool()), (Some("truetail.compare/1"), Some(true)));
    assert_eq!((json["runs"]["a"].as_u64(), json["between_runs_known"].as_bool()), (Some(1), Some(false)));
    assert_eq!(json["quantiles"][0]["finding"], "faster");
    let same = dir.truetail(&["compare", "before", "before/run.json"]);
    assert_eq!(same.code, Some(0), "simulated runs have no time at which they began: {same:?}");
    assert!(same.stdout.contains("no difference shown"), "{}", same.stdout);
}

#[test]
fn a_page_lays_the_sides_over_and_beside_each_other() {
    let dir = TestDir::new();
    save(&dir, "before", "2ms", 1);
    save(&dir, "after", "4ms", 2);
    let output = dir.truetail(&["compare", "before", "after", "--fail-if", "p50 worse than 5%", "--html", "page.html"]);
    assert_eq!(output.code, Some(3), "{output:?}");
    let page = std::fs::read_to_string(dir.path().join("page.html")).expect("a page");
    for part in [
        "A: before. B: after.",
        "B is slower",
        "95 % interval",
        "FAILED p50 worse than 5%",
        "One run on each side",
        "href=\"./after/report.html\"",
        "truetail compare before after",
    ] {
        assert!(page.contains(part), "no {part:?}");
    }
    assert_eq!(page.matches("<svg xmlns").count(), 3, "the curves, and a heat map of each side");
    let nowhere = dir.truetail(&["compare", "before", "after", "--html", "no/such/page.html"]);
    assert_eq!((nowhere.code, nowhere.stdout.as_str()), (Some(2), ""), "{nowhere:?}");
}

#[test]
fn several_runs_are_repetitions_and_gates_decide() {
    let dir = TestDir::new();
    for seed in 1..=3 {
        save(&dir, &format!("a{seed}"), "2ms", seed);
        save(&dir, &format!("b{seed}"), "3ms", seed + 10);
    }
    let sides = ["compare", "a1", "a2", "a3", "--against", "b1", "b2", "b3"];
    for (gate, code, word) in [
        ("p50 worse than 5%", 3, "FAILED p50 worse than 5%: measured +"),
        ("p50 worse than 500%", 0, "PASSED p50 worse than 500%"),
        ("p99.99 worse than 5%", 4, "OPEN p99.99 worse than 5%: no interval"),
    ] {
        let output = dir.truetail(&[&sides[..], &["--fail-if", gate]].concat());
        assert_eq!(output.code, Some(code), "{output:?}");
        assert!(output.stdout.contains(word), "{}", output.stdout);
        assert!(output.stdout.contains("The intervals include how much the runs"), "{}", output.stdout);
    }
    let json = dir.truetail(&[&sides[..], &["--fail-if", "p50 worse than 5%", "--json"]].concat());
    assert_eq!(json.code, Some(3));
    assert_eq!(json.json()["gates"][0]["state"], "fails");
}

#[test]
fn apples_and_oranges_are_compared_only_anyway() {
    let dir = TestDir::new();
    save(&dir, "slow", "2ms", 1);
    save_at(&dir, "fast", "2ms", 1, "250/s");
    let refused = dir.truetail(&["compare", "slow", "fast", "--fail-if", "p50 worse than 500%"]);
    assert_eq!(refused.code, Some(4), "{refused:?}");
    assert!(
        refused.stdout.contains("Not compared: the rate profile is 200/s in slow and 250/s in fast"),
        "{refused:?}"
    );
    assert!(refused.stdout.ends_with("\n--anyway compares them all the same.\n"), "{refused:?}");
    let json = dir.truetail(&["compare", "slow", "fast", "--json"]);
    assert_eq!((json.code, json.json()["quantiles"].as_array().map(Vec::len)), (Some(4), Some(0)));
    let anyway = dir.truetail(&["compare", "slow", "fast", "--anyway"]);
    assert_eq!(anyway.code, Some(0), "{anyway:?}");
    assert!(anyway.stdout.contains("note: the rate profile") && anyway.stdout.contains("p50"), "{anyway:?}");
}

/// The same load against another host.
#[test]
fn hosts_are_compared_when_asked_for() {
    let dir = TestDir::new();
    for name in ["one", "two"] {
        save(&dir, name, "2ms", 1);
        let file = dir.path().join(name).join("run.json");
        let mut run: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).expect("a run")).expect("JSON");
        run["scenario"]["url"] = format!("http://{name}.test/").into();
        std::fs::write(&file, run.to_string()).expect("a file");
    }
    let refused = dir.truetail(&["compare", "one", "two"]);
    assert_eq!(refused.code, Some(4), "{refused:?}");
    assert!(refused.stdout.contains("the URL is http://one.test/ in one and http://two.test/ in two"), "{refused:?}");
    assert!(refused.stdout.contains("--as hosts") && refused.stdout.contains("--anyway"), "{refused:?}");
    let hosts = dir.truetail(&["compare", "one", "two", "--as", "hosts"]);
    assert_eq!((hosts.code, hosts.stdout.contains("no difference shown")), (Some(0), true), "{hosts:?}");
    let wrong = dir.truetail(&["compare", "one", "two", "--as", "host"]);
    assert_eq!((wrong.code, wrong.stderr.contains("hosts")), (Some(2), true), "{wrong:?}");
}

#[test]
fn a_history_grows_by_a_row_a_run() {
    let dir = TestDir::new();
    save(&dir, "a", "2ms", 1);
    save(&dir, "b", "2ms", 2);
    for _ in 0..2 {
        assert_eq!(dir.truetail(&["compare", "a", "b", "--append", "history.csv"]).code, Some(0));
    }
    let history = std::fs::read_to_string(dir.path().join("history.csv")).expect("a file");
    let rows: Vec<_> = history.lines().collect();
    assert_eq!(rows[0], "time,run,verdict,requests,throughput_per_s,p50_ms,p90_ms,p99_ms,p99.9_ms");
    assert_eq!((rows.len(), rows[1] == rows[3], rows[1].split(',').count()), (5, true, 9), "{history}");
    let nowhere = dir.truetail(&["compare", "a", "b", "--append", "no/such/history.csv"]);
    assert_eq!((nowhere.code, nowhere.stderr.lines().count()), (Some(2), 1), "{nowhere:?}");
}

#[test]
fn what_makes_no_sense_is_one_line() {
    let dir = TestDir::new();
    save(&dir, "a", "2ms", 1);
    for (arguments, code, part) in [
        (&["a"][..], 2, "there is one run; name a second one"),
        (&["a", "a", "a"], 2, "there are 3 runs, and it is not clear which belong together"),
        (&["a", "missing"], 1, "missing"),
        (&["a", "a", "--fail-if", "p99 > 5ms"], 2, "write PERCENTILE worse than SHARE"),
        (&["a", "a", "--fail-if", "p75 worse than 5%"], 2, "the ones that are: p50, p90, p95, p99, p99.9, p99.99"),
    ] {
        let output = dir.truetail(&[&["compare"], arguments].concat());
        assert_eq!((output.code, output.stderr.lines().count()), (Some(code), 1), "{output:?}");
        assert!(output.stderr.contains(part), "{}", output.stderr);
    }
}
