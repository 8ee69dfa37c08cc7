//! `--scrape`: the request times that a service publishes, beside the times that its users wait.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::service;
use super::support::{CommandOutput, TestDir, assert_balanced};

/// Time of a stall before the handler, in one request of eight. Much longer than the bucket of the others.
const STALL: Duration = Duration::from_millis(600);
/// Time in the handler. Its bucket reaches to 100 ms, and the comparison allows for a quarter more.
const HANDLER: Duration = Duration::from_millis(55);
const BOUNDS: [f64; 5] = [0.01, 0.05, 0.1, 0.25, 1.0];

#[derive(Default)]
struct Metrics {
    counts: [u64; BOUNDS.len() + 1],
    sum: f64,
    requests: u64,
}

impl Metrics {
    fn count(&mut self, seconds: f64) {
        self.counts[BOUNDS.partition_point(|bound| *bound < seconds)] += 1;
        self.sum += seconds;
        self.requests += 1;
    }

    fn page(&self) -> String {
        let name = "http_request_duration_seconds";
        let mut page = format!("# HELP {name} Time of a request.\n# TYPE {name} histogram\n");
        let mut up_to = 0;
        let bounds = BOUNDS.iter().map(f64::to_string).chain(["+Inf".to_owned()]);
        for (bound, count) in bounds.zip(self.counts) {
            up_to += count;
            writeln!(page, "{name}_bucket{{path=\"/\",le=\"{bound}\"}} {up_to}").unwrap();
        }
        writeln!(page, "{name}_sum{{path=\"/\"}} {}\n{name}_count{{path=\"/\"}} {up_to}", self.sum).unwrap();
        writeln!(page, "# TYPE jobs_total counter\njobs_total {}", self.requests).unwrap();
        // Between two reads this must differ, and so must not repeat with the number of requests a second.
        writeln!(page, "# TYPE process_open_fds gauge\nprocess_open_fds {}", 3 + self.requests).unwrap();
        writeln!(page, "# TYPE constant gauge\nconstant 1").unwrap();
        page
    }
}

/// Starts a service with a histogram. In `/queue` requests wait before its timer begins, and `/counted` counts the
/// wait too.
fn serve() -> String {
    let metrics = Mutex::new(Metrics::default());
    service::serve(move |request, socket| {
        let body = match request.path() {
            "/metrics" => metrics.lock().ok()?.page(),
            "/html" => "<html></html>".to_owned(),
            "/endless" => return endless(socket),
            "/huge" => format!("a{{b=\"{}\"}} 1\n", "x".repeat(1 << 20)),
            path => handle(path, &metrics)?,
        };
        let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        socket.write_all(answer.as_bytes()).ok()
    })
}

fn handle(path: &str, metrics: &Mutex<Metrics>) -> Option<String> {
    let arrived = Instant::now();
    let stalls = metrics.lock().ok()?.requests.is_multiple_of(8) && path != "/fine";
    if stalls {
        thread::sleep(STALL);
    }
    let begun = if path == "/counted" { arrived } else { Instant::now() };
    thread::sleep(HANDLER);
    metrics.lock().ok()?.count(begun.elapsed().as_secs_f64());
    Some("ok".to_owned())
}

fn endless(socket: &mut TcpStream) -> Option<()> {
    socket.write_all(b"HTTP/1.1 200 OK\r\n\r\n").ok()?;
    loop {
        socket.write_all(&b"a 1\n".repeat(1 << 14)).ok()?;
    }
}

fn run(dir: &TestDir, url: &str, path: &str, more: &[&str]) -> (Value, CommandOutput) {
    let target = format!("{url}{path}");
    let metrics = format!("{url}/metrics=app");
    let common = ["run", &target, "-r", "150", "-n", "450", "--quiet", "--force", "--out", "run", "--scrape", &metrics];
    let output = dir.truetail(&[&common, more].concat());
    let text = fs::read_to_string(dir.path().join("run/run.json")).unwrap_or_else(|_| panic!("{output:?}"));
    (serde_json::from_str(&text).expect("JSON"), output)
}

fn histogram(run: &Value) -> &Value {
    let histograms = run["scrapes"][0]["histograms"].as_array().unwrap_or_else(|| panic!("{}", run["scrapes"]));
    assert_eq!(histograms.len(), 1, "{histograms:?}");
    &histograms[0]
}

#[test]
fn a_wait_before_the_handler_is_understated_and_one_inside_is_not() {
    let dir = TestDir::new();
    let url = serve();
    for (path, finding) in [("/queue", "understates"), ("/counted", "agrees"), ("/fine", "agrees")] {
        let (run, output) = run(&dir, &url, path, &[]);
        assert_balanced(&run);
        let histogram = histogram(&run);
        assert_eq!(histogram["finding"], finding, "{path}: {histogram}");
        assert_eq!(histogram["count"], run["tally"]["responses"], "{path}");
        let scrape = &run["scrapes"][0];
        assert_eq!((&scrape["name"], &scrape["failed"]), (&"app".into(), &0.into()), "{scrape}");
        // Before, shortly before, at least once during and after the run, which lasts three seconds.
        assert!(scrape["reads"].as_u64().is_some_and(|reads| reads >= 4), "{scrape}");
        let message = histogram["message"].as_str().expect("a message");
        let is_named = message.contains("before its timer began, or on the network");
        assert_eq!(is_named, path == "/queue", "{message}");
        let start: String = message.split(' ').take(4).collect::<Vec<_>>().join(" ");
        assert!(output.stdout.replace("\n  ", " ").contains(&start), "{start} is missing: {}", output.stdout);
    }
}

#[test]
fn counters_and_gauges_that_changed_are_saved_drawn_and_read_again() {
    let dir = TestDir::new();
    let (run, _) = run(&dir, &serve(), "/fine", &["--scrape-show", "jobs_*"]);
    let csv = fs::read_to_string(dir.path().join("run/scrapes.csv")).expect("scrapes.csv");
    let of = |series: &str| csv.lines().filter(|line| line.starts_with(&format!("app,{series},"))).count();
    assert!(of("jobs_total") >= 2 && of("process_open_fds") >= 2 && of("constant") == 0, "{csv}");
    let again = dir.truetail(&["report", "run", "-o", "page.html"]);
    assert_eq!(again.code, Some(0), "{again:?}");
    let page = fs::read_to_string(dir.path().join("page.html")).expect("a page");
    for says in ["id=\"service\"", "jobs_total, per second", "process_open_fds", "users waited"] {
        assert!(page.contains(says), "{says} is missing");
    }
    let copied = dir.truetail(&["report", "run", "--json"]);
    let copied: Value = serde_json::from_str(&copied.stdout).unwrap_or_else(|_| panic!("{copied:?}"));
    assert_eq!(copied["scrapes"], run["scrapes"]);
}

#[test]
fn requests_of_the_warm_up_are_not_compared() {
    let dir = TestDir::new();
    let (run, _) = run(&dir, &serve(), "/fine", &["--warmup", "1s"]);
    let histogram = histogram(&run);
    let measured = run["tally"]["responses"].as_u64().expect("a number");
    let counted = histogram["count"].as_u64().expect("a number");
    // About 8 are in flight when the warm-up ends, and the page is read a little later.
    assert!(counted.abs_diff(measured) <= 60 && counted < 400, "{counted} and {measured}");
    assert!(run["scrapes"][0]["from_ns"].as_u64().is_some_and(|from| from >= 1_000_000_000), "{}", run["scrapes"]);
}

#[test]
fn what_is_no_page_of_metrics_is_refused_in_a_line_before_the_load() {
    let dir = TestDir::new();
    let url = serve();
    let target = format!("{url}/fine");
    for (path, says) in [
        ("/html", "line 1 is no line of metrics"),
        ("/endless", "it has more than 8 MiB"),
        ("/huge", "line 1 has more than 16 KiB"),
    ] {
        let metrics = format!("{url}{path}");
        let output =
            dir.truetail(&["run", &target, "-r", "5", "-n", "5", "--no-save", "--quiet", "--scrape", &metrics]);
        assert_eq!((output.code, output.stdout.as_str()), (Some(1), ""), "{output:?}");
        assert!(output.stderr.contains(says) && output.stderr.lines().count() == 1, "{output:?}");
    }
    for (args, says) in [
        (vec!["--scrape", "https://127.0.0.1/metrics"], "is no http:// URL"),
        (vec!["--scrape", "http://a/metrics=x", "--scrape", "http://b/metrics=x"], "two services with the name 'x'"),
        (vec!["--scrape-show", "a"], "--scrape"),
        (vec!["--scrape", "http://a/", "--scrape-show", "a b"], "is no name of a metric"),
    ] {
        let output = dir.truetail(&[&["run", &target, "-r", "5"], args.as_slice()].concat());
        assert_eq!(output.code, Some(2), "{output:?}");
        assert!(output.stderr.contains(says) && output.stderr.lines().count() == 1, "{output:?}");
    }
}

/// Returns the page of metrics, as `curl` would save it.
fn page_of(url: &str) -> String {
    let mut socket = TcpStream::connect(url.trim_start_matches("http://")).expect("the service");
    socket.write_all(b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n").expect("it reads");
    let mut reader = BufReader::new(socket);
    let heads = reader.by_ref().lines().map_while(Result::ok).take_while(|line| !line.is_empty());
    let length = heads.filter_map(|line| line.strip_prefix("Content-Length: ")?.parse().ok()).last().expect("a length");
    let mut page = vec![0; length];
    reader.read_exact(&mut page).expect("the page");
    String::from_utf8(page).expect("text")
}

#[test]
fn pages_saved_before_and_after_a_run_say_the_same() {
    let dir = TestDir::new();
    let url = serve();
    for (path, finding, code) in [("/queue", "understates", 3), ("/fine", "agrees", 0)] {
        dir.file("before.txt", &page_of(&url));
        let target = format!("{url}{path}");
        dir.truetail(&[
            "run",
            &target,
            "-r",
            "150",
            "-n",
            "450",
            "--no-preflight",
            "--quiet",
            "--force",
            "--out",
            "run",
        ]);
        dir.file("after.txt", &page_of(&url));
        let audit = ["audit", "--prometheus", "before.txt", "after.txt", "--run", "run"];
        let output = dir.truetail(&[&audit[..], &["--json"]].concat());
        let json = output.json();
        let histogram = histogram(&json);
        assert_eq!((&histogram["finding"], &histogram["count"]), (&finding.into(), &450.into()), "{histogram}");
        assert_eq!(output.code, Some(code), "{output:?}");
        let screen = dir.truetail(&audit).stdout;
        assert!(screen.contains("what the service publishes\n  after.txt: "), "{screen}");
    }
    // The same page twice counts nothing.
    let nothing = dir.truetail(&["audit", "--prometheus", "after.txt", "after.txt", "--run", "run"]);
    assert_eq!(nothing.code, Some(4), "{nothing:?}");
    assert!(nothing.stdout.contains("counted anything"), "{nothing:?}");
    dir.file("none.txt", "<html>");
    for (args, code, says) in [
        (vec!["--prometheus", "none.txt", "after.txt", "--run", "run"], 1, "line 1 is no line of metrics"),
        (vec!["--prometheus", "before.txt", "missing", "--run", "run"], 1, "give a saved page of metrics"),
        (vec!["--prometheus", "before.txt", "after.txt", "--run", "."], 1, "run.json"),
        (vec!["--prometheus", "before.txt", "after.txt"], 2, "--run"),
        (vec!["--prometheus", "before.txt", "--run", "run"], 2, "--prometheus"),
        (vec!["before.txt", "--run", "run"], 2, "--prometheus"),
        (vec![], 2, "FILE"),
    ] {
        let output = dir.truetail(&[&["audit"], args.as_slice()].concat());
        assert_eq!((output.code, output.stderr.lines().count()), (Some(code), 1), "{output:?}");
        assert!(output.stderr.contains(says) && output.stdout.is_empty(), "{output:?}");
    }
}
