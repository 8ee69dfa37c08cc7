//! `truetail run --hello`: channels that log in before their first message.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use super::raw_server::serve_each;
use super::support::{CommandOutput, TestDir, assert_balanced, assert_complete};

/// Time that the server takes for a login.
const LOGIN: Duration = Duration::from_millis(40);

/// A server of lines that answers only after a login.
struct Server {
    place: String,
    logins: Arc<AtomicU64>,
}

impl Server {
    fn start() -> Server {
        let logins = Arc::default();
        let shared = Arc::clone(&logins);
        Server { place: serve_each(move |socket| serve(socket, &shared)), logins }
    }

    fn run(&self, dir: &TestDir, more: &[&str]) -> CommandOutput {
        let url = format!("tcp://{}", self.place);
        let load = ["run", &url, "-r", "200", "-n", "60", "-c", "3", "--framing", "line", "--data", "echo {{seq}}"];
        dir.truetail(&[&load[..], &["--quiet", "--force", "--out", "run"], more].concat())
    }
}

/// Says who it is, wants a login, takes its time, and then echoes.
fn serve(mut socket: TcpStream, logins: &AtomicU64) -> Option<()> {
    let mut lines = BufReader::new(socket.try_clone().ok()?).lines();
    socket.write_all(b"welcome\n").ok()?;
    let user = lines.next()?.ok()?;
    if user != "LOGIN me s3cret" {
        socket.write_all(b"denied\n").ok()?;
        // The client closes.
        lines.next();
        return None;
    }
    // The time is the load's truth: what a login costs.
    thread::sleep(LOGIN);
    socket.write_all(b"notice: maintenance on Sunday\nlogged in\n").ok()?;
    logins.fetch_add(1, Ordering::SeqCst);
    for line in lines {
        let line = line.ok()?;
        socket.write_all(format!("{line}\n").as_bytes()).ok()?;
    }
    Some(())
}

#[test]
fn a_login_is_part_of_the_connect_time_and_of_no_service_time() {
    let server = Server::start();
    let dir = TestDir::new();
    let hello = dir.file("login.txt", "# Log in.\nexpect welcome\nsend LOGIN me s3cret\nawait logged in\n");
    let (run, output) = (1..=10)
        .map(|nth| {
            let output = server.run(&dir, &["--hello", hello, "--check", "body contains echo"]);
            let run = assert_complete(&dir.path().join("run"));
            output.assert_code(&run, 0);
            assert_balanced(&run);
            assert_eq!((&run["tally"]["responses"], &run["checks"][0]["passed"]), (&60.into(), &60.into()));
            let books = &run["messages"];
            assert_eq!((&books["pushes"], &books["channels_lost"]), (&0.into(), &0.into()));
            // The preflight logs in on a channel of its own.
            assert_eq!((server.logins.load(Ordering::SeqCst), &run["connect_time"]["count"]), (4 * nth, &3.into()));
            assert_eq!((&books["channels_opened_before"], &run["connection_wait"]["max_ns"]), (&3.into(), &0.into()));
            (run, output)
        })
        // A pause of a worker is no part of the connect time, so that a login may seem shorter on a busy machine.
        .find(|(run, _)| run["connect_time"]["min_ns"].as_u64().expect("a time") >= LOGIN.as_nanos() as u64)
        .expect("a login that takes its time");
    let everything = format!("{run} {}", output.stdout);
    assert!(!everything.contains("s3cret"), "{everything}");
}

#[test]
fn a_login_that_fails_is_told_in_a_line_and_opens_no_channel() {
    let server = Server::start();
    let dir = TestDir::new();
    let wrong = dir.file("wrong.txt", "expect welcome\nsend LOGIN me wrong\nexpect logged in\n");
    let output = server.run(&dir, &["--hello", wrong]);
    assert_eq!((output.code, output.stderr.lines().count()), (Some(1), 1), "{output:?}");
    let said = "the server did not answer the hello as expected: 'denied' came, and 'logged in' was expected; check";
    assert!(output.stderr.contains(said) && !output.stderr.contains("wrong\\n"), "{output:?}");
    server.run(&dir, &["--hello", wrong, "--no-preflight"]);
    let run = assert_complete(&dir.path().join("run"));
    assert_balanced(&run);
    let refused = &run["tally"]["connect_failed"];
    assert_eq!((refused, &run["causes"]["hello_refused"]), (&60.into(), &60.into()), "{run}");
    assert_eq!((&run["messages"]["channels_lost"], &run["connect_time"]["count"]), (&0.into(), &0.into()));
    assert_eq!(run["messages"]["channels_failed_before"], serde_json::json!({"hello_refused": 3}));
    let note = "3 of 3 channels were not open when the load began (3× the server did not answer the hello as expected)";
    assert!(run["notes"].to_string().contains(note), "{}", run["notes"]);
    assert_eq!(server.logins.load(Ordering::SeqCst), 0);
}

#[test]
fn an_answer_that_never_comes_is_given_up_after_its_own_wait() {
    let server = Server::start();
    let dir = TestDir::new();
    let silent = dir.file("silent.txt", "expect welcome\nwithin 60ms\nexpect more\n");
    let output = server.run(&dir, &["--hello", silent]);
    assert_eq!((output.code, output.stderr.lines().count()), (Some(1), 1), "{output:?}");
    let said = "the server did not answer the hello in time: nothing came, and 'more' was expected";
    assert!(output.stderr.contains(said), "{output:?}");
    server.run(&dir, &["--hello", silent, "--no-preflight"]);
    let run = assert_complete(&dir.path().join("run"));
    assert_balanced(&run);
    assert_eq!(run["causes"]["hello_timed_out"], run["tally"]["connect_failed"], "{run}");
    assert!(run["causes"]["hello_timed_out"].as_u64() > Some(0), "{run}");
}

#[test]
fn a_file_that_is_no_exchange_is_refused_with_its_line() {
    let server = Server::start();
    let dir = TestDir::new();
    for (text, part) in [("send a\nwait b\n", "hello.txt:2: 'wait' begins no step"), ("# nothing\n", "it has no step")]
    {
        let hello = dir.file("hello.txt", text);
        let output = server.run(&dir, &["--hello", hello]);
        assert_eq!((output.code, output.stderr.lines().count()), (Some(2), 1), "{output:?}");
        assert!(output.stderr.contains(part), "{output:?}");
    }
    let output = server.run(&dir, &["--hello", "nowhere.txt"]);
    assert_eq!((output.code, output.stderr.lines().count()), (Some(1), 1), "{output:?}");
    let hello = dir.file("hello.txt", "send a\n");
    let output = dir.truetail(&["run", "http://127.0.0.1:1", "-r", "1", "-n", "1", "--hello", hello]);
    assert!(output.code == Some(2) && output.stderr.contains("--hello is for messages"), "{output:?}");
}
