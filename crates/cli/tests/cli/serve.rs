//! `truetail serve`.

use std::net::TcpListener;

#[cfg(feature = "serve-http2")]
use super::support::assert_balanced;
use super::support::{ServeProcess, TestDir};

#[test]
fn ended_by_a_signal_its_truth_log_is_whole() {
    let dir = TestDir::new();
    let served = ServeProcess::start(&dir, "01-healthy");
    let url = served.api();
    dir.truetail(&["run", &url, "-r", "1000", "-n", "300", "--no-save", "--quiet"]);
    let (code, rows) = served.stop();
    assert_eq!((code, rows.len()), (Some(0), 300), "the preflight is not among them");
    let numbers: std::collections::BTreeSet<_> =
        rows.iter().map(|row| row.split(',').nth(1).map(str::to_owned)).collect();
    assert_eq!(numbers.len(), 300, "each request has one row");
    assert!(rows.iter().all(|row| row.contains(",200,answered,")), "{:?}", rows[0]);
}

#[test]
fn a_stall_is_in_the_truth_log_and_in_the_tail() {
    let dir = TestDir::new();
    let fault = "[[service.fault]]\nkind = \"stall\"\nat = \"500ms\"\nfor = \"2s\"\n";
    let text = format!("[workload]\nrate = 200\nduration = \"3s\"\n[service]\nbaseline = \"10ms\"\n{fault}");
    let served = ServeProcess::start(&dir, dir.file("stall.toml", &text));
    let run = dir.truetail(&["run", &served.api(), "-r", "200", "-d", "3s", "--json", "--quiet", "--no-save"]).json();
    assert_eq!(run["tally"]["responses"], 600);
    // The first arrival that the gate holds waits for nearly all of the stall. A late client can only add to this time.
    assert!(run["response_time"]["max_ns"].as_u64() > Some(1_900_000_000), "{}", run["response_time"]);
    let (_, rows) = served.stop();
    let held = rows.iter().filter(|row| row.ends_with(",stall")).count();
    // 400 requests should meet the stall. A machine that stalls for half a second moves 100 of them, not all.
    assert!((250..=550).contains(&held), "{held} requests met the stall, 400 were due to");
}

/// Of each three messages, the server answers one with an error, and the answers that a stall held come in order.
#[test]
fn messages_meet_the_scenario_in_websocket_and_on_tcp() {
    let dir = TestDir::new();
    let faults = "[[service.fault]]\nkind = \"stall\"\nat = \"200ms\"\nfor = \"500ms\"\n\
                  [[service.fault]]\nkind = \"error-status\"\nstatus = 503\nevery = 3\n";
    let text = format!("[workload]\nrate = 300\nduration = \"1s\"\n[service]\nbaseline = \"2ms\"\n{faults}");
    let scenario = dir.file("messages.toml", &text);
    let data = ["--data", r#"{"id":{{seq}}}"#, "--check", "body contains id", "--json", "--quiet", "--no-save"];
    let load = ["-r", "300", "-n", "300", "-c", "5"];
    for (scheme, framing) in [("ws", None), ("tcp", Some("line")), ("tcp", Some("length:4be"))] {
        let framing: Vec<&str> = framing.iter().flat_map(|framing| ["--framing", framing]).collect();
        let served = ServeProcess::start_with(&dir, scenario, &framing);
        let url = format!("{scheme}://127.0.0.1:{}", served.port());
        let run = dir.truetail(&[&["run", &url][..], &load, &framing, &data].concat()).json();
        let (code, rows) = served.stop();
        assert_eq!((code, rows.len()), (Some(0), 300), "{scheme}");
        assert_eq!((&run["tally"]["responses"], &run["tally"]["planned"]), (&300.into(), &300.into()), "{scheme}");
        assert_eq!(run["checks"][0]["failed"], 100, "the errors: {scheme}");
        assert_eq!(rows.iter().filter(|row| row.contains(",503,answered,")).count(), 100, "{scheme}");
        assert!(run["response_time"]["max_ns"].as_u64() > Some(450_000_000), "{scheme}: {}", run["response_time"]);
    }
}

#[cfg(feature = "serve-http2")]
#[test]
fn calls_meet_the_scenario() {
    let dir = TestDir::new();
    let fault = "[[service.fault]]\nkind = \"error-status\"\nstatus = 503\nevery = 4\n";
    let text = format!("[workload]\nrate = 200\nduration = \"1s\"\n[service]\nbaseline = \"2ms\"\n{fault}");
    let served = ServeProcess::start(&dir, dir.file("calls.toml", &text));
    let proto = "syntax = \"proto3\";\npackage shop;\nmessage Order { string name = 1; }\n\
                 service Orders { rpc Buy(Order) returns (Order); }\n";
    dir.file("shop.proto", proto);
    let url = format!("grpc://127.0.0.1:{}/shop.Orders/Buy", served.port());
    let call = ["--proto", "shop.proto", "--data", r#"{"name":"x"}"#, "--check", "message.name == \"x\""];
    let load = ["-r", "200", "-n", "200", "--json", "--quiet", "--no-save"];
    let run = dir.truetail(&[&["run", &url][..], &call, &load].concat()).json();
    let (code, rows) = served.stop();
    assert_eq!((code, rows.len()), (Some(0), 200), "the preflight is not among them");
    assert_eq!(run["grpc"]["statuses"], serde_json::json!({"OK": 150, "UNAVAILABLE": 50}));
    assert_eq!((&run["checks"][0]["passed"], &run["checks"][0]["failed"]), (&150.into(), &50.into()));
}

#[cfg(feature = "serve-http2")]
#[test]
fn messages_over_http2_meet_the_scenario() {
    let dir = TestDir::new();
    let faults = "[[service.fault]]\nkind = \"stall\"\nat = \"500ms\"\nfor = \"300ms\"\n\
                  [[service.fault]]\nkind = \"error-status\"\nstatus = 503\nevery = 4\n";
    let text = format!("[workload]\nrate = 200\nduration = \"1s\"\n[service]\nbaseline = \"1ms\"\n{faults}");
    let served = ServeProcess::start(&dir, dir.file("messages.toml", &text));
    let url = format!("ws://127.0.0.1:{}/", served.port());
    let message = ["--http2", "-c", "4", "--data", "n{{seq}}", "--check", "body contains \"error\""];
    let load = ["-r", "200", "-n", "200", "--json", "--quiet", "--no-save"];
    let run = dir.truetail(&[&["run", &url][..], &message, &load].concat()).json();
    let (code, rows) = served.stop();
    assert_balanced(&run);
    assert_eq!((code, rows.len()), (Some(0), 200), "a row for each message, and none for the trial");
    assert_eq!(run["tally"]["responses"], 200, "{run}");
    assert_eq!(run["checks"][0]["passed"], 50, "{run}");
    assert!(run["response_time"]["max_ns"].as_u64() > Some(250_000_000), "the stall: {}", run["response_time"]);
}

/// A reset ends the stream of a channel at once, and the client opens the next one.
#[cfg(feature = "serve-http2")]
#[test]
fn a_reset_over_http2_is_heard_at_once() {
    let dir = TestDir::new();
    let fault = "[[service.fault]]\nkind = \"reset\"\nevery = 50\n";
    let text = format!("[workload]\nrate = 100\nduration = \"1s\"\n[service]\nbaseline = \"1ms\"\n{fault}");
    let served = ServeProcess::start(&dir, dir.file("resets.toml", &text));
    let url = format!("ws://127.0.0.1:{}/", served.port());
    let load = [
        "--http2",
        "--data",
        "n{{seq}}",
        "-r",
        "100",
        "-n",
        "200",
        "--timeout",
        "60s",
        "--json",
        "--quiet",
        "--no-save",
    ];
    let run = dir.truetail(&[&["run", &url][..], &load].concat()).json();
    assert_balanced(&run);
    let (_, rows) = served.stop();
    let unanswered = run["tally"]["reset"].as_u64().unwrap() + run["tally"]["malformed"].as_u64().unwrap();
    assert!(unanswered >= 4, "{run}");
    assert_eq!((&run["tally"]["timed_out"], &run["tally"]["in_flight_at_end"]), (&0.into(), &0.into()), "{run}");
    assert_eq!(run["messages"]["channels_lost"], 4, "{run}");
    assert!((196..=204).contains(&rows.len()), "{}", rows.len());
}

#[test]
fn an_unknown_framing_is_one_line() {
    let output = TestDir::new().truetail(&["serve", "--framing", "lines"]);
    assert_eq!(output.code, Some(2), "{output:?}");
    assert!(
        output.stderr.contains("is no framing; write line, crlf") && output.stderr.lines().count() == 1,
        "{output:?}"
    );
}

#[test]
fn a_model_serves_streams_and_logs_each_event() {
    let dir = TestDir::new();
    let text = "path = \"/v1/chat/completions\"\n[workload]\nrate = 50\nduration = \"1s\"\n[service]\nbaseline = \"1ms\"\n\
                [service.stream]\nevents = 4\n[service.batch]\ncap = 10\nstep = \"2ms\"\n";
    let served = ServeProcess::start_with(&dir, dir.file("model.toml", text), &["--truth-events", "events.csv"]);
    let url = format!("{}/v1/chat/completions", served.url());
    let options = ["-r", "50", "-n", "20", "--stream", "sse", "--end-mark", "[DONE]", "--json", "--quiet", "--no-save"];
    let run = dir.truetail(&[&["run", &url][..], &options].concat()).json();
    assert_eq!((&run["stream"]["tally"]["complete"], &run["stream"]["events"]), (&20.into(), &140.into()));
    let (code, rows) = served.stop();
    assert_eq!((code, rows.len()), (Some(0), 20));
    let events = std::fs::read_to_string(dir.path().join("events.csv")).expect("a log of events");
    let (heading, events) = events.split_once('\n').expect("a heading");
    assert_eq!((heading, events.lines().count()), ("epoch,number,event,kind,due_ns,left_ns", 140));
    for (kind, each) in [("role", 1), ("content", 4), ("finish", 1), ("usage", 0), ("done", 1)] {
        assert_eq!(events.matches(&format!(",{kind},")).count(), 20 * each, "{kind}");
    }
}

#[test]
fn over_tls_its_own_certificate_is_accepted_by_ca() {
    let dir = TestDir::new();
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).expect("a certificate");
    let chain = dir.file("cert.pem", &made.cert.pem());
    let key = dir.file("key.pem", &made.signing_key.serialize_pem());
    let served = ServeProcess::start_with(&dir, "01-healthy", &["--cert", chain, "--key", key]);
    assert!(served.url().starts_with("https://127.0.0.1:"), "{}", served.url());
    let options = ["-r", "200", "-n", "100", "--ca", chain, "--json", "--quiet", "--no-save"];
    let run = dir.truetail(&[&["run", &served.api()][..], &options].concat()).json();
    assert_eq!(run["tally"]["responses"], 100);
    assert_eq!(served.stop().1.len(), 100);
    for (options, problem) in [
        (&["--cert", key, "--key", key][..], "there is no certificate in the file of the certificate"),
        (&["--cert", "nowhere.pem", "--key", key], "nowhere.pem"),
        (&["--cert", chain], "--key"),
    ] {
        let output = dir.truetail(&[&["serve", "--listen", "127.0.0.1:0"][..], options].concat());
        assert!(output.code == Some(2) && output.stderr.contains(problem), "{output:?}");
    }
}

#[test]
fn two_logs_are_not_one_file() {
    let dir = TestDir::new();
    let output = dir.truetail(&["serve", "--listen", "127.0.0.1:0", "--truth", "a.csv", "--truth-events", "a.csv"]);
    assert_eq!((output.code, output.stderr.lines().count()), (Some(2), 1), "{output:?}");
    assert!(output.stderr.contains("--truth-events"), "{output:?}");
}

#[test]
fn a_port_that_is_taken() {
    let dir = TestDir::new();
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    let output = dir.truetail(&["serve", "--listen", &address]);
    assert_eq!((output.code, output.stdout.as_str(), output.stderr.lines().count()), (Some(1), "", 1), "{output:?}");
    assert!(output.stderr.starts_with("truetail: ") && output.stderr.contains(&address), "{output:?}");
    dir.file("truth.csv", "of the server that listens\n");
    assert_eq!(dir.truetail(&["serve", "--listen", &address, "--truth", "truth.csv"]).code, Some(1));
    let kept = std::fs::read_to_string(dir.path().join("truth.csv")).expect("it is there");
    assert_eq!(kept, "of the server that listens\n", "one that has no port takes nothing away");
}

#[test]
fn a_truth_log_that_cannot_be_written() {
    let dir = TestDir::new();
    let output = dir.truetail(&["serve", "--listen", "127.0.0.1:0", "--truth", "nowhere/truth.csv"]);
    assert_eq!((output.code, output.stdout.as_str(), output.stderr.lines().count()), (Some(1), "", 1), "{output:?}");
    assert!(output.stderr.contains("cannot write the truth log nowhere/truth.csv: "), "{output:?}");
}
