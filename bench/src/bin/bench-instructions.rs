//! A fixed run of schedule, driver, recorder and parser in virtual time, for callgrind: `bench-instructions 100000`.
//!
//! It reads no clock, and its random numbers come from a fixed seed, so that it takes the same number of instructions each
//! time. Each part is a function that is never inlined; `bench/instructions.py` finds it by its name.

use std::collections::VecDeque;
use std::hint::black_box;
use std::process::ExitCode;

use truetail_engine::http1::{Fed, LastHead, ResponseParser};
use truetail_model::arrival::{Horizon, Schedule, Spacing};
use truetail_model::driver::{Driver, Hand, Start, Turn};
use truetail_model::random::Random;
use truetail_model::record::{Outcome, Recorder, RecorderOptions, RequestRecord, Snapshot, StartDelay};
use truetail_model::time::{Nanos, Timestamp};
use truetail_model::workload::{Limits, LoadModel, Workload};

const SEED: u64 = 1;
const CONNECTIONS: u32 = 64;
/// The shortest service time of a request.
const SERVICE: Nanos = Nanos::from_micros(200);
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nDate: Fri, 20 Nov 2026 12:00:00 GMT\r\nContent-Type: text/plain\r\n\
                        Content-Length: 13\r\n\r\nHello, world!";
/// One of this many answers comes in two pieces, of which the first ends inside the head.
const IN_TWO_PIECES: u64 = 8;
const FIRST_PIECE: usize = 40;

fn main() -> ExitCode {
    let Some(requests) = std::env::args().nth(1).and_then(|number| number.parse().ok()).filter(|n| *n > 0) else {
        eprintln!("usage: bench-instructions REQUESTS, a whole number from 1");
        return ExitCode::from(2);
    };
    let horizon = Horizon { duration: None, requests: Some(requests) };
    let schedule = Schedule { profile: "50000".parse().expect("a rate"), spacing: Spacing::Even, seed: SEED, horizon };
    let last = part_schedule(&schedule);
    let limits = Limits { connections: Some(CONNECTIONS), ..Limits::default() };
    let workload = Workload { model: LoadModel::Open(schedule), limits, warmup: Nanos::ZERO };
    let snapshot = fixed_run(&workload);
    snapshot.tally.check().expect("balanced books");
    println!("{} responses, schedule {}, last due at {} ns", snapshot.tally.responses, snapshot.schedule_hash, last.0);
    ExitCode::SUCCESS
}

/// A request in flight.
struct InFlight {
    start: Start,
    at: Timestamp,
    end: Timestamp,
}

struct Parts {
    driver: Driver,
    recorder: Recorder,
    parser: ResponseParser,
    last_head: LastHead,
}

/// The run. Answers come in the order of the requests.
#[inline(never)]
fn fixed_run(workload: &Workload) -> Snapshot {
    let (driver, recorder) = (Driver::new(workload, Hand::ALONE), Recorder::new(RecorderOptions::default()));
    let mut parts = Parts { driver, recorder, parser: ResponseParser::new(), last_head: LastHead::remembering() };
    let (mut now, mut random) = (Timestamp::ZERO, Random::new(SEED, 0));
    let mut in_flight: VecDeque<InFlight> = VecDeque::with_capacity(CONNECTIONS as usize);
    loop {
        match part_driver_turn(&mut parts.driver, now) {
            Turn::Start(start) => {
                part_recorder_plan(&mut parts.recorder, start.arrival.intended_start);
                let end = now + SERVICE + Nanos(random.next_u64() % 1_000_000);
                in_flight.push_back(InFlight { start, at: now, end });
            }
            Turn::Wait { until } if in_flight.front().is_none_or(|oldest| oldest.end > until) => now = until,
            Turn::Wait { .. } => {
                let oldest = in_flight.pop_front().expect("one that ends before");
                now = now.max(oldest.end);
                answered(&mut parts, &oldest, now);
            }
            Turn::Expired | Turn::Finished => break,
        }
    }
    parts.recorder.finish(parts.driver.schedule_hash())
}

fn answered(parts: &mut Parts, request: &InFlight, now: Timestamp) {
    let Parsed { status, bytes } = part_parser(&mut parts.parser, &mut parts.last_head, request.start.arrival.index);
    let intended_start = request.start.arrival.intended_start;
    let record = RequestRecord {
        index: request.start.arrival.index,
        intended_start,
        actual_start: request.at,
        end: request.end,
        delay: StartDelay::split(intended_start, request.at, request.start.connection_wait, Nanos::ZERO),
        connected: false,
        tls_handshake: None,
        read_lag: Some(now.since(request.end)),
        outcome: Outcome::Response { status },
        bytes_in: bytes,
    };
    part_recorder_record(&mut parts.recorder, &record);
    part_driver_finish(&mut parts.driver, request.start.user, request.end);
}

/// The arrivals once more, by themselves; the cost of the driver includes them.
#[inline(never)]
fn part_schedule(schedule: &Schedule) -> Timestamp {
    schedule.arrivals().map(|arrival| black_box(arrival).intended_start).last().expect("an arrival")
}

#[inline(never)]
fn part_driver_turn(driver: &mut Driver, now: Timestamp) -> Turn {
    driver.turn(now)
}

#[inline(never)]
fn part_driver_finish(driver: &mut Driver, user: u32, ended: Timestamp) {
    driver.finish(user, ended);
}

#[inline(never)]
fn part_recorder_plan(recorder: &mut Recorder, intended_start: Timestamp) {
    recorder.plan(intended_start);
}

#[inline(never)]
fn part_recorder_record(recorder: &mut Recorder, record: &RequestRecord) {
    recorder.record(record);
}

/// A parsed answer.
struct Parsed {
    status: u16,
    bytes: u64,
}

#[inline(never)]
fn part_parser(parser: &mut ResponseParser, last_head: &mut LastHead, index: u64) -> Parsed {
    let answer = black_box(ANSWER);
    let first = if index.is_multiple_of(IN_TWO_PIECES) { FIRST_PIECE } else { 0 };
    parser.start(false);
    if first > 0 {
        assert_eq!(parser.feed_knowing(&answer[..first], last_head), Ok(Fed::More));
    }
    match parser.feed_knowing(&answer[first..], last_head) {
        Ok(Fed::Finished(finished)) => Parsed { status: finished.status, bytes: parser.received() },
        fed => panic!("{fed:?} is no answer"),
    }
}
