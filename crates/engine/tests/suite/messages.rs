//! Messages on channels, over real sockets: each reply ends the message that it answers, and a lost channel is opened
//! again.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use crate::support::messages::{Numbered, compared};
use crate::support::{open, run, tls};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use truetail_engine::{
    AddressOverrides, ChannelUrl, Exchange, ExchangeStep, Expectation, FeedOrder, Framing, Matching, MessageOptions,
    Method, Plan, RequestSet, Target, TargetRequests,
};
use truetail_model::record::{Metric, Outcome};
use truetail_model::time::Nanos;
use truetail_run::MessageBooks;

/// An echo of lines that handles what it has read at once: it answers the last line first.
struct Echo {
    address: SocketAddr,
    lines: Arc<AtomicU64>,
    connections: Arc<AtomicU64>,
}

impl Echo {
    /// Starts a server that closes each connection after this many lines, with the rest unanswered.
    fn start(most_lines: u64) -> Echo {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let echo = Echo { address: listener.local_addr().unwrap(), lines: Arc::default(), connections: Arc::default() };
        let counts = (Arc::clone(&echo.lines), Arc::clone(&echo.connections));
        thread::spawn(move || {
            for socket in listener.incoming().flatten() {
                counts.1.fetch_add(1, Ordering::SeqCst);
                let lines = Arc::clone(&counts.0);
                thread::spawn(move || serve(socket, &lines, most_lines));
            }
        });
        echo
    }

    fn plan(&self, messages: u64, matching: Matching) -> Plan {
        let mut only = TargetRequests::new(Method::Other("SEND".to_owned()), "tcp://echo".to_owned(), 1);
        only.push_message(br#"{"id":0}"#);
        let sample = RequestSet::new(vec![only], 0, FeedOrder::InOrder, 1).unwrap();
        let requests = sample.clone().made_in_run(Arc::new(Numbered), &sample);
        let url = ChannelUrl::parse(&format!("tcp://{}", self.address)).unwrap();
        let mut target = Target::for_origin(requests, url.origin, &AddressOverrides::default()).unwrap();
        target.use_messages(MessageOptions::new("line".parse::<Framing>().unwrap(), matching));
        let mut plan = Plan { target, ..open(&format!("http://{}", self.address), 20_000.0, messages) };
        plan.workload.limits.connections = Some(4);
        plan.threads = Some(1);
        plan
    }
}

fn serve(socket: TcpStream, lines: &AtomicU64, mut left: u64) -> Option<()> {
    let mut reader = BufReader::new(socket.try_clone().ok()?);
    loop {
        let arrived = reader.fill_buf().ok().filter(|bytes| !bytes.is_empty())?.to_vec();
        let end = arrived.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let mut whole = arrived[..end].to_vec();
        reader.consume(end);
        if end == 0 {
            reader.read_until(b'\n', &mut whole).ok()?;
        }
        let mut batch: Vec<&[u8]> = whole.split_inclusive(|byte| *byte == b'\n').collect();
        batch.truncate(left as usize);
        lines.fetch_add(batch.len() as u64, Ordering::SeqCst);
        left -= batch.len() as u64;
        batch.reverse();
        (&socket).write_all(&batch.concat()).ok()?;
        if left == 0 {
            return socket.shutdown(std::net::Shutdown::Both).ok();
        }
    }
}

#[test]
fn each_reply_ends_the_message_with_its_id_in_any_order() {
    const MESSAGES: u64 = 20_000;
    let echo = Echo::start(u64::MAX);
    let (output, right) = compared(echo.plan(MESSAGES, Matching::Json("/id".to_owned())), 0);
    assert_eq!(output.snapshot.tally.responses, MESSAGES, "{:?}", output.snapshot.causes);
    assert_eq!((right.len() as u64, echo.lines.load(Ordering::SeqCst)), (MESSAGES, MESSAGES));
    assert_eq!(echo.connections.load(Ordering::SeqCst), 4);
    let expected = MessageBooks { channels_opened_before: 4, ..MessageBooks::default() };
    assert_eq!(output.generator.messages, Some(expected));
    assert_eq!(output.generator.streams, None, "streams are HTTP/2's");
    assert_eq!(output.snapshot.metric(Metric::ConnectTime).count(), 4);
}

/// Accepts a TLS 1.2 connection, and sends a welcome in the segment that ends the handshake. Then echoes lines.
fn welcome_early(mut socket: TcpStream, config: Arc<ServerConfig>) -> Option<()> {
    let mut session = ServerConnection::new(config).ok()?;
    while session.is_handshaking() {
        if !session.wants_write() {
            session.read_tls(&mut socket).ok().filter(|count| *count > 0)?;
            session.process_new_packets().ok()?;
        }
        if !session.is_handshaking() {
            session.writer().write_all(b"welcome\n").ok()?;
        }
        let mut flight = Vec::new();
        while session.wants_write() {
            session.write_tls(&mut flight).ok()?;
        }
        socket.write_all(&flight).ok()?;
    }
    let mut stream = BufReader::new(StreamOwned::new(session, socket));
    let mut line = Vec::new();
    while stream.read_until(b'\n', &mut line).ok()? > 0 {
        stream.get_mut().write_all(&line).ok()?;
        line.clear();
    }
    Some(())
}

#[test]
fn a_welcome_that_ends_the_handshake_is_no_lost_message() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = ChannelUrl::parse(&format!("tls://{}", listener.local_addr().unwrap())).unwrap();
    let mut config = tls::config(&tls::valid(), false, &[&rustls::version::TLS12]);
    config.alpn_protocols.clear();
    let config = Arc::new(config);
    thread::spawn(move || {
        for socket in listener.incoming().flatten() {
            let config = Arc::clone(&config);
            thread::spawn(move || welcome_early(socket, config));
        }
    });
    let mut only = TargetRequests::new(Method::Other("SEND".to_owned()), "tls://echo".to_owned(), 1);
    only.push_message(b"ping");
    let requests = RequestSet::new(vec![only], 0, FeedOrder::InOrder, 1).unwrap();
    let mut target = Target::for_origin(requests, url.origin, &AddressOverrides::default()).unwrap();
    let mut options = MessageOptions::new("line".parse::<Framing>().unwrap(), Matching::Order);
    // Far longer than any stall of this machine: without the welcome, no channel would open in it.
    let welcome = Expectation { content: b"welcome".to_vec(), passes_over: false, within: Nanos::from_secs(20) };
    options.hello = Exchange::new(vec![ExchangeStep::Expect(welcome)]);
    target.use_messages(options);
    target.secure(&tls::trusting()).unwrap();
    let mut plan = Plan { target, ..open("http://127.0.0.1:1", 200.0, 40) };
    plan.workload.limits.connections = Some(4);
    let output = run(&plan);
    assert_eq!(output.snapshot.tally.responses, 40, "{:?}", output.snapshot.causes);
    assert_eq!(output.generator.messages.unwrap().channels_opened_before, 4);
}

#[test]
fn a_lost_channel_ends_its_messages_and_is_opened_again() {
    const MESSAGES: u64 = 3000;
    let echo = Echo::start(500);
    let (output, right) = compared(echo.plan(MESSAGES, Matching::Json("/id".to_owned())), 0);
    let tally = output.snapshot.tally;
    assert_eq!(tally.planned, MESSAGES);
    assert_eq!((tally.responses, right.len() as u64), (echo.lines.load(Ordering::SeqCst), tally.responses));
    assert_eq!(tally.responses + tally.reset + tally.malformed + tally.connect_failed, MESSAGES, "{tally:?}");
    let books = output.generator.messages.unwrap();
    assert!(books.channels_lost > 0 && echo.connections.load(Ordering::SeqCst) > 4, "{books:?}");
    assert_eq!((books.unmatched, books.doubled, books.pushes), (0, 0, 0));
    let is_known = |outcome: Outcome| outcome.is_response() || outcome.is_failed();
    assert!(output.snapshot.samples.even().iter().all(|record| is_known(record.outcome)));
}
