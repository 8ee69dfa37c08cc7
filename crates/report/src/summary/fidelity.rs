//! Arrival fidelity, warm-up, and the closed-loop shadow.

use truetail_run::{ArrivalFidelity, ClosedLoopShadow, Findings, Run, SettlingState, ShadowQuantile};

use super::labelled::LabelledText;
use crate::number;

/// Smallest share of unplanned gaps that is shown.
const OTHER_GAPS: f64 = 0.05;

/// Returns the deviation of the arrivals from the schedule, and the schedule's hash.
pub fn punctuality(run: &Run, findings: &Findings) -> Option<LabelledText> {
    let fidelity = findings.arrival_fidelity.as_ref()?;
    let seed = run.facts.offered.seed.map(|seed| format!(" · seed {seed}")).unwrap_or_default();
    Some(("On time", format!("{}{seed} · schedule {}", on_time(fidelity), run.snapshot.schedule_hash)))
}

fn on_time(fidelity: &ArrivalFidelity) -> String {
    let within = format!(
        "{} within 1ms, {} within a tenth of a gap",
        number::share(fidelity.within_1ms),
        number::share(fidelity.within_tenth_of_gap)
    );
    let gaps = fidelity.gaps.filter(|gaps| gaps.distance >= OTHER_GAPS);
    gaps.map_or(within.clone(), |gaps| {
        format!("{within}, {} of gaps differ from the plan", number::share(gaps.distance))
    })
}

/// Returns the warm-up that could be cut off, if any.
pub fn settling(findings: &Findings) -> Option<LabelledText> {
    let settling = &findings.settling;
    // A shift is among the reasons of the verdict.
    match settling.state {
        SettlingState::Settles if settling.shift.is_none() => Some(("Warm-up", settling.why.clone())),
        SettlingState::NotJudged | SettlingState::Steady | SettlingState::Settles | SettlingState::Unsettled => None,
    }
}

/// Returns the report of a closed loop if it is provably too low: at p99, or at the quantile with the largest error.
pub fn shadow(findings: &Findings) -> Option<LabelledText> {
    let shadow = findings.closed_loop_shadow.as_ref()?;
    let quantile = shown_quantile(shadow)?;
    let users =
        if shadow.users == 1 { "1 user".to_owned() } else { format!("{} users", number::count(shadow.users.into())) };
    Some(("Shadow", format!("a closed loop of {users} would have reported {}", omitted(quantile))))
}

/// Returns p99 if something is omitted there, else the quantile below the maximum with the largest omission factor.
fn shown_quantile(shadow: &ClosedLoopShadow) -> Option<&ShadowQuantile> {
    let omits = |quantile: &&ShadowQuantile| quantile.q < 1.0 && is_too_low(quantile);
    let factor = |quantile: &ShadowQuantile| quantile.omission_low.unwrap_or(0.0);
    let most = || shadow.quantiles.iter().filter(omits).max_by(|a, b| factor(a).total_cmp(&factor(b)));
    shadow.quantiles.iter().find(|quantile| quantile.q == 0.99 && omits(quantile)).or_else(most)
}

fn is_too_low(quantile: &ShadowQuantile) -> bool {
    quantile.omission_low.is_some_and(|low| low > 1.0)
}

/// Formats `p99 10.69ms: 38× too low (36×…40×)`.
fn omitted(quantile: &ShadowQuantile) -> String {
    let name = number::quantile_name(quantile.q);
    let at_least = if quantile.at_least { "at least " } else { "" };
    let value = quantile.value_ns.unwrap_or(0);
    let factor = quantile.omission_factor.unwrap_or(1.0);
    let interval = quantile.omission_low.zip(quantile.omission_high);
    let interval =
        interval.map_or(String::new(), |(low, high)| format!(" ({}…{})", number::factor(low), number::factor(high)));
    format!("{name} {}: {at_least}{} too low{interval}", number::time(value), number::factor(factor))
}
