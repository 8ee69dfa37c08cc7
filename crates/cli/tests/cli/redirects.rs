//! `--flow` with `location: true`: hops and their books, as users see them.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use serde_json::json;

use super::raw_server::serve_each;
use super::support::{TestDir, assert_balanced, assert_complete};

/// Starts a server. `/login` leads to `/home`, which requires the cookie of `/login`; `/loop` leads to itself.
fn serve() -> String {
    let place = serve_each(answer_all);
    let url = format!("http://{place}");
    url
}

fn answer_all(mut socket: TcpStream) -> Option<()> {
    socket.set_nodelay(true).ok()?;
    let mut lines = BufReader::new(socket.try_clone().ok()?).lines();
    loop {
        let head: Vec<_> = lines.by_ref().map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
        let knows = head.iter().any(|line| line == "Cookie: a=b");
        let (status, fields) = match head.first()?.split(' ').nth(1)? {
            "/login" => (302, "Location: home\r\nSet-Cookie: a=b; Path=/\r\n"),
            "/home" => (if knows { 200 } else { 403 }, ""),
            _ => (302, "Location: /loop\r\n"),
        };
        // A login takes longer than both of its requests may be late before lateness counts as noise.
        thread::sleep(if head.first()?.contains("/login") { Duration::from_millis(3) } else { Duration::ZERO });
        let answer = format!("HTTP/1.1 {status} X\r\n{fields}Content-Length: 0\r\n\r\n");
        socket.write_all(answer.as_bytes()).ok()?;
    }
}

const FLOW: &str = "# truetail: name login\nPOST {{host}}/login\n[Options]\nlocation: true\nHTTP 200\n\n\
                    GET {{host}}/loop\n[Options]\nlocation: true\nmax-redirs: 3\nHTTP 200\n";

#[test]
fn hops_are_in_the_books_of_run_folder_and_report() {
    let dir = TestDir::new();
    let host = format!("host={}", serve());
    fs::write(dir.path().join("in.hurl"), FLOW).expect("a file");
    let args = ["run", "--flow", "in.hurl", "-r", "50", "-d", "800ms", "--variable", &host, "--json", "--quiet"];
    let gates = ["--fail-if", "p50{login} > 30s", "--fail-if", "p50{login} > 1ns"];
    for folder in ["a", "b"] {
        let output = dir.truetail(&[&args[..], &gates, &["--out", folder]].concat());
        let run = output.json();
        output.assert_code(&run, 3);
        assert_balanced(&run);
        let [login, looped] = [&run["sessions"]["steps"][0], &run["sessions"]["steps"][1]];
        assert_eq!((&login["reached"], &login["hops"], &login["most_requests"]), (&40.into(), &40.into(), &2.into()));
        assert_eq!((&looped["hops"], &looped["ended_here"]), (&120.into(), &json!({"redirect": 40})));
        assert_eq!((&run["tally"]["planned"], &run["statuses"]), (&240.into(), &json!({"200": 40, "302": 200})));
        let times = run["sessions"]["step_times"].as_array().expect("times of steps");
        assert_eq!((&times[0]["step"], &times[0]["step_time"]["count"]), (&0.into(), &40.into()));
        let of_requests = &run["targets"][0]["response_time"];
        assert_eq!(of_requests["count"], 80);
        let max = |times: &serde_json::Value| times["max_ns"].as_u64().or(times["quantiles"][5]["value_ns"].as_u64());
        assert!(max(&times[0]["step_time"]) >= max(of_requests), "{times:?} {of_requests}");
        assert!(run["gates"][0]["state"] != "fails" && run["gates"][1]["state"] != "holds", "{}", run["gates"]);
        let saved = assert_complete(&dir.path().join(folder));
        assert_eq!(saved["sessions"]["step_times"], run["sessions"]["step_times"]);
    }
    // Every session ends in the loop, so the run proves nothing about the flow.
    let merged = dir.truetail(&["merge", "a", "b", "--out", "whole"]);
    assert_eq!(merged.code, Some(4), "{merged:?}");
    let report = dir.truetail(&["report", "whole", "-o", "page.html"]);
    for says in ["hops", "ended at GET /loop: 80 redirect not followed", "more than 3 redirects, the limit"] {
        assert!(report.stdout.contains(says), "{says} is missing in {}", report.stdout);
    }
    let login = report.stdout.lines().find(|line| line.trim_start().starts_with("login ")).expect("a row");
    let cells: Vec<&str> = login.split_whitespace().take(5).collect();
    assert_eq!(cells, ["login", "80", "0", "80", "0"], "{}", report.stdout);
    assert!(fs::read_to_string(dir.path().join("page.html")).expect("a page").contains(">hops<"));
}

#[test]
fn what_is_wrong_with_it_is_one_line() {
    let dir = TestDir::new();
    for (option, says) in [
        ("location: maybe", "in.hurl:3: the option location is true or false"),
        ("max-redirs: -1", "in.hurl:3: redirects without a limit"),
    ] {
        fs::write(dir.path().join("in.hurl"), format!("GET http://127.0.0.1:9/\n[Options]\n{option}\n"))
            .expect("a file");
        let output = dir.truetail(&["run", "--flow", "in.hurl", "-r", "9"]);
        assert_eq!((output.code, output.stderr.trim_end().lines().count()), (Some(2), 1), "{output:?}");
        assert!(output.stderr.contains(says), "{output:?}");
    }
}
