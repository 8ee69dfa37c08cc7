//! `truetail audit` and `truetail correct` on captured files of load tools.

use serde_json::Value;

use super::documented::root;
use super::support::{CommandOutput, TestDir};

fn captured(name: &str) -> String {
    root().join("testdata/tools").join(name).display().to_string()
}

fn audit(dir: &TestDir, arguments: &[&str]) -> CommandOutput {
    dir.truetail(&[&["audit"], arguments].concat())
}

fn codes(json: &Value) -> Vec<&str> {
    let evidence = json["evidence"].as_array().expect("a list");
    evidence.iter().map(|one| one["code"].as_str().expect("a code")).collect()
}

/// 5 or 6 users who wait, a service time of 10 or 50 ms, and a stall of 1 s in 6 s.
#[test]
fn a_stall_hidden_by_a_closed_loop_is_found_in_each_file() {
    let dir = TestDir::new();
    for file in [
        "ab/2.3/stall/samples.tsv",
        "ab/2.3/stall/stdout.txt",
        "hey/0.1.4/stall/samples.csv",
        "jmeter-thread-group/5.6.3/stall/samples.csv",
        "autocannon/9.0.0/stall/closed.json",
        "oha/1.16.0/stall/samples.csv",
        "h2load/1.52.0/stall/samples.tsv",
    ] {
        let path = captured(file);
        let output = audit(&dir, &[&path, "--json"]);
        assert_eq!(output.code, Some(3), "{file}: {output:?}");
        let json = output.json();
        assert_eq!(
            (json["schema"].as_str(), json["finding"].as_str()),
            (Some("truetail.audit/1"), Some("certain")),
            "{file}"
        );
        assert!(json["missing_arrivals"].as_u64() > Some(20), "{file}: {json}");
        let quantiles = json["corrected"]["quantiles"].as_array().expect("quantiles");
        assert!(!quantiles.is_empty(), "{file}");
        for one in quantiles {
            let value = |name: &str| one[name].as_u64().expect("nanoseconds");
            assert!(value("low_ns") <= value("value_ns") && value("value_ns") <= value("high_ns"), "{file}: {one}");
        }
    }
}

/// vLLM's client with `--max-concurrency 5`, at 20/s, with a stall. Its file has the waiting time in the client.
#[test]
fn what_waited_behind_a_limit_of_the_client_is_found() {
    let dir = TestDir::new();
    let path = root().join("testdata/tools/vllm-max-concurrency/0.32.0/stall/results.json").display().to_string();
    let output = audit(&dir, &[&path]);
    let text = output.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let says = "requests waited in the client, and that is in no latency of the tool";
    assert_eq!((output.code, text.contains(says)), (Some(3), true), "{output:?}");
    assert!(text.contains("35 of 80 requests waited in the client, for up to 384"), "{output:?}");
    let json = audit(&dir, &[&path, "--json"]).json();
    assert_eq!((codes(&json)[0], json["missing_arrivals"].as_u64()), ("waited_in_client", Some(0)));
}

#[test]
fn a_schedule_and_a_healthy_service_show_none() {
    let dir = TestDir::new();
    for file in [
        "vegeta/12.13.0/stall/results.csv",
        "gatling/3.11.5/stall/simulation.log",
        "wrk2/4.0.0/stall/stdout.txt",
        "ab/2.3/healthy/samples.tsv",
        "hey/0.1.4/healthy/samples.csv",
        "jmeter-thread-group/5.6.3/healthy/samples.csv",
    ] {
        let path = captured(file);
        let output = audit(&dir, &[&path, "--json"]);
        assert_eq!(output.code, Some(0), "{file}: {output:?}");
        assert_eq!(
            (output.json()["finding"].as_str(), output.json()["missing_arrivals"].as_u64()),
            (Some("none_seen"), Some(0))
        );
    }
}

#[test]
fn what_a_file_cannot_tell_is_said() {
    let dir = TestDir::new();
    let back_filled = captured("wrk/4.1.0/stall/stdout.txt");
    let output = audit(&dir, &[&back_filled, "--json"]);
    assert_eq!((output.code, codes(&output.json())), (Some(4), vec!["back_filled"]));
    assert!(
        output.json()["missing_arrivals"].is_null() && output.json()["corrected"]["quantiles"] == serde_json::json!([])
    );
    let text = audit(&dir, &[&back_filled]);
    assert!(
        text.stdout.starts_with("CANNOT TELL ") && text.stdout.contains("What wrk does by itself:"),
        "{}",
        text.stdout
    );
}

/// The worst file decides. A file that cannot be read does not stop the audit of the next ones.
#[test]
fn several_files_become_an_array() {
    let dir = TestDir::new();
    let stall = captured("hey/0.1.4/stall/samples.csv");
    let healthy = captured("hey/0.1.4/healthy/samples.csv");
    let output = audit(&dir, &[&healthy, &stall, "--json"]);
    let findings: Vec<Value> =
        output.json().as_array().expect("two").iter().map(|one| one["finding"].clone()).collect();
    assert_eq!((output.code, findings), (Some(3), vec!["none_seen".into(), "certain".into()]));
    let missing = audit(&dir, &[&healthy, "no-such-file.csv", "--json"]);
    assert_eq!((missing.code, missing.json()["finding"].as_str()), (Some(1), Some("none_seen")));
    assert!(missing.stderr.contains("'no-such-file.csv'"), "{}", missing.stderr);
}

#[test]
fn a_page_is_written_and_never_over_a_result() {
    let dir = TestDir::new();
    let stall = captured("hey/0.1.4/stall/samples.csv");
    let output = audit(&dir, &[&stall, "--html", "page.html"]);
    assert_eq!(output.code, Some(3), "{output:?}");
    let page = std::fs::read_to_string(dir.path().join("page.html")).expect("a page");
    assert!(page.contains("sends_stop_while_slow") && page.contains("hey/0.1.4/stall/samples.csv --html page.html"));
    dir.file("own.csv", "at,took\n");
    for place in ["own.csv", "./own.csv", "no-such-folder/page.html", "."] {
        let refused = audit(&dir, &["own.csv", "--html", place]);
        assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""), "{place}: {refused:?}");
        assert!(refused.stderr.contains("--html"), "{}", refused.stderr);
    }
    assert_eq!(std::fs::read_to_string(dir.path().join("own.csv")).expect("untouched"), "at,took\n");
}

#[test]
fn a_table_of_no_tool_has_its_columns_named() {
    let dir = TestDir::new();
    let rows: String = (0..200).map(|row| format!("{},{}\n", row * 10, 10)).collect();
    dir.file("own.csv", &format!("at,took\n{rows}"));
    let unknown = audit(&dir, &["own.csv"]);
    assert_eq!(unknown.code, Some(1));
    assert!(unknown.stderr.contains("--columns"), "{}", unknown.stderr);
    let named =
        audit(&dir, &["own.csv", "--columns", "start=at,duration=took", "--units", "start=ms,duration=ms", "--json"]);
    assert_eq!((named.code, named.json()["requests"].as_u64()), (Some(0), Some(200)), "{named:?}");
    for wrong in [&["own.csv", "--format", "no-such-format"][..], &["own.csv", "--columns", "start"], &[]] {
        assert_eq!(audit(&dir, wrong).code, Some(2), "{wrong:?}");
    }
    let folder = audit(&dir, &["."]);
    assert_eq!(folder.code, Some(1));
    assert!(folder.stderr.contains("is a folder"), "{}", folder.stderr);
}

#[test]
fn a_correction_adds_what_a_client_would_have_sent() {
    let dir = TestDir::new();
    let rows: String =
        (0..1_000).map(|row| format!("{},{}\n", row * 10, if row == 500 { 1_010 } else { 10 })).collect();
    dir.file("own.csv", &format!("at,took\n{rows}"));
    let columns = ["--columns", "start=at,duration=took", "--units", "start=ms,duration=ms"];
    let arguments = [&["correct", "own.csv", "--expected-interval", "10ms", "--json"][..], &columns].concat();
    let json = dir.truetail(&arguments).json();
    assert_eq!((json["schema"].as_str(), json["added"].as_u64()), (Some("truetail.correct/1"), Some(100)));
    assert_eq!((json["before"]["count"].as_u64(), json["after"]["count"].as_u64()), (Some(1_000), Some(1_100)));
    // 1,010, 1,000, 990 … 10 ms were added or measured; 11 of 1,100 values are beyond p99.
    let p99 = |when: &str| json[when]["quantiles"][3]["value_ns"].as_f64().expect("nanoseconds") / 1e6;
    assert!((p99("before") - 10.0).abs() < 0.1 && (p99("after") / 900.0 - 1.0).abs() < 0.001, "{json}");
    assert_eq!(json["warnings"], serde_json::json!([]), "a user who waits 10 ms sends every 10 ms");
    let of_ten_users = [&["correct", "own.csv", "--expected-interval", "1ms"][..], &columns].concat();
    let text = dir.truetail(&of_ten_users).stdout;
    assert!(text.contains("Warning: half of the requests took 10.0") && text.contains("interval of 1ms"), "{text}");
}

#[test]
fn where_nothing_is_corrected_no_column_is_empty() {
    let dir = TestDir::new();
    let text = |file: &str| dir.truetail(&["audit", &captured(file)]).stdout;
    let none = text("ab/2.3/healthy/samples.tsv");
    let some = text("ab/2.3/stall/samples.tsv");
    let heads = |text: &str| text.lines().find(|line| line.contains("reported")).expect("a table").trim().to_owned();
    assert_eq!(heads(&none), "reported", "{none}");
    assert!(heads(&some).ends_with("bounds"), "{some}");
}

/// Single requests of a run of 10 s whose only slow request starts at 5 s, and the log of a truetail run.
#[test]
fn a_correction_is_told_by_interval() {
    let dir = TestDir::new();
    let rows: String = (0..1_000).map(|row| format!("{},{}\n", row * 10, if row == 500 { 500 } else { 5 })).collect();
    dir.file("own.csv", &format!("at,took\n{rows}"));
    let columns = ["--columns", "start=at,duration=took", "--units", "start=ms,duration=ms"];
    let arguments = [&["correct", "own.csv", "--expected-interval", "10ms"][..], &columns].concat();
    let json = dir.truetail(&[&arguments[..], &["--json"]].concat()).json();
    let intervals = json["intervals"].as_array().expect("intervals");
    let added: Vec<u64> = intervals.iter().map(|one| one["added"].as_u64().expect("a count")).collect();
    assert_eq!(added, [0, 0, 0, 0, 0, 49, 0, 0, 0, 0]);
    assert_eq!(intervals[5]["from_ns"].as_u64(), Some(5_000_000_000));
    assert!(intervals.iter().all(|one| one["before"]["count"] == 100), "{json}");
    let text = dir.truetail(&arguments).stdout;
    assert!(text.contains("By interval, in seconds since the first:"), "{text}");
    let row = text.lines().find(|line| line.trim_start().starts_with("5 ")).expect("a row");
    assert_eq!(row.split_whitespace().take(4).collect::<Vec<_>>(), ["5", "6", "100", "49"]);

    assert_eq!(dir.truetail(&["simulate", "02", "--out", "run"]).code, Some(0));
    let log =
        dir.truetail(&["correct", "run/histograms.hlog", "--expected-interval", "1ms", "--anyway", "--json"]).json();
    let intervals = log["intervals"].as_array().expect("intervals");
    let sum = |what: &str| intervals.iter().map(|one| one[what]["count"].as_u64().expect("a count")).sum::<u64>();
    assert!(intervals.len() > 10 && sum("before") == 60_000, "{}", intervals.len());
    assert_eq!(Some(sum("after")), log["after"]["count"].as_u64());
}

#[test]
fn what_counts_from_intended_starts_is_corrected_only_anyway() {
    let dir = TestDir::new();
    for (file, word) in
        [("wrk2/4.0.0/stall/stdout.txt", "intended starts"), ("wrk/4.1.0/stall/stdout.txt", "added missing requests")]
    {
        let path = captured(file);
        let arguments = ["correct", &path, "--expected-interval", "50ms"];
        let refused = dir.truetail(&arguments);
        assert_eq!((refused.code, refused.stdout.as_str()), (Some(1), ""), "{refused:?}");
        assert!(refused.stderr.contains(word) && refused.stderr.contains("--anyway"), "{}", refused.stderr);
    }
    let wrk2 = captured("wrk2/4.0.0/stall/stdout.txt");
    let anyway = dir.truetail(&["correct", &wrk2, "--expected-interval", "50ms", "--anyway"]);
    assert_eq!(anyway.code, Some(0), "{anyway:?}");
    assert!(
        anyway.stdout.contains("Warning: ") && anyway.stdout.contains("counts the waiting twice"),
        "{}",
        anyway.stdout
    );
    assert_eq!(dir.truetail(&["correct", &wrk2]).code, Some(2), "the interval is required");
}

/// A correction reports rows that it could not use. Both verbs omit figures that the file does not have.
#[test]
fn what_a_file_lacks_is_said_and_not_made_up() {
    let dir = TestDir::new();
    let rows: String = (0..100).map(|row| format!("{},{}\n", row * 10, 10)).collect();
    dir.file("own.csv", &format!("at,took\n{rows}990,x\n"));
    let columns = ["--columns", "start=at,duration=took", "--units", "start=ms,duration=ms"];
    let correct = [&["correct", "own.csv", "--expected-interval", "10ms"][..], &columns].concat();
    let text = dir.truetail(&correct).stdout;
    assert!(text.contains("Left out: 1 row; the first is in line 102, at byte "), "{text}");
    let json = dir.truetail(&[&correct[..], &["--json"]].concat()).json();
    assert_eq!((json["rows_left_out"].as_u64(), json["first_left_out"]["line"].as_u64()), (Some(1), Some(102)));
    let text = audit(&dir, &[&["own.csv"][..], &columns].concat()).stdout;
    assert!(text.contains("100 requests\n") && !text.contains("failed"), "{text}");
    let json = audit(&dir, &[&["own.csv", "--json"][..], &columns].concat()).json();
    assert!(json["failed"].is_null() && json["rows_left_out"] == 1, "{json}");
}
