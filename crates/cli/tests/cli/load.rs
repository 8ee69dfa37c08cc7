//! The load that is sent is the load that was asked for.

use super::raw_server::RawServer;
use super::support::{ServeProcess, TestDir, assert_balanced, assert_complete, feed};

/// Runs against a healthy server. Returns run.json and the number of requests that the server saw.
fn offered(arguments: &[&str]) -> (serde_json::Value, usize) {
    let dir = TestDir::new();
    offered_from(&dir, arguments)
}

fn offered_from(dir: &TestDir, arguments: &[&str]) -> (serde_json::Value, usize) {
    let served = ServeProcess::start(dir, "01-healthy");
    let url = served.api();
    let output = dir.truetail(&[&["run", &url, "--json", "--quiet", "--no-save"], arguments].concat());
    assert_eq!(output.stderr, "", "{arguments:?}");
    let run = output.json();
    output.assert_code(&run, 0);
    assert_balanced(&run);
    assert!(dir.runs().is_empty(), "--no-save");
    (run, served.stop().1.len())
}

#[test]
fn the_schedule_gives_the_count_and_the_server_saw_it() {
    let (run, seen) = offered(&["-r", "200/s", "-d", "500ms"]);
    assert_eq!(
        (run["tally"]["planned"].as_u64(), run["tally"]["responses"].as_u64(), seen),
        (Some(100), Some(100), 100)
    );
    assert_eq!(run["statuses"]["200"], 100);
    assert_eq!(run["scenario"]["model"], "open");
    assert_eq!(run["seed"], 1);
    let (run, seen) = offered(&["-r", "500", "-n", "60"]);
    assert_eq!((run["tally"]["responses"].as_u64(), seen), (Some(60), 60));
    assert!(run["scenario"]["duration_ns"].is_null(), "-n alone ends by count");
    let (run, seen) = offered(&["--profile", "steps:100/100ms,400/100ms"]);
    assert_eq!((run["tally"]["responses"].as_u64(), seen), (Some(50), 50));
}

#[test]
fn a_schedule_far_above_capacity_is_counted_and_ends() {
    let dir = TestDir::new();
    let served = ServeProcess::start(&dir, "01-healthy");
    let ends = ["-d", "1s", "-c", "2", "--drain", "100ms", "--threads", "1", "--json", "--no-save"];
    let output = dir.truetail(&[&["run", &served.api(), "-r", "60000k"], &ends[..]].concat());
    let run = output.json();
    assert_eq!((output.code, run["verdict"]["state"].as_str()), (Some(4), Some("INVALID")), "{output:?}");
    assert_balanced(&run);
    assert_eq!(run["tally"]["planned"], 60_000_000);
    for (rate, says) in
        [("1e12", "1000000000000 requests/s can be sent by no machine"), ("1e9", "and there is 1; lower")]
    {
        let output = dir.truetail(&[&["run", &served.api(), "-r", rate], &ends[..]].concat());
        assert_eq!(output.code, Some(2), "{output:?}");
        assert!(output.stderr.contains(says), "{output:?}");
    }
}

#[test]
fn a_seed_gives_a_schedule() {
    let poisson = |seed| offered(&["-r", "300", "-d", "200ms", "--spacing", "poisson", "--seed", seed]).0;
    let one = poisson("5");
    let again = poisson("5");
    let other = poisson("6");
    assert_eq!(one["schedule_hash"], again["schedule_hash"]);
    assert_ne!(one["schedule_hash"], other["schedule_hash"]);
    assert_eq!((one["seed"].as_u64(), one["scenario"]["spacing"].as_str()), (Some(5), Some("poisson")));
}

#[test]
fn a_trace_is_replayed() {
    let dir = TestDir::new();
    dir.file("trace.csv", "seconds\n0\n0.01\n0.01\n0.2\n");
    let (run, seen) = offered_from(&dir, &["--profile", "trace:trace.csv"]);
    assert_eq!((run["tally"]["responses"].as_u64(), seen), (Some(4), 4));
}

#[test]
fn users_and_sessions() {
    let (run, seen) = offered(&["--model", "closed", "--users", "3", "-n", "30", "--think-time", "1ms"]);
    assert_eq!((run["tally"]["responses"].as_u64(), seen), (Some(30), 30));
    assert_eq!((run["scenario"]["model"].as_str(), run["scenario"]["users"].as_u64()), (Some("closed"), Some(3)));
    let (run, seen) = offered(&["--model", "partly-open", "--session-length", "2", "-r", "50", "-d", "400ms"]);
    assert_eq!(run["scenario"]["requests_per_session"], 2);
    // 20 sessions. A follow-up request that would be due after the end is not planned.
    assert!((20..=40).contains(&seen), "{seen}");
    assert_eq!(run["tally"]["planned"].as_u64(), Some(seen as u64));
}

#[test]
fn users_come_and_go() {
    let stages = "steps:3/150ms,0/150ms,2/150ms";
    let users = ["--model", "closed", "--users", stages];
    let (run, seen) = offered(&[&users[..], &["--think-time", "1s", "--threads", "2"]].concat());
    let scenario = &run["scenario"];
    assert_eq!(
        (scenario["users"].as_u64(), scenario["users_over_time"].as_str(), scenario["duration_ns"].as_u64()),
        (Some(3), Some("3/150ms,0/150ms,2/150ms"), Some(450_000_000))
    );
    // Three join at once and leave while they think. Two of them join again.
    assert_eq!((run["tally"]["planned"].as_u64(), run["tally"]["responses"].as_u64(), seen), (Some(5), Some(5), 5));
    let (run, _) = offered(&["--model", "closed", "--users", "1..4/300ms", "-d", "150ms"]);
    assert_eq!(run["scenario"]["duration_ns"], 150_000_000, "-d cuts the stages");
    let (run, _) = offered(&["--model", "closed", "--users", "2", "-d", "150ms"]);
    assert!(run["scenario"].get("users_over_time").is_none(), "a constant number does not change");
    let dir = TestDir::new();
    let served = ServeProcess::start(&dir, "01-healthy");
    let toml = format!("[run.ramp]\nurl = \"{}\"\nmodel = \"closed\"\nusers = \"1..4/300ms\"\n", served.api());
    dir.file("truetail.toml", &toml);
    let text = dir.truetail(&["run", "ramp", "--no-save", "--quiet"]).stdout;
    assert!(text.contains("closed loop of up to 4 users (1..4/300ms)"), "{text}");
}

#[test]
fn a_cap_and_a_warm_up_are_in_force() {
    let (run, _) = offered(&["-r", "1000", "-n", "100", "-c", "2", "--threads", "1", "--warmup", "50ms"]);
    assert_eq!(
        (run["scenario"]["connections"].as_u64(), run["scenario"]["warmup_ns"].as_u64()),
        (Some(2), Some(50_000_000))
    );
    assert_eq!((run["warmup_tally"]["planned"].as_u64(), run["tally"]["planned"].as_u64()), (Some(50), Some(50)));
    assert!(run["generator"]["connections_peak"].as_u64() <= Some(2), "{}", run["generator"]);
    // A server of 10 ms and two connections handle 200/s, so the backlog waits for a connection.
    assert!(run["connection_wait"]["max_ns"].as_u64() > Some(50_000_000), "{}", run["connection_wait"]);
}

#[test]
fn method_headers_and_body_go_out_as_given() {
    let server = RawServer::start(Some("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"), "\r\n\r\n{\"n\":1}");
    let dir = TestDir::new();
    let mut arguments =
        vec!["run", &server.url, "-r", "1", "-n", "1", "--no-preflight", "--quiet", "--json", "--no-save"];
    arguments.extend(["-X", "post", "-H", "X-One: 1", "--body-type", "application/json", "--data-file", "-"]);
    let run = feed(dir.command(&arguments), "{\"n\":1}").json();
    assert_eq!(run["statuses"]["204"], 1, "{run}");
    let asked = server.asked.recv().expect("it was asked");
    assert!(asked.starts_with("POST /api HTTP/1.1\r\n"), "{asked}");
    for part in ["X-One: 1\r\n", "Content-Type: application/json\r\n", "Content-Length: 7\r\n"] {
        assert!(asked.contains(part), "no {part:?} in {asked}");
    }
    assert!(!asked.to_lowercase().contains("preflight"), "{asked}");
}

#[test]
fn an_error_status_is_told_beforehand_and_does_not_stop_the_load() {
    let server =
        RawServer::start(Some("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"), "\r\n\r\n");
    let output =
        TestDir::new().truetail(&["run", &server.url, "-r", "100", "-n", "5", "--quiet", "--json", "--no-save"]);
    let run = output.json();
    assert_eq!(run["statuses"]["404"], 5, "{run}");
    assert!(output.stderr.contains("404"), "{output:?}");
    assert!(run["notes"][0].as_str().is_some_and(|note| note.contains("404")), "{}", run["notes"]);
}

#[test]
fn a_run_says_whose_clock_ended_it_and_what_auto_cut() {
    let (run, _) = offered(&["-r", "500", "-n", "50"]);
    assert_eq!(run["generator"]["end_clock"], "kernel");
    assert!(run["read_lag"]["count"].as_u64() > Some(0), "{}", run["generator"]);
    let (run, _) = offered(&["-r", "500", "-n", "50", "--user-timestamps", "--warmup", "auto"]);
    assert_eq!(run["generator"]["end_clock"], "user");
    let notes = run["notes"].as_array().expect("notes");
    assert!(notes.iter().any(|note| note.as_str().is_some_and(|n| n.starts_with("--warmup auto: "))), "{notes:?}");
}

#[test]
#[cfg(target_os = "linux")]
fn workers_get_real_time_priority_or_the_run_is_refused() {
    let server =
        RawServer::start(Some("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"), "\r\n\r\n");
    let dir = TestDir::new();
    let output = dir.truetail(&[
        "run",
        &server.url,
        "-r",
        "100",
        "-n",
        "5",
        "--quiet",
        "--details",
        "--realtime",
        "--out",
        "run",
    ]);
    if output.code == Some(1) {
        // A user without the permission learns what would help, before any load.
        assert_eq!(output.stderr.lines().count(), 1, "{output:?}");
        assert!(output.stderr.contains("setcap cap_sys_nice"), "{output:?}");
        return;
    }
    assert_eq!(output.code, Some(0), "{output:?}");
    assert!(output.stdout.contains(" timing, real-time priority, "), "{output:?}");
    assert_eq!(assert_complete(&dir.path().join("run"))["generator"]["realtime"], true);
}
