//! `--event`: a command that the run starts, and its effect on the requests.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::support::{TestDir, assert_balanced};

/// Time for which the service stalls once the file appears.
const STALL: Duration = Duration::from_millis(1_000);

/// Starts a service that answers in 5 ms, and stalls once when `file` appears.
fn serve(file: PathBuf) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let appeared = Arc::new(OnceLock::new());
    thread::spawn(move || {
        for socket in listener.incoming().flatten() {
            let file = file.clone();
            let appeared = Arc::clone(&appeared);
            thread::spawn(move || answer_all(socket, &file, &appeared));
        }
    });
    url
}

fn answer_all(mut socket: TcpStream, file: &Path, appeared: &OnceLock<Instant>) -> Option<()> {
    socket.set_nodelay(true).ok()?;
    let mut lines = BufReader::new(socket.try_clone().ok()?).lines();
    loop {
        let head: Vec<_> = lines.by_ref().map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
        head.first()?;
        if file.exists() {
            thread::sleep(STALL.saturating_sub(appeared.get_or_init(Instant::now).elapsed()));
        }
        thread::sleep(Duration::from_millis(5));
        socket.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").ok()?;
    }
}

#[test]
fn the_effect_of_a_command_is_measured_and_judged() {
    let dir = TestDir::new();
    let file = dir.path().join("a flag");
    let url = serve(file.clone());
    let touch = format!("touch '{}'", file.display());
    let load = ["run", &url, "-r", "200", "-d", "10s", "--no-preflight", "--quiet", "--out", "run"];
    let event = ["--event", &touch, "--event-at", "3s", "--event", "false", "--event-at", "7s"];
    let gates = ["--fail-if", "recovery > 30s", "--fail-if", "harmed > 5%"];
    let output = dir.truetail(&[&load[..], &event, &gates].concat());
    let text = fs::read_to_string(dir.path().join("run/run.json")).unwrap_or_else(|_| panic!("{output:?}"));
    let run: Value = serde_json::from_str(&text).expect("JSON");
    assert_balanced(&run);
    let marks = run["marks"].as_array().expect("marks");
    assert_eq!(marks.len(), 2, "{marks:?}");
    let ns = |value: &Value| value.as_u64().unwrap_or_else(|| panic!("no number: {}", run["marks"]));
    let stall = &marks[0];
    // The command is started when it is due, or later on a busy machine, and never before.
    assert!((3_000_000_000..4_000_000_000).contains(&ns(&stall["at_ns"])), "{stall}");
    assert_eq!((&stall["name"], &stall["problem"]), (&touch.clone().into(), &Value::Null), "{stall}");
    assert_eq!(stall["state"], "recovered", "{stall}");
    // 200 requests are due in the stall of a second. Requests of its last part end within the limit, which is higher if
    // the service was slow before. On a busy machine it may stay slow for a little longer.
    let slow_ns = 1_000_000_000_u64.saturating_sub(ns(&stall["limit_ns"]));
    assert!((slow_ns / 5_000_000 * 9 / 10..300).contains(&ns(&stall["harmed"])), "{stall}");
    assert!((slow_ns * 9 / 10..2_000_000_000).contains(&ns(&stall["recovery_ns"])), "{stall}");
    assert!(ns(&stall["recovery_low_ns"]) <= ns(&stall["recovery_high_ns"]), "{stall}");
    assert!(ns(&stall["peak_ns"]) >= 900_000_000, "{stall}");
    let failed = marks[1]["problem"].as_str().unwrap_or_else(|| panic!("{}", marks[1]));
    assert!(failed.contains("exit status: 1"), "{failed}");
    assert_eq!(output.code, Some(3), "{output:?}");
    let shown = output.stdout.replace("\n  ", " ");
    // The second command changes nothing, but requests after it may be late on a busy machine until the run ends.
    let recovery = if marks[1]["recovery_high_ns"].is_null() { "OPEN recovery > 30s" } else { "PASSED recovery > 30s" };
    let says = [recovery, "FAILED harmed > 5%", "Event at 3", "requests harmed, the longest time was"];
    says.iter().for_each(|says| assert!(shown.contains(says), "{says} is missing: {}", output.stdout));
    let again = dir.truetail(&["report", "run", "-o", "page.html"]);
    assert!(again.stdout.contains("FAILED harmed > 5%"), "{again:?}");
    let page = fs::read_to_string(dir.path().join("page.html")).expect("a page");
    assert!(page.contains("id=\"events\"") && page.contains("Events and their effects"));
}

#[test]
fn a_command_that_is_due_after_the_run_is_not_started() {
    let dir = TestDir::new();
    let file = dir.path().join("flag");
    let url = serve(file.clone());
    let touch = format!("touch {}", file.display());
    let load = ["run", &url, "-r", "100", "-d", "1s", "--quiet", "--json", "--no-save"];
    let output = dir.truetail(&[&load[..], &["--event", &touch, "--event-at", "30s"]].concat());
    let run: Value = serde_json::from_str(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    output.assert_code(&run, 0);
    assert_eq!(run["marks"], Value::Null);
    assert!(run["notes"].to_string().contains("1 of 1 commands were not started"), "{}", run["notes"]);
    assert!(!file.exists());
}

#[test]
fn a_command_may_write_and_go_on_after_the_run() {
    let dir = TestDir::new();
    let [release, file] = ["release", "flag"].map(|name| dir.path().join(name));
    let url = serve(dir.path().join("none"));
    let wait = format!(
        "sh -c 'until [ -e {} ]; do sleep 0.1; done; echo on >&2 && touch {}'",
        release.display(),
        file.display()
    );
    let load = ["run", &url, "-r", "100", "-d", "1s", "--quiet", "--json", "--no-save"];
    let output = dir.truetail(&[&load[..], &["--event", &wait, "--event-at", "100ms"]].concat());
    let run: Value = serde_json::from_str(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    assert_eq!(run["marks"][0]["problem"], "had not ended when the run did", "{}", run["marks"]);
    fs::write(&release, "").expect("a file");
    let until = Instant::now() + Duration::from_secs(30);
    while !file.exists() {
        assert!(Instant::now() < until, "the command did not go on");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn what_is_wrong_with_it_is_one_line() {
    let dir = TestDir::new();
    let at = ["--event-at", "1s"];
    for (args, code, says) in [
        (["--event", "true"].to_vec(), 2, "--event-at"),
        (["--event", "a 'b", at[0], at[1]].to_vec(), 2, "a quote that does not end"),
        (["--event", "true", at[0], at[1], at[0], at[1]].to_vec(), 2, "give a time for each command"),
        (["--event", "no-such-program-here", at[0], at[1]].to_vec(), 1, "there is no program 'no-such-program-here'"),
        (["--fail-if", "recovery > 3s"].to_vec(), 2, "needs an event"),
        (["--fail-if", "harmed{GET /} > 1%"].to_vec(), 2, "events are counted for the whole run"),
    ] {
        let output = dir.truetail(&[&["run", "http://127.0.0.1:9/", "-r", "5"], args.as_slice()].concat());
        assert_eq!(output.code, Some(code), "{output:?}");
        assert!(output.stderr.contains(says) && output.stderr.lines().count() == 1, "{output:?}");
    }
}
