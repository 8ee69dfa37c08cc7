//! Memory of a recorder, minute by minute of virtual time. A few seconds suffice for `valgrind --tool=callgrind`.
//!
//!     cargo run --release -p truetail-model --example recorder_hour -- SECONDS REQUESTS_A_SECOND

use allocation_counter::measure;
use truetail_model::arrival::{Arrival, ScheduleHash};
use truetail_model::random::Random;
use truetail_model::record::{Outcome, Recorder, RecorderOptions, RequestRecord};
use truetail_model::time::{Nanos, Timestamp};

fn main() {
    let number = |place, or| std::env::args().nth(place).map_or(or, |text| text.parse().expect("a number"));
    let (seconds, per_second): (u64, u64) = (number(1, 3600), number(2, 25_000));
    let mut random = Random::new(1, 1);
    let options = RecorderOptions { expected_seconds: seconds as usize, ..RecorderOptions::default() };
    let mut recorder = None;
    let mut held = measure(|| recorder = Some(Recorder::new(options))).bytes_current;
    let mut recorder = recorder.expect("made");
    println!("minute,held_kib,most_kib");
    for minute in 0..seconds.div_ceil(60) {
        let part = minute * 60 * per_second..((minute + 1) * 60).min(seconds) * per_second;
        let used = measure(|| part.for_each(|index| one(&mut recorder, &mut random, index, per_second)));
        println!("{},{},{}", minute + 1, (held + used.bytes_current) / 1024, (held + used.bytes_max as i64) / 1024);
        held += used.bytes_current;
    }
    println!("{} arrivals planned", recorder.finish(ScheduleHash::default()).tally.planned);
}

/// Records a response time of about 200 µs, from a distribution whose 25,000th part is 30 times as long.
fn one(recorder: &mut Recorder, random: &mut Random, index: u64, per_second: u64) {
    let mut time = |middle: f64| Nanos((middle * (0.7 + random.exponential() * 0.5).powi(2)) as u64);
    let generator_lag = time(5e3);
    let service = time(2e5);
    let read_lag = time(1e4);
    let intended_start = Timestamp((u128::from(index) * 1_000_000_000 / u128::from(per_second)) as u64);
    let actual_start = intended_start + generator_lag;
    let arrival = Arrival { index, intended_start };
    let answered = Outcome::response(200);
    recorder.plan(intended_start);
    recorder.record(&RequestRecord {
        read_lag: Some(read_lag),
        bytes_in: 67,
        ..RequestRecord::new(arrival, actual_start, actual_start + service, answered)
    });
}
