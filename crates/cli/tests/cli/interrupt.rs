//! Ctrl-C, once and twice.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use nix::sys::signal::Signal;

use super::support::{ServeProcess, TestDir, TestProcess, assert_balanced, assert_complete};

/// Stops a run in progress with a signal, and checks that it was saved whole with balanced books.
fn stopped_by(signal: Signal, dir: &TestDir, served: &ServeProcess) -> serde_json::Value {
    let arguments = ["run", &served.api(), "-r", "200", "-d", "10m", "--json", "--out", "here"];
    // If the tests run under nohup, SIGHUP is ignored. This restores the default.
    let mut running = TestProcess::start(dir.command_by(&["env", "--default-signal=HUP,INT"], &arguments));
    running.wait_for_stderr("in flight");
    running.signal(signal);
    let output = running.end();
    let run = output.json();
    assert_eq!(output.code, Some(128 + signal as i32), "{output:?}");
    assert_eq!(assert_complete(&dir.path().join("here")), run);
    assert_balanced(&run);
    assert_eq!((&run["interrupted"], &run["cut_short"]), (&true.into(), &true.into()));
    run
}

#[test]
fn the_first_stops_sending_and_the_run_is_saved() {
    let dir = TestDir::new();
    let served = ServeProcess::start(&dir, "01-healthy");
    let run = stopped_by(Signal::SIGINT, &dir, &served);
    let of = |name: &str| run["tally"][name].as_u64().expect("a count");
    assert!(of("planned") > 0 && of("planned") < 120_000, "{}", run["tally"]);
    assert_eq!(of("responses"), of("issued"), "what was sent was waited for: {}", run["tally"]);
    assert_eq!(served.stop().1.len() as u64, of("issued"));
}

/// The terminal is closed, or the connection to it breaks.
#[test]
fn the_end_of_the_terminal_stops_sending_and_the_run_is_saved() {
    let dir = TestDir::new();
    let served = ServeProcess::start(&dir, "01-healthy");
    stopped_by(Signal::SIGHUP, &dir, &served);
}

#[test]
fn under_nohup_the_end_of_the_terminal_changes_nothing() {
    let dir = TestDir::new();
    let served = ServeProcess::start(&dir, "01-healthy");
    let arguments = ["run", &served.api(), "-r", "100", "-n", "300", "--json", "--no-save"];
    let mut running = TestProcess::start(dir.command_after("trap '' HUP", &arguments));
    running.wait_for_stderr("in flight");
    running.signal(Signal::SIGHUP);
    let output = running.end();
    let run = output.json();
    output.assert_code(&run, 0);
    assert_eq!((run["interrupted"].as_bool(), run["tally"]["planned"].as_u64()), (Some(false), Some(300)));
}

/// The run had not begun: the process ends like any other, and leaves nothing.
#[test]
fn in_the_request_before_the_load_nothing_was_made_yet() {
    let dir = TestDir::new();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/", listener.local_addr().expect("an address"));
    let running = TestProcess::start(dir.command(&["run", &url, "-r", "10", "-n", "10"]));
    // Accepts the preflight, and does not answer.
    let (mut stream, _) = listener.accept().expect("it is asked before the load");
    assert!(stream.read(&mut [0; 1]).is_ok_and(|read| read == 1));
    // Not SIGINT, which background processes may have to ignore.
    running.signal(Signal::SIGTERM);
    assert_eq!(running.end().code, None);
    assert!(!dir.path().join("truetail-runs").exists());
}

#[test]
fn the_second_stops_at_once() {
    let dir = TestDir::new();
    let fault = "[[service.fault]]\nkind = \"black-hole\"\n";
    let text = format!("[workload]\nrate = 200\nduration = \"1s\"\n[service]\nbaseline = \"1ms\"\n{fault}");
    let served = ServeProcess::start(&dir, dir.file("hole.toml", &text));
    let url = served.api();
    let mut arguments = vec!["run", &url, "-r", "200", "-d", "10m", "--json", "--out", "here", "--no-preflight"];
    // Without the second signal, this would take ten minutes more.
    arguments.extend(["--timeout", "none", "--drain", "10m"]);
    let mut running = TestProcess::start(dir.command(&arguments));
    running.wait_for_stderr("in flight");
    running.signal(Signal::SIGTERM);
    running.wait_for_stderr("stopping");
    running.signal(Signal::SIGINT);
    let output = running.end();
    let run = output.json();
    assert_eq!(assert_complete(&dir.path().join("here")), run);
    assert_balanced(&run);
    assert_eq!((output.code, run["interrupted"].as_bool()), (Some(143), Some(true)), "{output:?}");
    let of = |name: &str| run["tally"][name].as_u64().expect("a count");
    assert!(of("in_flight_at_end") > 0, "{}", run["tally"]);
    let unanswered = of("in_flight_at_end") + of("never_issued");
    assert_eq!(run["response_time"]["censored"].as_u64(), Some(unanswered), "they stay in the distribution: {run}");
}

/// Each of 50 million sessions a second that never began goes into the books, which takes far longer than 3 s.
#[test]
fn after_the_second_the_process_ends_whatever_is_still_to_be_done() {
    let dir = TestDir::new();
    let served = ServeProcess::start(&dir, "01-healthy");
    dir.file("api.hurl", &format!("GET {}\n", served.api()));
    let arguments = ["run", "--flow", "api.hurl", "-r", "50000k", "-d", "10m", "--threads", "1", "--no-save"];
    let mut running = TestProcess::start(dir.command(&arguments));
    running.wait_for_stderr("in flight");
    running.signal(Signal::SIGTERM);
    running.wait_for_stderr("stopping");
    running.signal(Signal::SIGTERM);
    running.wait_for_stderr("the run did not stop within 3s; its result is lost");
    assert_eq!(running.end().code, None, "ended by the signal");
}

/// The duration is not over, but no more arrivals will come, so nothing was left unplanned.
#[test]
fn after_the_last_arrival_nothing_is_cut_short() {
    let dir = TestDir::new();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/", listener.local_addr().expect("an address"));
    let mut arguments = vec!["run", &url, "-r", "1000", "-n", "20", "-d", "10m", "--out", "here", "--no-preflight"];
    arguments.extend(["--timeout", "none", "--drain", "10m"]);
    let mut running = TestProcess::start(dir.command(&arguments));
    // The first line comes long after the twentieth millisecond, and nothing is answered.
    running.wait_for_stderr("in flight");
    for _ in 0..2 {
        running.signal(Signal::SIGTERM);
        running.wait_for_stderr("stopping");
    }
    let output = running.end();
    let run = assert_complete(&dir.path().join("here"));
    assert_eq!((&run["interrupted"], &run["cut_short"]), (&true.into(), &false.into()), "{output:?}");
    assert!(output.stdout.contains("stopped after the last request was due"), "{output:?}");
}

/// The run is saved, and the reader of standard output never reads.
#[test]
fn after_the_load_a_signal_ends_the_process() {
    let dir = TestDir::new();
    let served = ServeProcess::start(&dir, "01-healthy");
    let (mut full, _unread) = UnixStream::pair().expect("a pair of sockets");
    full.set_nonblocking(true).expect("a socket");
    for bytes in [4_096, 1] {
        while full.write(&vec![b' '; bytes]).is_ok() {}
    }
    full.set_nonblocking(false).expect("a socket");
    let mut command = dir.command(&["run", &served.api(), "-r", "100", "-n", "10", "--quiet", "--out", "here"]);
    command.stdout(OwnedFd::from(full));
    let running = TestProcess::start(command);
    running.wait_for_file(&dir.path().join("here/run.json"));
    // Not SIGINT, which background processes may have to ignore.
    running.signal(Signal::SIGTERM);
    assert_eq!(running.end().code, None);
}

/// A killed process saves nothing more. Its last checkpoint can be read, and says that it is incomplete.
#[test]
fn what_a_killed_run_had_saved_can_be_read() {
    let dir = TestDir::new();
    let served = ServeProcess::start(&dir, "01-healthy");
    let mut arguments = vec!["run".to_owned(), served.api()];
    arguments.extend("-r 200 -d 10m --out here --slo".split(' ').map(str::to_owned));
    arguments.push("p50 < 1ms".to_owned());
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut running = TestProcess::start(dir.command(&arguments));
    running.wait_for_stderr("in flight");
    let second = dir.truetail(&["run", &served.api(), "-r", "1", "-n", "1", "--force", "--out", "here"]);
    assert_eq!(second.code, Some(1), "{second:?}");
    assert!(second.stderr.contains("another run of truetail is saved in here"), "{second:?}");
    running.wait_for_file(&dir.path().join("here/checkpoint.pack"));
    running.signal(Signal::SIGKILL);
    assert_eq!(running.end().code, None);

    let report = dir.truetail(&["report", "here"]);
    assert!(report.stdout.contains("incomplete: truetail was ended before this run was"), "{report:?}");
    let json = dir.truetail(&["report", "here", "--json"]).json();
    assert_balanced(&json);
    assert_eq!(
        (json["verdict"]["state"].as_str(), json["checkpoint"]["scheduled"].as_u64()),
        (Some("SUSPECT"), Some(120_000))
    );
    let reason = json["verdict"]["reasons"].as_array().unwrap().iter().find(|reason| reason["code"] == "incomplete");
    let of = |name: &str| reason.unwrap()[name].as_u64().unwrap();
    let seconds = of("recorded_ns") as f64 / 1e9;
    assert_eq!(of("due"), json["tally"]["planned"].as_u64().unwrap());
    assert!(of("ended") <= of("due") && of("due") as f64 <= seconds * 200.0 + 1.0, "{json}");
    assert!(of("due") as f64 >= (seconds - 2.0) * 200.0, "the last second may be left out: {json}");

    // The folder is free again, and holds a run.
    let again = ["run", &served.api(), "-n", "2", "-r", "100", "--out", "here"];
    let refused = dir.truetail(&again);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("already holds a run; add --force"), "{refused:?}");
    dir.truetail(&[&again[..], &["--force"]].concat());
    assert!(!dir.path().join("here/checkpoint.pack").exists());
    assert_complete(&dir.path().join("here"));
}

/// The runs of a comparison are saved while they last, too.
#[test]
fn what_a_killed_comparison_had_saved_can_be_read() {
    let dir = TestDir::new();
    let served = ServeProcess::start(&dir, "01-healthy");
    let url = served.api();
    let running = TestProcess::start(dir.command(&["ab", &url, &url, "-r", "200", "-d", "10m", "--out", "both"]));
    running.wait_for_file(&dir.path().join("both/round-1-a/checkpoint.pack"));
    running.signal(Signal::SIGKILL);
    assert_eq!(running.end().code, None);
    let report = dir.truetail(&["report", "both/round-1-a"]);
    assert!(report.stdout.contains("incomplete: truetail was ended before this run was"), "{report:?}");
    assert_balanced(&dir.truetail(&["report", "both/round-1-a", "--json"]).json());
}

/// A checkpoint also holds the waiting time of requests in flight, which were never answered.
#[test]
fn requests_in_flight_in_a_killed_run_keep_their_response_times() {
    let dir = TestDir::new();
    let fault = "[[service.fault]]\nkind = \"black-hole\"\n";
    let text = format!("[workload]\nrate = 200\nduration = \"1s\"\n[service]\nbaseline = \"1ms\"\n{fault}");
    let served = ServeProcess::start(&dir, dir.file("hole.toml", &text));
    let url = served.api();
    let mut arguments = vec!["run", &url, "-r", "100", "-d", "10m", "--out", "here", "--timeout", "none"];
    arguments.extend(["--stripe", "1/2", "--no-preflight"]);
    let running = TestProcess::start(dir.command(&arguments));
    running.wait_for_file(&dir.path().join("here/checkpoint.pack"));
    running.signal(Signal::SIGKILL);
    running.end();
    let json = dir.truetail(&["report", "here", "--json"]).json();
    assert_balanced(&json);
    let in_flight = json["tally"]["in_flight_at_end"].as_u64().unwrap();
    assert!(in_flight > 0 && json["response_time"]["censored"].as_u64() >= Some(in_flight), "{json}");
    assert!(
        json["verdict"]["reasons"].as_array().unwrap().iter().any(|reason| reason["code"] == "incomplete"),
        "{json}"
    );
    assert_eq!(json["checkpoint"]["scheduled"], 30_000);
}
