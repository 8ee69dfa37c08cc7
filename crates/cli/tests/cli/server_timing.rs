//! `--server-timing`: the times that a service reports, and the part of the response time that each explains.

use std::fs;
use std::io::Write;
use std::time::Instant;

use serde_json::Value;

use super::service::{self, assert_stalled_in, parts_at_p99, run};
use super::support::{TestDir, assert_balanced};

/// Starts a server with three nested parts. Of each eight requests, one stalls in the part that its path names; in
/// `/queue` it stalls before the service's own clocks.
fn serve() -> String {
    service::serve(|request, socket| {
        let spend = |part: &str| {
            let begin = Instant::now();
            request.spend(part);
            begin
        };
        spend("queue");
        let edge = spend("edge");
        let app = spend("app");
        let db = spend("db");
        let [edge, app, db] = [edge, app, db].map(|begin| begin.elapsed().as_secs_f64() * 1e3);
        let times = match request.path() {
            "/none" => "Server: a".to_owned(),
            "/wild" => {
                format!("Server-Timing: a;dur=1e99, \u{1b}[31m;dur=1, {}\r\nX-Time: 9000", "x;dur=0.1,".repeat(500))
            }
            _ => format!("Server-Timing: edge;dur={edge:.3}, app;dur={app:.3}, db;desc=\"a, b\";dur={db:.3}, hit"),
        };
        let answer = format!("HTTP/1.1 200 OK\r\n{times}\r\nContent-Length: 2\r\n\r\nok");
        socket.write_all(answer.as_bytes()).ok()
    })
}

#[test]
fn the_part_that_stalls_is_the_longest() {
    let dir = TestDir::new();
    let url = serve();
    for (path, part) in [("edge", "edge"), ("app", "app"), ("db", "db"), ("queue", "unattributed")] {
        let order = ["--server-timing-order", "edge > app > db"];
        let (run, output) = run(&dir, &format!("{url}/{path}"), &[&["--server-timing"][..], &order].concat());
        assert_balanced(&run);
        let timing = &run["server_timing"];
        assert_eq!((&timing["answers"], &timing["without"], &timing["unread"]), (&400.into(), &0.into(), &0.into()));
        assert_stalled_in(part, &run);
        assert!(output.stdout.contains("where the time went"), "{output:?}");
        let again = dir.truetail(&["report", "run", "-o", "page.html"]);
        let ledger = |text: &str| text.lines().skip_while(|line| !line.contains("where the time")).take(4).count();
        assert_eq!((again.code, ledger(&again.stdout)), (Some(0), 4), "{again:?}");
        let page = fs::read_to_string(dir.path().join("page.html")).expect("a page");
        assert!(page.contains("id=\"ledger\"") && page.contains("Mean parts of the response times"));
    }
}

#[test]
fn a_service_without_times_is_told_so() {
    let dir = TestDir::new();
    let (run, output) = run(&dir, &format!("{}/none", serve()), &["--server-timing"]);
    assert_eq!((&run["server_timing"]["answers"], &run["ledger"]), (&0.into(), &Value::Null));
    assert!(output.stdout.contains("No answer had a time that could be read"), "{}", output.stdout);
    let (run, _) = service::run(&dir, &format!("{}/none", serve()), &[]);
    assert_eq!((&run["server_timing"], &run["ledger"]), (&Value::Null, &Value::Null));
}

#[test]
fn hostile_times_are_bounded_and_impossible_ones_are_told() {
    let dir = TestDir::new();
    let times = ["--server-timing", "header:X-Time:ms", "--server-timing", "server-timing"];
    let (run, output) = run(&dir, &format!("{}/wild", serve()), &times);
    let timing = &run["server_timing"];
    assert_eq!((&timing["answers"], timing["names"].as_array().map(Vec::len)), (&400.into(), Some(2)), "{timing}");
    // Of each answer: a time of 10^96 s, an entry without a name, and the entries beyond the limit.
    assert_eq!(timing["unread"], 800, "{timing}");
    assert!(!output.stdout.contains('\u{1b}'), "{output:?}");
    let says = ["x-time is longer than the whole service time in 400 of 400 answers", "add up to more than", "−"];
    says.iter().for_each(|says| assert!(output.stdout.contains(says), "{says} is missing: {}", output.stdout));
    parts_at_p99(&run);
}

#[test]
fn what_is_wrong_with_it_is_one_line() {
    let dir = TestDir::new();
    let url = "http://127.0.0.1:9/";
    for (args, says) in [
        (vec![url, "--server-timing=x-time"], "write header:NAME:UNIT"),
        (vec![url, "--server-timing", "header:x-time:h"], "with the unit s, ms or us"),
        (vec![url, "--server-timing-order", "a > b"], "--server-timing"),
        (vec![url, "--server-timing", "--server-timing-order", "a"], "write the outermost first"),
    ] {
        let output = dir.truetail(&[&["run"], args.as_slice()].concat());
        assert_eq!(output.code, Some(2), "{output:?}");
        assert!(output.stderr.contains(says) && output.stderr.lines().count() == 1, "{output:?}");
    }
}
