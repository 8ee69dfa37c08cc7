//! A fixed run of schedule, driver, recorder and parser in virtual time, for callgrind: `bench-instructions 100000`.
//!
//! The program reads no clock and has a fixed seed, so every run takes the same number of instructions. Each part is
//! a function that is never inlined; `bench/instructions.py` finds it by name.

use std::collections::VecDeque;
use std::hint::black_box;
use std::process::ExitCode;

use truetail_engine::http1::{AnswerEnd, HeadCache, Parsed, ResponseParser};
use truetail_model::arrival::{Horizon, Schedule, Spacing};
use truetail_model::driver::{Directive, Driver, DueRequest, WorkerShare};
use truetail_model::random::Random;
use truetail_model::record::{Outcome, Recorder, RecorderOptions, RequestRecord, Snapshot};
use truetail_model::time::{Nanos, Timestamp};
use truetail_model::workload::{Limits, LoadModel, Workload};

const SEED: u64 = 1;
const CONNECTIONS: u32 = 64;
const SERVICE: Nanos = Nanos::from_micros(200);
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nDate: Fri, 20 Nov 2026 12:00:00 GMT\r\nContent-Type: text/plain\r\n\
                        Content-Length: 13\r\n\r\nHello, world!";
/// One answer in this many arrives in two pieces, and the first piece ends inside the head.
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

struct UnderWay {
    start: DueRequest,
    at: Timestamp,
    end: Timestamp,
}

struct Parts {
    driver: Driver,
    recorder: Recorder,
    parser: ResponseParser,
    head_cache: HeadCache,
}

/// Runs the workload. Answers arrive in the order of the requests.
#[inline(never)]
fn fixed_run(workload: &Workload) -> Snapshot {
    let (driver, recorder) = (Driver::new(workload, WorkerShare::WHOLE), Recorder::new(RecorderOptions::default()));
    let mut parts = Parts { driver, recorder, parser: ResponseParser::new(), head_cache: HeadCache::new() };
    let (mut now, mut random) = (Timestamp::ZERO, Random::new(SEED, 0));
    let mut under_way: VecDeque<UnderWay> = VecDeque::with_capacity(CONNECTIONS as usize);
    loop {
        match part_driver_turn(&mut parts.driver, now) {
            Directive::Start(start) => {
                part_recorder_plan(&mut parts.recorder, start.arrival.intended_start);
                let end = now + SERVICE + Nanos(random.next_u64() % 1_000_000);
                under_way.push_back(UnderWay { start, at: now, end });
            }
            Directive::Wait { until } if under_way.front().is_none_or(|oldest| oldest.end > until) => now = until,
            Directive::Wait { .. } => {
                let oldest = under_way.pop_front().expect("one that ends before");
                now = now.max(oldest.end);
                answered(&mut parts, &oldest, now);
            }
            Directive::Expired | Directive::Finished => break,
        }
    }
    parts.recorder.finish(parts.driver.schedule_hash())
}

fn answered(parts: &mut Parts, request: &UnderWay, now: Timestamp) {
    let ParsedAnswer { status, bytes } =
        part_parser(&mut parts.parser, &mut parts.head_cache, request.start.arrival.index);
    let start = &request.start;
    let record = RequestRecord {
        read_lag: Some(now.since(request.end)),
        bytes_in: bytes,
        ..RequestRecord::new(start.arrival, request.at, request.end, Outcome::response(status))
            .with_start_delay(start.connection_wait, None)
    };
    part_recorder_record(&mut parts.recorder, &record);
    part_driver_finish(&mut parts.driver, request.start.user, request.end);
}

/// Generates the arrivals again, without a driver. The cost of the driver includes this cost.
#[inline(never)]
fn part_schedule(schedule: &Schedule) -> Timestamp {
    schedule.arrivals().map(|arrival| black_box(arrival).intended_start).last().expect("an arrival")
}

#[inline(never)]
fn part_driver_turn(driver: &mut Driver, now: Timestamp) -> Directive {
    driver.poll(now)
}

#[inline(never)]
fn part_driver_finish(driver: &mut Driver, user: u32, ended: Timestamp) {
    driver.complete(user, ended);
}

#[inline(never)]
fn part_recorder_plan(recorder: &mut Recorder, intended_start: Timestamp) {
    recorder.plan(intended_start);
}

#[inline(never)]
fn part_recorder_record(recorder: &mut Recorder, record: &RequestRecord) {
    recorder.record(record);
}

struct ParsedAnswer {
    status: u16,
    bytes: u64,
}

#[inline(never)]
fn part_parser(parser: &mut ResponseParser, head_cache: &mut HeadCache, index: u64) -> ParsedAnswer {
    let answer = black_box(ANSWER);
    let first = if index.is_multiple_of(IN_TWO_PIECES) { FIRST_PIECE } else { 0 };
    parser.start(false);
    if first > 0 {
        assert_eq!(parser.feed(&answer[..first], head_cache, &mut |_| {}), Ok(Parsed::Incomplete));
    }
    match parser.feed(&answer[first..], head_cache, &mut |_| {}) {
        Ok(Parsed::Complete(AnswerEnd { status, .. })) => ParsedAnswer { status, bytes: parser.received() },
        parsed => panic!("{parsed:?} is no answer"),
    }
}
