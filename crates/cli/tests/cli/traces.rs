//! `--trace`: each request has an id, and the slowest requests are listed with theirs.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use super::raw_server::serve_each;
use super::support::TestDir;

/// Starts a server that keeps connections, and returns its URL and the heads of requests. `/slow` takes 150 ms.
fn serve() -> (String, Receiver<String>) {
    let (heads, asked) = channel();
    let place = serve_each(move |socket| answer_all(socket, &heads));
    let url = format!("http://{place}");
    (url, asked)
}

fn answer_all(mut socket: TcpStream, heads: &Sender<String>) -> Option<()> {
    socket.set_nodelay(true).ok()?;
    let mut lines = BufReader::new(socket.try_clone().ok()?).lines();
    loop {
        let head: Vec<_> = lines.by_ref().map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
        if head.first()?.contains("/slow") {
            thread::sleep(Duration::from_millis(150));
        }
        heads.send(head.join("\n")).ok()?;
        socket.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").ok()?;
    }
}

/// Returns the values of a header in the requests so far, sorted.
fn values(asked: &Receiver<String>, header: &str) -> Vec<String> {
    let value = |head: String| {
        let found = head.lines().find_map(|line| line.strip_prefix(&format!("{header}: ")).map(str::to_owned));
        found.unwrap_or_else(|| panic!("no {header} in {head}"))
    };
    let mut values: Vec<String> = asked.try_iter().map(value).collect();
    values.sort();
    values
}

/// Returns the columns of samples.csv by name.
fn samples(dir: &TestDir) -> BTreeMap<String, Vec<String>> {
    let text = fs::read_to_string(dir.path().join("run/samples.csv")).expect("samples");
    let mut rows = text.lines().map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
    let heads = rows.next().expect("a head");
    let rows: Vec<Vec<String>> = rows.collect();
    let column = |at: usize| rows.iter().map(|row| row[at].clone()).collect();
    heads.into_iter().enumerate().map(|(at, head)| (head, column(at))).collect()
}

fn run(dir: &TestDir, more: &[&str]) -> (Value, String) {
    let common = ["run", "-r", "200", "--no-preflight", "--quiet", "--force", "--out", "run"];
    let output = dir.truetail(&[&common, more].concat());
    let text = fs::read_to_string(dir.path().join("run/run.json")).unwrap_or_else(|_| panic!("{output:?}"));
    (serde_json::from_str(&text).expect("JSON"), output.stdout)
}

#[test]
fn the_server_sees_the_ids_that_the_run_lists() {
    let (url, asked) = serve();
    let dir = TestDir::new();
    fs::write(dir.path().join("targets"), format!("GET {url}/quick\nGET {url}/slow\n")).expect("a file");
    let link = "http://127.0.0.1:1/trace/{id}";
    let (run, screen) =
        run(&dir, &["-n", "40", "--targets", "targets", "--trace", "--trace-link", link, "--html", "page.html"]);
    let samples = samples(&dir);
    let mut expected: Vec<String> = samples["trace_id"].iter().map(|id| format!("00-{id}-{}-01", &id[16..])).collect();
    expected.sort();
    assert_eq!(values(&asked, "traceparent"), expected);
    expected.dedup();
    assert_eq!(expected.len(), 40, "each request has its own");
    let slowest = run["slowest"].as_array().expect("a list");
    assert_eq!(slowest.len(), 10);
    for request in slowest {
        assert_eq!((&request["target"], &request["status"]), (&"GET /slow".into(), &200.into()), "{request}");
        let parts = request["parts"].as_object().expect("parts").values().filter_map(Value::as_u64).sum::<u64>();
        assert_eq!(request["response_time_ns"], parts, "{request}");
        let index = request["index"].to_string();
        let row = samples["index"].iter().position(|other| *other == index).expect("a row");
        assert_eq!((&request["trace_id"], "1"), (&samples["trace_id"][row].clone().into(), &*samples["target"][row]));
    }
    let times: Vec<u64> = slowest.iter().filter_map(|request| request["response_time_ns"].as_u64()).collect();
    assert!(times.is_sorted_by(|one, next| one >= next), "{times:?}");
    let id = slowest[0]["trace_id"].as_str().expect("an id");
    assert!(screen.contains(id) && screen.contains(&link.replace("{id}", id)), "{screen}");
    let page = fs::read_to_string(dir.path().join("page.html")).expect("a page");
    assert!(page.contains(&format!("href=\"http://127.0.0.1:1/trace/{id}\"")));
}

#[test]
fn a_share_is_sampled_and_b3_is_spoken() {
    let (url, asked) = serve();
    let dir = TestDir::new();
    let (run, _) = run(&dir, &["-n", "30", &url, "--trace", "--trace-header", "b3", "--trace-sampled", "50%"]);
    let values = values(&asked, "b3");
    let sampled = values.iter().filter(|value| value.ends_with("-1")).count();
    assert!(values.iter().all(|value| value.len() == 51) && values.len() == 30, "{values:?}");
    let listed = |request: &Value| {
        let id = request["trace_id"].as_str().expect("an id");
        let flag = u8::from(request["trace_sampled"] == true);
        values.contains(&format!("{id}-{}-{flag}", &id[16..]))
    };
    assert!(run["slowest"].as_array().expect("a list").iter().all(listed), "{}", run["slowest"]);
    assert_eq!((&run["trace"]["header"], &run["trace"]["sampled"]), (&"b3".into(), &0.5.into()));
    // Thirty coins are never all the same, as long as the ids are random.
    assert!((1..30).contains(&sampled), "{sampled}");
}

#[test]
fn requests_of_flows_have_ids_too() {
    let (url, asked) = serve();
    let dir = TestDir::new();
    fs::write(dir.path().join("two.hurl"), format!("GET {url}/a\nHTTP 200\n\nGET {url}/b\nHTTP 200\n"))
        .expect("a file");
    let (run, _) = run(&dir, &["-d", "75ms", "--flow", "two.hurl", "--trace"]);
    let mut expected: Vec<String> =
        samples(&dir)["trace_id"].iter().map(|id| format!("00-{id}-{}-01", &id[16..])).collect();
    expected.sort();
    assert_eq!((run["tally"]["responses"].as_u64(), expected.len()), (Some(30), 30));
    assert_eq!(values(&asked, "traceparent"), expected);
}

#[test]
fn without_ids_the_slowest_are_listed_too() {
    let (url, _asked) = serve();
    let dir = TestDir::new();
    let (run, screen) = run(&dir, &["-n", "5", &url, "--details"]);
    let slowest = run["slowest"].as_array().expect("a list");
    assert!(slowest.len() == 5 && slowest.iter().all(|request| request["trace_id"].is_null()), "{slowest:?}");
    assert!(screen.contains("slowest") && run["trace"].is_null(), "{screen}");
}

#[test]
fn what_cannot_be_traced_is_refused_in_a_line() {
    let (url, _asked) = serve();
    let dir = TestDir::new();
    let flow = format!("GET {url}/a\nTraceParent: 1\nHTTP 200\n");
    fs::write(dir.path().join("own.hurl"), flow).expect("a file");
    for (more, part) in [
        (&[&*url, "--trace", "-H", "TRACEPARENT: 00-1"][..], "has the header traceparent already"),
        (&["--flow", "own.hurl", "--trace"], "own.hurl:1: the header traceparent carries the trace ids"),
        (&["tcp://127.0.0.1:1", "--framing", "line", "--data", "x", "--trace"], "--trace is for HTTP"),
        (&[&*url, "--trace-sampled", "1%"], "--trace"),
        (&[&*url, "--trace", "--trace-link", "file:///{id}"], "is no address with {id}"),
        (&[&*url, "--trace", "--trace-header", "jaeger"], "write traceparent or b3"),
    ] {
        let output = dir.truetail(&[&["run", "-r", "10", "-n", "1"], more].concat());
        assert_eq!((output.code, output.stderr.lines().count()), (Some(2), 1), "{more:?}: {output:?}");
        assert!(output.stderr.contains(part), "{more:?}: {output:?}");
    }
}
