//! The times of a run's requests by names of spans.

use std::collections::HashSet;

use truetail_model::record::{Outcome, RequestRecord, Samples};
use truetail_model::time::Nanos;
use truetail_model::trace::TraceIds;
use truetail_run::{MAX_PARTS, ReportedTimes, ServerTiming, SpanBooks};

use crate::names::{Names, OTHER};
use crate::tree::{KeptSpan, Part, add_weights, parts};

/// Source of the times, in place of a header.
const SOURCE: &str = "spans";

/// Returns the times of the requests in `samples`. `books` have the spans that are not in `spans`.
pub(crate) fn reported(
    samples: &Samples,
    ids: TraceIds,
    mut spans: Vec<KeptSpan>,
    names: &Names,
    mut books: SpanBooks,
) -> ServerTiming {
    let kept = || samples.even().iter().chain(samples.slowest_left_out());
    let indices: HashSet<u64> = kept().map(|record| record.index).collect();
    // Of two spans with one id the first to come stays: the order of a stable sort.
    spans.sort_by_key(|span| (span.request, span.id));
    let all = spans.len();
    spans.dedup_by_key(|span| (span.request, span.id));
    books.doubled += (all - spans.len()) as u64;
    let traces = || spans.chunk_by(|one, next| one.request == next.request);
    let kept_traces = || traces().filter(|trace| indices.contains(&trace[0].request));
    let mut weights = vec![0.0; names.len()];
    let mut order = Vec::new();
    let mut seen = vec![false; names.len()];
    let mut of_requests: Vec<(u64, Vec<Part>)> = Vec::new();
    for trace in kept_traces() {
        let request = trace[0].request;
        let parts = parts(ids.own_id(request), trace);
        books.used += parts.len() as u64;
        books.without_parent += (trace.len() - parts.len()) as u64;
        add_weights(&parts, &mut weights);
        let new = parts.iter().map(|part| part.name).filter(|name| !std::mem::replace(&mut seen[*name as usize], true));
        order.extend(new);
        of_requests.push((request, parts));
    }
    books.not_kept += spans.len() as u64 - kept_traces().map(|trace| trace.len() as u64).sum::<u64>();
    let chosen = chosen(order, &weights);
    let place_of = |name: u32| chosen.iter().position(|chosen| *chosen == name).unwrap_or(chosen.len() - 1);
    drop(spans);
    let times_of = |(request, parts): (u64, Vec<Part>)| {
        let mut times = ReportedTimes::of_spans(request, parts.len() as u64);
        for part in parts {
            times.add(place_of(part.name), Nanos(part.own_ns as u64));
        }
        times
    };
    let times: Vec<ReportedTimes> = of_requests.into_iter().map(times_of).filter(|times| !times.is_empty()).collect();
    let mut timing = ServerTiming {
        sources: vec![SOURCE.to_owned()],
        names: chosen.iter().map(|name| names.name(*name).to_owned()).collect(),
        spans: Some(books),
        times,
        ..ServerTiming::default()
    };
    let mut seen = HashSet::new();
    let is_answer = |record: &&RequestRecord| matches!(record.outcome, Outcome::Response { .. });
    let asked = kept().filter(is_answer).map(|record| record.index).filter(|index| ids.is_sampled(*index));
    let (with, without): (Vec<u64>, Vec<u64>) =
        asked.filter(|index| seen.insert(*index)).partition(|index| timing.of(*index).is_some());
    timing.answers = with.len() as u64;
    timing.without = without.len() as u64;
    timing
}

/// Returns at most [`MAX_PARTS`] names in the order of `order`. If there are more, the names that explain the most
/// stay, and [`OTHER`] has the rest and is last.
fn chosen(order: Vec<u32>, weights: &[f64]) -> Vec<u32> {
    let has_other = order.contains(&OTHER);
    let mut chosen: Vec<u32> = order.into_iter().filter(|name| *name != OTHER).collect();
    if chosen.len() + usize::from(has_other) <= MAX_PARTS {
        chosen.extend(has_other.then_some(OTHER));
        return chosen;
    }
    let mut heaviest = chosen.clone();
    heaviest.sort_by(|one, other| weights[*other as usize].total_cmp(&weights[*one as usize]));
    heaviest.truncate(MAX_PARTS - 1);
    chosen.retain(|name| heaviest.contains(name));
    chosen.push(OTHER);
    chosen
}
