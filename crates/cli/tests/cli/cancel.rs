//! `--cancel`: requests that their users give up.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::raw_server::serve_each;
use super::support::{CommandOutput, ServeProcess, TestDir, assert_balanced, assert_complete};

/// Time until each answer, so a request that is cancelled after a fifth of it has no answer by then.
const DELAY: Duration = Duration::from_millis(500);

/// A service with this delay.
const SLOW: &str = "[workload]\nrate = 100\nduration = \"1s\"\n[service]\nbaseline = \"500ms\"\n";

fn count(tally: &Value, outcome: &str) -> u64 {
    tally[outcome].as_u64().unwrap_or_else(|| panic!("no {outcome}: {tally}"))
}

/// Runs 200 requests of which a fifth are cancelled, and checks the books.
fn run(dir: &TestDir, url: &str, more: &[&str]) -> (Value, CommandOutput) {
    let load =
        ["run", url, "-r", "100", "-d", "2s", "--cancel", "20% after 100ms", "--quiet", "--force", "--out", "run"];
    let output = dir.truetail(&[&load[..], more].concat());
    let run = assert_complete(&dir.path().join("run"));
    assert_balanced(&run);
    let tally = &run["tally"];
    let chosen = &run["cancelled_tally"];
    assert_eq!(count(tally, "planned") + count(chosen, "planned"), 200, "{run}");
    assert_eq!(count(tally, "responses"), count(tally, "planned"), "the others are answered");
    // An answer may be there after all, if this machine slept at the time of the cancellation.
    let ended = count(chosen, "timed_out") + count(chosen, "responses");
    assert!(ended == count(chosen, "planned") && count(chosen, "timed_out") > 0, "{chosen}");
    assert_eq!(run["causes"], json!({}), "a cancellation is no failure");
    (run, output)
}

#[test]
fn chosen_requests_are_cancelled_and_no_figure_includes_them() {
    let dir = TestDir::new();
    let server = ServeProcess::start(&dir, dir.file("slow.toml", SLOW));
    let (run, output) = run(&dir, server.url(), &[]);
    assert_eq!(run["scenario"]["cancel"], json!({"share": 0.2, "after_ns": 100_000_000, "seed": 1}));
    let words = output.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let chosen = count(&run["cancelled_tally"], "planned");
    let of_chosen = format!("of {chosen} chosen requests 100ms after they were due");
    assert!(words.contains(&of_chosen) && words.contains("no figure includes them"), "{}", output.stdout);
    let page = dir.truetail(&["report", "run", "-o", "page.html"]);
    assert_eq!(page.code, output.code, "{page:?}");
    let page = fs::read_to_string(dir.path().join("page.html")).expect("a page");
    assert!(page.contains(&of_chosen), "the page has the books too");
}

#[test]
fn in_http2_the_server_is_told() {
    let dir = TestDir::new();
    let (url, resets) = http2_server();
    let (run, _) = run(&dir, &url, &["--http2"]);
    let cancelled = count(&run["cancelled_tally"], "timed_out");
    assert_eq!(resets.load(Ordering::Relaxed), cancelled, "RST_STREAM for each, and for no other");
}

/// Starts an HTTP/2 server that answers each request after [`DELAY`]. Returns its URL and its count of RST_STREAM.
fn http2_server() -> (String, Arc<AtomicU64>) {
    let resets = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&resets);
    let place = serve_each(move |socket| answer_all(socket, &counted));
    (format!("http://{place}/"), resets)
}

fn answer_all(mut socket: TcpStream, resets: &AtomicU64) -> Option<()> {
    socket.set_nodelay(true).ok()?;
    socket.read_exact(&mut [0; 24]).ok()?;
    socket.write_all(&[0, 0, 0, 4, 0, 0, 0, 0, 0]).ok()?;
    let (sender, due) = channel::<(Instant, [u8; 4])>();
    let mut writer = socket.try_clone().ok()?;
    thread::spawn(move || {
        for (at, stream) in due {
            thread::sleep(at.saturating_duration_since(Instant::now()));
            let answer = [&[0, 0, 1, 1, 4][..], &stream, &[0x88, 0, 0, 2, 0, 1], &stream, b"ok"].concat();
            if writer.write_all(&answer).is_err() {
                break;
            }
        }
    });
    loop {
        let mut head = [0; 9];
        socket.read_exact(&mut head).ok()?;
        let [a, b, c, kind, flags, stream @ ..] = head;
        socket.read_exact(&mut vec![0; u32::from_be_bytes([0, a, b, c]) as usize]).ok()?;
        // The last frame of a request, or RST_STREAM (3).
        match kind {
            0 | 1 if flags & 1 == 1 => sender.send((Instant::now() + DELAY, stream)).ok()?,
            3 => _ = resets.fetch_add(1, Ordering::Relaxed),
            _ => {}
        }
    }
}

#[test]
fn stripes_choose_as_the_undivided_run_does() {
    let dir = TestDir::new();
    let server = ServeProcess::start(&dir, dir.file("slow.toml", SLOW));
    let chosen = |more: &[&str], folder: &str| {
        let load =
            ["run", server.url(), "-r", "50", "-n", "60", "--cancel", "30% after 50ms", "--quiet", "--out", folder];
        dir.truetail(&[&load[..], more].concat());
        of_run(&dir, folder)
    };
    let whole = chosen(&[], "whole");
    let parts = [chosen(&["--stripe", "1/2"], "a"), chosen(&["--stripe", "2/2"], "b")];
    assert!(parts.iter().all(|part| *part > 0) && parts.iter().sum::<u64>() == whole, "{whole} of {parts:?}");
    let merged = dir.truetail(&["merge", "a", "b", "--out", "merged"]);
    assert_eq!(of_run(&dir, "merged"), whole, "{merged:?}");
    let other = chosen(&["--seed", "2"], "other");
    let merged = dir.truetail(&["merge", "whole", "other", "--out", "both"]);
    assert_eq!(of_run(&dir, "both"), whole + other, "{merged:?}");
}

fn of_run(dir: &TestDir, folder: &str) -> u64 {
    let run = assert_complete(&dir.path().join(folder));
    assert_balanced(&run);
    count(&run["cancelled_tally"], "planned")
}

#[test]
fn streams_of_chosen_requests_are_in_no_books() {
    let dir = TestDir::new();
    let server = ServeProcess::start(&dir, "06-model-that-stalls");
    let url = format!("http://127.0.0.1:{}/v1/completions", server.port());
    let load = ["run", &url, "--llm", "openai-completions", "--data", "{\"prompt\":\"Hi\",\"max_tokens\":20}"];
    let how = ["-r", "50", "-n", "50", "--cancel", "40% after 60ms", "--quiet", "--json", "--no-save"];
    let output = dir.truetail(&[&load[..], &how].concat());
    let run = output.json();
    assert_balanced(&run);
    let planned = count(&run["tally"], "planned");
    assert_eq!(planned + count(&run["cancelled_tally"], "planned"), 50, "{run}");
    assert_eq!(count(&run["stream"]["tally"], "planned"), planned, "{}", run["stream"]);
    assert_eq!(count(&run["stream"]["tally"], "complete"), planned, "{}", run["stream"]);
}

#[test]
fn a_cancellation_that_makes_no_sense_is_refused_in_a_line() {
    let dir = TestDir::new();
    for (arguments, says) in [
        (&["http://127.0.0.1:9/", "--cancel", "5%"][..], "write a share and a time, such as '5% after 1s'"),
        (&["http://127.0.0.1:9/", "--cancel", "5% after 1m"], "--timeout ends a request first"),
        (&["ws://127.0.0.1:9/", "--data", "x", "--cancel", "5% after 1s"], "cannot be called back"),
        (
            &["http://127.0.0.1:9/", "--model", "partly-open", "--session-length", "2", "--cancel", "5% after 1s"],
            "one request depends on the answer to another",
        ),
    ] {
        let output = dir.truetail(&[&["run", "-r", "10", "-d", "1s"][..], arguments].concat());
        let lines = output.stderr.lines().count();
        assert!(output.code == Some(2) && output.stderr.contains(says) && lines == 1, "{arguments:?}: {output:?}");
    }
}
