//! Rates of now, and how many requests wait.

use truetail_model::workload::LoadModelKind;
use truetail_report::{LiveState, RunProgress, number};

use crate::history::History;
use crate::look::{Emphasis, Look};
use crate::text::Labelled;

/// Offered, sent and answered per second; backlog, requests in flight and errors.
pub(crate) fn lines(state: Option<&LiveState>, history: &History, look: Look, columns: u16) -> Labelled {
    let mut text = Labelled::new(look, columns);
    let rates = history.rates_now();
    let rates = format!(
        "{} offered · {} sent · {} answered",
        number::rate_if_any(state.and_then(offered_now)),
        number::rate_if_any(rates.map(|rates| rates.sent)),
        number::rate_if_any(rates.map(|rates| rates.answered)),
    );
    text.add("Rate now", &rates, Emphasis::Plain, true);
    if let Some(progress) = history.latest() {
        let (waiting, emphasis) = waiting(state, progress);
        text.add("Requests", &waiting, emphasis, true);
    }
    text
}

fn waiting(state: Option<&LiveState>, progress: &RunProgress) -> (String, Emphasis) {
    let backlog = state.and_then(|state| backlog(state, progress));
    let backlog = backlog.map_or(String::new(), |backlog| format!("backlog {} · ", number::count(backlog)));
    let text = format!(
        "{backlog}{} in flight · {} answered · {} errors",
        number::count(progress.in_flight),
        number::count(progress.answered),
        number::count(progress.failed)
    );
    (text, if progress.failed > 0 { Emphasis::Doubt } else { Emphasis::Plain })
}

/// Arrivals that are due and not sent. Only with even spacing is it known of each moment how many are due; otherwise `None`
/// unless some are known to wait.
pub(crate) fn backlog(state: &LiveState, progress: &RunProgress) -> Option<u64> {
    let offered = &state.run.facts.offered;
    let is_known = offered.model == LoadModelKind::Open && offered.spacing.as_deref() == Some("even");
    let waiting = progress.planned.saturating_sub(progress.sent);
    (is_known || waiting > 0).then_some(waiting)
}

/// Planned arrivals per second in the last whole columns, as many as make a second; `None` before there is one.
fn offered_now(state: &LiveState) -> Option<f64> {
    let (time, planned) = (&state.series.time, &state.series.load.planned_per_s);
    if time.column_s <= 0.0 {
        return None;
    }
    // The last column is still being filled.
    let whole = planned.len().min(time.columns).checked_sub(1)?;
    let last = ((1.0 / time.column_s).ceil() as usize).clamp(1, whole.max(1));
    let last = &planned[whole.saturating_sub(last)..whole];
    (!last.is_empty()).then(|| last.iter().sum::<f64>() / last.len() as f64)
}
