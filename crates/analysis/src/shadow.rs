//! The closed-loop shadow: what a closed-loop tool would have reported of the server, from the requests of an open run.
//!
//! Each of N users sends a request, waits for the answer, and sends the next one at once. A request at time t takes as
//! long as one of the [`NEIGHBOURS`] requests of the run that were sent around t, drawn by a hash. (The nearest request
//! would not do. After a fast answer, a user sends again before the run sent its next request. The nearest request
//! would be the same fast one again and again, and fast answers would seem frequent.)
//!
//! Assumptions and their limits:
//!
//! - The server at time t behaves the same for any client. So the shadow leaves out what a closed loop does not *see*,
//!   but keeps what a closed loop would not *cause*. A queue is an example: it grew because the load kept coming, and
//!   users who wait would have made it shorter. So the shadow of a service with a queue is too slow, and its omission
//!   factor too small. In saturation everything is queue, and there is no shadow.
//! - Users have a connection each, and the tool is never late.
//! - An event shorter than the time that the neighbours span is blurred, and may be missed if only a part of the
//!   requests was kept. The slow requests that were kept in addition would exaggerate slowness, and are left out.
//! - Users who would send much more often than the run did need data that the run does not have. Then there is no
//!   shadow. The same applies if users send far more often than their mean service time implies.
//!
//! The factor has an interval. [`REPLICATES`] more tools are simulated, each with other start times of its users and
//! other draws. The interval goes from the lowest to the highest factor of all tools, and is a tenth wider on either
//! side, because a shadow agrees with a real closed loop of the same service to a tenth (the tests compare them). The
//! interval does not cover what the run did not see: the factor is that of this run.

use truetail_model::random::mix64;
use truetail_model::record::{Metric, Outcome, RequestRecord, rank_of};
use truetail_model::workload::LoadModelKind;
use truetail_run::{ClosedLoopShadow, Distribution, Findings, Run, ShadowQuantile, VerdictState};

use crate::support::{QUANTILES, min_sample_size};

/// Number of requests that represent an instant: enough for an accurate mean, few enough to show an event.
const NEIGHBOURS: usize = 16;
/// Approximate maximum number of simulated requests. If there would be more, only some of the users are simulated.
const MAX_STEPS: usize = 1 << 18;
/// Number of further tools that are simulated, to see how much their reports vary.
const REPLICATES: u64 = 8;
/// Approximate number of simulated requests of each further tool: enough for p99.9. Fewer widen the interval.
const REPLICATE_STEPS: usize = 1 << 14;
/// Agreement of a shadow with a real closed loop, as a factor.
const AGREEMENT: f64 = 1.1;
/// The simulation stops if users send this many times as many requests as their mean service time implies.
const MAX_EXPECTED_FACTOR: usize = 16;
/// Maximum number of requests of a single user for each request that is known.
const MAX_STEPS_PER_REQUEST: usize = 16;
/// Minimum time between two requests of a user.
const SHORTEST_NS: u64 = 1_000;
/// Maximum number of users of a plausible tool.
const MAX_USERS: f64 = 1e6;

/// Returns the shadow of the users who would send the offered rate while all is well. Their number is the offered rate
/// times the median service time (Little's law). Returns `None` if [`shadow`] does, and for an INVALID run.
pub(crate) fn default_shadow(run: &Run, findings: &Findings) -> Option<ClosedLoopShadow> {
    let median = findings.metrics[Metric::ServiceTime].quantiles.iter().find(|quantile| quantile.q == 0.5)?.value_ns?;
    let users = (findings.offered_per_second? * median as f64 / 1e9).round().clamp(1.0, MAX_USERS) as u32;
    if findings.verdict.state == VerdictState::Invalid {
        return None;
    }
    shadow(run, &findings.response_time, users)
}

/// Returns what a closed loop of `users`, at least 1, would have reported, against the run's own `response_time`. Needs
/// an open load model and single requests. Returns `None` if a user would send much more often than the run.
pub fn shadow(run: &Run, response_time: &Distribution, users: u32) -> Option<ClosedLoopShadow> {
    let seen = ObservedServer::from_run(run)?;
    let asked = seen.simulate(users.max(1))?;
    let others: Vec<SimulatedUsers> =
        (1..=REPLICATES).filter_map(|tool| seen.simulate_replicate(tool, users.max(1))).collect();
    Some(ClosedLoopShadow {
        users: users.max(1),
        requests: asked.count() + asked.unanswered(),
        unanswered: asked.unanswered(),
        quantiles: QUANTILES.iter().map(|q| quantile(*q, &asked, &others, response_time)).collect(),
        one_in: run.snapshot.samples.one_in(),
        resolution_ns: seen.resolution_ns(),
    })
}

/// Returns the number of answers of such a closed loop, and these quantiles of them. A quantile is `None` if there are
/// too few answers for it. Returns `None` if [`shadow`] does.
pub(crate) fn quantiles(run: &Run, users: u32, qs: &[f64]) -> Option<(u64, Vec<Option<u64>>)> {
    let asked = ObservedServer::from_run(run)?.simulate(users.max(1))?;
    Some((asked.count(), qs.iter().map(|q| asked.quantile(*q)).collect()))
}

fn quantile(q: f64, asked: &SimulatedUsers, others: &[SimulatedUsers], truth: &Distribution) -> ShadowQuantile {
    let value_ns = asked.quantile(q).filter(|value| *value > 0);
    let own = truth.quantiles.iter().find(|quantile| quantile.q == q && !quantile.no_answer);
    let own_ns = own.and_then(|quantile| quantile.value_ns);
    let factor = |value_ns: u64| own_ns.map(|own| own as f64 / value_ns as f64);
    let omission_factor = value_ns.and_then(factor);
    let at_least = omission_factor.is_some() && own.is_some_and(|quantile| quantile.at_least);
    let (omission_low, omission_high) = interval(q, asked, others, factor);
    let omission_high = omission_high.filter(|_| !at_least);
    ShadowQuantile { q, value_ns: asked.quantile(q), omission_factor, at_least, omission_low, omission_high }
}

/// The lowest and the highest factor of all tools, widened by [`AGREEMENT`]. `None` if a tool has too few requests.
fn interval(
    q: f64,
    asked: &SimulatedUsers,
    others: &[SimulatedUsers],
    factor: impl Fn(u64) -> Option<f64>,
) -> (Option<f64>, Option<f64>) {
    let reported = [asked].into_iter().chain(others).map(|asked| asked.quantile(q).filter(|value| *value > 0));
    let factors: Option<Vec<f64>> = reported.map(|value| factor(value?)).collect();
    let Some(factors) = factors.filter(|factors| factors.len() as u64 > REPLICATES) else { return (None, None) };
    let lowest = factors.iter().copied().fold(f64::INFINITY, f64::min);
    let highest = factors.iter().copied().fold(0.0, f64::max);
    (Some(lowest / AGREEMENT), Some(highest * AGREEMENT))
}

#[derive(Clone, Copy, Debug)]
struct ObservedRequest {
    at: u64,
    takes: u64,
    answered: bool,
}

/// The behaviour of the server over time.
struct ObservedServer {
    /// In the order of their actual start.
    requests: Vec<ObservedRequest>,
    /// Users send requests until then.
    until: u64,
}

struct SimulatedUsers {
    sorted: Vec<u64>,
    failed: usize,
    /// Number of users that each simulated user represents.
    weight: f64,
}

impl ObservedServer {
    fn from_run(run: &Run) -> Option<ObservedServer> {
        let records = run.snapshot.samples.even();
        let met = |record: &RequestRecord| ObservedRequest {
            at: record.actual_start.0,
            takes: record.service_time().0.max(SHORTEST_NS),
            answered: record.outcome.is_response(),
        };
        let issued = records.iter().filter(|record| record.outcome != Outcome::NeverIssued);
        let mut requests: Vec<ObservedRequest> = issued.map(met).collect();
        requests.sort_unstable_by_key(|request| request.at);
        let last = requests.last().filter(|_| run.facts.offered.model == LoadModelKind::Open)?.at;
        let complete = run.facts.is_complete() && run.facts.offered.requests.is_none();
        let until = run.facts.offered.duration_ns.filter(|_| complete).unwrap_or(last + 1);
        Some(ObservedServer { requests, until })
    }

    /// Returns the time that the neighbours of an instant span.
    fn resolution_ns(&self) -> u64 {
        let n = self.requests.len();
        let span = self.requests[n - 1].at - self.requests[0].at;
        (span as f64 / (n - 1).max(1) as f64 * NEIGHBOURS.min(n) as f64).round() as u64
    }

    /// Simulates `users`. Returns `None` if one of them sends too often.
    fn simulate(&self, users: u32) -> Option<SimulatedUsers> {
        self.simulate_steps(0, users, MAX_STEPS)
    }

    fn simulate_replicate(&self, tool: u64, users: u32) -> Option<SimulatedUsers> {
        self.simulate_steps(tool, users, REPLICATE_STEPS)
    }

    /// Simulates about `most_steps` requests.
    fn simulate_steps(&self, tool: u64, users: u32, most_steps: usize) -> Option<SimulatedUsers> {
        let walked = self.walked(users, most_steps);
        let mut sorted = Vec::new();
        let mut failed = 0;
        // Users begin at different times, or all would meet each event at the same moment.
        let spread = self.requests[self.requests.len() / 2].takes;
        let late = if tool == 0 { 0 } else { mix64(tool) % spread.max(1) / u64::from(walked) };
        for user in 0..walked {
            if sorted.len() + failed > MAX_EXPECTED_FACTOR * most_steps {
                return None;
            }
            let place = (u128::from(spread) * u128::from(user) / u128::from(walked)) as u64;
            let begin = self.requests[0].at + late + place;
            let draws = mix64(u64::from(user) | tool << 32);
            self.walk(draws, begin, |met| if met.answered { sorted.push(met.takes) } else { failed += 1 })?;
        }
        sorted.sort_unstable();
        Some(SimulatedUsers { sorted, failed, weight: f64::from(users) / f64::from(walked) })
    }

    /// Returns the number of `users` to simulate, for about `most_steps` requests in all.
    fn walked(&self, users: u32, most_steps: usize) -> u32 {
        let n = self.requests.len();
        let mean = (self.requests.iter().map(|request| u128::from(request.takes)).sum::<u128>() / n as u128) as u64;
        let steps = (self.until.saturating_sub(self.requests[0].at) / mean.max(1)).max(1);
        (most_steps as u64 / steps).clamp(1, u64::from(users)) as u32
    }

    /// Simulates one user from `begin` with these draws. Returns `None` if the user sends too often.
    fn walk(&self, draws: u64, begin: u64, mut meets: impl FnMut(ObservedRequest)) -> Option<()> {
        let mut now = begin;
        let mut next = 0;
        let mut steps = 0;
        let most = (self.requests.len().saturating_mul(MAX_STEPS_PER_REQUEST)).min(2 * MAX_STEPS);
        while now < self.until {
            next = self.first_from(next, now);
            let met = self.requests[self.neighbour(next, mix64(draws ^ steps as u64))];
            meets(met);
            now = now.saturating_add(met.takes);
            steps += 1;
            if steps > most {
                return None;
            }
        }
        Some(())
    }

    /// Finds the first request sent at or after `now`, searching from `from` in growing steps.
    fn first_from(&self, from: usize, now: u64) -> usize {
        let mut begin = from;
        let mut step = 1;
        while self.requests.get(begin + step).is_some_and(|request| request.at < now) {
            begin += step;
            step *= 2;
        }
        let end = (begin + step).min(self.requests.len());
        begin + self.requests[begin..end].partition_point(|request| request.at < now)
    }

    /// Draws one of the requests around `next`: half from before it and half from `next` on, if there are enough.
    fn neighbour(&self, next: usize, draw: u64) -> usize {
        let width = NEIGHBOURS.min(self.requests.len());
        let begin = next.saturating_sub(width / 2).min(self.requests.len() - width);
        begin + (draw % width as u64) as usize
    }
}

impl SimulatedUsers {
    fn count(&self) -> u64 {
        (self.sorted.len() as f64 * self.weight).round() as u64
    }

    fn unanswered(&self) -> u64 {
        (self.failed as f64 * self.weight).round() as u64
    }

    /// Returns the quantile q of the answered requests, or `None` if there are too few of them.
    fn quantile(&self, q: f64) -> Option<u64> {
        let rank = rank_of(q, self.sorted.len() as u64);
        let place = (rank as usize).checked_sub(1).filter(|_| self.count() >= min_sample_size(q))?;
        self.sorted.get(place).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn seen(requests: &[(u64, u64, bool)], until: u64) -> ObservedServer {
        let met =
            |(at, takes, answered): &(u64, u64, bool)| ObservedRequest { at: *at, takes: *takes, answered: *answered };
        let mut requests: Vec<ObservedRequest> = requests.iter().map(met).collect();
        requests.sort_unstable_by_key(|request| request.at);
        ObservedServer { requests, until }
    }

    fn requests() -> impl Strategy<Value = Vec<(u64, u64, bool)>> {
        proptest::collection::vec((0u64..100_000, 1_000u64..5_000, any::<bool>()), 10..80)
    }

    proptest! {
        #[test]
        fn growing_steps_find_the_first(requests in requests(), from in 0usize..80, now in 0u64..120_000) {
            let seen = seen(&requests, 100_000);
            let first = seen.requests.partition_point(|request| request.at < now);
            prop_assert_eq!(seen.first_from(from.min(first), now), first);
        }

        #[test]
        fn neighbours_are_around(requests in requests(), next in 0usize..80) {
            let seen = seen(&requests, 100_000);
            let n = seen.requests.len();
            let next = next.min(requests.len());
            let drawn: std::collections::BTreeSet<usize> = (0..NEIGHBOURS as u64).map(|draw| seen.neighbour(next, draw)).collect();
            prop_assert_eq!(drawn.len(), NEIGHBOURS.min(n));
            prop_assert!(drawn.iter().all(|i| *i < n && i.abs_diff(next) <= NEIGHBOURS));
        }

        /// A user always has a request in flight: the requests fill the run, and the last may end after it.
        #[test]
        fn users_are_always_somewhere(requests in requests(), users in 1u32..40) {
            let seen = seen(&requests, 100_000);
            for user in 0..users {
                let mut spent = 0;
                let mut last = 0;
                seen.walk(u64::from(user), seen.requests[0].at, |met| {
                    spent += met.takes;
                    last = met.takes;
                });
                let whole = 100_000 - seen.requests[0].at;
                prop_assert!(spent >= whole && spent - last < whole);
            }
        }
    }

    #[test]
    fn few_users_stand_for_many() {
        let requests: Vec<_> = (0..10_000).map(|i| (i * 100, 2_000, i % 10 > 0)).collect();
        let seen = seen(&requests, 1_000_000);
        let asked = seen.simulate(100_000).unwrap();
        assert!(seen.walked(100_000, MAX_STEPS) < 1_000);
        assert_eq!(asked.quantile(0.99), Some(2_000));
        let all = asked.count() + asked.unanswered();
        assert!(all.abs_diff(50_000_000) < 500_000, "{all}");
        assert!(asked.unanswered().abs_diff(all / 10) < all / 100, "{}", asked.unanswered());
    }

    /// One request that takes for ever distorts the mean: a user would send a thousand requests instead of one.
    #[test]
    fn users_who_take_far_more_steps_than_expected_have_no_shadow() {
        let mut requests: Vec<_> = (0..99).map(|i| (i * 10_000, 1_000, true)).collect();
        requests.push((999_999, 1 << 50, true));
        let seen = seen(&requests, 1_000_000);
        assert_eq!(seen.walked(1_000_000, MAX_STEPS), MAX_STEPS as u32);
        assert!(seen.simulate(1_000_000).is_none());
        assert!(seen.simulate(10).is_some());
    }
}
