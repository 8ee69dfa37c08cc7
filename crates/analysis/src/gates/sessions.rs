//! Evidence of a run about its sessions.

use truetail_model::record::Metric;
use truetail_run::{Findings, Run, SessionFacts, SessionPart, StepFacts};

use super::doubt::Doubt;
use super::evidence::{Evidence, Measured};
use super::load_effects::LoadEffects;
use super::metric::Statistic;
use super::shares::BadArrivals;
use super::streams::{mean_evidence, quantile_evidence};
use super::times::{ends_on_time, own_failures};
use crate::sessions;

/// Sessions of a flow, or all sessions.
fn sessions_of<'a>(run: &'a Run, flow: Option<&str>) -> Result<SessionPart<'a>, Doubt> {
    let facts = run.facts.sessions.as_ref().ok_or(Doubt::NoSessions)?;
    let Some(name) = flow else { return Ok(facts.all_sessions()) };
    let known = || facts.flows.iter().map(|flow| flow.name.clone()).collect();
    facts.for_flow(name).ok_or_else(|| Doubt::NoSuchFlow { known: known() })
}

/// Evidence about the session response time of a flow, or of all sessions.
pub(super) fn time(run: &Run, findings: &Findings, flow: Option<&str>, statistic: Statistic) -> Evidence {
    let sessions = match sessions_of(run, flow) {
        Ok(sessions) => sessions,
        Err(why) => return Evidence::nothing(why),
    };
    let known = match statistic {
        Statistic::Quantile(q) => quantile_evidence(&sessions::quantile(sessions.times, q), sessions.tally.planned),
        Statistic::Mean => mean_evidence(sessions::sum(sessions.times)),
    };
    let all = || run.facts.sessions.iter().flat_map(SessionFacts::parts);
    let requests = match flow {
        Some(_) => most_requests_of(sessions),
        None => all().map(most_requests_of).fold(0.0, f64::max),
    };
    with_generator(run, known, requests).with_load_effects(LoadEffects::from_findings(findings), f64::INFINITY)
}

/// Evidence about the response time of a step that may consist of several requests. `None` if `name` is no such step.
pub(super) fn step_time(run: &Run, findings: &Findings, name: Option<&str>, statistic: Statistic) -> Option<Evidence> {
    let steps = run.facts.sessions.iter().flat_map(|facts| &facts.steps);
    let step = steps.filter(|step| step.times.count() > 0).find(|step| Some(&*step.name) == name)?;
    let known = match statistic {
        Statistic::Quantile(q) => quantile_evidence(&sessions::quantile(&step.times, q), step.times.count()),
        Statistic::Mean => mean_evidence(sessions::sum(&step.times)),
    };
    Some(
        with_generator(run, known, most_requests(step))
            .with_load_effects(LoadEffects::from_findings(findings), f64::INFINITY),
    )
}

fn most_requests_of(sessions: SessionPart<'_>) -> f64 {
    sessions.steps.iter().map(|step| step.per_session as f64 * most_requests(step)).sum()
}

/// Most requests of one pass through a step.
fn most_requests(step: &StepFacts) -> f64 {
    step.most_requests.max(1) as f64
}

/// Extends the bounds by what the generator may have added. Each of the `requests` may have started late by the largest
/// lag. An answer that arrived during a pause of the generator may delay the next request by the longest pause, and all
/// pauses together delay a session by no more than their sum. A session that failed because this machine ran out of
/// ports or files may have been the fastest of all.
fn with_generator(run: &Run, known: Evidence, requests: f64) -> Evidence {
    let (Measured::Value(value) | Measured::AtLeast(value)) = known.measured else { return known };
    if !ends_on_time(run) {
        return known.down_to(0.0, Doubt::Late);
    }
    let paused = run.facts.generator.as_ref().map_or(0.0, |stats| {
        let longest = stats.longest_pause_ns();
        (requests * longest as f64).min(stats.paused_ns.max(longest) as f64)
    });
    let lag = run.snapshot.metric(Metric::GeneratorLag).max().map_or(0.0, |max| max.0 as f64);
    let known = known.down_to((value - requests * lag - paused).max(0.0), Doubt::Late);
    match own_failures(run) {
        0 => known,
        own => known.down_to(0.0, Doubt::GeneratorFailures { arrivals: own }),
    }
}

/// Share of planned sessions all of whose requests met the objectives of each request.
pub(super) fn goodput(run: &Run, findings: &Findings) -> Evidence {
    let facts = run.facts.sessions.as_ref();
    let Some((sessions, goodput)) = facts.and_then(|facts| Some((facts, facts.goodput?))) else {
        return Evidence::nothing(Doubt::NoSessionGoodput);
    };
    let tally = sessions.tally;
    let counts = BadArrivals {
        planned: tally.planned,
        bad: tally.planned.saturating_sub(goodput.met),
        own: own_failures(run).min(tally.ended_early),
        in_flight_at_end: tally.in_flight_at_end,
        never_issued: tally.never_begun,
    };
    let sessions = goodput.cannot_tell;
    counts.evidence_of_good(run, findings, sessions, Doubt::SessionGoodputUnknown { sessions })
}

/// Share of planned sessions that were not completed, of a flow or of all sessions.
pub(super) fn incomplete(run: &Run, findings: &Findings, flow: Option<&str>) -> Evidence {
    let tally = match sessions_of(run, flow) {
        Ok(sessions) => *sessions.tally,
        Err(why) => return Evidence::nothing(why),
    };
    let counts = BadArrivals {
        planned: tally.planned,
        bad: tally.planned - tally.completed.min(tally.planned),
        own: own_failures(run).min(tally.ended_early),
        in_flight_at_end: tally.in_flight_at_end,
        never_issued: tally.never_begun,
    };
    counts.evidence(run, findings)
}
