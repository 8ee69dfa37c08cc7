//! `truetail run --framing fix`, against an acceptor that checks each message.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};

use super::raw_server::serve_each;
use super::support::{TestDir, assert_balanced, assert_complete};

/// Mistakes that acceptors found in the messages of their clients.
type Mistakes = Arc<Mutex<Vec<String>>>;

/// Reads a message, and returns its fields.
fn message(reader: &mut impl BufRead, mistakes: &Mistakes) -> Option<HashMap<u32, String>> {
    let mut all = Vec::new();
    let mut fields = HashMap::new();
    let mut body = 0;
    loop {
        let from = all.len();
        reader.read_until(1, &mut all).ok().filter(|length| *length > 0)?;
        let field = String::from_utf8(all[from..all.len() - 1].to_vec()).ok()?;
        let (tag, value) = field.split_once('=')?;
        match tag {
            "10" => {
                let sum = all[..from].iter().fold(0_u32, |sum, byte| sum + u32::from(*byte)) % 256;
                if value != format!("{sum:03}") || fields.get(&9) != Some(&body.to_string()) {
                    mistakes.lock().ok()?.push(format!("{}", all.escape_ascii()));
                }
                return Some(fields);
            }
            "8" | "9" => {}
            _ => body += all.len() - from,
        }
        fields.insert(tag.parse().ok()?, value.to_owned());
    }
}

fn framed(body: &str) -> Vec<u8> {
    let body = body.replace('|', "\x01");
    let head = format!("8=FIX.4.2\x019={}\x01{body}", body.len());
    let sum = head.bytes().map(u32::from).sum::<u32>() % 256;
    format!("{head}10={sum:03}\x01").into_bytes()
}

/// Accepts the logon of ME, and answers test requests with heartbeats. Numbers must rise by one on each connection.
fn accept(mut socket: TcpStream, mistakes: &Mistakes) -> Option<()> {
    let mut reader = BufReader::new(socket.try_clone().ok()?);
    for number in 1_u64.. {
        let fields = message(&mut reader, mistakes)?;
        let field = |tag: u32| fields.get(&tag).map_or("", String::as_str);
        if field(34) != number.to_string() || field(52).len() != 21 || field(8) != "FIX.4.2" {
            mistakes.lock().ok()?.push(format!("{fields:?} instead of {number}"));
        }
        let reply = match (field(35), number, field(49)) {
            ("A", 1, "ME") => format!("35=A|34={number}|49=YOU|56=ME|98=0|108=30|"),
            ("1", 2.., _) => format!("35=0|34={number}|49=YOU|56=ME|112={}|", field(112)),
            _ => format!("35=5|34={number}|58=who are you|"),
        };
        socket.write_all(&framed(&reply)).ok()?;
    }
    None
}

#[test]
fn test_requests_are_numbered_on_each_channel_and_find_their_heartbeats() {
    let mistakes = Mistakes::default();
    let found = Arc::clone(&mistakes);
    let place = serve_each(move |socket| accept(socket, &found));
    let url = format!("tcp://{place}");
    let dir = TestDir::new();
    let logon = dir.file("logon.txt", "send 8=FIX.4.2|35=A|49=ME|56=YOU|98=0|108=30\nexpect 35=A\n");
    let load = ["run", &url, "-r", "400", "-n", "200", "-c", "3", "--framing", "fix", "--hello", logon];
    let test = "8=FIX.4.2|35=1|49=ME|56=YOU|112=";
    let more = ["--data", test, "--match", "fix:112", "--check", "body contains 35=0", "--quiet", "--out", "run"];
    let output = dir.truetail(&[&load[..], &more].concat());
    let run = assert_complete(&dir.path().join("run"));
    output.assert_code(&run, 0);
    assert_balanced(&run);
    assert_eq!((&run["tally"]["responses"], &run["checks"][0]["passed"]), (&200.into(), &200.into()), "{run}");
    assert_eq!((&run["messages"]["unmatched"], &run["messages"]["channels_lost"]), (&0.into(), &0.into()));
    assert_eq!((&run["scenario"]["messages"]["framing"], &run["connect_time"]["count"]), (&"fix".into(), &3.into()));
    assert_eq!(*mistakes.lock().expect("no panic"), [""; 0]);
    let stranger = dir.file("stranger.txt", "send 8=FIX.4.2|35=A|49=HER|56=YOU|98=0|108=30\nexpect 35=A\n");
    let load = ["run", &url, "-r", "10", "-n", "2", "--framing", "fix", "--data", test, "--hello", stranger];
    let output = dir.truetail(&load);
    assert_eq!((output.code, output.stderr.lines().count()), (Some(1), 1), "{output:?}");
    assert!(output.stderr.contains("58=who are you") && output.stderr.contains("'35=A' was expected"), "{output:?}");
}

#[test]
fn what_is_no_fix_is_refused_in_a_line() {
    let dir = TestDir::new();
    for (framing, data, matching, part) in [
        ("fix", "49=ME|35=1", "order", "begins with its kind, such as 35=D"),
        ("fix", "35=1|10=123", "order", "tag 10 is truetail's own"),
        ("fix", "35=1|hello", "order", "'hello' is no field"),
        ("fix", "35=1|49=ME", "fix:112", "nothing at --match fix:112"),
        ("fix", "35=D|11=|55=X", "fix:11", "nothing at --match fix:11"),
        ("line", "35=1|112=", "fix:112", "add --framing fix"),
    ] {
        let load = ["run", "tcp://127.0.0.1:1", "-r", "10", "-n", "1", "--framing", framing, "--data", data];
        let output = dir.truetail(&[&load[..], &["--match", matching]].concat());
        assert_eq!((output.code, output.stderr.lines().count()), (Some(2), 1), "{data}: {output:?}");
        assert!(output.stderr.contains(part), "{data}: {output:?}");
    }
}
