//! Channels that are opened before the load: no message waits for the opening of its channel, and what could not be
//! opened in time is told and left to the messages.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustls::{ServerConnection, StreamOwned};
use truetail_engine::{
    AddressOverrides, ChannelUrl, Control, Exchange, ExchangeStep, Expectation, FeedOrder, Framing, Matching,
    MessageOptions, Method, Plan, RequestSet, RunOutput, Target, TargetRequests,
};
use truetail_model::record::{Cause, Metric};
use truetail_model::time::Nanos;
use truetail_model::workload::LoadModel;
use truetail_run::MessageBooks;

use crate::support::{TIMEOUT, closed, open, run, run_with, tls};

/// What a server does with a new connection.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Opening {
    Welcome,
    /// A welcome after this time.
    After(Duration),
    WelcomeAndClose,
    Refuse,
    /// No welcome. The connection stays open.
    Never,
}

/// An echo of lines, which each connection opens with a welcome.
struct Server {
    address: SocketAddr,
    connections: Arc<AtomicU64>,
    /// Number of connections that were welcomed by the first message.
    at_first_message: Arc<AtomicU64>,
}

impl Server {
    /// Starts a server that opens connection number n, from 0, as `opening(n)` says.
    fn start(opening: impl Fn(u64) -> Opening + Send + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = Server { address, connections: Arc::default(), at_first_message: Arc::default() };
        let connections = Arc::clone(&server.connections);
        let counts = (Arc::<AtomicU64>::default(), Arc::clone(&server.at_first_message));
        thread::spawn(move || {
            for (number, socket) in (0..).zip(listener.incoming().flatten()) {
                connections.fetch_add(1, Ordering::SeqCst);
                let (welcomed, at_first) = counts.clone();
                let opening = opening(number);
                thread::spawn(move || serve(socket, opening, &welcomed, &at_first));
            }
        });
        server
    }

    /// Returns a plan with this number of channels for one worker.
    fn plan(&self, channels: u32, messages: u64) -> Plan {
        let plan = Plan { target: target(&format!("tcp://{}", self.address), true), ..open(ANY, 500.0, messages) };
        with_channels(plan, channels)
    }

    fn seen(&self) -> u64 {
        self.connections.load(Ordering::SeqCst)
    }
}

/// A URL that a target of messages replaces.
const ANY: &str = "http://127.0.0.1:1";
/// Longer than any limit of the openings.
const ENDLESS: Nanos = Nanos::from_secs(300);

fn target(url: &str, is_welcomed: bool) -> Target {
    let mut only = TargetRequests::new(Method::Other("SEND".to_owned()), url.to_owned(), 1);
    only.push_message(b"ping");
    let requests = RequestSet::new(vec![only], 0, FeedOrder::InOrder, 1).unwrap();
    let origin = ChannelUrl::parse(url).unwrap().origin;
    let mut target = Target::for_origin(requests, origin, &AddressOverrides::default()).unwrap();
    let mut options = MessageOptions::new("line".parse::<Framing>().unwrap(), Matching::Order);
    if is_welcomed {
        let welcome = Expectation { content: b"welcome".to_vec(), passes_over: false, within: ENDLESS };
        options.hello = Exchange::new(vec![ExchangeStep::Expect(welcome)]);
    }
    target.use_messages(options);
    target
}

fn with_channels(mut plan: Plan, channels: u32) -> Plan {
    plan.workload.limits.connections = Some(channels);
    plan.threads = Some(1);
    plan
}

fn serve(mut socket: TcpStream, opening: Opening, welcomed: &AtomicU64, at_first: &AtomicU64) -> Option<()> {
    socket.set_nodelay(true).ok()?;
    match opening {
        Opening::Refuse => return None,
        Opening::Never => return std::io::copy(&mut socket, &mut std::io::sink()).ok().map(|_| ()),
        Opening::After(time) => thread::sleep(time),
        Opening::Welcome | Opening::WelcomeAndClose => {}
    }
    welcomed.fetch_add(1, Ordering::SeqCst);
    socket.write_all(b"welcome\n").ok()?;
    if opening == Opening::WelcomeAndClose {
        return None;
    }
    echo(BufReader::new(socket), welcomed, at_first)
}

/// Echoes lines, and notes how many connections were ready for the first one.
fn echo<S: Read + Write>(mut stream: BufReader<S>, ready: &AtomicU64, at_first: &AtomicU64) -> Option<()> {
    let mut line = Vec::new();
    while stream.read_until(b'\n', &mut line).ok()? > 0 {
        let _ = at_first.compare_exchange(0, ready.load(Ordering::SeqCst), Ordering::SeqCst, Ordering::SeqCst);
        stream.get_mut().write_all(&line).ok()?;
        line.clear();
    }
    Some(())
}

/// Returns how many messages opened their channel, and how many waited for one.
fn waited(output: &RunOutput) -> (usize, usize) {
    let samples = &output.snapshot.samples;
    assert!(samples.is_complete());
    let waits = samples.even().iter().filter(|record| !record.delay.connection_wait.is_zero());
    (samples.even().iter().filter(|record| record.connected).count(), waits.count())
}

fn books(output: &RunOutput) -> MessageBooks {
    output.generator.messages.clone().unwrap()
}

fn assert_all_answered(output: &RunOutput, messages: u64) {
    let tally = output.snapshot.tally;
    assert_eq!((tally.planned, tally.responses), (messages, messages), "{tally:?} {:?}", output.snapshot.causes);
}

#[test]
fn no_message_waits_for_the_opening_of_its_channel() {
    const CHANNELS: u32 = 20;
    for workers in [1, 3] {
        let server = Server::start(|_| Opening::Welcome);
        let mut plan = server.plan(CHANNELS, 200);
        plan.threads = Some(workers);
        let output = run(&plan);
        assert_all_answered(&output, 200);
        assert_eq!(waited(&output), (0, 0));
        assert_eq!(output.snapshot.metric(Metric::ConnectTime).count(), 20);
        assert_eq!((server.seen(), server.at_first_message.load(Ordering::SeqCst)), (20, 20));
        assert_eq!((output.generator.connections_opened, output.generator.connections_peak), (20, 20));
        assert_eq!(books(&output), MessageBooks { channels_opened_before: 20, ..MessageBooks::default() });
    }
}

/// More channels than are opened at once, and more than there are messages.
#[test]
fn every_channel_is_opened_also_if_no_message_needs_it() {
    let server = Server::start(|_| Opening::Welcome);
    let output = run(&server.plan(150, 10));
    assert_all_answered(&output, 10);
    assert_eq!((waited(&output), server.seen()), ((0, 0), 150));
    let first = output.snapshot.intervals.at(0).unwrap();
    assert_eq!(first.metric(Metric::ConnectTime).count(), 150);
}

#[test]
fn a_slow_opening_delays_no_message() {
    const OPENING: Duration = Duration::from_millis(300);
    let server = Server::start(|_| Opening::After(OPENING));
    let output = run(&server.plan(20, 100));
    assert_all_answered(&output, 100);
    assert_eq!((waited(&output), server.at_first_message.load(Ordering::SeqCst)), ((0, 0), 20));
    assert_eq!(output.snapshot.metric(Metric::ConnectTime).count(), 20);
}

#[test]
fn a_channel_that_was_refused_is_opened_by_a_message() {
    let server = Server::start(|number| if number == 2 { Opening::Refuse } else { Opening::Welcome });
    let output = run(&server.plan(20, 100));
    assert_all_answered(&output, 100);
    let failed = [(Cause::ClosedBeforeAnswer, 1)].into_iter().collect();
    let expected =
        MessageBooks { channels_opened_before: 19, channels_failed_before: failed, ..MessageBooks::default() };
    assert_eq!(books(&output), expected);
    assert_eq!((waited(&output).0, server.seen()), (1, 21));
    assert_eq!(output.snapshot.metric(Metric::ConnectTime).count(), 20);
    let note = books(&output).note_about_channels().unwrap();
    let said = "1 of 20 channels were not open when the load began (1× connection closed before any answer); messages";
    assert!(note.starts_with(said), "{note}");
}

#[test]
fn a_channel_that_is_closed_before_the_load_is_opened_again_by_a_message() {
    let opening = |number| match number {
        0 => Opening::WelcomeAndClose,
        1 => Opening::After(Duration::from_millis(300)),
        _ => Opening::Welcome,
    };
    let server = Server::start(opening);
    let output = run(&server.plan(4, 100));
    assert_all_answered(&output, 100);
    assert_eq!((waited(&output).0, server.seen()), (1, 5));
    let expected = MessageBooks { channels_opened_before: 4, channels_lost: 1, ..MessageBooks::default() };
    assert_eq!(books(&output), expected);
    assert_eq!(output.snapshot.metric(Metric::ConnectTime).count(), 5);
}

/// The schedule waits no longer for a channel than a message would.
#[test]
fn a_server_that_never_opens_a_channel_holds_up_no_schedule() {
    let server = Server::start(|number| if number == 1 { Opening::Never } else { Opening::Welcome });
    let mut plan = server.plan(4, 100);
    plan.workload.limits.timeout = Some(TIMEOUT);
    let output = run(&plan);
    assert_all_answered(&output, 100);
    let expected = MessageBooks { channels_opened_before: 3, channels_late: 1, ..MessageBooks::default() };
    assert_eq!((books(&output), waited(&output).0, server.seen()), (expected, 1, 5));

    let server = Server::start(|_| Opening::Never);
    let mut plan = server.plan(4, 20);
    plan.workload.limits.timeout = Some(Nanos::from_millis(300));
    let output = run(&plan);
    let tally = output.snapshot.tally;
    assert_eq!((tally.planned, tally.timed_out, books(&output).channels_late), (20, 20, 4), "{tally:?}");
    assert_eq!(output.snapshot.metric(Metric::ConnectTime).count(), 0);
}

#[test]
fn where_nothing_listens_each_message_says_so() {
    let (_held, address) = crate::support::nobody();
    let plan = Plan { target: target(&format!("tcp://{address}"), true), ..open(ANY, 500.0, 20) };
    let output = run(&with_channels(plan, 4));
    assert_eq!(output.snapshot.tally.connect_failed, 20, "{:?}", output.snapshot.tally);
    assert_eq!(books(&output).channels_failed_before, [(Cause::Refused, 4)].into_iter().collect());
}

#[test]
fn a_stop_ends_the_openings_too() {
    let server = Server::start(|_| Opening::Never);
    let mut plan = server.plan(4, 1_000_000);
    plan.workload.limits.timeout = None;
    let control = Control::new();
    let stopping = {
        let control = control.clone();
        let connections = Arc::clone(&server.connections);
        thread::spawn(move || {
            while connections.load(Ordering::SeqCst) < 4 {
                thread::sleep(Duration::from_millis(1));
            }
            assert!(control.is_preparing() && control.elapsed().is_none());
            control.stop_now();
        })
    };
    let began = Instant::now();
    let output = run_with(&plan, &control);
    stopping.join().unwrap();
    // Without the stop, the openings would have 10 s.
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
    assert!(output.cut_short && output.snapshot.tally.planned < 1_000_000);
    assert!(!control.is_preparing() && control.elapsed().is_some());
}

fn unix_ns() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64
}

/// Channels are opened before a given start. If there is no time for it, the messages open them.
#[test]
fn a_given_start_is_not_moved() {
    let server = Server::start(|_| Opening::Welcome);
    let at = unix_ns() + 2_000_000_000;
    let mut plan = server.plan(4, 100);
    plan.start_at_unix_ns = Some(at);
    let output = run(&plan);
    assert_all_answered(&output, 100);
    assert_eq!((output.started_at_unix_ns, output.start.unwrap().late_ns), (at, 0));
    assert_eq!((books(&output).channels_opened_before, waited(&output)), (4, (0, 0)));

    let server = Server::start(|_| Opening::Welcome);
    let at = unix_ns() - 50_000_000;
    let mut plan = server.plan(4, 500);
    plan.start_at_unix_ns = Some(at);
    let output = run(&plan);
    let missed = output.start.unwrap().missed;
    assert_eq!(output.started_at_unix_ns, at);
    assert_eq!(output.snapshot.tally.never_issued, missed);
    assert_eq!((books(&output).channels_opened_before, books(&output).channels_late), (0, 4));
    assert_eq!(waited(&output).0, if missed < 500 { server.seen() as usize } else { 0 });
}

#[test]
fn users_find_their_channels_open() {
    let server = Server::start(|_| Opening::Welcome);
    let plan = Plan { target: target(&format!("tcp://{}", server.address), true), ..closed(ANY, 8, 200) };
    let output = run(&with_channels(plan, 2));
    assert_all_answered(&output, 200);
    assert_eq!((waited(&output), server.seen()), ((0, 0), 2));
}

#[test]
fn sessions_open_their_own_channels() {
    let server = Server::start(|_| Opening::Welcome);
    let mut plan = server.plan(3, 20);
    let LoadModel::Open(sessions) = plan.workload.model else { unreachable!("an open plan") };
    plan.workload.model = LoadModel::PartlyOpen { sessions, requests_per_session: 3, think_time: Nanos::ZERO };
    plan.workload.limits.connection_per_session = true;
    let output = run(&plan);
    assert_all_answered(&output, 60);
    assert_eq!((waited(&output).0, server.seen()), (20, 20));
    assert_eq!(books(&output), MessageBooks::default());
}

/// The last message of a handshake of TLS 1.3 is the client's, and has no message to go with.
#[test]
fn handshakes_of_tls_are_complete_before_the_load() {
    let secured = Arc::new(AtomicU64::new(0));
    let at_first = Arc::new(AtomicU64::new(0));
    let counts = (Arc::clone(&secured), Arc::clone(&at_first));
    let mut config = tls::usual();
    config.alpn_protocols.clear();
    let config = Arc::new(config);
    let address = tls::listen(move |mut socket| {
        let mut session = ServerConnection::new(Arc::clone(&config)).unwrap();
        while session.is_handshaking() {
            if session.complete_io(&mut socket).is_err() {
                return;
            }
        }
        counts.0.fetch_add(1, Ordering::SeqCst);
        echo(BufReader::new(StreamOwned::new(session, socket)), &counts.0, &counts.1);
    });
    let mut target = target(&format!("tls://{address}"), false);
    target.secure(&tls::trusting()).unwrap();
    let mut plan = with_channels(Plan { target, ..open(ANY, 100.0, 20) }, 4);
    // Time for the server's threads, which notice the end of the handshake on their own.
    plan.start_at_unix_ns = Some(unix_ns() + 3_000_000_000);
    let output = run(&plan);
    assert_all_answered(&output, 20);
    assert_eq!((waited(&output), at_first.load(Ordering::SeqCst)), ((0, 0), 4));
    let count = |metric: Metric| output.snapshot.metric(metric).count();
    assert_eq!((count(Metric::ConnectTime), count(Metric::TlsHandshakeTime)), (4, 4));
}
