//! Evidence of a run about shares of its arrivals and about its throughput.

use truetail_run::{CheckCounts, Findings, Run, StreamFacts, StreamKind};

use super::bounds::Bounds;
use super::doubt::Doubt;
use super::evidence::{Evidence, Measured};
use super::load_effects::LoadEffects;
use super::scope::Scope;
use super::times::own_failures;

/// Share of planned arrivals without an answer. With `error_statuses`, also arrivals with an error status.
pub(super) fn failures(run: &Run, findings: &Findings, scope: Scope, error_statuses: bool) -> Evidence {
    let (tally, statuses) = match scope {
        Scope::Whole => (&run.snapshot.tally, &run.snapshot.statuses),
        Scope::Target(number) => (&run.facts.by_target[number].tally, &run.facts.by_target[number].statuses),
    };
    let of_replies = if scope == Scope::Whole { run.facts.error_replies().min(tally.responses) } else { 0 };
    let of_status: u64 =
        statuses.iter().filter(|(status, _)| **status >= 400).map(|(_, n)| n).sum::<u64>() + of_replies;
    // Calls that failed have a status that says so.
    let has_statuses = |streams: &&StreamFacts| streams.reading.kind == StreamKind::Messages;
    let streams = run.facts.stream.as_ref().filter(|streams| !has_statuses(streams)).map(|streams| streams.tally);
    let streams = streams.filter(|_| error_statuses);
    // An answer with an error event in its stream is complete, and has a good status. A cut stream is unanswered.
    let of_streams = streams.map_or(0, |tally| tally.server_error).min(tally.responses.saturating_sub(of_status));
    let of_streams_here = if scope == Scope::Whole { of_streams } else { 0 };
    let bad = tally.unanswered() + if error_statuses { of_status + of_streams_here } else { 0 };
    let counts = BadArrivals {
        planned: tally.planned,
        bad,
        own: own_failures(run).min(tally.connect_failed),
        in_flight_at_end: tally.in_flight_at_end,
        never_issued: tally.never_issued,
    };
    let known = counts.evidence(run, findings);
    match streams {
        Some(streams) if scope == Scope::Whole => {
            let cut = streams.cut.min(tally.unanswered());
            let parts = [
                (of_streams, "an error event in the stream"),
                (cut, "a cut stream"),
                (tally.unanswered() - cut, "no answer"),
                (of_status, "an error status"),
            ];
            Evidence { made_of: made_of(&parts), ..known }
        }
        Some(_) if of_streams > 0 && tally.planned > 0 => {
            let with_streams = (bad + of_streams) as f64 / tally.planned as f64;
            known.up_to(with_streams, Doubt::StreamErrors { answers: of_streams })
        }
        _ => known,
    }
}

/// Returns a text such as `3 with a cut stream, 1 with no answer`.
fn made_of(parts: &[(u64, &str)]) -> Option<String> {
    let told: Vec<_> = parts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} with {what}")).collect();
    (!told.is_empty()).then(|| told.join(", "))
}

/// Counts of planned arrivals with a bad end, and of the bad ends that may not be the fault of the service.
pub(super) struct BadArrivals {
    pub(super) planned: u64,
    pub(super) bad: u64,
    /// Bad arrivals that failed because this machine ran out of ports or files.
    pub(super) own: u64,
    /// Bad arrivals that were in flight at the end of the run.
    pub(super) in_flight_at_end: u64,
    /// Bad arrivals that were never issued.
    pub(super) never_issued: u64,
}

impl BadArrivals {
    /// Evidence about the share of good arrivals, where `cannot_tell` of those that count as bad may be good.
    pub(super) fn evidence_of_good(&self, run: &Run, findings: &Findings, cannot_tell: u64, why: Doubt) -> Evidence {
        let missed = self.evidence(run, findings);
        if cannot_tell == 0 || self.planned == 0 {
            return missed.of_the_rest();
        }
        let unknown = cannot_tell as f64 / self.planned as f64;
        let at_least = (missed.bounds.low - unknown).max(0.0);
        missed.down_to(at_least, why).of_the_rest()
    }

    /// Evidence about the share of bad arrivals. In a stopped run, unfinished arrivals might have ended well. In a
    /// complete run, arrivals without an answer at the end of the drain are bad.
    pub(super) fn evidence(&self, run: &Run, findings: &Findings) -> Evidence {
        if self.planned == 0 {
            return Evidence::nothing(Doubt::NoArrivals);
        }
        let share = |part: u64| part as f64 / self.planned as f64;
        let effects = LoadEffects::from_findings(findings);
        let stopped = if run.facts.interrupted { self.in_flight_at_end + self.never_issued } else { 0 };
        // A stopped run has already counted these.
        let never_sent = if effects.lower_load && !run.facts.interrupted { self.never_issued } else { 0 };
        let without_own = self.bad.saturating_sub(self.own);
        let without_stopped = without_own.saturating_sub(stopped);
        Evidence::exactly(share(self.bad))
            .down_to(share(without_own), Doubt::GeneratorFailures { arrivals: self.own })
            .down_to(share(without_stopped), Doubt::Stopped { arrivals: stopped })
            .down_to(share(without_stopped.saturating_sub(never_sent)), Doubt::LowerLoad)
            .with_load_effects(effects, 1.0)
    }
}

/// Evidence about the share of answers that failed a check. With several checks, the number of failed answers is only
/// bounded: at least the largest count of one check, and at most the sum of all.
pub(super) fn check_failures(run: &Run, findings: &Findings) -> Evidence {
    let checks = &run.facts.checks;
    let answers = checks.iter().map(CheckCounts::answers).max().unwrap_or(0);
    if answers == 0 {
        return Evidence::nothing(Doubt::NoChecks);
    }
    let share = |part: u64| part.min(answers) as f64 / answers as f64;
    let low = share(checks.iter().map(|check| check.failed).max().unwrap_or(0));
    let high = share(checks.iter().map(|check| check.failed).fold(0, u64::saturating_add));
    let known = if low == high {
        Evidence::exactly(low)
    } else {
        let mut between = Evidence::new(Measured::Between(low, high), Bounds { low, high });
        between.above.push(Doubt::SeveralChecks);
        between
    };
    known.with_load_effects(LoadEffects::from_findings(findings), 1.0)
}

pub(super) fn throughput(run: &Run, findings: &Findings, scope: Scope) -> Evidence {
    let effects = LoadEffects::from_findings(findings);
    let all = run.snapshot.tally.responses;
    let part = match scope {
        Scope::Whole => 1.0,
        Scope::Target(_) if all == 0 => 0.0,
        Scope::Target(number) => run.facts.by_target[number].tally.responses as f64 / all as f64,
    };
    let Some(per_second) = findings.throughput_per_second else { return Evidence::nothing(Doubt::NoArrivals) };
    let known = Evidence::exactly(per_second * part);
    if effects.unknown {
        return known.with_load_effects(effects, f64::INFINITY);
    }
    // In saturation the throughput is the service's capacity, not a bound.
    if effects.generator_bound(run.facts.offered.model) {
        known.up_to(f64::INFINITY, Doubt::GeneratorBound)
    } else {
        known
    }
}
