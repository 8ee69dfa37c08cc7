//! Streams: their times, their gaps over time, their objectives, and a few of them in full.

use std::ops::Range;

use maud::{Markup, html};
use truetail_analysis::series::{HeatMap, ObjectiveBooks, RunSeries, ShownStream, StreamSeries};
use truetail_report::{number, plot, words};
use truetail_run::{SampledStream, StreamKind};

use super::page::RunPage;
use super::time_rows;
use super::wording::{because, labelled, none, seconds};
use crate::document::Section;
use crate::figure::Figure;
use crate::table::Table;

/// Returns the section; `None` if answers were not read as streams.
pub(super) fn section(page: &RunPage<'_>) -> Option<Section> {
    let series = page.series.streams.as_ref()?;
    let heading = match page.run.facts.stream.as_ref().map(|streams| streams.reading.kind) {
        Some(StreamKind::Whole) => "Answers of the language model",
        _ if is_llm(page) => "Streams of the language model",
        Some(StreamKind::Pushes) => "Pushes on subscribed channels",
        _ => "Streams",
    };
    Some(Section { id: "streams", heading, content: content(page, series) })
}

fn is_llm(page: &RunPage<'_>) -> bool {
    page.run.facts.stream.as_ref().is_some_and(|streams| streams.llm.is_some())
}

/// Returns true if answers come whole, so that nothing is known of their parts.
fn is_whole(page: &RunPage<'_>) -> bool {
    page.run.facts.stream.as_ref().is_some_and(|streams| streams.reading.kind == StreamKind::Whole)
}

fn content(page: &RunPage<'_>, series: &StreamSeries) -> Markup {
    let goodput = words::goodput(page.run, page.findings);
    html! {
        (labelled(words::streams(page.run).into_iter().chain(goodput)))
        @if !is_whole(page) { (times(page)) }
        @if !series.objectives.is_empty() {
            (Figure {
                name: "goodput",
                picture: plot::goodput(series),
                caption: "What became of the planned requests by each objective. A request without a complete answer, and one that \
                          was never sent, met nothing.",
                table: objectives(series),
            }.markup())
        }
        @if !is_whole(page) { (gaps_over_time(page, series)) }
        @if !series.sampled.is_empty() {
            (Figure {
                name: "streams",
                picture: plot::waterfall(series),
                caption: "A few streams from their intended starts on: the slowest, the one in the middle of a random sample, and \
                          some others of that sample. Only requests that were sent are among them.",
                table: streams(page, series),
            }.markup())
        }
    }
}

fn gaps_over_time(page: &RunPage<'_>, series: &StreamSeries) -> Markup {
    html! {
        @if let Some(why) = without_gaps(page, series) {
            (none(why))
        } @else {
            (Figure {
                name: "event-gaps",
                picture: plot::event_gaps(series, &page.series.pauses),
                caption: "Gaps between events over time: the stronger the colour, the more gaps were that long. A gap stands where the \
                          event came that ended it. Gaps that no event ended are marked at the top. Events that were read together \
                          have no gap between them that anybody knows, and are not here.",
                table: gaps(series),
            }.markup())
        }
    }
}

/// Returns the reason that there is no picture of gaps; `None` if there is one.
fn without_gaps(page: &RunPage<'_>, series: &StreamSeries) -> Option<&'static str> {
    let is_kept = page.run.facts.stream.as_ref().is_some_and(|streams| streams.detail.is_some());
    match series.time.columns {
        0 if is_kept => Some("No gap between events was read."),
        0 => Some("Gaps over time and single streams are not known: the run was saved without them."),
        _ => None,
    }
}

fn times(page: &RunPage<'_>) -> Markup {
    let rows = words::stream_times(page.run, page.findings);
    html! {
        (Table::new("Times of streams by percentile", words::stream_times_heads()).with_rows(rows).markup())
        p.faint {
            "First and last event and TTFT run from the intended start, so that the last event is the time end to end; “once sent” \
             is the TTFT from the actual start. There is no 95 % interval, because nothing is known of how the gaps of one stream depend on each other."
        }
    }
}

fn objectives(series: &StreamSeries) -> Table {
    let row = |books: &ObjectiveBooks| {
        let counts = [books.met, books.missed, books.cannot_tell, books.incomplete];
        let planned = counts.iter().fold(0, |sum: u64, count| sum.saturating_add(*count)).max(1);
        let cell = |count: u64| format!("{} ({})", number::count(count), number::share(count as f64 / planned as f64));
        let name = books.objective.clone().unwrap_or("all objectives".to_owned());
        std::iter::once(name).chain(counts.map(cell)).collect::<Vec<_>>()
    };
    let heads = ["objective", "met", "missed", "cannot be told", "no complete answer"];
    Table::new("Planned requests by objective", heads).with_rows(series.objectives.iter().map(row))
}

fn gaps(series: &StreamSeries) -> Table {
    let of_gaps = RunSeries { time: series.time, ..RunSeries::default() };
    let heads = ["until, s", "gaps", "shortest, at least", "longest, at most", "not ended"];
    let row = |row: Range<usize>| {
        let cells = || series.gaps.cells.get(row.clone()).unwrap_or_default().iter().flatten();
        let rows = || cells().map(|(row, _)| usize::from(*row));
        let edge = |row: Option<usize>| row.map_or("–".to_owned(), |row| edge(&series.gaps, row));
        let open = series.gaps.unanswered.get(row.clone()).unwrap_or_default().iter().fold(0, add);
        let until = row.end.checked_sub(1).map_or(0.0, |last| series.time.end_s(last));
        [
            seconds(until),
            number::count(cells().map(|(_, count)| count).fold(0, add)),
            edge(rows().min()),
            edge(rows().max().map(|row| row + 1)),
            number::count(open),
        ]
    };
    let explained = time_rows::explained(&of_gaps, "with all of its gaps");
    let caption = format!("Gaps between events by time{explained}");
    Table::new(caption, heads).with_rows(time_rows::rows(&of_gaps).map(row))
}

fn add(sum: u64, count: &u64) -> u64 {
    sum.saturating_add(*count)
}

/// Returns the lower edge of a row.
fn edge(map: &HeatMap, row: usize) -> String {
    number::time((map.lowest_ns * map.row_factor.powf(row as f64)).round() as u64)
}

fn streams(page: &RunPage<'_>, series: &StreamSeries) -> Table {
    let is_llm = is_llm(page);
    let row = |shown: &ShownStream| {
        let stream = &shown.stream;
        let since = |at_ns: u64| number::time(at_ns.saturating_sub(stream.intended_start_ns));
        let first_event_ns = stream.marks.first().map(|mark| mark.from_ns);
        let first = if is_llm { stream.first_content_ns } else { first_event_ns };
        let together = stream.marks.iter().fold(0, |sum: u64, mark| sum.saturating_add(mark.coalesced));
        [
            because(shown.because).to_owned(),
            stream.ending.describe().to_owned(),
            seconds(stream.intended_start_ns as f64 / 1e9),
            since(stream.actual_start_ns),
            first.map_or("–".to_owned(), since),
            number::count(stream.events()),
            number::count(together),
            longest_gap(stream).map_or("–".to_owned(), number::time),
            since(stream.end_ns),
        ]
    };
    let heads = [
        "stream",
        "how it ended",
        "due at, s",
        "sent after",
        if is_llm { "first content" } else { "first event" },
        "events",
        "read together",
        "longest gap",
        "end",
    ];
    Table::new("A few streams", heads).with_words(2).with_rows(series.sampled.iter().map(row))
}

/// Returns the exact longest gap: even if events share marks, the events before and after this gap do not.
fn longest_gap(stream: &SampledStream) -> Option<u64> {
    stream.marks.windows(2).map(|pair| pair[1].from_ns.saturating_sub(pair[0].to_ns)).max()
}
