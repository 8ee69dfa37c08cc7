//! Series of streams.

use truetail_model::time::{NANOS_PER_SECOND, Timestamp};
use truetail_run::{GapMap, LlmFacts, Run, SampledStream, StreamFacts, StreamKind};

use super::data::{HeatMap, ObjectiveBooks, ShownStream, StreamSeries};
use super::shown::shown;
use super::time_axis::TimeAxis;

const MAX_ROWS: usize = 48;

/// Series of the streams of a run. `None` if answers were not read as streams.
pub(super) fn streams(run: &Run) -> Option<StreamSeries> {
    let facts = run.facts.stream.as_ref()?;
    let whole = StreamSeries {
        objectives: facts.llm.as_ref().map_or(Vec::new(), |llm| objectives(llm, facts)),
        stall_ns: facts.reading.stall_ns,
        ..StreamSeries::default()
    };
    // Answers that come whole have no events to draw.
    let in_pieces = facts.reading.kind != StreamKind::Whole;
    let Some(detail) = facts.detail.as_ref().filter(|_| in_pieces) else { return Some(whole) };
    let (time, gaps) = gaps(&detail.gaps, run.snapshot.measure_from, run.snapshot.last_end);
    let sampled = shown(&detail.sampled, SampledStream::length_ns);
    let sampled = sampled.map(|(because, stream)| ShownStream { because, stream: stream.clone() }).collect();
    Some(StreamSeries { time, gaps, sampled, ..whole })
}

fn objectives(llm: &LlmFacts, facts: &StreamFacts) -> Vec<ObjectiveBooks> {
    let Some(slo) = &llm.slo else { return Vec::new() };
    let complete = facts.tally.complete;
    let incomplete = facts.tally.planned.saturating_sub(complete);
    let each = slo.objectives.iter().zip(&slo.each).map(|(objective, counts)| ObjectiveBooks {
        objective: Some(objective.clone()),
        met: counts.met,
        missed: counts.missed,
        cannot_tell: counts.cannot_tell,
        incomplete,
    });
    let all = ObjectiveBooks {
        objective: None,
        met: slo.met,
        missed: complete.saturating_sub(slo.met).saturating_sub(slo.cannot_tell),
        cannot_tell: slo.cannot_tell,
        incomplete,
    };
    let is_one = slo.each.len() == 1;
    each.chain((!is_one).then_some(all)).collect()
}

/// Part of the map from `measure_from` on, with rows merged until they fit into a picture.
fn gaps(map: &GapMap, measure_from: Timestamp, last_end: Timestamp) -> (TimeAxis, HeatMap) {
    let width_ns = map.width().0;
    let columns: Vec<(Vec<(u16, u64)>, u64)> = map.columns().collect();
    let first = ((measure_from.0 / width_ns) as usize).min(columns.len());
    let seconds = |ns: u64| ns as f64 / NANOS_PER_SECOND as f64;
    let last_begins = width_ns.saturating_mul(columns.len().saturating_sub(1) as u64);
    let end = last_begins.saturating_add(width_ns);
    let to = if last_end.0 > last_begins { last_end.0.min(end) } else { end };
    let time = TimeAxis {
        from_s: seconds(width_ns.saturating_mul(first as u64)),
        column_s: seconds(width_ns),
        columns: columns.len() - first,
        measured_from_s: seconds(measure_from.0.max(width_ns.saturating_mul(first as u64)).min(to)),
        to_s: seconds(to),
    };
    let columns = &columns[first..];
    let rows = || columns.iter().flat_map(|(cells, _)| cells).map(|(row, _)| *row);
    let unanswered = columns.iter().map(|(_, open)| *open).collect();
    let Some((low, high)) = rows().min().zip(rows().max()) else {
        let cells = vec![Vec::new(); columns.len()];
        return (time, HeatMap { cells, unanswered, ..HeatMap::default() });
    };
    let step =
        (0..).map(|power| 1 << power).find(|step| usize::from(high / step - low / step) < MAX_ROWS).unwrap_or(256);
    let cells: Vec<Vec<(u16, u64)>> = columns.iter().map(|(cells, _)| joined(cells, low / step, step)).collect();
    let map = HeatMap {
        lowest_ns: GapMap::edge_ns(low / step * step),
        row_factor: libm::pow(GapMap::ROW_FACTOR, f64::from(step)),
        rows: usize::from(high / step - low / step) + 1,
        largest: cells.iter().flatten().map(|(_, count)| *count).max().unwrap_or(0),
        cells,
        unanswered,
    };
    (time, map)
}

/// Merges every `step` rows into one. Rows are counted from `lowest`.
fn joined(cells: &[(u16, u64)], lowest: u16, step: u16) -> Vec<(u16, u64)> {
    let chunks = cells.chunk_by(|one, next| one.0 / step == next.0 / step);
    let sum = |chunk: &[(u16, u64)]| chunk.iter().fold(0, |sum: u64, (_, count)| sum.saturating_add(*count));
    chunks.map(|chunk| (chunk[0].0 / step - lowest, sum(chunk))).collect()
}
