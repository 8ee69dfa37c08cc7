//! Where the users' time passed, and the sentence about a histogram.

use truetail_model::record::{Outcome, RequestRecord};
use truetail_run::{Run, ScrapeFinding, ServiceHistogram, ServiceQuantile};

use super::counts::{FEW, SHARE};
use crate::figures::{quantile_name, time};
use crate::ledger;

/// Parts below this share of the response time are not named.
const WORTH_NAMING: f64 = 0.01;
/// A part of the missing time from this share on is its cause.
const MOST: f64 = 0.5;

/// Returns the sentence without the name of the metric. `shown` is the percentile that it is about.
pub(super) fn sentence(
    run: &Run,
    histogram: &ServiceHistogram,
    shown: &ServiceQuantile,
    finding: ScrapeFinding,
) -> String {
    let says = service_says(shown, histogram);
    let waited = match shown.users_ns {
        Some(waited) => format!("its users waited {}", time(waited as f64)),
        None => "some of its users got no answer".to_owned(),
    };
    let rest = match finding {
        ScrapeFinding::Agrees => format!("and {waited}{}: no difference shown", own_lag(run, shown)),
        ScrapeFinding::Overstates => format!("but {waited}: it counts other requests too, or in another unit"),
        ScrapeFinding::Understates => format!("but {waited}{}", understated(run, shown)),
        ScrapeFinding::CannotTell => format!("and {waited}, which its buckets do not decide"),
    };
    format!("{says}, {rest}{}", uncounted(run, histogram))
}

/// Returns what the service says: `p99 is 10ms…25ms (a dashboard shows 24.70ms)`.
fn service_says(shown: &ServiceQuantile, histogram: &ServiceHistogram) -> String {
    let name = quantile_name(shown.q);
    let ns = |ns: u64| time(ns as f64);
    if histogram.buckets.is_empty() {
        return format!("{name} is {}", ns(shown.dashboard_ns));
    }
    let dashboard = format!("a dashboard shows {}", ns(shown.dashboard_ns));
    match (shown.low_ns, shown.high_ns) {
        (low, None) => format!("{name} is above {} ({dashboard})", ns(low)),
        (0, Some(high)) => format!("{name} is at most {} ({dashboard})", ns(high)),
        (low, Some(high)) => format!("{name} is {}…{} ({dashboard})", ns(low), ns(high)),
    }
}

/// Mean times of the answers around a percentile.
struct Around {
    response: f64,
    lag: f64,
    wait: f64,
    connect: f64,
    service: f64,
    /// From the first byte of the answer to the last; 0 if unknown.
    transfer: f64,
}

impl Around {
    fn of(answers: &[&RequestRecord]) -> Around {
        let mean = |part: &dyn Fn(&RequestRecord) -> f64| {
            answers.iter().map(|record| part(record)).sum::<f64>() / answers.len().max(1) as f64
        };
        let transfer = |record: &RequestRecord| {
            record.first_byte.map_or(0.0, |first| record.end.since(first.max(record.actual_start)).0 as f64)
        };
        Around {
            response: mean(&|record| record.response_time().0 as f64),
            lag: mean(&|record| record.delay.generator_lag.0 as f64),
            wait: mean(&|record| record.delay.connection_wait.0 as f64),
            connect: mean(&|record| record.delay.connect.0 as f64),
            service: mean(&|record| record.service_time().0 as f64),
            transfer: mean(&transfer),
        }
    }
}

/// Returns the times around the percentile; `None` if no single requests are known.
fn around(run: &Run, shown: &ServiceQuantile) -> Option<Around> {
    let even = run.snapshot.samples.even().iter();
    let is_answer = |record: &&RequestRecord| matches!(record.outcome, Outcome::Response { .. });
    let mut answers: Vec<&RequestRecord> = even.filter(is_answer).collect();
    if answers.is_empty() || shown.users_ns.is_none() {
        return None;
    }
    answers.sort_unstable_by_key(|record| (record.response_time(), record.index));
    Some(Around::of(ledger::around(shown.q, &answers)))
}

/// Returns how much of a longer wait is truetail's own, which is no difference between service and users.
fn own_lag(run: &Run, shown: &ServiceQuantile) -> String {
    let is_longer = shown.users_ns.zip(shown.high_ns).is_some_and(|(users, high)| users > high);
    let around = around(run, shown).filter(|around| is_longer && around.lag > WORTH_NAMING * around.response);
    around.map_or(String::new(), |around| format!(", of which {} is truetail's own lag", time(around.lag)))
}

/// Returns where the time passed that the service does not count, as far as single requests are known.
fn understated(run: &Run, shown: &ServiceQuantile) -> String {
    let Some(around) = around(run, shown) else { return String::new() };
    let counted = shown.high_ns.unwrap_or(shown.dashboard_ns) as f64;
    let outside = (around.service - counted).max(0.0);
    let parts = [
        (around.lag, "truetail's own lag"),
        (around.wait, "waiting for a connection, by your limit"),
        (around.connect, "connecting"),
    ];
    let named = parts.iter().filter(|(part, _)| *part > WORTH_NAMING * around.response);
    let mut named: Vec<String> = named.map(|(part, name)| format!("{} {name}", time(*part))).collect();
    if outside > WORTH_NAMING * around.response {
        let place = match around.transfer > MOST * outside {
            true => "while the answer was on its way",
            false => "before its timer began, or on the network",
        };
        named.push(format!("at least {} {place}", time(outside)));
    }
    if named.is_empty() { String::new() } else { format!(": {}", named.join(", ")) }
}

/// Returns a sentence about requests of the run that the service does not count.
fn uncounted(run: &Run, histogram: &ServiceHistogram) -> String {
    let tally = &run.snapshot.tally;
    let missing = tally.issued.saturating_sub(histogram.count);
    let few = (tally.issued as f64 * SHARE) as u64 + FEW;
    match (missing > few, histogram.restarts) {
        (false, _) => String::new(),
        (true, 0) => format!("; it does not count {missing} of the {} requests", tally.issued),
        (true, _) => format!("; it lost {missing} of the {} requests, because the service restarted", tally.issued),
    }
}
