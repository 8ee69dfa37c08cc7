//! `truetail run grpc://… --channel`: messages on calls that stay open, from the flags to the report.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::grpc::{frame, literal, proto};
use super::raw_server::serve_each;
use super::support::{TestDir, assert_balanced, assert_complete};

/// The message of each call that is answered twice, the one before which a message comes that nobody asked for, and the
/// one that ends the call without an answer.
const DOUBLED: u64 = 10;
const UNASKED: u64 = 20;
const LAST: u64 = 50;

/// Age of the time in a push when it is sent.
const DELAY: Duration = Duration::from_millis(70);

/// What a server does besides its echoes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Manner {
    Plain,
    Strange,
    /// It follows each echo but the first with a push that names a time, in microseconds.
    Pushes,
}

/// What a server did, over all calls.
#[derive(Clone, Copy, Default, Debug)]
struct Counts {
    calls: u64,
    received: u64,
    answered: u64,
    doubled: u64,
    unasked: u64,
    ended: u64,
}

struct Server {
    place: String,
    counts: Arc<Mutex<Counts>>,
}

impl Server {
    /// Starts a server that echoes each message as it comes.
    fn start(manner: Manner) -> Server {
        let counts = Arc::new(Mutex::new(Counts::default()));
        let shared = counts.clone();
        let place = serve_each(move |socket| serve(socket, &shared, manner));
        Server { place, counts }
    }

    fn counts(&self) -> Counts {
        *self.counts.lock().expect("no panic")
    }

    fn url(&self) -> String {
        format!("grpc://{}/test.Asker/Talk", self.place)
    }
}

/// Returns a push with the time of [`DELAY`] ago.
fn push() -> Option<Vec<u8>> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    let time = (now - DELAY).as_micros().to_string();
    let field = [b"\x0a", &[time.len() as u8][..], time.as_bytes()].concat();
    Some([&[0, 0, 0, 0, field.len() as u8][..], &field].concat())
}

fn serve(mut socket: TcpStream, counts: &Mutex<Counts>, manner: Manner) -> Option<()> {
    const CALL: [u8; 4] = [0, 0, 0, 1];
    let is_strange = manner == Manner::Strange;
    socket.set_nodelay(true).ok()?;
    socket.read_exact(&mut [0; 24]).ok()?;
    socket.write_all(&frame(4, 0, [0; 4], &[])).ok()?;
    let mut held = Vec::new();
    let mut number = 0;
    loop {
        let mut head = [0; 9];
        socket.read_exact(&mut head).ok()?;
        let [a, b, c, kind, flags, ..] = head;
        let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
        socket.read_exact(&mut payload).ok()?;
        match kind {
            0 => held.extend_from_slice(&payload),
            1 => {
                counts.lock().expect("no panic").calls += 1;
                let fields = [vec![0x88], literal("content-type", "application/grpc")].concat();
                socket.write_all(&frame(1, 4, CALL, &fields)).ok()?;
            }
            4 if flags == 0 => socket.write_all(&frame(4, 1, [0; 4], &[])).ok()?,
            _ => {}
        }
        while let Some(length) = held.get(1..5).map(|length| 5 + length[3] as usize).filter(|all| held.len() >= *all) {
            let message: Vec<u8> = held.drain(..length).collect();
            number += 1;
            let mut counts = counts.lock().expect("no panic");
            counts.received += 1;
            if is_strange && number == LAST {
                counts.ended += 1;
                socket.write_all(&frame(1, 5, CALL, &literal("grpc-status", "8"))).ok()?;
                // The client says goodbye.
                return std::io::copy(&mut socket, &mut std::io::sink()).ok().map(|_| ());
            }
            if is_strange && number == UNASKED {
                counts.unasked += 1;
                socket.write_all(&frame(0, 0, CALL, b"\0\0\0\0\x08\x0a\x06nobody")).ok()?;
            }
            let times = if is_strange && number == DOUBLED { 2 } else { 1 };
            counts.doubled += times - 1;
            counts.answered += 1;
            (0..times).try_for_each(|_| socket.write_all(&frame(0, 0, CALL, &message)).ok())?;
            if manner == Manner::Pushes && number > 1 {
                counts.unasked += 1;
                socket.write_all(&frame(0, 0, CALL, &push()?)).ok()?;
            }
        }
    }
}

#[test]
fn each_arrival_is_a_message_on_a_call_that_stays_open() {
    let server = Server::start(Manner::Strange);
    let dir = TestDir::new();
    let url = server.url();
    let load = ["run", &url, "--channel", "-r", "1000", "-n", "400", "-c", "4", "--quiet", "--out", "run"];
    let more = ["--data", "{\"name\":\"{{seq}}\"}", "--match", "json:/name", "--proto", proto(&dir)];
    let output = dir.truetail(&[&load[..], &more, &["--check", "message.name != \"nobody\""]].concat());
    let run = assert_complete(&dir.path().join("run"));
    output.assert_code(&run, 0);
    assert_balanced(&run);
    let counts = server.counts();
    let tally = &run["tally"];
    let books = &run["messages"];
    assert_eq!((&tally["planned"], &tally["responses"]), (&400.into(), &counts.answered.into()), "{counts:?}");
    // Each call that ended took its last message with it, and what was on the way.
    let lost = 400 - counts.answered;
    assert!(counts.ended > 0 && lost >= counts.ended, "{counts:?}");
    assert_eq!((&tally["reset"], &tally["malformed"]), (&lost.into(), &0.into()), "{tally}");
    assert_eq!(run["causes"], serde_json::json!({"call_ended": lost}), "{tally}");
    assert_eq!((&books["doubled"], &books["unmatched"]), (&counts.doubled.into(), &counts.unasked.into()), "{books}");
    assert_eq!((&books["channels_lost"], &books["pushes"]), (&counts.ended.into(), &0.into()));
    assert_eq!(books["call_statuses"], serde_json::json!({"RESOURCE_EXHAUSTED": counts.ended}));
    // A reply is read as one message, and not as the list of the messages of its call.
    assert_eq!(run["checks"][0]["passed"], tally["responses"], "{}", run["checks"]);
    // One more call was opened before the load.
    assert_eq!(run["connect_time"]["count"], counts.calls - 1, "{counts:?}");
    assert!(run["grpc"].is_null() && run["stream"].is_null());
    assert_eq!(run["scenario"]["messages"], serde_json::json!({"framing": "grpc", "matching": "json:/name"}));
    let ended = format!("{} calls ended with RESOURCE_EXHAUSTED", counts.ended);
    let shown = output.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in ["4 channels, gRPC, matched by json:/name", &ended] {
        assert!(shown.contains(part), "{}", output.stdout);
    }
}

/// The time is read in the JSON of the message, and every push has one. The echo of the subscription is the first
/// message of a call.
#[test]
fn the_time_of_the_sender_is_read_in_pushes() {
    let server = Server::start(Manner::Pushes);
    let dir = TestDir::new();
    let url = server.url();
    let subscribe = dir.file("ticks.txt", "send {\"name\":\"ticks\"}\nexpect ticks\n");
    let load = ["run", &url, "--channel", "-r", "100", "-n", "50", "-c", "2", "--quiet", "--out", "run"];
    let more = ["--data", "{\"name\":\"{{seq}}\"}", "--match", "json:/name", "--proto", proto(&dir)];
    let stamp = ["--subscribe", subscribe, "--stamp", "json:/name", "--stamp-unit", "us"];
    let output = dir.truetail(&[&load[..], &more, &stamp].concat());
    let run = assert_complete(&dir.path().join("run"));
    output.assert_code(&run, 0);
    assert_balanced(&run);
    let stream = &run["stream"];
    assert_eq!((&run["tally"]["responses"], &run["messages"]["unmatched"]), (&50.into(), &0.into()), "{run}");
    // A push that followed the last echo may come when the run is over.
    let read = stream["stamps"]["read"].as_u64().expect("a count");
    assert_eq!((&stream["events"], &run["messages"]["pushes"]), (&read.into(), &read.into()), "{stream}");
    assert!((40..=server.counts().unasked).contains(&read), "{stream}");
    assert_eq!((&stream["stamps"]["unread"], &stream["stamps"]["contradictory"]), (&0.into(), &0.into()), "{stream}");
    // The clock is that of the test, so no delay can be shorter than the age of the time.
    let delay = &stream["push_delay"];
    assert_eq!(delay["count"], read, "{stream}");
    assert!(delay["min_ns"].as_u64() >= Some(DELAY.as_nanos() as u64 - 1_000), "{delay}");
    assert!(output.stdout.contains("delay from the time at /name, in us"), "{}", output.stdout);
}

#[test]
fn rows_are_encoded_and_replies_may_come_in_order_or_not_at_all() {
    let server = Server::start(Manner::Plain);
    let dir = TestDir::new();
    let url = server.url();
    let rows = dir.file("rows.csv", "name,count\na,1\nb,2\n");
    for (nth, rule) in ["order", "none", "bytes:2:1"].into_iter().enumerate() {
        let load = ["run", &url, "--channel", "-r", "1000", "-n", "100", "-c", "2", "--quiet", "--no-save", "--json"];
        let more = ["--data", "{\"name\":\"{{name}}\",\"count\":{{count}}}", "--data-from", rows, "--match", rule];
        let run = dir.truetail(&[&load[..], &more, &["--proto", proto(&dir)]].concat()).json();
        assert_balanced(&run);
        assert_eq!((&run["tally"]["responses"], &run["messages"]["channels_lost"]), (&100.into(), &0.into()), "{rule}");
        if rule != "none" {
            assert_eq!(server.counts().received, 100 * (nth as u64 + 1), "each was answered");
        }
    }
}

#[test]
fn what_no_channel_can_be_is_refused_in_one_line() {
    let dir = TestDir::new();
    let file = proto(&dir);
    dir.file("hello.txt", "send {\"nam\":1}\n");
    for (method, options, part) in [
        (
            "Ask",
            &["--channel"][..],
            "needs a method with a stream each way, and test.Asker/Ask takes one message and answers",
        ),
        ("Many", &["--channel"], "test.Asker/Many takes one message; leave --channel out"),
        ("Chat", &["--channel"], "test.Asker/Chat answers with one message; leave --channel out"),
        ("Talk", &["--match", "order"], "--match is for messages on a channel; add --channel"),
        ("Talk", &["--channel", "--message-gap", "1ms"], "cannot be used with"),
        ("Talk", &["--channel", "--deadline", "1s"], "cannot be used with"),
        ("Talk", &["--channel", "--framing", "line"], "--framing: gRPC has a framing of its own"),
        ("Talk", &["--channel", "--data-hex", "00"], "--data-hex: a message of gRPC is written in JSON"),
        ("Talk", &["--channel", "--stamp", "json:/ts"], "--stamp is read in pushes; ask for them with --subscribe"),
        ("Talk", &["--channel", "--match", "fix:11"], "--match fix:TAG compares fields of FIX"),
        ("Talk", &["--channel", "-H", "grpc-accept-encoding: gzip"], "replies on a channel are not decompressed"),
        ("Talk", &["--channel", "--max-streams", "3"], "--max-streams is for HTTP, and messages are sent on a channel"),
        ("Talk", &["--channel", "--data", "[{},{}]"], "--data: a list of messages is for a call that ends"),
        ("Talk", &["--channel", "--data", "{\"nam\":1}"], "--data: no field 'nam' in Question"),
        ("Talk", &["--channel", "--match", "json:/id"], "--data: the message has nothing at --match json:/id"),
        ("Talk", &["--channel", "--hello", "hello.txt"], "hello.txt:1: no field 'nam' in Question"),
        (
            "Talk",
            &["--channel", "--subscribe", "hello.txt"],
            "--subscribe: by order, a push would be taken for a reply",
        ),
    ] {
        let url = format!("grpc://127.0.0.1:1/test.Asker/{method}");
        let output = dir.truetail(&[&["run", &url, "-r", "1", "--proto", file][..], options].concat());
        let told: Vec<&str> = output.stderr.lines().collect();
        assert!(output.code == Some(2) && told.concat().contains(part), "{options:?}: {output:?}");
    }
    let output = dir.truetail(&["run", "http://127.0.0.1:1/", "-r", "1", "--channel"]);
    assert!(output.stderr.contains("--channel is for gRPC; write a URL such as grpc://"), "{output:?}");
    dir.file("calls.txt", "GRPC grpc://127.0.0.1:1/test.Asker/Talk\n");
    let output = dir.truetail(&["run", "--targets", "calls.txt", "-r", "1", "--channel"]);
    assert!(output.stderr.contains("--channel is for the one method of a URL"), "{output:?}");
}
