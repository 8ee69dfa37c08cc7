//! Services whose truth is known, for runs that ask where the time went; and the parts of a ledger.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use super::support::{CommandOutput, TestDir};

/// Time of a stall. Much longer than any noise, so the part that stalls is the longest one.
pub(super) const STALL: Duration = Duration::from_millis(120);

/// A request: the lines of its head, and its number on its connection. Connections begin at different numbers.
pub(super) struct Request {
    pub(super) head: Vec<String>,
    pub(super) number: usize,
}

impl Request {
    pub(super) fn path(&self) -> &str {
        self.head[0].split(' ').nth(1).expect("a path")
    }

    /// Takes 1 ms, or a stall if it is one of eight requests and its path names this part.
    pub(super) fn spend(&self, part: &str) {
        let stalls = self.path().strip_prefix('/') == Some(part) && self.number.is_multiple_of(8);
        thread::sleep(if stalls { STALL } else { Duration::from_millis(1) });
    }
}

/// Starts a server in which `answer` writes the answer to each request. A connection ends when it returns `None`.
/// Returns its URL.
pub(super) fn serve(answer: impl Fn(&Request, &mut TcpStream) -> Option<()> + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let answer = Arc::new(answer);
    thread::spawn(move || {
        for (accepted, socket) in listener.incoming().flatten().enumerate() {
            let answer = Arc::clone(&answer);
            thread::spawn(move || answer_all(socket, accepted, &*answer));
        }
    });
    url
}

fn answer_all(
    mut socket: TcpStream,
    mut number: usize,
    answer: &dyn Fn(&Request, &mut TcpStream) -> Option<()>,
) -> Option<()> {
    socket.set_nodelay(true).ok()?;
    let mut lines = BufReader::new(socket.try_clone().ok()?).lines();
    loop {
        let head: Vec<_> = lines.by_ref().map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
        head.first()?;
        number += 1;
        answer(&Request { head, number }, &mut socket)?;
    }
}

/// Makes 400 requests at 100/s. Returns `run.json`, and what was printed.
pub(super) fn run(dir: &TestDir, url: &str, more: &[&str]) -> (Value, CommandOutput) {
    let common = ["run", url, "-r", "100", "-n", "400", "--no-preflight", "--quiet", "--force", "--out", "run"];
    let output = dir.truetail(&[&common, more].concat());
    let text = fs::read_to_string(dir.path().join("run/run.json")).unwrap_or_else(|_| panic!("{output:?}"));
    (serde_json::from_str(&text).expect("JSON"), output)
}

pub(super) fn ns(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("no number: {value}"))
}

/// Returns the mean of each part around p99, and checks that they add up to the response time.
pub(super) fn parts_at_p99(run: &Value) -> Vec<(String, f64)> {
    let row = run["ledger"].as_array().and_then(|rows| rows.last()).unwrap_or_else(|| panic!("{}", run["ledger"]));
    let parts = row["parts"].as_array().expect("parts").iter();
    let parts: Vec<(String, f64)> =
        parts.map(|part| (part["name"].as_str().expect("a name").to_owned(), ns(&part["mean_ns"]))).collect();
    let sum: f64 = parts.iter().map(|(_, mean)| mean).sum();
    assert!((sum / ns(&row["response_time_ns"]) - 1.0).abs() < 1e-9, "{row}");
    parts
}

/// Checks that the stall is in this part. The lateness of the generator is another one, so the stall stays in full.
pub(super) fn assert_stalled_in(part: &str, run: &Value) {
    let parts = parts_at_p99(run);
    let longest = parts.iter().max_by(|a, b| a.1.total_cmp(&b.1)).expect("a part");
    assert_eq!(longest.0, part, "{parts:?}");
    // A reported time may be rounded.
    assert!(longest.1 >= STALL.as_nanos() as f64 * 0.999, "{parts:?}");
    let slowest = &run["slowest"][0];
    let total: f64 = slowest["parts"].as_object().expect("parts").values().map(ns).sum();
    // Each part is a whole number of nanoseconds.
    assert!((total - ns(&slowest["response_time_ns"])).abs() <= 10.0, "{slowest}");
    assert!(slowest["parts"][part].as_f64().is_some_and(|ns| ns >= STALL.as_nanos() as f64 * 0.999), "{slowest}");
}
