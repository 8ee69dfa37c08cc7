//! A process that is stopped for a second and a half in mid-run: the generator, or the server. Whose it was must show,
//! with the kernel's timestamps and without.

use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use nix::sys::signal::Signal;
use serde_json::Value;

use super::support::{ServeProcess, TestDir, TestProcess, assert_balanced};

/// How long it is stopped.
const STOPPED: Duration = Duration::from_millis(1500);
/// What a standstill may be told too long or too short, and too early or too late. Either side of the comparison may itself
/// have waited for a processor before it read its clock, and a process goes on some time after it was told to: on shared
/// machines stalls of 30 ms are usual, and of 150 ms were seen. Who is billed shows all the same: it is 1.5 s or nothing.
const TOLERANCE_MS: f64 = 400.0;
/// The rate, in requests a second.
const RATE: u64 = 500;

/// Both timestamp modes, as arguments.
const MODES: [&[&str]; 2] = [&[], &["--user-timestamps"]];

/// The server, and the generator in mid-run against it.
struct Pair {
    served: ServeProcess,
    running: TestProcess,
}

impl Pair {
    fn start(dir: &TestDir, mode: &[&str]) -> Pair {
        let served = ServeProcess::start(dir, "01-healthy");
        let (url, rate) = (served.api(), RATE.to_string());
        let arguments = ["run", &url, "-r", &rate, "-d", "5s", "--json", "--no-save"];
        let mut running = TestProcess::start(dir.command(&[&arguments, mode].concat()));
        running.wait_for_stderr("p99");
        Pair { served, running }
    }
}

/// A stop as the test saw it: when, in seconds since 1970, and for how long.
struct Stop {
    at_s: f64,
    length: Duration,
}

fn stop(signal: impl Fn(Signal)) -> Stop {
    let at_s = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs_f64();
    let began = Instant::now();
    signal(Signal::SIGSTOP);
    thread::sleep(STOPPED);
    signal(Signal::SIGCONT);
    Stop { at_s, length: began.elapsed() }
}

fn ms(run: &Value, metric: &str) -> f64 {
    run[metric]["max_ns"].as_f64().unwrap_or_else(|| panic!("{metric} of {run}")) / 1e6
}

fn reason<'a>(run: &'a Value, code: &str) -> Option<&'a Value> {
    run["verdict"]["reasons"].as_array().expect("reasons").iter().find(|reason| reason["code"] == code)
}

#[test]
fn of_the_generator_is_told_and_billed_to_nobody_else() {
    for mode in MODES {
        let dir = TestDir::new();
        let Pair { running, served: _served } = Pair::start(&dir, mode);
        let stop = stop(|signal| running.signal(signal));
        let output = running.end();
        let run = output.json();
        assert_eq!((output.code, run["verdict"]["state"].as_str()), (Some(4), Some("INVALID")), "{mode:?} {output:?}");
        assert_when_and_how_long(&run, &stop);
        let paused = reason(&run, "generator_paused").unwrap_or_else(|| panic!("{mode:?} {}", run["verdict"]));
        let hit = paused["arrivals_hit"].as_f64().expect("a count");
        let due = stop.length.as_secs_f64() * RATE as f64;
        assert!((hit - due).abs() <= TOLERANCE_MS / 1e3 * RATE as f64, "{mode:?} {hit} arrivals, {due} were due");
        assert!(ms(&run, "generator_lag") > 1400.0, "{mode:?} the start delay is the generator's");
        assert!(ms(&run, "service_time") < 500.0, "{mode:?} {} ms", ms(&run, "service_time"));
        assert_balanced(&run);
        assert_eq!(run["tally"]["responses"], 5 * RATE, "what was due meanwhile is sent afterwards, and answered");
    }
}

fn assert_when_and_how_long(run: &Value, stop: &Stop) {
    let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{value} in {run}"));
    let longest = &run["generator"]["pauses"][0];
    let length_ms = number(&longest["length_ns"]) / 1e6;
    assert!((length_ms - stop.length.as_secs_f64() * 1e3).abs() <= TOLERANCE_MS, "{length_ms} ms, {:?}", stop.length);
    let at_s = (number(&run["started_at_unix_ns"]) + number(&longest["at_ns"])) / 1e9;
    assert!((at_s - stop.at_s).abs() * 1e3 <= TOLERANCE_MS, "{} s too late", at_s - stop.at_s);
}

#[test]
fn of_the_server_is_the_servers() {
    for mode in MODES {
        let dir = TestDir::new();
        let Pair { running, served } = Pair::start(&dir, mode);
        let stop = stop(|signal| served.signal(signal));
        let output = running.end();
        let run = output.json();
        // A busy machine may stop the generator for a moment, too; of this second and a half it must not speak.
        let paused_ms = run["generator"]["pauses"][0]["length_ns"].as_f64().unwrap_or(0.0) / 1e6;
        assert!(paused_ms < 500.0, "{mode:?} {}", run["generator"]["pauses"]);
        assert!(
            run["verdict"]["state"] != "INVALID" || paused_ms > 5.0 && output.code == Some(4),
            "{mode:?} {}",
            run["verdict"]
        );
        let stopped_ms = stop.length.as_secs_f64() * 1e3;
        for metric in ["response_time", "service_time"] {
            let longest = ms(&run, metric);
            assert!((longest - stopped_ms).abs() <= 2.0 * TOLERANCE_MS, "{mode:?} {metric} {longest} ms");
        }
        assert!(ms(&run, "generator_lag") < 500.0, "{mode:?} none of it is the generator's");
        assert_balanced(&run);
        assert_eq!(run["tally"]["responses"], 5 * RATE);
    }
}
