//! Evidence of a run about its streams.

use truetail_model::record::Metric;
use truetail_run::{Findings, GeneratorStats, Quantile, Run, StreamFacts, StreamKind};

use super::bounds::Bounds;
use super::doubt::Doubt;
use super::evidence::{Evidence, Measured};
use super::load_effects::LoadEffects;
use super::metric::Statistic;
use super::shares::BadArrivals;
use super::times::{ends_on_time, own_failures};
use crate::stream_lateness;
use crate::streams::{StreamMetric, Untold};
use crate::support::min_sample_size;

pub(super) fn time(run: &Run, findings: &Findings, metric: StreamMetric, statistic: Statistic) -> Evidence {
    let Some(streams) = &run.facts.stream else { return Evidence::nothing(Doubt::NoStreams) };
    if metric.is_of_llm() && streams.llm.is_none() {
        return Evidence::nothing(Doubt::NoLlm);
    }
    let known = known(streams, metric, statistic);
    with_generator(run, metric, known).with_load_effects(LoadEffects::from_findings(findings), f64::INFINITY)
}

fn known(streams: &StreamFacts, metric: StreamMetric, statistic: Statistic) -> Evidence {
    match (untold(streams, metric), statistic) {
        (Some((untold, why)), Statistic::Quantile(q)) => among_untold(streams, metric, q, untold, why),
        (Some((_, why)), Statistic::Mean) => Evidence::nothing(why),
        (None, Statistic::Quantile(q)) => quantile_evidence(&metric.quantile(streams, q), metric.sum(streams).0),
        (None, Statistic::Mean) => mean_evidence(metric.sum(streams)),
    }
}

/// Returns the bounds of a quantile in nanoseconds: what the generator added, and values about which nothing is known,
/// may have moved it that far. Effects of the generator on the load are left out. `None` if the run says nothing about
/// the quantile. Pauses and late starts move few of the values, so most bounds lie within those of a gate. Bounds of
/// gaps also allow for gaps that a pause made shorter, and for gaps between events that were read at once after it.
pub(crate) fn bounds_of_quantile(run: &Run, metric: StreamMetric, q: f64) -> Option<(f64, f64)> {
    let streams = run.facts.stream.as_ref()?;
    let Evidence { measured, bounds: Bounds { low, high }, .. } =
        with_generator(run, metric, known(streams, metric, Statistic::Quantile(q)));
    if measured == Measured::Nothing {
        return None;
    }
    let untold = untold(streams, metric).map_or(0, |(untold, _)| untold);
    if metric.is_gap() && ends_on_time(run) && stream_lateness::changed_by_pauses(run, streams) > 0 {
        return Some(stream_lateness::bounds_of_gap(run, streams, metric, q, untold));
    }
    let pushes = streams.reading.kind == StreamKind::Pushes;
    if pushes || !ends_on_time(run) || own_failures(run) > 0 || untold > 0 {
        return Some((low, high));
    }
    let of_ranks = stream_lateness::bounds(run, streams, metric, q);
    Some((low.max(of_ranks.0), high.min(of_ranks.1)))
}

/// Returns the bounds of a quantile over all unknown values that there may be. The generator is left out. `None` if the
/// run says nothing about the quantile.
pub(crate) fn bounds_of_unknown(streams: &StreamFacts, metric: StreamMetric, q: f64) -> Option<(f64, f64)> {
    let Evidence { measured, bounds: Bounds { low, high }, .. } = known(streams, metric, Statistic::Quantile(q));
    (measured != Measured::Nothing).then_some((low, high))
}

/// Returns the number of values about which nothing is known, if any, and the reason.
fn untold(streams: &StreamFacts, metric: StreamMetric) -> Option<(u64, Doubt)> {
    let llm = streams.llm.as_ref()?;
    let values = match metric {
        StreamMetric::TimePerOutputToken => llm.tokens.unknown_time_per_output_token,
        StreamMetric::FirstContent => llm.unmeasured.first_content,
        StreamMetric::ContentGap => llm.unmeasured.gaps,
        StreamMetric::FirstEvent | StreamMetric::EventGap | StreamMetric::LongestGap => return None,
    };
    let why = match metric {
        _ if llm.unmeasured.echo_events > 0 => Doubt::PromptRepeated { values },
        StreamMetric::TimePerOutputToken => Doubt::TokensUnknown { answers: values },
        _ => Doubt::NotUnderstood { values },
    };
    (values > 0).then_some((values, why))
}

/// Evidence about a quantile if `untold` values are unknown: they may be the smallest or the largest.
fn among_untold(streams: &StreamFacts, metric: StreamMetric, q: f64, untold: u64, why: Doubt) -> Evidence {
    let count = metric.sum(streams).0.saturating_add(untold);
    let smallest = quantile_evidence(&metric.quantile_with(streams, q, Untold::Smallest(untold)), count);
    let largest = quantile_evidence(&metric.quantile_with(streams, q, Untold::Largest(untold)), count);
    if smallest.measured == Measured::Nothing || largest.measured == Measured::NoAnswer && metric.sum(streams).0 == 0 {
        return if count < min_sample_size(q) { smallest } else { Evidence::nothing(why) };
    }
    let bounds = Bounds { low: smallest.bounds.low, high: largest.bounds.high };
    let measured = match (smallest.measured, largest.measured) {
        (Measured::NoAnswer, _) => Measured::NoAnswer,
        (_, Measured::Value(high)) => Measured::Between(bounds.low, high),
        _ => Measured::AtLeast(bounds.low),
    };
    Evidence { below: vec![why.clone()], above: vec![why], ..Evidence::new(measured, bounds) }
}

pub(super) fn quantile_evidence(quantile: &Quantile, count: u64) -> Evidence {
    if let Some(needs_n) = quantile.needs_n.filter(|_| !quantile.supported) {
        return Evidence::nothing(match count {
            0 => Doubt::NotMeasured,
            arrivals => Doubt::FewArrivals { arrivals, needs_n },
        });
    }
    let Some(value) = quantile.value_ns.map(|value| value as f64) else {
        return Evidence::nothing(Doubt::NotMeasured);
    };
    match *quantile {
        Quantile { no_answer: true, .. } => Evidence::new(Measured::NoAnswer, Bounds::exactly(f64::INFINITY)),
        Quantile { at_least: true, .. } => at_least(value, Doubt::Censored),
        _ => Evidence::exactly(value),
    }
}

/// Converts a mean to evidence: count and sum of the values, and how many values are only lower bounds.
pub(super) fn mean_evidence((count, sum_ns, unanswered): (u64, f64, u64)) -> Evidence {
    match (count, unanswered) {
        (0, _) => Evidence::nothing(Doubt::NotMeasured),
        (_, 0) => Evidence::exactly(sum_ns / count as f64),
        (_, arrivals) => at_least(sum_ns / count as f64, Doubt::MeanOfUnanswered { arrivals }),
    }
}

fn at_least(value: f64, why: Doubt) -> Evidence {
    Evidence::new(Measured::AtLeast(value), Bounds::exactly(value)).up_to(f64::INFINITY, why)
}

/// Extends the bounds by what the generator may have done. A stream may have started late by the largest lag. Events
/// that arrived during a pause were read together with the time of the last byte, so an event and the gap before it may
/// be late by the longest pause. Without kernel time stamps, the generator may have caused the whole time, and a gap
/// may also be too short. A stream that failed because this machine ran out of ports or files may have been the fastest
/// of all. A time per output token may also be too short, if the first content was read late.
fn with_generator(run: &Run, metric: StreamMetric, known: Evidence) -> Evidence {
    let (Measured::Value(value) | Measured::AtLeast(value) | Measured::Between(value, _)) = known.measured else {
        return known;
    };
    if !ends_on_time(run) {
        let known = known.down_to(0.0, Doubt::Late);
        let is_first = matches!(metric, StreamMetric::FirstEvent | StreamMetric::FirstContent);
        return if is_first { known } else { known.up_to(f64::INFINITY, Doubt::Late) };
    }
    let pause = run.facts.generator.as_ref().map_or(0, GeneratorStats::longest_pause_ns) as f64;
    match metric {
        StreamMetric::FirstEvent | StreamMetric::FirstContent => {
            let lag = run.snapshot.metric(Metric::GeneratorLag).max().map_or(0.0, |max| max.0 as f64);
            let known = known.down_to((value - lag - pause).max(0.0), Doubt::Late);
            match own_failures(run) {
                0 => known,
                own => known.down_to(0.0, Doubt::GeneratorFailures { arrivals: own }),
            }
        }
        StreamMetric::EventGap | StreamMetric::LongestGap | StreamMetric::ContentGap => {
            known.down_to((value - pause).max(0.0), Doubt::Late)
        }
        StreamMetric::TimePerOutputToken if pause > 0.0 => {
            let high = known.bounds.high + pause;
            known.down_to((value - pause).max(0.0), Doubt::Late).up_to(high, Doubt::Late)
        }
        StreamMetric::TimePerOutputToken => known,
    }
}

/// Share of planned streams that were not complete.
pub(super) fn incomplete(run: &Run, findings: &Findings) -> Evidence {
    let Some(streams) = &run.facts.stream else { return Evidence::nothing(Doubt::NoStreams) };
    let tally = streams.tally;
    let of_sessions = SessionStreams::new(run, streams);
    // A session that failed because this machine ran out of ports or files lost all of its streams.
    let own = own_failures(run).saturating_mul(of_sessions.per_session);
    let counts = BadArrivals {
        planned: tally.planned,
        bad: tally.planned - tally.complete.min(tally.planned),
        own: own.min(tally.failed.saturating_add(tally.not_reached)),
        in_flight_at_end: tally.in_flight_at_end,
        never_issued: tally.never_issued.saturating_add(of_sessions.cut_off.min(tally.not_reached)),
    };
    counts.evidence(run, findings)
}

/// Share of planned requests that met the objectives of each request.
pub(super) fn goodput(run: &Run, findings: &Findings) -> Evidence {
    let Some(streams) = &run.facts.stream else { return Evidence::nothing(Doubt::NoStreams) };
    let Some(llm) = &streams.llm else { return Evidence::nothing(Doubt::NoLlm) };
    let Some(slo) = &llm.slo else { return Evidence::nothing(Doubt::NoGoodput) };
    let tally = streams.tally;
    let counts = BadArrivals {
        planned: tally.planned,
        bad: tally.planned.saturating_sub(slo.met),
        own: own_failures(run).min(tally.failed),
        in_flight_at_end: tally.in_flight_at_end,
        never_issued: tally.never_issued,
    };
    let why = match slo.cannot_tell {
        values if llm.unmeasured.echo_events > 0 => Doubt::PromptRepeated { values },
        answers => Doubt::GoodputUnknown { answers },
    };
    counts.evidence_of_good(run, findings, slo.cannot_tell, why)
}

/// Returns the bounds of [`goodput`]; `None` if it is not known.
pub(crate) fn bounds_of_goodput(run: &Run, findings: &Findings) -> Option<(f64, f64)> {
    let evidence = goodput(run, findings);
    (evidence.measured != Measured::Nothing).then_some((evidence.bounds.low, evidence.bounds.high))
}

/// Facts about streams that are steps of sessions.
struct SessionStreams {
    /// Streams per session. Several flows count together. 1 without flows.
    per_session: u64,
    /// Streams not reached because their session was cut off or never began.
    cut_off: u64,
}

impl SessionStreams {
    fn new(run: &Run, streams: &StreamFacts) -> SessionStreams {
        let Some(sessions) = run.facts.sessions.as_ref().filter(|_| !streams.reading.of_steps.is_empty()) else {
            return SessionStreams { per_session: 1, cut_off: streams.tally.not_reached };
        };
        let steps = sessions.steps.iter().filter(|step| streams.reading.of_steps.contains(&step.name));
        steps.fold(SessionStreams { per_session: 0, cut_off: 0 }, |sum, step| {
            let cut_off = step.not_reached.never_begun.saturating_add(step.not_reached.run_ended);
            SessionStreams {
                per_session: sum.per_session.saturating_add(step.per_session),
                cut_off: sum.cut_off.saturating_add(cut_off),
            }
        })
    }
}
