//! What a run says of its sessions.

use truetail_model::record::Metric;
use truetail_run::{Findings, Run, StepFacts};

use super::doubt::Doubt;
use super::evidence::{Evidence, Measured};
use super::load_effects::LoadEffects;
use super::metric::Statistic;
use super::shares::BadArrivals;
use super::streams::{of_mean, of_quantile};
use super::times::{ends_on_time, own_failures};
use crate::sessions;

/// What is known of the session response time.
pub(super) fn time(run: &Run, findings: &Findings, statistic: Statistic) -> Evidence {
    let Some(facts) = &run.facts.sessions else { return Evidence::nothing(Doubt::NoSessions) };
    let known = match statistic {
        Statistic::Quantile(q) => of_quantile(&sessions::quantile(&facts.times, q), facts.tally.planned),
        Statistic::Mean => of_mean(sessions::sum(&facts.times)),
    };
    let requests = facts.steps.iter().map(|step| step.per_session as f64 * most_requests(step)).sum();
    with_generator(run, known, requests).under(LoadEffects::of(&findings.verdict), f64::INFINITY)
}

/// What is known of the response time of a step that may be several requests; `None` where there is no such step of this name.
pub(super) fn step_time(run: &Run, findings: &Findings, name: Option<&str>, statistic: Statistic) -> Option<Evidence> {
    let steps = run.facts.sessions.iter().flat_map(|facts| &facts.steps);
    let step = steps.filter(|step| step.times.count() > 0).find(|step| Some(&*step.name) == name)?;
    let known = match statistic {
        Statistic::Quantile(q) => of_quantile(&sessions::quantile(&step.times, q), step.times.count()),
        Statistic::Mean => of_mean(sessions::sum(&step.times)),
    };
    Some(with_generator(run, known, most_requests(step)).under(LoadEffects::of(&findings.verdict), f64::INFINITY))
}

/// The most requests of one pass through a step.
fn most_requests(step: &StepFacts) -> f64 {
    step.most_requests.max(1) as f64
}

/// What the generator may have added: each of so many `requests` may have begun late, at most by its largest lag, and an answer
/// that came while it stood still made the next one late by as much as its longest pause. A session that failed for want of
/// something on this machine may have been the fastest of all.
fn with_generator(run: &Run, known: Evidence, requests: f64) -> Evidence {
    let (Measured::Value(value) | Measured::AtLeast(value)) = known.measured else { return known };
    if !ends_on_time(run) {
        return known.down_to(0.0, Doubt::Late);
    }
    let pauses = run.facts.generator.iter().flat_map(|stats| &stats.pauses);
    let pause = pauses.map(|pause| pause.length_ns).max().unwrap_or(0) as f64;
    let lag = run.snapshot.metric(Metric::GeneratorLag).max().map_or(0.0, |max| max.0 as f64);
    let known = known.down_to((value - requests * (lag + pause)).max(0.0), Doubt::Late);
    match own_failures(run) {
        0 => known,
        own => known.down_to(0.0, Doubt::GeneratorFailures { arrivals: own }),
    }
}

/// Planned sessions that were not completed, as a share.
pub(super) fn incomplete(run: &Run, findings: &Findings) -> Evidence {
    let Some(facts) = &run.facts.sessions else { return Evidence::nothing(Doubt::NoSessions) };
    let tally = facts.tally;
    let counts = BadArrivals {
        planned: tally.planned,
        bad: tally.planned - tally.completed.min(tally.planned),
        own: own_failures(run).min(tally.ended_early),
        in_flight_at_end: tally.in_flight_at_end,
        never_issued: tally.never_begun,
    };
    counts.evidence(run, findings)
}
