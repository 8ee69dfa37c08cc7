//! A WebSocket echo of Go's gorilla that stalls for a second: each message that falls due meanwhile waits from its
//! intended start, on whichever channel, and both sides count the same messages.

use crate::counting_server::CountingServer;
use crate::support::{TestDir, assert_balanced};

/// 500 of 5,000 messages fall due in the stall, 2 ms apart, on 20 channels. Each waits until its end: the longest a
/// second, p95 half of one, p99 nine tenths. The stall begins with the server's first message, at most 2 ms late. A
/// busy machine is allowed 100 ms.
#[test]
#[ignore = "needs Go: make test-tools"]
fn a_stall_of_a_second_is_in_the_tail_and_both_count_the_same() {
    let Some(server) = CountingServer::start("websocket-go", &["-stall-at", "4s", "-stall-for", "1s"]) else { return };
    let dir = TestDir::new();
    let url = format!("ws://{}/echo", server.place);
    let load = ["run", &url, "-r", "500", "-c", "20", "-d", "10s", "--data", "{\"id\":{{seq}}}", "--match", "json:/id"];
    let run = dir.truetail(&[&load[..], &["--quiet", "--no-save", "--json", "--no-preflight"]].concat()).json();
    assert_balanced(&run);
    let counts = server.stop();
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
