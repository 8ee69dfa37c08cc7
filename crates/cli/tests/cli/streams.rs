//! `--stream`: output, files, gates, and refused options.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};

use serde_json::Value;
use truetail_model::service::Service;
use truetail_model::time::Nanos;
use truetail_server::{Server, ServerOptions};

use crate::support::{CommandOutput, TestDir, assert_balanced, assert_complete};
use crate::tls;

fn server() -> Server {
    let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    Server::start(ServerOptions::new(Service::healthy(Nanos::ZERO), listen)).expect("a server")
}

fn run(dir: &TestDir, server: &Server, query: &str, more: &[&str]) -> CommandOutput {
    let url = format!("http://{}/stream?{query}", server.addr());
    dir.truetail(&[&["run", &url, "-r", "50", "-n", "20", "--quiet", "--stream", "sse"][..], more].concat())
}

/// Returns the streams of a run, after checking that their books balance.
fn streams(run: &Value) -> &Value {
    let of = |name: &str| run["stream"]["tally"][name].as_u64().expect("a count");
    assert_eq!(run["tally"]["planned"].as_u64(), Some(of("planned")));
    &run["stream"]
}

#[test]
fn a_run_of_streams_is_shown_saved_and_merged() {
    let server = server();
    let dir = TestDir::new();
    for folder in ["a", "b"] {
        let query = "events=10&gap=1ms&stall=5:120ms";
        let output = run(&dir, &server, query, &["--stall", "100ms", "--out", folder]);
        assert!(output.stdout.contains("Streams      20 of 20 complete"), "{output:?}");
        let text = output.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("200 events") && text.contains("stalls of 100.0ms or longer"), "{output:?}");
        assert!(output.stdout.contains("longest gap"), "{output:?}");
        let saved = assert_complete(&dir.path().join(folder));
        assert_eq!((&streams(&saved)["events"], &saved["stream"]["tokens"]), (&200.into(), &Value::Null));
        assert!(saved["stream"]["longest_gap"]["max_ns"].as_u64() >= Some(100_000_000), "{saved}");
        let again = dir.truetail(&["report", folder]);
        assert!(again.stdout.contains("Streams      20 of 20 complete"), "{again:?}");
    }
    let output = dir.truetail(&["merge", "a", "b", "--out", "whole"]);
    let whole = assert_complete(&dir.path().join("whole"));
    assert_eq!(
        (&streams(&whole)["events"], &whole["stream"]["tally"]["complete"]),
        (&400.into(), &40.into()),
        "{output:?}"
    );
}

#[test]
fn a_server_that_is_not_there_is_found_before_the_load() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let url = format!("http://{}/stream", listener.local_addr().expect("bound"));
    drop(listener);
    let dir = TestDir::new();
    for asks in [&["--stream", "sse"][..], &["--stream", "chunks"], &["--llm", "openai-chat", "--data", "{}"]] {
        let output = dir.truetail(&[&["run", &url, "-r", "50", "-n", "20", "--out", "never"][..], asks].concat());
        assert_eq!(output.code, Some(1), "{output:?}");
        assert!(output.stderr.contains("cannot connect to") && output.stderr.contains("--no-preflight"), "{output:?}");
        assert!(!dir.path().join("never").exists(), "{output:?}");
    }
    let sent =
        dir.truetail(&["run", &url, "-r", "50", "-n", "20", "--stream", "sse", "--no-preflight", "--out", "sent"]);
    let saved = assert_complete(&dir.path().join("sent"));
    assert_eq!(streams(&saved)["tally"]["failed"], 20, "{sent:?}");
}

#[test]
fn what_is_drawn_of_streams_is_saved_and_merged() {
    let server = server();
    let dir = TestDir::new();
    for folder in ["a", "b"] {
        run(&dir, &server, "events=10&gap=1ms&burst=2&stall=4:50ms", &["--out", folder]);
    }
    dir.truetail(&["merge", "a", "b", "--out", "whole"]);
    let mut sums = Vec::new();
    for folder in ["a", "b", "whole"] {
        let folder = dir.path().join(folder);
        let detail: Value = serde_json::from_slice(&fs::read(folder.join("streams.json")).unwrap()).unwrap();
        let cells =
            detail["gaps"]["columns"].as_array().unwrap().iter().flat_map(|column| column["gaps"].as_array().unwrap());
        let gaps: u64 = cells.map(|cell| cell[1].as_u64().unwrap()).sum();
        assert_eq!(Some(gaps), assert_complete(&folder)["stream"]["event_gap"]["count"].as_u64());
        let slowest = detail["sampled"]["slowest"].as_array().unwrap();
        assert!(!slowest.is_empty(), "{detail}");
        for stream in slowest {
            let events: u64 =
                stream["marks"].as_array().unwrap().iter().map(|mark| mark["events"].as_u64().unwrap()).sum();
            assert_eq!((events, stream["ending"].as_str()), (10, Some("complete")), "{stream}");
        }
        let page = fs::read_to_string(folder.join("report.html")).expect("a page");
        assert!(page.contains("A few streams, event by event"), "{}", folder.display());
        sums.push(gaps);
    }
    assert_eq!(sums[0] + sums[1], sums[2]);
    fs::write(dir.path().join("a/streams.json"), "{\"gaps\": {\"column_ns\": 250000000, \"columns\": []}}").unwrap();
    let damaged = dir.truetail(&["report", "a"]);
    assert!(damaged.code == Some(1) && damaged.stderr.contains("streams.json"), "{damaged:?}");
    fs::remove_file(dir.path().join("a/streams.json")).unwrap();
    let without = dir.truetail(&["report", "a"]);
    without.assert_code(&assert_complete(&dir.path().join("a")), 0);
    assert!(without.stdout.contains("20 of 20 complete"), "{without:?}");
}

#[test]
fn streams_come_over_tls() {
    const PIECES: &[&[u8]] = &[
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 18\r\n\r\n",
        b"data: a\n\nda",
        b"ta: b\n\n",
    ];
    let url = tls::serve_pieces(PIECES);
    let dir = TestDir::new();
    let arguments = ["-k", "-r", "50", "-n", "10", "--no-save", "--json", "--quiet", "--stream", "sse"];
    let run = dir.truetail(&[&["run", &url][..], &arguments].concat()).json();
    assert_eq!((&streams(&run)["tally"]["complete"], &run["stream"]["events"]), (&10.into(), &20.into()));
    let between = tls::BETWEEN.as_nanos() as u64;
    assert!(run["stream"]["last_event_time"]["min_ns"].as_u64() >= Some(2 * between), "{}", run["stream"]);
}

#[test]
fn gates_on_streams_decide() {
    let server = server();
    let dir = TestDir::new();
    for (gate, state) in [
        ("incomplete-streams > 1%", "fails"),
        ("longest-gap max > 1ms", "fails"),
        ("event-gap mean > 1h", "open"),
        ("first-event max > 1h", "holds"),
    ] {
        let output = run(&dir, &server, "events=9&gap=5ms&cut=6", &["--no-save", "--json", "--fail-if", gate]);
        let run = output.json();
        assert_balanced(&run);
        assert_eq!(streams(&run)["cut"], 20);
        // A machine that stalls leaves gates open that would otherwise be decided.
        let found = run["gates"][0]["state"].as_str().expect("a state");
        let is_in_doubt = run["verdict"]["state"] != "VALID" && found == "open";
        assert!(found == state || is_in_doubt, "{gate}: {}", run["gates"]);
        let code = [("fails", 3), ("open", 4), ("holds", 0)].into_iter().find(|(state, _)| *state == found);
        assert_eq!(output.code, code.map(|(_, code)| code), "{output:?}");
    }
}

#[test]
fn checks_and_streams_see_the_same_answers() {
    let server = server();
    let dir = TestDir::new();
    let more = ["--no-save", "--json", "--check", "body contains DONE", "--end-mark", "[DONE]"];
    let run = run(&dir, &server, "events=3&gap=1ms&end=done", &more).json();
    assert_eq!((&run["checks"][0]["passed"], &streams(&run)["tally"]["complete"]), (&20.into(), &20.into()));
}

#[test]
fn what_makes_no_sense_is_refused_in_one_line() {
    let dir = TestDir::new();
    let url = "http://127.0.0.1:9/";
    for (arguments, says) in [
        (&["--stall", "1ms"][..], "--stream"),
        (&["--stream", "sse", "--warmup", "auto"], "--warmup TIME"),
        (&["--stream", "chunks", "--end-mark", "x"], "--stream sse"),
        (&["--fail-if", "event-gap p99 > 1ms"], "needs --stream"),
        (&["--stream", "sse", "--fail-if", "event-gap p99{GET /} > 1ms"], "streams are counted for the whole run"),
    ] {
        let output = dir.truetail(&[&["run", url, "-r", "10", "-n", "10"][..], arguments].concat());
        assert!(output.code == Some(2) && output.stderr.contains(says), "{arguments:?}: {output:?}");
    }
}
