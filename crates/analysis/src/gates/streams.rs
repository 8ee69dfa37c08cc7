//! What a run says of its streams.

use truetail_model::record::Metric;
use truetail_run::{Findings, Quantile, Run, StreamFacts};

use super::bounds::Bounds;
use super::doubt::Doubt;
use super::evidence::{Evidence, Measured};
use super::load_effects::LoadEffects;
use super::metric::Statistic;
use super::times::ends_on_time;
use crate::streams::StreamMetric;

/// What is known of a time of streams.
pub(super) fn time(run: &Run, findings: &Findings, metric: StreamMetric, statistic: Statistic) -> Evidence {
    let Some(streams) = &run.facts.stream else { return Evidence::nothing(Doubt::NoStreams) };
    let known = match statistic {
        Statistic::Quantile(q) => of_quantile(streams, metric, q),
        Statistic::Mean => of_mean(streams, metric),
    };
    with_generator(run, metric, known).under(LoadEffects::of(&findings.verdict), f64::INFINITY)
}

fn of_quantile(streams: &StreamFacts, metric: StreamMetric, q: f64) -> Evidence {
    let quantile = metric.quantile(streams, q);
    if let Some(needs_n) = quantile.needs_n.filter(|_| !quantile.supported) {
        return Evidence::nothing(match metric.sum(streams).0 {
            0 => Doubt::NotMeasured,
            arrivals => Doubt::FewArrivals { arrivals, needs_n },
        });
    }
    let Some(value) = quantile.value_ns.map(|value| value as f64) else {
        return Evidence::nothing(Doubt::NotMeasured);
    };
    match quantile {
        Quantile { no_answer: true, .. } => Evidence::of(Measured::NoAnswer, Bounds::exactly(f64::INFINITY)),
        Quantile { at_least: true, .. } => at_least(value, Doubt::Censored),
        _ => Evidence::exactly(value),
    }
}

fn of_mean(streams: &StreamFacts, metric: StreamMetric) -> Evidence {
    let (count, sum_ns, unanswered) = metric.sum(streams);
    match (count, unanswered) {
        (0, _) => Evidence::nothing(Doubt::NotMeasured),
        (_, 0) => Evidence::exactly(sum_ns / count as f64),
        (_, arrivals) => at_least(sum_ns / count as f64, Doubt::MeanOfUnanswered { arrivals }),
    }
}

fn at_least(value: f64, why: Doubt) -> Evidence {
    Evidence::of(Measured::AtLeast(value), Bounds::exactly(value)).up_to(f64::INFINITY, why)
}

/// What the generator may have done: it may have begun a stream late, at most by its largest lag; and where no kernel stamp
/// tells when an event had come, any time may be its own, and a gap too short as well.
fn with_generator(run: &Run, metric: StreamMetric, known: Evidence) -> Evidence {
    let (Measured::Value(value) | Measured::AtLeast(value)) = known.measured else { return known };
    if !ends_on_time(run) {
        let known = known.down_to(0.0, Doubt::Late);
        return if metric == StreamMetric::FirstEvent { known } else { known.up_to(f64::INFINITY, Doubt::Late) };
    }
    match metric {
        StreamMetric::FirstEvent => {
            let lag = run.snapshot.metric(Metric::GeneratorLag).max().map_or(0.0, |max| max.0 as f64);
            known.down_to(value - lag, Doubt::Late)
        }
        StreamMetric::EventGap | StreamMetric::LongestGap => known,
    }
}

/// Planned streams that were not complete, as a share.
pub(super) fn incomplete(run: &Run, findings: &Findings) -> Evidence {
    let Some(streams) = &run.facts.stream else { return Evidence::nothing(Doubt::NoStreams) };
    let tally = streams.tally;
    if tally.planned == 0 {
        return Evidence::nothing(Doubt::NoArrivals);
    }
    let share = |part: u64| part as f64 / tally.planned as f64;
    let bad = tally.planned - tally.complete.min(tally.planned);
    let stopped = if run.facts.interrupted { tally.in_flight_at_end + tally.never_issued } else { 0 };
    Evidence::exactly(share(bad))
        .down_to(share(bad - stopped.min(bad)), Doubt::Stopped { arrivals: stopped })
        .under(LoadEffects::of(&findings.verdict), 1.0)
}
