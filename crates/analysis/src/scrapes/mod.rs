//! The request times that a service published, compared with the times that its users waited.
//!
//! Both sides count the same requests, so chance plays no part. The percentile of the users must fall into the bucket
//! that has the percentile of the service, with some room for the network.
//!
//! | file | content |
//! |---|---|
//! | `interpolation` | percentiles of buckets, as PromQL computes them |
//! | `against` | comparison of a percentile |
//! | `counts` | how far the counts of both sides may differ |
//! | `causes` | where the users' time passed, and the sentence |

mod against;
mod causes;
mod counts;
mod interpolation;

use truetail_model::record::Tally;
use truetail_run::{Distribution, HistogramFinding, Run, Scrape, ScrapeFinding, ServiceHistogram, ServiceQuantile};

use crate::figures;
use crate::support::min_sample_size;
use against::Side;
use counts::{FEW, SHARE};

/// Percentiles that are compared.
const COMPARED: [f64; 4] = [0.5, 0.9, 0.99, 0.999];
/// Share of the answers that a metric must count to be about them.
const ABOUT_THEM: f64 = 0.5;
/// Longest time between the end of the warm-up and the first page that counts.
const LONGEST_LAG_NS: u64 = 500_000_000;

/// Returns the comparison of each histogram of each service.
pub(crate) fn scrapes(run: &Run, users: &Distribution) -> Vec<Vec<HistogramFinding>> {
    let of = |scrape: &Scrape| scrape.histograms.iter().map(|one| finding(run, users, scrape, one)).collect();
    run.facts.scrapes.iter().map(of).collect()
}

fn finding(run: &Run, users: &Distribution, scrape: &Scrape, histogram: &ServiceHistogram) -> HistogramFinding {
    let quantiles = quantiles(histogram, users);
    let open = |message: String| HistogramFinding {
        quantiles: quantiles.clone(),
        finding: ScrapeFinding::CannotTell,
        message: format!("{}: cannot be compared, because {message}", named(histogram)),
    };
    if let Some(why) = other_requests(&run.snapshot.tally, scrape, histogram) {
        return open(why);
    }
    let measured_from = run.snapshot.measure_from.0;
    if measured_from.saturating_sub(scrape.from_ns) > LONGEST_LAG_NS {
        return open("the warm-up was cut off later, and the service counts it".to_owned());
    }
    if quantiles.is_empty() {
        return open(without_percentiles(users, histogram));
    }
    let is_summary = histogram.buckets.is_empty();
    if is_summary && histogram.earlier as f64 > SHARE * histogram.count as f64 {
        return open(format!("its percentiles include {} requests from before the run", histogram.earlier));
    }
    let sides: Vec<(&ServiceQuantile, Side)> =
        quantiles.iter().map(|one| (one, against::side(one, without_generator(users, one.q)))).collect();
    let finding = against::together(sides.iter().map(|(_, side)| *side));
    // Of the percentiles that say so, p99 is the one that people watch.
    let says_so = |(_, side): &&(&ServiceQuantile, Side)| side.finding() == finding;
    let shown = sides.iter().filter(says_so).min_by(|a, b| (a.0.q - 0.99).abs().total_cmp(&(b.0.q - 0.99).abs()));
    let shown = shown.or(sides.last()).map(|(one, _)| **one).expect("a percentile");
    let sentence = causes::sentence(run, histogram, &shown, finding);
    HistogramFinding { quantiles: quantiles.clone(), finding, message: format!("{}: {sentence}", named(histogram)) }
}

/// Returns the name of the metric with its label.
fn named(histogram: &ServiceHistogram) -> String {
    match &histogram.label {
        Some(label) => format!("{}{{{label}}}", histogram.metric),
        None => histogram.metric.clone(),
    }
}

/// Returns the reason if the service counted other requests than the run sent.
fn other_requests(tally: &Tally, scrape: &Scrape, histogram: &ServiceHistogram) -> Option<String> {
    let count = histogram.count;
    let room = (tally.issued as f64 * SHARE) as u64 + FEW + scrape.reads;
    let restarted = match histogram.restarts {
        0 => "",
        _ => ", and the service restarted during the run",
    };
    if count > tally.issued.saturating_add(room) {
        return Some(format!("it counts {count} requests and the run sent {}{restarted}", tally.issued));
    }
    let is_too_few = (count as f64) < ABOUT_THEM * tally.responses as f64;
    let sent = tally.responses;
    is_too_few.then(|| format!("it counts {count} requests and the run got {sent} answers{restarted}"))
}

fn without_percentiles(users: &Distribution, histogram: &ServiceHistogram) -> String {
    let too_few = format!("it has no percentiles for {} requests", histogram.count);
    match histogram.mean_ns.zip(users.mean_ns) {
        Some((mean, waited)) => {
            format!("{too_few}; its mean is {}, and its users' is {}", figures::time(mean), figures::time(waited))
        }
        None => too_few,
    }
}

/// Returns the percentiles of the service that the number of its requests supports, beside the ones of its users.
fn quantiles(histogram: &ServiceHistogram, users: &Distribution) -> Vec<ServiceQuantile> {
    let value_of_users = |q: f64| users.quantiles.iter().find(|one| one.q == q).and_then(known_value);
    let supported = COMPARED.into_iter().filter(|q| histogram.count >= min_sample_size(*q));
    if histogram.buckets.is_empty() {
        let stated = histogram.stated.iter().filter(|stated| COMPARED.contains(&stated.q));
        let of = stated.map(|stated| ServiceQuantile {
            q: stated.q,
            low_ns: stated.value_ns,
            high_ns: Some(stated.value_ns),
            dashboard_ns: stated.value_ns,
            users_ns: value_of_users(stated.q),
        });
        return of.collect();
    }
    let of = |q| {
        let placed = interpolation::quantile(q, &histogram.buckets)?;
        Some(ServiceQuantile {
            q,
            low_ns: placed.low_ns,
            high_ns: placed.high_ns,
            dashboard_ns: placed.dashboard_ns,
            users_ns: value_of_users(q),
        })
    };
    supported.filter_map(of).collect()
}

fn known_value(quantile: &truetail_run::Quantile) -> Option<u64> {
    quantile.value_ns.filter(|_| !quantile.at_least && !quantile.no_answer)
}

/// Returns the range of the users' percentile: without what the generator added, and with it. The second is `None` if
/// the percentile falls among requests without an answer.
fn without_generator(users: &Distribution, q: f64) -> (Option<u64>, Option<u64>) {
    let Some(quantile) = users.quantiles.iter().find(|one| one.q == q) else { return (None, None) };
    let low = quantile.without_generator_ns.or(quantile.value_ns);
    (low, known_value(quantile))
}
