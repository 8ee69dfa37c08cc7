//! `truetail run --subscribe`: pushes on channels are the events of a stream.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::raw_server::serve_each;
use super::support::{TestDir, assert_balanced, assert_complete};

/// Time between two ticks, and the silence of the feed in its middle.
const TICK: Duration = Duration::from_millis(10);
const SILENCE: Duration = Duration::from_millis(300);
/// Age of a tick when it is pushed.
const DELAY: Duration = Duration::from_millis(70);
/// Ticks of a channel.
const TICKS: u64 = 60;

/// A feed that echoes lines with an id, and pushes [`TICKS`] ticks on each subscribed channel.
struct Feed {
    url: String,
    pushed: Arc<AtomicU64>,
}

impl Feed {
    /// Starts a feed that closes each channel after its ticks if it `ends`.
    fn start(ends: bool) -> Feed {
        let pushed = Arc::default();
        let shared = Arc::clone(&pushed);
        let place = serve_each(move |socket| serve(socket, Arc::clone(&shared), ends));
        Feed { url: format!("tcp://{place}"), pushed }
    }
}

fn serve(mut socket: TcpStream, pushed: Arc<AtomicU64>, ends: bool) -> Option<()> {
    socket.set_nodelay(true).ok()?;
    let mut lines = BufReader::new(socket.try_clone().ok()?).lines();
    if lines.next()?.ok()? != "subscribe ticks" {
        return None;
    }
    socket.write_all(b"subscribed\n").ok()?;
    let mut ticking = socket.try_clone().ok()?;
    // A channel that only tries to open gets no ticks.
    let mut first = Some(move || {
        for tick in 0..TICKS {
            thread::sleep(if tick == TICKS / 2 { SILENCE } else { TICK });
            let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
            let sent = (now - DELAY).as_micros();
            ticking.write_all(format!("{{\"tick\":{tick},\"ts\":{sent}}}\n").as_bytes()).ok()?;
            pushed.fetch_add(1, Ordering::SeqCst);
        }
        ends.then(|| ticking.shutdown(std::net::Shutdown::Both)).map(|_| ())
    });
    for line in lines {
        let line = line.ok()?;
        socket.write_all(format!("{line}\n").as_bytes()).ok()?;
        first.take().into_iter().for_each(|tick| drop(thread::spawn(tick)));
    }
    Some(())
}

const SUBSCRIPTION: &str = "send subscribe ticks\nexpect subscribed\n";

#[test]
fn pushes_are_the_events_of_a_stream_beside_messages() {
    let feed = Feed::start(false);
    let dir = TestDir::new();
    let subscribe = dir.file("ticks.txt", SUBSCRIPTION);
    let load = ["run", &feed.url, "-r", "50", "-d", "2s", "-c", "3", "--framing", "line", "--data", "{\"id\":{{seq}}}"];
    let more = ["--match", "json:/id", "--subscribe", subscribe, "--stall", "250ms", "--quiet", "--out", "run"];
    let stamp = ["--stamp", "json:/ts", "--stamp-unit", "us"];
    let gates = ["--slo", "event-gap p90 < 250ms", "--html", "page.html"];
    let output = dir.truetail(&[&load[..], &more, &stamp, &gates].concat());
    let run = assert_complete(&dir.path().join("run"));
    output.assert_code(&run, 0);
    assert_balanced(&run);
    assert_eq!((&run["tally"]["responses"], &run["messages"]["unmatched"]), (&100.into(), &0.into()));
    let pushed = feed.pushed.load(Ordering::SeqCst);
    assert_eq!(pushed, 3 * TICKS, "the load is longer than the feed");
    let stream = &run["stream"];
    assert_eq!((&run["messages"]["pushes"], &stream["events"]), (&pushed.into(), &pushed.into()));
    assert_eq!(
        (&stream["kind"], &stream["tally"]["planned"], &stream["tally"]["complete"]),
        (&"pushes".into(), &3.into(), &3.into())
    );
    // Each channel was silent once in the middle, and after its last tick until the load ended.
    assert_eq!(stream["stalls"], 6, "{stream}");
    let gaps = stream["event_gap"]["count"].as_u64().expect("a count");
    let together = stream["coalesced_gaps"].as_u64().expect("a count");
    // Every push but the first of a channel ends a gap, and the end of the run cuts one more of each.
    assert_eq!(gaps + together, pushed, "{stream}");
    let longest = stream["longest_gap"]["max_ns"].as_u64();
    assert!(longest.is_none_or(|longest| longest >= SILENCE.as_nanos() as u64), "{stream}");
    assert!(
        output.stdout.contains("subscribed on 3 channels") && output.stdout.contains("180 pushes"),
        "{}",
        output.stdout
    );
    assert!(
        output.stdout.contains("on each channel") && output.stdout.contains("6 stalls of 250.0ms"),
        "{}",
        output.stdout
    );
    assert!(!output.stdout.contains("nobody asked for"), "{}", output.stdout);
    // The clock is that of the test, so no delay can be shorter than the age of the tick.
    let delay = &stream["push_delay"];
    assert_eq!((&stream["stamps"]["read"], &delay["count"]), (&pushed.into(), &pushed.into()), "{stream}");
    assert!(delay["min_ns"].as_u64() >= Some(DELAY.as_nanos() as u64 - 1_000), "{delay}");
    assert_eq!(stream["push_delay_bound_ns"], 1_000, "one step of the times");
    assert!(output.stdout.contains("delay from the time at /ts, in us: known to ±1.000µs"), "{}", output.stdout);
    let page = std::fs::read_to_string(dir.path().join("page.html")).expect("a page");
    assert!(page.contains("Pushes on subscribed channels"));
}

/// Pushes of the first channel that comes after the one that only tries, before its first message and after.
const EARLY: u64 = 50;
const LATER: u64 = 10;

/// Opens a further channel only when the first one has had its early pushes.
fn serve_early(mut socket: TcpStream, number: u64, were_pushed: &AtomicBool) -> Option<()> {
    let mut lines = BufReader::new(socket.try_clone().ok()?).lines();
    let mut said = format!("{}\n", lines.next()?.ok()?.replace("subscribe ticks", "subscribed"));
    let tick = "{\"tick\":1}\n";
    match number {
        0 => {}
        1 => said.push_str(&tick.repeat(EARLY as usize)),
        _ => {
            while !were_pushed.load(Ordering::SeqCst) {
                thread::sleep(Duration::from_millis(1));
            }
        }
    }
    socket.write_all(said.as_bytes()).ok()?;
    were_pushed.fetch_or(number == 1, Ordering::SeqCst);
    let mut later = if number == 1 { tick.repeat(LATER as usize) } else { String::new() };
    for line in lines {
        socket.write_all(format!("{}\n{later}", line.ok()?).as_bytes()).ok()?;
        later.clear();
    }
    Some(())
}

/// A stream begins with the load. What came before is counted, and is in no gap.
#[test]
fn pushes_before_the_load_are_counted_and_in_no_stream() {
    let number = Arc::new(AtomicU64::new(0));
    let were_pushed = Arc::new(AtomicBool::new(false));
    let place = serve_each(move |socket| serve_early(socket, number.fetch_add(1, Ordering::SeqCst), &were_pushed));
    let dir = TestDir::new();
    let subscribe = dir.file("ticks.txt", SUBSCRIPTION);
    let url = format!("tcp://{place}");
    let load = ["run", &url, "-r", "50", "-n", "20", "-c", "2", "--framing", "line", "--data", "{\"id\":{{seq}}}"];
    let more = ["--match", "json:/id", "--subscribe", subscribe, "--quiet", "--out", "run"];
    let output = dir.truetail(&[&load[..], &more].concat());
    let run = assert_complete(&dir.path().join("run"));
    output.assert_code(&run, 0);
    assert_balanced(&run);
    let books = &run["messages"];
    let stream = &run["stream"];
    assert_eq!((&books["channels_opened_before"], &run["tally"]["responses"]), (&2.into(), &20.into()), "{run}");
    assert_eq!((&books["pushes"], &stream["events"]), (&(EARLY + LATER).into(), &LATER.into()), "{stream}");
    assert_eq!((&stream["tally"]["planned"], &stream["tally"]["complete"]), (&2.into(), &2.into()), "{stream}");
}

/// Nothing is awaited, so the stream of each channel begins with the load, even on one that carries no message.
#[test]
fn a_subscription_that_awaits_nothing_is_measured_from_the_load_on() {
    let place = serve_each(|socket| {
        BufReader::new(socket).lines().map_while(Result::ok).for_each(drop);
        Some(())
    });
    let dir = TestDir::new();
    let subscribe = dir.file("ticks.txt", "send subscribe\n");
    let url = format!("tcp://{place}");
    let load = ["run", &url, "-r", "10", "-n", "2", "-c", "3", "--framing", "line", "--data", "ping", "--quiet"];
    let more = ["--match", "none", "--subscribe", subscribe, "--out", "run"];
    let output = dir.truetail(&[&load[..], &more].concat());
    let run = assert_complete(&dir.path().join("run"));
    output.assert_code(&run, 0);
    let books = &run["stream"]["tally"];
    assert_eq!((&books["planned"], &books["complete"]), (&3.into(), &3.into()), "{run}");
}

#[test]
fn ab_compares_pushes() {
    let [a, b] = [Feed::start(false), Feed::start(false)];
    let dir = TestDir::new();
    let subscribe = dir.file("ticks.txt", SUBSCRIPTION);
    let load =
        ["ab", &a.url, &b.url, "-r", "50", "-d", "1s", "-c", "3", "--framing", "line", "--data", "{\"id\":{{seq}}}"];
    let more = ["--match", "json:/id", "--subscribe", subscribe, "--quiet", "--rounds", "2", "--anyway", "--json"];
    let gate = ["--out", "out", "--fail-if", "event-gap p50 worse than 100000%"];
    let output = dir.truetail(&[&load[..], &more, &gate].concat());
    let json = output.json();
    let times = json["streams"]["times"].as_array().expect("times of pushes");
    assert!(times.iter().any(|time| time["metric"] == "event-gap"), "{json}");
    assert_eq!(json["gates"][0]["text"], "event-gap p50 worse than 100000%", "{json}");
    let of_models = ["--fail-if", "ttft p50 worse than 5%"];
    let refused = dir.truetail(&[&load[..], &more, &of_models].concat());
    assert_eq!((refused.code, refused.stderr.lines().count()), (Some(2), 1), "{refused:?}");
}

#[test]
fn channels_that_the_feed_closes_are_lost_streams() {
    let feed = Feed::start(true);
    let dir = TestDir::new();
    let subscribe = dir.file("ticks.txt", SUBSCRIPTION);
    let load = ["run", &feed.url, "-r", "20", "-d", "1500ms", "-c", "2", "--framing", "line", "--data", "ping"];
    let more = ["--match", "none", "--subscribe", subscribe, "--quiet", "--out", "run"];
    dir.truetail(&[&load[..], &more].concat());
    let run = assert_complete(&dir.path().join("run"));
    assert_balanced(&run);
    let tally = &run["stream"]["tally"];
    let count = |name: &str| tally[name].as_u64().expect("a count");
    // An echo is a push too, as no reply is matched.
    assert!(count("cut") >= 2 && count("planned") == count("cut") + count("complete"), "{tally}");
    assert_eq!(run["stream"]["events"], run["messages"]["pushes"]);
    assert_eq!(run["messages"]["channels_lost"].as_u64(), Some(count("cut")));
}

#[test]
fn a_delay_between_unknown_clocks_is_refused() {
    let dir = TestDir::new();
    let subscribe = dir.file("ticks.txt", SUBSCRIPTION);
    for (url, more, part) in [
        ("tcp://192.0.2.1:1", &["--stamp", "json:/ts"][..], "the sender at 192.0.2.1:1 may have another clock"),
        ("tcp://127.0.0.1:1", &["--stamp", "ts"], "'ts' is no place of a time; write json:/ts"),
        ("tcp://127.0.0.1:1", &["--clock-bound", "1ms"], "--clock-bound is about the sender's time; add --stamp"),
    ] {
        let load = ["run", url, "-r", "10", "-d", "1s", "--framing", "line", "--data", "x", "--match", "none"];
        let output = dir.truetail(&[&load[..], &["--subscribe", subscribe], more].concat());
        assert_eq!((output.code, output.stderr.lines().count()), (Some(2), 1), "{more:?}: {output:?}");
        assert!(output.stderr.contains(part), "{more:?}: {output:?}");
    }
    let load = ["run", "tcp://127.0.0.1:1", "-r", "10", "-d", "1s", "--framing", "line", "--data", "x"];
    let output = dir.truetail(&[&load[..], &["--stamp", "json:/ts"]].concat());
    assert!(output.code == Some(2) && output.stderr.contains("ask for them with --subscribe"), "{output:?}");
}

#[test]
fn pushes_that_could_be_replies_are_refused_in_a_line() {
    let dir = TestDir::new();
    let subscribe = dir.file("ticks.txt", SUBSCRIPTION);
    for (more, part) in [
        (&["--data", "x"][..], "by order, a push would be taken for a reply; add --match json:/id"),
        (&["--match", "none"], "--subscribe needs messages, since they are the load"),
        (&["--data", "x", "--match", "none", "--idle-timeout", "1s"], "count silence with --stall TIME"),
        (&["--data", "x", "--match", "none", "--end-mark", "x"], "--end-mark is the data of a server-sent event"),
        (&["--data", "x", "--match", "none", "--warmup", "auto"], "contradict each other"),
    ] {
        let load = ["run", "tcp://127.0.0.1:1", "-r", "10", "-d", "1s", "--framing", "line", "--subscribe", subscribe];
        let output = dir.truetail(&[&load[..], more].concat());
        assert_eq!((output.code, output.stderr.lines().count()), (Some(2), 1), "{more:?}: {output:?}");
        assert!(output.stderr.contains(part), "{more:?}: {output:?}");
    }
    let redis = dir.file("redis.txt", "send SUBSCRIBE ticks\nexpect\n");
    let hello = dir.file("hello.txt", "send hello 3\nexpect\n");
    let old = dir.file("old.txt", "send HELLO 2\nexpect\n");
    let load =
        ["run", "redis://127.0.0.1:1", "-r", "10", "-d", "1s", "--command", "PING", "--quiet", "--subscribe", redis];
    for more in [&[][..], &["--hello", old]] {
        let output = dir.truetail(&[&load[..], more].concat());
        assert_eq!((output.code, output.stderr.lines().count()), (Some(2), 1), "{more:?}: {output:?}");
        assert!(output.stderr.contains("let --hello FILE begin with 'send HELLO 3'"), "{more:?}: {output:?}");
    }
    let output = dir.truetail(&[&load[..], &["--hello", hello]].concat());
    assert!(output.code != Some(2), "nothing listens, which is no mistake of the command line: {output:?}");
    let load =
        ["run", "tcp://127.0.0.1:1", "-r", "10", "-d", "1s", "--framing", "line", "--data", "x", "--stall", "1s"];
    let output = dir.truetail(&load);
    assert!(output.code == Some(2) && output.stderr.contains("--stall is about streams"), "{output:?}");
}
