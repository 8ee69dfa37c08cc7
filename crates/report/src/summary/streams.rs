//! How streams ended, and the times of their events.

use truetail_analysis::figures;
use truetail_run::{Distribution, Findings, Run, StreamFacts, StreamKind};

use super::labelled::LabelledText;
use super::tail::{QUANTILES_OF_A_ROW, at, with_quantiles};
use crate::number;
use crate::style::Style;

/// How the streams of a run ended, and what came in them. Empty where answers were not read as such.
pub(super) fn streams(run: &Run) -> Vec<LabelledText> {
    run.facts.stream.as_ref().map_or(Vec::new(), |streams| vec![("Streams", ends(streams)), ("", events(streams))])
}

fn ends(streams: &StreamFacts) -> String {
    let tally = streams.tally;
    let complete = format!("{} of {} complete", number::count(tally.complete), number::count(tally.planned));
    let others = tally.incomplete().into_iter().filter(|(count, _)| *count > 0);
    let others = others.map(|(count, how)| format!("{} {how}", number::count(count)));
    std::iter::once(complete).chain(others).collect::<Vec<_>>().join(", ")
}

fn events(streams: &StreamFacts) -> String {
    let what = match streams.kind {
        StreamKind::Sse => "events",
        StreamKind::Chunks => "chunks",
    };
    let mut parts = vec![format!("{} {what}", number::count(streams.events))];
    if streams.coalesced_gaps > 0 {
        parts.push(format!("{} came together with the one before", number::count(streams.coalesced_gaps)));
    }
    if let Some(stall) = streams.stall_ns {
        parts.push(format!("{} stalls of {} or longer", number::count(streams.stalls), figures::time(stall as f64)));
    }
    parts.join(", ")
}

/// The heads of [`stream_times`].
pub(super) fn stream_times_heads() -> Vec<String> {
    let heads = ["streams", "values"].map(str::to_owned);
    heads.into_iter().chain(QUANTILES_OF_A_ROW.map(number::quantile_name)).collect()
}

/// The times of streams that have values, a row each.
pub(super) fn stream_times(findings: &Findings) -> Vec<Vec<String>> {
    let Some(streams) = &findings.stream else { return Vec::new() };
    let rows = [
        ("first event", &streams.first_event_time),
        ("last event", &streams.last_event_time),
        ("gap", &streams.event_gap),
        ("longest gap", &streams.longest_gap),
    ];
    let row = |(name, times): (&str, &Distribution)| {
        [name.to_owned(), number::count(times.count)]
            .into_iter()
            .chain(QUANTILES_OF_A_ROW.map(|q| at(times, q)))
            .collect()
    };
    rows.into_iter().filter(|(_, times)| times.count > 0).map(row).collect()
}

/// The table of [`stream_times`].
pub(super) fn table(findings: &Findings, style: Style) -> Vec<String> {
    let rows = stream_times(findings);
    if rows.is_empty() {
        return Vec::new();
    }
    with_quantiles(&stream_times_heads(), rows, style)
}
