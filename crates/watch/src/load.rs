//! Current rates, and the number of waiting requests.

use truetail_model::workload::LoadModelKind;
use truetail_report::{LiveState, RunProgress, number};

use crate::history::History;
use crate::look::{Emphasis, TerminalStyle};
use crate::text::Labelled;

/// Returns offered, sent and answered requests per second, and backlog, requests in flight and errors.
pub(crate) fn lines(state: Option<&LiveState>, history: &History, look: TerminalStyle, columns: u16) -> Labelled {
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

/// Returns the arrivals that are due and not sent: at the latest look with even spacing, or else at the time of
/// `state`. `None` if users decide when arrivals are due.
fn backlog(state: &LiveState, progress: &RunProgress) -> Option<u64> {
    let seen = if is_due_known(state) { progress } else { &state.progress };
    let is_open = state.run.facts.offered.model == LoadModelKind::Open;
    is_open.then(|| seen.planned.saturating_sub(seen.sent))
}

/// Returns true if the schedule determines the number of due arrivals at each moment.
pub(crate) fn is_due_known(state: &LiveState) -> bool {
    let offered = &state.run.facts.offered;
    offered.model == LoadModelKind::Open && offered.spacing.as_deref() == Some("even")
}

/// Returns the planned arrivals per second in the last complete columns, over about a second; `None` without any.
fn offered_now(state: &LiveState) -> Option<f64> {
    let time = &state.series.time;
    let planned = &state.series.load.planned_per_s;
    if time.column_s <= 0.0 {
        return None;
    }
    // The last column is still incomplete.
    let whole = planned.len().min(time.columns).checked_sub(1)?;
    let last = ((1.0 / time.column_s).ceil() as usize).clamp(1, whole.max(1));
    let last = &planned[whole.saturating_sub(last)..whole];
    (!last.is_empty()).then(|| last.iter().sum::<f64>() / last.len() as f64)
}
