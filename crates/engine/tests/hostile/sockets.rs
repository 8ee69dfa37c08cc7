//! The table over sockets, and cases that need a connection: bytes before a request, and after an answer.

use std::io::{BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use truetail_engine::{
    AddressOverrides, FeedOrder, Method, Plan, Request, RequestSet, RunOutput, Target, TargetRequests,
};
use truetail_model::record::{Cause, Metric, Outcome};
use truetail_model::time::Nanos;

use crate::HEAD_LIMIT;
use crate::parser::without_an_end;
use crate::support::script::both;
use crate::support::tls::listen;
use crate::support::{ok, open, read_request, run};
use crate::table::{Row, Sent, table};

/// Timeout of requests. Only endless answers reach it; for others it leaves room for a slow machine.
const TIMEOUT: Nanos = Nanos::from_secs(2);
/// Timeout for tests that never reach it. Sending a row in drops takes long on a busy machine.
const LONG_TIMEOUT: Nanos = Nanos::from_secs(30);
/// Bytes that are sent of an endless answer: more than a socket holds.
const ENOUGH: usize = 16 << 20;
/// Bytes per read.
const READ_BUFFER: usize = 64 * 1024;

/// Method of sending a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum How {
    /// Sends it at once and closes.
    ThenClose,
    /// Sends it at once and stays silent, without closing.
    ThenStay,
    /// Sends it in pieces of this many bytes and closes.
    Dripping(usize),
}

/// Answers a request for `/7` with row 7.
fn serve(mut stream: TcpStream, rows: &[Row], how: How) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut line = Vec::new();
    while !line.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        if reader.read_exact(&mut byte).is_err() {
            return;
        }
        line.push(byte[0]);
    }
    let path = String::from_utf8(line).unwrap();
    let row = &rows[path.split(['/', ' ']).nth(2).unwrap().parse::<usize>().unwrap()];
    // The client may close as soon as it has seen enough.
    let sent = match (&row.sent, how) {
        (Sent::Bytes(bytes), How::Dripping(size)) => drip(&mut stream, bytes, size),
        (Sent::Bytes(bytes), _) => stream.write_all(bytes),
        (Sent::Endless(first, again), _) => pour(&mut stream, first, again),
    };
    if sent.is_ok() && (how == How::ThenStay || matches!(row.sent, Sent::Endless(..))) {
        let _ = stream.read(&mut [0; 16]);
    }
}

fn drip(stream: &mut TcpStream, bytes: &[u8], size: usize) -> std::io::Result<()> {
    bytes.chunks(size).try_for_each(|piece| {
        sleep(Duration::from_micros(20));
        stream.write_all(piece)
    })
}

fn pour(stream: &mut TcpStream, first: &[u8], again: &[u8]) -> std::io::Result<()> {
    let block = again.repeat(READ_BUFFER.div_ceil(again.len()));
    stream.write_all(&[first, &block].concat())?;
    (0..ENOUGH / block.len()).try_for_each(|_| stream.write_all(&block))
}

/// Returns a plan with one request for each row, each on a new connection.
fn asking_for_each(origin: &str, method: &Method, rows: usize) -> Plan {
    let mut all = TargetRequests::new(method.clone(), format!("{origin}/{{{{row}}}}"), 1);
    for row in 0..rows {
        let request = Request::new(method.clone(), &format!("{origin}/{row}"), &[], Vec::new()).unwrap();
        all.push(&request.parts());
    }
    let requests = RequestSet::new(vec![all], rows as u32, FeedOrder::InOrder, 0).unwrap();
    let origin = Request::new(method.clone(), origin, &[], Vec::new()).unwrap().origin();
    let mut plan = open("http://127.0.0.1:1/", 1000.0, rows as u64);
    plan.target = Target::for_origin(requests, origin, &AddressOverrides::default()).unwrap();
    plan.keep_alive = false;
    plan
}

/// Runs these rows, which have one method, and compares each outcome with `expected`.
fn check(rows: Vec<Row>, how: How, expected: impl Fn(&Row) -> Outcome) {
    let Some(first) = rows.first() else { return };
    let method = if first.is_head_request { Method::Head } else { Method::Get };
    let rows = Arc::new(rows);
    let served = Arc::clone(&rows);
    let address = listen(move |stream| serve(stream, &served, how));
    let mut plan = asking_for_each(&format!("http://{address}"), &method, rows.len());
    plan.workload.limits.timeout = Some(if matches!(how, How::Dripping(_)) { LONG_TIMEOUT } else { TIMEOUT });
    // Sessions that make their requests during the run get the same outcomes.
    both(plan).iter().for_each(|plan| compare(plan, &rows, how, &expected));
}

fn compare(plan: &Plan, rows: &[Row], how: How, expected: &impl Fn(&Row) -> Outcome) {
    let measured = run(plan);
    assert_eq!(measured.snapshot.tally.planned, rows.len() as u64);
    let records = measured.snapshot.samples.even();
    assert_eq!(records.len(), rows.len());
    for record in records {
        let row = &rows[record.index as usize];
        assert_eq!(record.outcome, expected(row), "{how:?}: {}", row.shown());
        let most =
            if matches!(record.outcome, Outcome::Malformed(_)) { HEAD_LIMIT + 1 + READ_BUFFER } else { 2 * ENOUGH };
        assert!(record.bytes_in <= most as u64, "{} bytes were read of {}", record.bytes_in, row.shown());
    }
}

/// Returns the rows that `chosen` picks, with HEAD requests in a separate list.
fn by_method(chosen: impl Fn(&Row) -> bool) -> [Vec<Row>; 2] {
    let (is_head_request, others) = table().into_iter().filter(chosen).partition(|row| row.is_head_request);
    [others, is_head_request]
}

#[test]
fn every_row_is_what_the_table_says() {
    for rows in by_method(|_| true) {
        check(rows, How::ThenClose, |row| row.outcome);
    }
}

#[test]
fn nothing_is_made_up_for_a_server_that_stays_and_is_silent() {
    for rows in by_method(|_| true) {
        check(rows, How::ThenStay, |row| without_an_end(&row.sent, row.is_head_request).unwrap_or(Outcome::TimedOut));
    }
}

#[test]
fn every_row_is_the_same_in_small_segments() {
    // If bytes follow an answer in a separate segment, the answer counts: see the tests below.
    let cut_alike = |row: &Row| row.outcome != Outcome::Malformed(Cause::LeftoverBytes);
    let is_short = |row: &Row| matches!(&row.sent, Sent::Bytes(bytes) if bytes.len() < 300);
    for rows in by_method(|row| cut_alike(row) && is_short(row)) {
        check(rows, How::Dripping(5), |row| row.outcome);
    }
}

/// Runs `requests` arrivals of `GET /` at `rate`, and calls `serve` with each of their connections.
fn run_against(rate: f64, requests: u64, serve: impl Fn(TcpStream) + Send + Sync + 'static) -> RunOutput {
    let address = listen(serve);
    let mut plan = open(&format!("http://{address}/"), rate, requests);
    plan.workload.limits.timeout = Some(TIMEOUT);
    run(&plan)
}

#[test]
fn what_comes_behind_an_answer_and_late_belongs_to_nobody() {
    let measured = run_against(4.0, 3, |stream| {
        let mut reader = BufReader::new(stream);
        while read_request(&mut reader) {
            let stream = reader.get_mut();
            stream.write_all(&ok()).unwrap();
            sleep(Duration::from_millis(20));
            let _ = stream.write_all(&ok());
        }
    });
    let tally = &measured.snapshot.tally;
    let generator = &measured.generator;
    // If this machine stalls, one read gets both answers and shows that one is too many.
    assert_eq!(tally.responses + tally.malformed, 3, "{tally:?}");
    // The run may be over before the last answer arrives.
    assert!(generator.stray_answers + tally.malformed >= 2, "{tally:?} {generator:?}");
    assert_eq!(generator.connections_opened, 3, "{tally:?}");
}

#[test]
fn what_comes_before_any_request_is_read_as_what_it_is() {
    let measured = run_against(200.0, 20, |mut stream| {
        let _ = stream.write_all(b"220 mail.example ESMTP\r\n");
        let _ = stream.read(&mut [0; 1024]);
    });
    assert_eq!(measured.snapshot.causes.get(&Cause::BadHead), Some(&20), "{:?}", measured.snapshot.causes);
}

#[test]
fn who_answers_once_more_than_asked_gets_no_second_request() {
    // The interval is long enough for the second answer to arrive before the next request is due.
    let measured = run_against(5.0, 4, |mut stream| {
        let _ = stream.write_all(&ok());
        let mut reader = BufReader::new(stream);
        while read_request(&mut reader) && reader.get_mut().write_all(&ok()).is_ok() {}
    });
    let tally = &measured.snapshot.tally;
    // If both answers arrive at once, one is too many. If not, the first is the answer and the other is stray.
    assert_eq!(tally.responses + tally.malformed, 4, "{tally:?}");
    assert_eq!(measured.generator.connections_opened, 4, "{tally:?}");
}

#[test]
fn a_head_in_drops_ends_with_the_timeout() {
    let address = listen(|mut stream| {
        let _ = stream.read(&mut [0; 1024]);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nA: ");
        while stream.write_all(b"x").is_ok() {
            sleep(Duration::from_millis(20));
        }
    });
    let mut plan = open(&format!("http://{address}/"), 200.0, 10);
    plan.workload.limits.timeout = Some(Nanos::from_millis(400));
    let measured = run(&plan);
    assert_eq!(measured.snapshot.tally.timed_out, 10, "{:?}", measured.snapshot.tally);
    let waited = measured.snapshot.metric(Metric::Censored).min().unwrap();
    assert!(waited >= Nanos::from_millis(400), "{waited}");
}
