//! WebSocket echoes that stall for a second: Go's gorilla over HTTP/1.1, and Node's HTTP/2. Each message that falls due
//! meanwhile waits from its intended start, on whichever channel, and both sides count the same messages.

use serde_json::Value;

use crate::counting_server::CountingServer;
use crate::support::{TestDir, assert_balanced};

const STALL: [&str; 2] = ["-stall-at=4s", "-stall-for=1s"];
const UNSAVED: [&str; 4] = ["--quiet", "--no-save", "--json", "--no-preflight"];

/// Runs 5,000 messages in 10 s on 20 channels.
fn run(server: &CountingServer, options: &[&str]) -> Value {
    let dir = TestDir::new();
    let url = format!("ws://{}/echo", server.place);
    let load = ["run", &url, "-r", "500", "-c", "20", "-d", "10s", "--data", "{\"id\":{{seq}}}", "--match", "json:/id"];
    let run = dir.truetail(&[&load[..], &UNSAVED, options].concat()).json();
    assert_balanced(&run);
    run
}

/// Checks both books and the tail of a run against a stall of one second.
///
/// 500 of 5,000 messages fall due in the stall, 2 ms apart, on 20 channels. Each waits until its end: the longest a
/// second, p95 half of one, p99 nine tenths. The stall begins with the server's first message, at most 2 ms late. A
/// busy machine is allowed 100 ms.
fn check_stall(run: &Value, counts: &Value) {
    assert_eq!((&run["tally"]["planned"], &run["tally"]["responses"]), (&5000.into(), &5000.into()), "{run}");
    assert_eq!((&counts["messages"], &counts["channels"]), (&5000.into(), &20.into()));
    assert_eq!((&run["messages"]["unmatched"], &run["messages"]["doubled"]), (&0.into(), &0.into()));
    let quantiles = run["response_time"]["quantiles"].as_array().expect("a list");
    let at = |q: f64| {
        let found = quantiles.iter().find(|quantile| quantile["q"] == q).expect("a quantile");
        found["value_ns"].as_f64().expect("a number") / 1e6
    };
    for (q, wait) in [(0.95, 500.0), (0.99, 900.0), (1.0, 1000.0)] {
        assert!((wait - 100.0..wait + 100.0).contains(&at(q)), "{q}: {} ms and not {wait}", at(q));
    }
    assert!(at(0.5) < 100.0, "{} ms", at(0.5));
}

#[test]
#[ignore = "needs Go: make test-tools"]
fn a_stall_of_a_second_is_in_the_tail_and_both_count_the_same() {
    let Some(server) = CountingServer::start("websocket-go", &STALL) else { return };
    let run = run(&server, &[]);
    check_stall(&run, &server.stop());
}

#[test]
#[ignore = "needs Node: make test-tools"]
fn over_http2_the_stall_is_the_same() {
    let Some(server) = CountingServer::start("websocket-node", &STALL) else { return };
    let run = run(&server, &["--http2", "-H", "Sec-WebSocket-Protocol: echo"]);
    let counts = server.stop();
    check_stall(&run, &counts);
    assert_eq!(
        (&counts["connections"], &counts["closes"]),
        (&20.into(), &20.into()),
        "each channel has its own, and says goodbye"
    );
}

/// gorilla agrees to compress, without the context of earlier messages. The message repeats a text, so that fewer bytes
/// arrive than it has.
#[test]
#[ignore = "needs Go: make test-tools"]
fn messages_are_compressed_both_ways() {
    let Some(server) = CountingServer::start("websocket-go", &["-deflate"]) else { return };
    let dir = TestDir::new();
    let url = format!("ws://{}/echo", server.place);
    let data = format!("{{\"id\":{{{{seq}}}},\"text\":\"{}\"}}", "all work and no play ".repeat(100));
    let load = ["run", &url, "-r", "500", "-n", "1000", "-c", "4", "--permessage-deflate", "--match", "json:/id"];
    let check = ["--data", &data, "--check", "body contains \"no play all work\""];
    let run = dir.truetail(&[&load[..], &check, &UNSAVED].concat()).json();
    let counts = server.stop();
    assert_eq!((&run["tally"]["responses"], &counts["messages"]), (&1000.into(), &1000.into()), "{run}");
    assert_eq!(run["messages"]["channels_compressed"], 4, "{run}");
    assert_eq!((&run["messages"]["unmatched"], &run["checks"][0]["passed"]), (&0.into(), &1000.into()), "{run}");
    let [received, sent] = [&counts["bytes"], &run["bytes_in"]].map(|bytes| bytes.as_u64().expect("a count"));
    let plain = 1000 * data.len() as u64;
    assert!(received < plain / 5 && sent < plain / 5, "{received} and {sent} of {plain} bytes");
}
