//! grpc-go: what is tested with this server alone. Its own counts of statuses and messages agree, and a stall of it is
//! measured from the intended start.

use serde_json::Value;

use crate::counting_server::CountingServer;
use crate::support::{TestDir, assert_balanced};

impl CountingServer {
    fn url(&self, method: &str) -> String {
        format!("grpc://{}/truth.Greeter/{method}", self.place)
    }
}

/// Starts the server of tests/grpc/go; `None` if it is not installed.
fn start(options: &[&str]) -> Option<CountingServer> {
    CountingServer::start("grpc-go", options)
}

#[test]
#[ignore = "needs grpc-go: make test-tools"]
fn statuses_are_those_that_the_server_sent_and_a_stall_is_measured_from_the_intended_start() {
    let Some(server) = start(&["-fail-every", "10", "-stall-at", "1s", "-stall-for", "500ms"]) else {
        return;
    };
    let dir = TestDir::new();
    let url = server.url("SayHello");
    let load = ["run", &url, "-r", "400", "-d", "3s", "--data", "{\"name\":\"a\"}", "--quiet", "--no-save", "--json"];
    let run = dir.truetail(&load).json();
    assert_balanced(&run);
    let counts = server.stop();
    let statuses = &run["grpc"]["statuses"];
    assert_eq!(statuses, &counts["counts"]);
    assert_eq!((&run["tally"]["responses"], &counts["calls"]), (&1200.into(), &1200.into()));
    // 200 of 1200 arrivals fall due within the stall, and wait for up to 500 ms: at p95, 500 ms less 60 arrivals.
    let quantiles = run["response_time"]["quantiles"].as_array().expect("a list");
    let p95 = quantiles.iter().find(|quantile| quantile["q"] == 0.95).expect("p95");
    let milliseconds = p95["value_ns"].as_u64().expect("a number") as f64 / 1e6;
    // The wait is at least what the schedule says. How much later the server wakes up depends on the machine.
    assert!((345.0..450.0).contains(&milliseconds), "{milliseconds} ms");
}

#[test]
#[ignore = "needs grpc-go: make test-tools"]
fn messages_of_streams_are_counted_and_decoded() {
    let Some(server) = start(&["-fail-every", "10", "-gap", "5ms"]) else { return };
    let dir = TestDir::new();
    let url = server.url("SayMany");
    let load = ["run", &url, "-r", "100", "-n", "100", "--data", "{\"name\":\"a\",\"count\":5}", "--quiet"];
    let more = ["--no-save", "--json", "--check", "jsonpath $[4].message == \"hello a\""];
    let run = dir.truetail(&[&load[..], &more].concat()).json();
    assert_balanced(&run);
    let counts = server.stop();
    assert_eq!((&run["stream"]["events"], &run["checks"][0]["passed"]), (&500.into(), &100.into()));
    assert_eq!(run["stream"]["tally"]["complete"], counts["counts"]["OK"]);
    assert_eq!(run["grpc"]["statuses"]["UNAVAILABLE"], counts["counts"]["UNAVAILABLE"]);
}

/// Makes 100 calls, and returns the run and what the server counted.
fn books(method: &str, data: &str, more: &[&str]) -> Option<(Value, Value)> {
    let server = start(&["-fail-every", "10"])?;
    let dir = TestDir::new();
    let url = server.url(method);
    let load = ["run", &url, "-r", "200", "-n", "100", "--data", data, "--quiet", "--no-save", "--json"];
    let run = dir.truetail(&[&load[..], more].concat()).json();
    assert_balanced(&run);
    Some((run, server.stop()))
}

#[test]
#[ignore = "needs grpc-go: make test-tools"]
fn the_answer_to_a_stream_tells_how_many_messages_the_server_read() {
    let check = ["--message-gap", "2ms", "--check", "message.message == \"hello 3\""];
    let Some((run, counts)) = books("Collect", r#"[{"name":"a"},{"name":"b"},{"name":"c"}]"#, &check) else { return };
    assert_eq!(run["checks"][0]["passed"], counts["counts"]["OK"], "{run}");
}

/// The server ends each call at its first message, 10 s before the last one is due.
#[test]
#[ignore = "needs grpc-go: make test-tools"]
fn a_call_that_the_server_ends_early_sends_no_more() {
    let Some((run, counts)) = books("Early", r#"[{"name":"a"},{"name":"b"}]"#, &["--message-gap", "10s"]) else {
        return;
    };
    assert_eq!(run["grpc"]["statuses"], serde_json::json!({"RESOURCE_EXHAUSTED": 100}), "{run}");
    assert_eq!((&counts["counts"]["RESOURCE_EXHAUSTED"], &counts["calls"]), (&100.into(), &100.into()));
    let slowest = run["response_time"]["max_ns"].as_u64().expect("a time");
    assert!(slowest < 10_000_000_000, "{slowest}");
}

/// Of 5000 messages on 20 calls, 500 fall due within a stall of 1 s, and wait for up to 1 s: at p95 for 500 ms, at p99
/// for 900 ms.
#[test]
#[ignore = "needs grpc-go: make test-tools"]
fn messages_on_calls_that_stay_open_wait_for_a_stall_from_their_intended_start() {
    let Some(server) = start(&["-stall-at", "3s", "-stall-for", "1s"]) else { return };
    let dir = TestDir::new();
    let url = server.url("Chat");
    let load = ["run", &url, "--channel", "-r", "500", "-c", "20", "-d", "10s", "--data", "{\"name\":\"{{seq}}\"}"];
    let run = dir.truetail(&[&load[..], &["--quiet", "--no-save", "--json"]].concat()).json();
    assert_balanced(&run);
    let counts = server.stop();
    assert_eq!(run["tally"]["responses"], 5000, "{run}");
    assert_eq!((&counts["received"], &counts["sent"]), (&5000.into(), &5000.into()), "{counts}");
    // One more call was opened before the load, and ended without a message.
    assert_eq!((&counts["calls"], &run["connect_time"]["count"]), (&21.into(), &20.into()));
    assert_eq!(run["messages"]["channels_lost"], 0);
    let quantiles = run["response_time"]["quantiles"].as_array().expect("a list");
    for (q, wanted) in [(0.95, 500.0), (0.99, 900.0)] {
        let quantile = quantiles.iter().find(|quantile| quantile["q"] == q).expect("a quantile");
        let milliseconds = quantile["value_ns"].as_u64().expect("a number") as f64 / 1e6;
        // The wait is at least what the schedule says. How much later the server wakes up depends on the machine.
        assert!((wanted * 0.99..wanted + 60.0).contains(&milliseconds), "p{q}: {milliseconds} ms");
    }
}

#[test]
#[ignore = "needs grpc-go: make test-tools"]
fn the_server_tells_its_schema_or_says_that_it_does_not() {
    let Some(server) = start(&[]) else { return };
    let dir = TestDir::new();
    let listed = dir.truetail(&["grpc", "list", &server.place]);
    assert!(listed.stdout.contains("SayMany(truth.HelloRequest) returns (stream truth.HelloReply)"), "{listed:?}");
    let unknown = dir.truetail(&["run", &format!("grpc://{}/truth.Other/Do", server.place), "-r", "1"]);
    assert!(unknown.stderr.contains("does not know truth.Other; the only service is truth.Greeter"), "{unknown:?}");
    server.stop();
    let Some(silent) = start(&["-reflection=false"]) else { return };
    let refused = dir.truetail(&["grpc", "list", &silent.place]);
    assert!(refused.code == Some(1) && refused.stderr.contains("has no reflection; give the schema"), "{refused:?}");
    silent.stop();
}
