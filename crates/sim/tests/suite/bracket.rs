//! The bracket of a percentile contains what a generator that is never late would measure. In virtual time, both are
//! known to the nanosecond. The tests compare the percentile with a late generator, the same percentile without what
//! that generator added, and the truth: the same run without lag.

use super::common::*;
use truetail_model::record::RequestRecord;
use truetail_model::scenario::Scenario;
use truetail_model::service::{Service, Variation};
use truetail_model::time::Nanos;
use truetail_sim::{FaultClockStart, GeneratorFlaws, Simulation};

/// Number of runs of each service, each with other arrivals, other work and other flaws.
const RUNS: u64 = 100;
/// Number of these runs whose brackets must contain the truth at every percentile.
const HOLD: usize = 99;
/// Number of arrivals of a run: p99.9 needs 3,688.
const ARRIVALS: u64 = 4_000;
/// Percentiles that are printed for this many arrivals, in parts per 10,000.
const PER_10_000: [usize; 6] = [5_000, 9_000, 9_500, 9_900, 9_990, 10_000];

/// Returns Poisson arrivals at 1,000/s, and a service time of 0.8 ms per server.
fn served(servers: Option<u32>, variation: Variation, seed: u64) -> Scenario {
    let baseline = Nanos::from_micros(800 * u64::from(servers.unwrap_or(1)));
    let service = Service { variation, concurrency: servers, seed: seed + 1, ..Service::healthy(baseline) };
    scenario(service, workload(poisson(1_000.0, seed, for_requests(ARRIVALS)), unlimited(Nanos::from_secs(60))))
}

/// Returns a mean lag of 0.1 ms, and a pause of 20 ms about once a second.
fn flaws(seed: u64) -> GeneratorFlaws {
    GeneratorFlaws {
        seed: seed + 2,
        mean_lag: Nanos::from_micros(100),
        mean_between_pauses: Nanos::from_secs(1),
        pause: ms(20),
    }
}

fn records(scenario: &Scenario, flaws: Option<GeneratorFlaws>) -> Vec<RequestRecord> {
    let mut journal = Journal::default();
    let mut simulation = Simulation::new(&scenario.service, &scenario.workload, FaultClockStart::Origin).unwrap();
    if let Some(flaws) = flaws {
        simulation = simulation.with_flaws(flaws);
    }
    simulation.run(&mut journal).unwrap();
    journal.0
}

fn sorted(records: &[RequestRecord], time: impl Fn(&RequestRecord) -> Nanos) -> Vec<u64> {
    let mut times: Vec<u64> = records.iter().map(|record| time(record).0).collect();
    times.sort_unstable();
    times
}

/// Returns the percentiles, in parts per 10,000, whose bracket misses the truth.
fn missed(scenario: &Scenario, flaws: GeneratorFlaws, lower: impl Fn(&RequestRecord) -> Nanos) -> Vec<usize> {
    let truth = sorted(&records(scenario, None), RequestRecord::response_time);
    let late = records(scenario, Some(flaws));
    assert_eq!(late.len() as u64, ARRIVALS);
    let fastest = late.iter().map(|record| record.service_time().0).min().unwrap();
    let low = sorted(&late, lower);
    let high = sorted(&late, RequestRecord::response_time);
    let bracket = |q| quantile_ns(&low, q).max(fastest)..=quantile_ns(&high, q);
    PER_10_000.into_iter().filter(|q| !bracket(*q).contains(&quantile_ns(&truth, *q))).collect()
}

fn assert_holds(servers: Option<u32>, variation: Variation) {
    let of =
        |seed: u64| missed(&served(servers, variation, 10 * seed), flaws(10 * seed), RequestRecord::without_generator);
    let all: Vec<(u64, Vec<usize>)> = (0..RUNS).map(|seed| (seed, of(seed))).filter(|(_, q)| !q.is_empty()).collect();
    println!("{servers:?} {variation:?}: {} of {RUNS} hold; missed: {all:?}", RUNS as usize - all.len());
    assert!(all.len() <= RUNS as usize - HOLD, "{servers:?} {variation:?}: missed, by seed: {all:?}");
}

/// Asserts that the bracket is at most 1.5 times as wide as necessary. With two thirds of the added time taken off, it
/// misses the truth in more runs than allowed, at each percentile from `lowest` to p99.9.
fn assert_narrow(servers: Option<u32>, variation: Variation, lowest: usize) {
    let two_thirds = |record: &RequestRecord| {
        let added = record.response_time().saturating_sub(record.without_generator());
        record.response_time().saturating_sub(Nanos(added.0 / 3 * 2))
    };
    let of = |seed: u64| missed(&served(servers, variation, 10 * seed), flaws(10 * seed), two_thirds);
    let all: Vec<usize> = (0..RUNS).flat_map(of).collect();
    for q in PER_10_000.into_iter().filter(|q| (lowest..=9_990).contains(q)) {
        let misses = all.iter().filter(|missed| **missed == q).count();
        println!("{servers:?} {variation:?} p{}: two thirds miss {misses} of {RUNS}", q as f64 / 100.0);
        assert!(misses > RUNS as usize - HOLD, "{servers:?} {variation:?} p{}: {misses}", q as f64 / 100.0);
    }
}

#[test]
fn constant_times_without_a_queue() {
    assert_holds(None, Variation::Constant);
    assert_narrow(None, Variation::Constant, 5_000);
}

#[test]
fn exponential_times_without_a_queue() {
    assert_holds(None, Variation::Exponential);
    assert_narrow(None, Variation::Exponential, 5_000);
}

#[test]
fn a_queue_with_one_server() {
    assert_holds(Some(1), Variation::Exponential);
    assert_narrow(Some(1), Variation::Exponential, 5_000);
}

/// Several servers pass on less of a lag than one. At p50, half of what is taken off would suffice.
#[test]
fn a_queue_with_four_servers() {
    assert_holds(Some(4), Variation::Exponential);
    assert_narrow(Some(4), Variation::Exponential, 9_000);
}

/// The lag of earlier requests makes the difference: with only its own lag, the bracket misses the truth of a queue.
#[test]
fn own_lag_alone_would_not_do_for_a_queue() {
    let own = |record: &RequestRecord| record.response_time().saturating_sub(record.delay.generator_lag);
    let of = |seed: u64| missed(&served(Some(1), Variation::Exponential, 10 * seed), flaws(10 * seed), own);
    let missing = (0..20).filter(|seed| !of(*seed).is_empty()).count();
    println!("own lag alone: {missing} of 20 miss");
    assert!(missing >= 18, "{missing} of 20");
}
