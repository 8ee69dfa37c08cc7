//! Columns of `samples.csv` that say where a request came from, and what carried it: against what a server saw.

use std::collections::{BTreeSet, HashMap};
use std::io::{BufRead, BufReader, Write};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use crate::llm_rows::{Row, rows};
use crate::raw_server::serve_each;
use crate::support::{TestDir, assert_balanced, assert_complete};

const ROWS: u64 = 120;

/// A server that answers after 5 ms. Returns its place, and for each request the port of its connection and its path.
fn serve() -> (String, Receiver<(u16, String)>) {
    let (sender, seen) = channel();
    let place = serve_each(move |mut stream| {
        let port = stream.peer_addr().ok()?.port();
        let mut reader = BufReader::new(stream.try_clone().ok()?);
        loop {
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") {
                if reader.read_line(&mut head).ok()? == 0 {
                    return None;
                }
            }
            let path = head.split(' ').nth(1).expect("a path").to_owned();
            sender.send((port, path)).ok()?;
            thread::sleep(Duration::from_millis(5));
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").ok()?;
        }
    });
    (place, seen)
}

fn data(dir: &TestDir) {
    let ids: String = (0..ROWS).map(|row| format!("{}\n", 1_000 + row)).collect();
    dir.file("ids.csv", &format!("id\n{ids}"));
}

/// Runs `truetail` with these arguments. A busy machine may make the measurement invalid, and changes no column.
fn done(dir: &TestDir, arguments: &[&str]) {
    let output = dir.truetail(arguments);
    assert!(matches!(output.code, Some(0 | 3..)), "{output:?}");
}

/// Runs 100 requests with the rows, and returns the samples in the folder `out`.
fn run(dir: &TestDir, place: &str, out: &str, more: &[&str]) -> Vec<Row> {
    data(dir);
    let url = format!("http://{place}/{{{{id}}}}");
    let load = ["run", &url, "-r", "600", "-n", "100", "--data-from", "ids.csv", "--no-preflight", "--quiet"];
    done(dir, &[&load[..], &["--out", out], more].concat());
    assert_balanced(&assert_complete(&dir.path().join(out)));
    rows(&dir.path().join(out))
}

/// Checks rows and connections of a run without a preflight, each of whose requests has another row.
fn check(samples: &[Row], seen: &Receiver<(u16, String)>) {
    let port_of: HashMap<String, u16> = seen.try_iter().map(|(port, path)| (path, port)).collect();
    let pairs: BTreeSet<(u64, u16)> = samples
        .iter()
        .map(|sample| {
            let row = sample.number("row").expect("a row");
            (sample.number("connection").expect("a connection"), port_of[&format!("/{}", 1_000 + row)])
        })
        .collect();
    let [connections, ports] = [
        pairs.iter().map(|(connection, _)| *connection).collect::<BTreeSet<u64>>().len(),
        pairs.iter().map(|(_, port)| *port).collect::<BTreeSet<u16>>().len(),
    ];
    assert_eq!((connections, ports), (pairs.len(), pairs.len()), "one number for each port: {pairs:?}");
    assert!(connections > 1, "{pairs:?}");
}

#[test]
fn rows_and_connections_are_those_that_the_server_saw() {
    let dir = TestDir::new();
    let (place, seen) = serve();
    for feed in ["in-order", "once"] {
        let samples = run(&dir, &place, feed, &["--threads", "2", "--feed", feed]);
        assert_eq!(samples.len(), 100);
        assert!(samples.iter().all(|sample| sample.number("row") == sample.number("index")));
        check(&samples, &seen);
    }
    // Drawn rows repeat, so the paths tell rows, and not requests.
    let samples = run(&dir, &place, "random", &["--feed", "random"]);
    let mut drawn: Vec<String> =
        samples.iter().map(|sample| format!("/{}", 1_000 + sample.number("row").expect("a row"))).collect();
    let mut paths: Vec<String> = seen.try_iter().map(|(_, path)| path).collect();
    drawn.sort_unstable();
    paths.sort_unstable();
    assert_eq!(drawn, paths);
}

#[test]
fn stripes_that_are_merged_share_no_connection() {
    let dir = TestDir::new();
    let (place, seen) = serve();
    for (stripe, out) in [("1/2", "first"), ("2/2", "second")] {
        assert_eq!(run(&dir, &place, out, &["--stripe", stripe]).len(), 50);
    }
    done(&dir, &["merge", "first", "second", "--out", "whole"]);
    let samples = rows(&dir.path().join("whole"));
    assert_eq!(samples.len(), 100);
    check(&samples, &seen);
}

#[test]
fn sessions_and_turns_are_those_of_the_flow() {
    let dir = TestDir::new();
    data(&dir);
    dir.file("f.hurl", "GET {{host}}/a/{{id}}\nHTTP 200\n\nGET {{host}}/b/{{id}}\nHTTP 200\n");
    let (place, seen) = serve();
    let host = format!("host=http://{place}");
    let load = ["run", "--flow", "f.hurl", "--variable", &host, "-r", "100", "-d", "400ms", "--data-from", "ids.csv"];
    done(&dir, &[&load[..], &["--quiet", "--no-preflight", "--out", "f"]].concat());
    let mut of_samples: Vec<String> = Vec::new();
    let mut places = BTreeSet::new();
    for sample in rows(&dir.path().join("f")) {
        let [session, turn, row, target] =
            ["session", "turn", "row", "target"].map(|column| sample.number(column).expect("a value"));
        assert_eq!((row, target), (session % ROWS, turn));
        places.insert((session, turn));
        of_samples.push(format!("/{}/{}", ["a", "b"][turn as usize], 1_000 + row));
    }
    assert_eq!(places, (0..40).flat_map(|session| [(session, 0), (session, 1)]).collect());
    let mut paths: Vec<String> = seen.try_iter().map(|(_, path)| path).collect();
    of_samples.sort_unstable();
    paths.sort_unstable();
    assert_eq!(of_samples, paths);

    let simulated = ["simulate", "01-healthy", "--flow", "f.hurl", "--variable", "host=http://127.0.0.1:1"];
    dir.file("f.hurl", "GET {{host}}/a\nHTTP 200\n\nGET {{host}}/b\nHTTP 200\n");
    done(&dir, &[&simulated[..], &["--out", "s"]].concat());
    let samples = rows(&dir.path().join("s"));
    assert!(!samples.is_empty());
    assert!(samples.iter().all(|sample| sample.number("turn") == sample.number("target")));
}
