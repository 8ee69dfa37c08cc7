//! Ctrl-C, once and twice.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use nix::sys::signal::Signal;

use super::support::{ServeProcess, TestDir, TestProcess, assert_balanced, assert_complete};

/// A run that is asked to end while it goes on: saved whole, with balanced books.
fn stopped_by(signal: Signal, dir: &TestDir, served: &ServeProcess) -> serde_json::Value {
    let arguments = ["run", &served.api(), "-r", "200", "-d", "10m", "--json", "--out", "here"];
    // Where the tests themselves run under nohup, SIGHUP is ignored; this sees to it that it is not.
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

/// It had not begun: the process ends as any other, and leaves nothing.
#[test]
fn in_the_request_before_the_load_nothing_was_made_yet() {
    let dir = TestDir::new();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/", listener.local_addr().expect("an address"));
    let running = TestProcess::start(dir.command(&["run", &url, "-r", "10", "-n", "10"]));
    // It is asked, and does not answer.
    let (mut stream, _) = listener.accept().expect("it is asked before the load");
    assert!(stream.read(&mut [0; 1]).is_ok_and(|read| read == 1));
    // Not SIGINT, which whoever is started in the background may have to ignore.
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
    // Without the second signal this would take ten minutes more.
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

/// The duration is not over, and no arrival is to come any more: nothing was left unplanned.
#[test]
fn after_the_last_arrival_nothing_is_cut_short() {
    let dir = TestDir::new();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/", listener.local_addr().expect("an address"));
    let mut arguments = vec!["run", &url, "-r", "1000", "-n", "20", "-d", "10m", "--out", "here", "--no-preflight"];
    arguments.extend(["--timeout", "none", "--drain", "10m"]);
    let mut running = TestProcess::start(dir.command(&arguments));
    // The first line comes long after the twentieth millisecond, and nobody answers.
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

/// What was measured is saved, and whoever takes what is printed does not.
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
    // Not SIGINT, which whoever is started in the background may have to ignore.
    running.signal(Signal::SIGTERM);
    assert_eq!(running.end().code, None);
}
