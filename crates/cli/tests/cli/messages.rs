//! `truetail run` with messages on channels, from the flags to the report.

use std::io::{BufRead, BufReader, Read, Write};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use super::raw_server::serve_each;
use super::support::{TestDir, assert_balanced, assert_complete};

/// Reads a command for Redis, and returns its words.
pub(super) fn command(reader: &mut impl BufRead) -> Option<Vec<String>> {
    let mut line = || {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|length| *length > 0)?;
        Some(line.trim_end().to_owned())
    };
    let count: usize = line()?.strip_prefix('*')?.parse().ok()?;
    // Words of the tests have no line breaks.
    (0..count).map(|_| line().filter(|length| length.starts_with('$')).and_then(|_| line())).collect()
}

/// Returns a server that answers GET with the key, and everything else with an error.
fn redis() -> String {
    serve_each(|mut socket| {
        let mut reader = BufReader::new(socket.try_clone().ok()?);
        loop {
            let words = command(&mut reader)?;
            let reply = match &words[..] {
                [get, key] if get == "GET" => format!("${}\r\n{key}\r\n", key.len()),
                _ => "-ERR unknown command\r\n".to_owned(),
            };
            socket.write_all(reply.as_bytes()).ok()?;
        }
    })
}

/// Returns a server that answers GET only after the login of its user and the choice of database 3.
fn redis_with_login() -> String {
    serve_each(|mut socket| {
        let mut reader = BufReader::new(socket.try_clone().ok()?);
        let mut is_in = false;
        let mut has_chosen = false;
        loop {
            let words = command(&mut reader)?;
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let is_good = match words[..] {
                ["AUTH", user, password] => {
                    is_in = (user, password) == ("me", "pass:word");
                    is_in
                }
                ["SELECT", database] => {
                    has_chosen = is_in && database == "3";
                    has_chosen
                }
                ["GET", _] => has_chosen,
                _ => false,
            };
            socket.write_all(if is_good { b"+OK\r\n" } else { b"-NOAUTH no\r\n" }).ok()?;
        }
    })
}

/// A server that never answers gets every message, each with its number.
#[test]
fn messages_without_replies_end_when_they_are_sent() {
    let got = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&got);
    let place = serve_each(move |socket| {
        for line in BufReader::new(socket).lines() {
            let line = line.ok()?;
            seen.lock().expect("no panic").push(line);
        }
        Some(())
    });
    let dir = TestDir::new();
    let url = format!("tcp://{place}");
    let load = ["run", &url, "-r", "400", "-n", "100", "-c", "4", "--framing", "line", "--data", "n={{seq}}"];
    let more = ["--match", "none", "--no-preflight", "--quiet", "--json", "--no-save"];
    let output = dir.truetail(&[&load[..], &more].concat());
    let run = output.json();
    assert_balanced(&run);
    assert_eq!((&run["tally"]["planned"], &run["tally"]["responses"]), (&100.into(), &100.into()), "{output:?}");
    assert!(run["notes"].to_string().contains("no reply is waited for"), "{}", run["notes"]);
    // The last messages may still be on their way to the thread that reads them.
    let all = || got.lock().expect("no panic").len() == 100;
    for _ in 0..500 {
        if all() {
            break;
        }
        thread::sleep(Duration::from_millis(10));
    }
    let mut numbers: Vec<u64> =
        got.lock().expect("no panic").iter().map(|line| line[2..].parse().expect("a number")).collect();
    numbers.sort_unstable();
    assert!(numbers.into_iter().eq(0..100));
    let refused = dir.truetail(&[&load[..], &more, &["--check", "body contains x"]].concat());
    assert!(refused.code == Some(2) && refused.stderr.contains("with --match none there are none"), "{refused:?}");
}

/// A reply has no status: none is printed, saved or compared.
#[test]
fn a_reply_has_no_status() {
    let dir = TestDir::new();
    let url = format!("redis://{}", redis());
    let load = ["run", &url, "-r", "500", "-n", "100", "-c", "4", "--command", "GET a", "--out", "run"];
    let output = dir.truetail(&[&load[..], &["--check", "body contains a", "--check", "status == 200"]].concat());
    let folder = dir.path().join("run");
    let run = assert_complete(&folder);
    assert_balanced(&run);
    assert_eq!((&run["tally"]["responses"], &run["statuses"]), (&100.into(), &serde_json::json!({})));
    assert_eq!((&run["slowest"][0]["outcome"], &run["slowest"][0]["status"]), (&"response".into(), &Value::Null));
    let failed: Vec<_> = run["checks"].as_array().expect("checks").iter().map(|check| &check["failed"]).collect();
    assert_eq!(failed, [0, 100]);
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect("a file");
    assert_eq!(read("samples.csv").lines().filter(|line| line.contains(",response,,,")).count(), 100);
    assert!(read("failed-answers.jsonl").contains("\"why\":\"it has no status\""));
    assert!(output.stdout.contains("100% answered: 100 answers to 100 requests"), "{output:?}");
    assert!(!output.stdout.contains("Statuses"), "{output:?}");
    let again = dir.truetail(&["report", "run"]);
    assert!(again.stdout.contains("100% answered: 100 answers to 100 requests"), "{again:?}");
}

#[test]
fn each_channel_logs_in_first() {
    let place = redis_with_login();
    let dir = TestDir::new();
    let run = |login: &str| {
        let url = format!("redis://{login}{place}/3");
        let load = [
            "run",
            &url,
            "-r",
            "200",
            "-n",
            "40",
            "-c",
            "4",
            "--command",
            "GET a",
            "--quiet",
            "--out",
            "run",
            "--force",
        ];
        dir.truetail(&load)
    };
    let output = run("me:pass%3Aword@");
    let saved = assert_complete(&dir.path().join("run"));
    output.assert_code(&saved, 0);
    assert_eq!((&saved["tally"]["responses"], &saved["messages"]["error_replies"]), (&40.into(), &0.into()));
    // A login is part of connecting, and no message.
    assert_eq!((&saved["connect_time"]["count"], &saved["messages"]["pushes"]), (&4.into(), &0.into()));
    let everything = format!("{saved} {}", output.stdout);
    assert!(!everything.contains("pass:word") && !everything.contains("pass%3Aword"), "{everything}");
    let refused = run("me:wrong@");
    assert_eq!((refused.code, refused.stderr.lines().count()), (Some(1), 1), "{refused:?}");
    assert!(refused.stderr.contains("the server refused the login: -NOAUTH no; check user name"), "{refused:?}");
    assert!(!refused.stderr.contains("wrong"), "{refused:?}");
}

#[test]
fn lengths_go_before_messages_that_rows_fill_in() {
    let place = serve_each(|mut socket| {
        loop {
            let mut length = [0; 2];
            socket.read_exact(&mut length).ok()?;
            let mut message = vec![0; usize::from(u16::from_le_bytes(length))];
            socket.read_exact(&mut message).ok()?;
            let reply = [b"ok ", &message[..]].concat();
            socket.write_all(&(reply.len() as u16).to_le_bytes()).ok()?;
            socket.write_all(&reply).ok()?;
        }
    });
    let dir = TestDir::new();
    let rows = dir.file("rows.csv", "word\nfirst\n\"second, and longer\"\n");
    let url = format!("tcp://{place}");
    let load = ["run", &url, "-r", "500", "-n", "200", "-c", "2", "--quiet", "--out", "run", "--data-from", rows];
    let output = dir.truetail(
        &[&load[..], &["--framing", "length:2le", "--data", "{{seq}}: {{word}}", "--check", "body contains ok"]]
            .concat(),
    );
    let run = assert_complete(&dir.path().join("run"));
    output.assert_code(&run, 0);
    assert_balanced(&run);
    assert_eq!(run["checks"][0]["passed"], 200, "{}", run["checks"]);
    assert_eq!(run["scenario"]["messages"]["framing"], "length:2le");
    assert_eq!(run["messages"]["unmatched"], 0);
    assert_eq!(run["generator"]["connections_opened"], 2);
    assert!(output.stdout.contains("2 channels, framing length:2le"), "{}", output.stdout);
}

#[test]
fn an_error_reply_is_an_answer_and_an_error() {
    let url = format!("redis://{}", redis());
    let dir = TestDir::new();
    let run = |command: &str, more: &[&str]| {
        let load = ["run", &url, "-r", "500", "-n", "100", "--quiet", "--force", "--out", "run", "--command", command];
        let output = dir.truetail(&[&load[..], more].concat());
        (assert_complete(&dir.path().join("run")), output)
    };
    let (good, output) = run("GET 'key:{{seq}}'", &["--slo", "error-rate < 1%", "--check", "body contains key:"]);
    output.assert_code(&good, 0);
    assert_eq!((&good["checks"][0]["passed"], &good["messages"]["error_replies"]), (&100.into(), &0.into()));
    let (bad, output) = run("STE key", &[]);
    assert_eq!((output.code, &bad["verdict"]["state"]), (Some(4), &"INVALID".into()));
    assert_eq!((&bad["tally"]["responses"], &bad["messages"]["error_replies"]), (&100.into(), &100.into()));
    assert!(output.stdout.contains("all 100 replies were errors"), "{}", output.stdout);
    assert!(output.stdout.contains("100 error replies"), "{}", output.stdout);
    let (allowed, output) = run("STE key", &["--allow-errors", "--slo", "error-rate < 1%"]);
    output.assert_code(&allowed, 3);
    assert!(output.stdout.contains("100%"), "{}", output.stdout);
}

#[test]
fn what_contradicts_a_channel_is_refused_in_one_line() {
    let dir = TestDir::new();
    for (arguments, part) in [
        (&["tcp://127.0.0.1:1"][..], "--framing line"),
        (&["tcp://127.0.0.1", "--framing", "line"], "it has no port"),
        (&["tcp://127.0.0.1:1/x", "--framing", "line"], "no path"),
        (&["tcp://127.0.0.1:1", "--framing", "words"], "is no framing"),
        (&["tcp://127.0.0.1:1", "--framing", "line", "--match", "id"], "is no rule"),
        (
            &["tcp://127.0.0.1:1", "--framing", "line", "--match", "json:/id", "--data", "{}"],
            "nothing at --match json:/id",
        ),
        (&["tcp://127.0.0.1:1", "--framing", "line", "--data", "{{id}}"], "no rows are given for {{id}}"),
        (&["tcp://127.0.0.1:1", "--framing", "line", "--data-hex", "0"], "hexadecimal"),
        (&["tcp://127.0.0.1:1", "--framing", "line", "--data-hex", "0a"], "begins the delimiter"),
        (&["tcp://127.0.0.1:1", "--framing", "line", "-H", "A: b"], "--header is for HTTP"),
        (&["tcp://127.0.0.1:1", "--framing", "line", "--command", "GET a"], "redis://"),
        (&["redis://127.0.0.1"], "add --command"),
        (&["redis://secret@127.0.0.1", "--command", "GET a"], "needs a password"),
        (&["redis://127.0.0.1/first", "--command", "GET a"], "no number of a database"),
        (&["tcp://me:secret@127.0.0.1:1", "--framing", "line"], "logs in only to redis"),
        (&["redis://127.0.0.1", "--command", "GET 'a"], "--command:"),
        (&["redis://127.0.0.1", "--command", "GET a", "--framing", "line"], "has its own framing"),
        (&["redis://127.0.0.1", "--command", "GET a", "--match", "json:/id"], "come in order"),
        (&["http://127.0.0.1:1", "--framing", "line"], "--framing is for messages on a channel"),
    ] {
        let output = dir.truetail(&[&["run", "-r", "10", "-d", "1s"][..], arguments].concat());
        assert_eq!((output.code, output.stderr.lines().count()), (Some(2), 1), "{arguments:?}: {}", output.stderr);
        assert!(output.stderr.contains(part) && !output.stderr.contains("secret"), "{arguments:?}: {}", output.stderr);
    }
}
