//! `truetail explore`, used like a browser does.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use truetail_report::number;

use super::support::TestDir;

/// The settings of scenario 02, in a link's syntax.
const SETTINGS: &str = "rate=1000&spacing=even&duration=60&users=10&closed-end=duration&baseline=10&variation=constant\
    &stall-at=30&stall-for=1000&stall-gate=answers&timeout=30&drain=30";
/// A short, light load.
const SHORT: &str =
    "rate=50&spacing=even&duration=2&users=1&closed-end=duration&baseline=10&variation=constant&timeout=30&drain=30";
/// Time limit for a run, which takes a few seconds, or more on a busy machine.
const PATIENCE: Duration = Duration::from_secs(40);

struct Explore {
    child: Child,
    address: String,
    token: String,
}

impl Explore {
    fn start(dir: &TestDir) -> Explore {
        let mut child = dir.command(&["explore"]).stderr(Stdio::null()).spawn().expect("it starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("a line");
        let address = line.trim().trim_start_matches("http://").trim_end_matches('/').to_owned();
        let mut explore = Explore { child, address, token: String::new() };
        let (status, page) = explore.ask("GET", "/", "");
        assert_eq!(status, 200);
        let token = page.split_once("\"token\":\"").expect("the page has a token").1;
        explore.token = token.split_once('"').expect("it ends").0.to_owned();
        explore
    }

    /// Returns the status and the body of an answer.
    fn ask(&self, method: &str, path: &str, body: &str) -> (u16, String) {
        self.ask_with(&format!("X-Truetail-Token: {}\r\n", self.token), method, path, body)
    }

    fn ask_with(&self, headers: &str, method: &str, path: &str, body: &str) -> (u16, String) {
        let host = &self.address;
        let length = body.len();
        let mut stream = TcpStream::connect(host).expect("it listens");
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
        );
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        (status, answer.split_once("\r\n\r\n").expect("a body").1.to_owned())
    }

    fn json(&self, path: &str, body: &str) -> Value {
        let (status, answer) = self.ask("POST", path, body);
        assert_eq!(status, 200, "{answer}");
        serde_json::from_str(&answer).unwrap_or_else(|error| panic!("{error}: {answer}"))
    }

    /// Waits until the run on real sockets leaves `states`, and returns its new state.
    fn state_after(&self, states: &[&str]) -> Value {
        let began = Instant::now();
        loop {
            let state = self.json("/real/state", "");
            if !states.contains(&state["state"].as_str().expect("a state")) {
                return state;
            }
            assert!(began.elapsed() < PATIENCE, "{state}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Ends the process with a signal. Returns its exit code and the time that it took.
    fn end(mut self, signal: Signal) -> (Option<i32>, Duration) {
        let began = Instant::now();
        kill(Pid::from_raw(self.child.id() as i32), signal).expect("it is still there");
        (self.child.wait().expect("it ends").code(), began.elapsed())
    }
}

impl Drop for Explore {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn its_curve_is_what_simulate_prints() {
    let dir = TestDir::new();
    let explore = Explore::start(&dir);
    let answer = explore.json("/simulate", SETTINGS);
    assert_eq!(answer["settings"], SETTINGS);
    let open = &answer["loops"][0];
    let printed = dir.truetail(&["simulate", "02", "--json"]).json();
    let printed = &printed["series"][0];
    assert_eq!((&open["name"], &open["requests"]), (&Value::from("open"), &printed["tally"]["planned"]));
    let values = |quantiles: &Value| -> Vec<(f64, u64)> {
        let quantiles = quantiles.as_array().expect("a list").iter();
        quantiles.map(|one| (one["q"].as_f64().expect("q"), one["value_ns"].as_u64().expect("a value"))).collect()
    };
    let expected = values(&printed["response_time"]["quantiles"]);
    assert_eq!(values(&open["quantiles"]), expected);
    let (names, times) = read_curve(&answer, "open loop");
    let below_max: Vec<_> = expected.iter().filter(|(q, _)| *q < 1.0).collect();
    assert!(!below_max.is_empty(), "{expected:?}");
    for (q, value_ns) in below_max {
        let stop =
            names.iter().position(|name| *name == number::quantile_name(*q)).expect("a stop for each percentile");
        assert_eq!(times[stop], number::time(*value_ns), "{q}");
    }
    assert!(answer["summary"].as_str().is_some_and(|text| text.contains("Of 60000 requests")), "{}", answer["summary"]);
    assert!(answer["timeline"]["picture"].as_str().is_some_and(|picture| picture.contains("</svg>")));
    assert_eq!(explore.end(Signal::SIGINT).0, Some(0));
}

/// Returns the percentiles of the picture in `answer`, and the times of the curve `name` at each.
fn read_curve(answer: &Value, name: &str) -> (Vec<String>, Vec<String>) {
    let picture = answer["curves"].as_str().expect("a picture");
    let json =
        picture.split_once("<script type=\"application/json\">").and_then(|(_, rest)| rest.split_once("</script>"));
    let reading: Value = serde_json::from_str(json.expect("its reading").0).expect("JSON");
    let texts = |joined: &Value| joined.as_str().expect("a text").split('|').map(str::to_owned).collect();
    let mut layers = reading["panels"][0]["layers"].as_array().expect("a list").iter();
    let layer = layers.find(|layer| layer["name"] == name).expect("a layer of this name");
    (texts(&reading["axis"]["texts"]), texts(&layer["texts"]))
}

#[test]
fn who_does_not_have_the_page_is_refused() {
    let dir = TestDir::new();
    let explore = Explore::start(&dir);
    for path in ["/simulate", "/real", "/real/state", "/real/cancel"] {
        assert_eq!(explore.ask_with("", "POST", path, SHORT).0, 403, "{path}");
        assert_eq!(explore.ask_with("X-Truetail-Token: guess\r\n", "POST", path, SHORT).0, 403, "{path}");
        assert_eq!(explore.ask("GET", path, "").0, 404, "{path}");
    }
    assert_eq!(explore.ask_with("Origin: http://evil.example\r\n", "GET", "/", "").0, 403);
    assert_eq!(explore.json("/real/state", "")["state"], "idle", "nothing was started");
    for (path, body, part) in [
        ("/simulate", "rate=1", "missing"),
        ("/simulate", &SHORT.replace("rate=50", "rate=1e9"), "20000/s"),
        ("/real", &SHORT.replace("rate=50", "rate=6000"), "limited to 5000/s"),
        ("/real", &SHORT.replace("duration=2", "duration=90"), "at most 60s"),
    ] {
        let (status, answer) = explore.ask("POST", path, body);
        assert!(status == 400 && answer.contains(part), "{status} {answer}");
    }
}

#[test]
fn it_runs_for_real_one_at_a_time() {
    let dir = TestDir::new();
    let explore = Explore::start(&dir);
    let state = explore.json("/real?closed=yes", SHORT);
    assert_eq!(state["state"], "running", "{state}");
    let (status, answer) = explore.ask("POST", "/real", SHORT);
    assert!(status == 400 && answer.contains("going on"), "{status} {answer}");
    let done = explore.state_after(&["running"]);
    assert_eq!((&done["state"], &done["settings"]), (&Value::from("done"), &Value::from(SHORT)), "{done}");
    let loops = done["loops"].as_array().expect("a list");
    assert_eq!(
        loops.iter().map(|one| one["name"].as_str().unwrap_or("")).collect::<Vec<_>>(),
        ["Open loop", "Closed loop"]
    );
    let count = |one: &Value| one["requests"].as_u64();
    assert_eq!(count(&loops[0]), Some(100), "every planned request of 2 s at 50/s");
    assert!(count(&loops[1]) >= Some(1) && count(&loops[1]) <= Some(200), "one user who takes 10 ms at least");
    let beside = explore.json("/simulate", SHORT);
    for name in ["open loop, measured", "closed loop, measured", "open loop", "truth"] {
        assert!(!read_curve(&beside, name).1.is_empty(), "{name}");
    }
}

#[test]
fn a_run_is_cancelled_and_ctrl_c_does_not_wait_for_one() {
    let dir = TestDir::new();
    let explore = Explore::start(&dir);
    let long = SHORT.replace("duration=2", "duration=60");
    explore.json("/real", &long);
    let cancelled = explore.json("/real/cancel", "");
    assert_eq!(cancelled["state"], "cancelled");
    let began = Instant::now();
    // The next run can start only after the cancelled one has ended.
    while explore.ask("POST", "/real", &long).0 != 200 {
        assert!(began.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(20));
    }
    let (code, took) = explore.end(Signal::SIGTERM);
    assert_eq!(code, Some(0));
    assert!(took < PATIENCE, "{took:?} of a run of a minute");
}

#[test]
fn an_address_that_is_none_or_taken() {
    let dir = TestDir::new();
    let none = dir.truetail(&["explore", "--listen", "nowhere"]);
    assert_eq!((none.code, none.stderr.lines().count()), (Some(2), 1), "{none:?}");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    let refused = dir.truetail(&["explore", "--listen", &address]);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(1), ""), "{refused:?}");
    assert!(refused.stderr.contains(&address), "{refused:?}");
}
