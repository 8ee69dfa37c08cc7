//! Evidence of a run about the effects of its marks.

use truetail_run::{Findings, MarkFinding, MarkState, Run};

use super::bounds::Bounds;
use super::doubt::Doubt;
use super::evidence::{Evidence, Measured};
use super::load_effects::LoadEffects;

/// Longest time from a mark until p99 was back within its band.
pub(super) fn recovery(findings: &Findings) -> Evidence {
    let marks = &findings.marks;
    if marks.is_empty() {
        return Evidence::nothing(Doubt::NoEvents);
    }
    let longest = |time: fn(&MarkFinding) -> Option<u64>| marks.iter().map(|mark| time(mark).unwrap_or(0)).max();
    let low = longest(|mark| mark.recovery_low_ns).unwrap_or(0) as f64;
    let all_known = marks.iter().all(|mark| mark.recovery_high_ns.is_some());
    let high = longest(|mark| mark.recovery_high_ns).filter(|_| all_known).map_or(f64::INFINITY, |high| high as f64);
    let value = longest(|mark| mark.recovery_ns.or(mark.recovery_low_ns)).unwrap_or(0) as f64;
    let is_judged = marks.iter().all(|mark| mark.state != MarkState::CannotTell);
    let (measured, why) = match (all_known, is_judged) {
        (true, _) => (Measured::Value(value), Doubt::RecoveryInterval),
        (false, true) => (Measured::AtLeast(low), Doubt::NotRecovered),
        (false, false) => (Measured::AtLeast(low), Doubt::EventNotJudged),
    };
    let mut evidence = Evidence::new(measured, Bounds { low, high });
    evidence.interval = all_known.then_some((low, high));
    evidence.below.push(why.clone());
    evidence.above.push(why);
    evidence.with_load_effects(LoadEffects::from_findings(findings), f64::INFINITY)
}

/// Share of the planned requests that the marks harmed.
pub(super) fn harmed(run: &Run, findings: &Findings) -> Evidence {
    let planned = run.snapshot.tally.planned;
    if findings.marks.is_empty() || planned == 0 {
        return Evidence::nothing(Doubt::NoEvents);
    }
    let harmed: u64 = findings.marks.iter().filter_map(|mark| mark.harmed).fold(0, u64::saturating_add);
    let share = |requests: f64| (requests / planned as f64).clamp(0.0, 1.0);
    // Of the requests in the sample, the number is exact.
    let one_in = run.snapshot.samples.one_in().max(1) as f64;
    let margin = if one_in > 1.0 { 2.0 * (harmed as f64 * one_in).sqrt() } else { 0.0 };
    let bounds = Bounds { low: share(harmed as f64 - margin), high: share(harmed as f64 + margin) };
    let mut evidence = Evidence::new(Measured::Value(share(harmed as f64)), bounds);
    if margin > 0.0 {
        evidence.below.push(Doubt::SampledEffects);
        evidence.above.push(Doubt::SampledEffects);
    }
    if findings.marks.iter().any(|mark| mark.harmed.is_none()) {
        evidence = evidence.up_to(1.0, Doubt::EventNotJudged);
    }
    evidence.with_load_effects(LoadEffects::from_findings(findings), 1.0)
}
