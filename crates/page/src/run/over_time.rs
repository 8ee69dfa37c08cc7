//! The run over time: heat map and lanes.

use std::ops::Range;

use maud::{Markup, html};
use truetail_analysis::series::{HeatMap, PauseSpan, PausedSide, QuantileSeries, RunSeries};
use truetail_report::{number, plot};

use super::page::RunPage;
use super::time_rows;
use super::wording::{none, seconds};
use crate::document::Section;
use crate::figure::Figure;
use crate::table::Table;

/// Maximum number of pauses in the table. The picture shows more.
const MAX_PAUSES: usize = 20;

pub(super) fn section(page: &RunPage<'_>) -> Section {
    Section { id: "over-time", heading: "The run over time", content: content(page) }
}

fn content(page: &RunPage<'_>) -> Markup {
    let series = page.series;
    if series.time.columns == 0 && !page.live {
        return none(
            "Nothing is known of the run over time: it has no request, or was saved without its distributions by second.",
        );
    }
    html! {
        p { "Response times stand where a request was due, sends where it was sent, and answers where it ended. A column is "
            (number::round_time((series.time.column_s * 1e9).round() as u64)) " long." }
        @if heat_is_known(&series.heat_map) || page.live {
            (Figure {
                name: "heat",
                picture: plot::heat_map(series),
                caption: "Response times over time: the stronger the colour, the more requests took that long. Requests without an \
                          answer are marked at the top.",
                table: heat_table(series),
            }.markup())
        } @else {
            (none("There is no heat map, because no response time is known by time."))
        }
        (Figure {
            name: "lanes",
            picture: plot::lanes(series),
            caption: "The load, the backlog, percentiles of response time, and how late truetail itself was (generator lag), on \
                      the same axis. Pauses of either side are shaded.",
            table: lanes_table(series),
        }.markup())
        (pauses(&series.pauses).markup())
    }
}

fn heat_is_known(heat: &HeatMap) -> bool {
    heat.largest > 0 || heat.unanswered.iter().any(|n| *n > 0)
}

fn heat_table(series: &RunSeries) -> Table {
    let heat = &series.heat_map;
    let decade = |row: usize| {
        // Use the middle of a row, on the logarithmic scale, so that a row on an edge falls to one side.
        let middle_ns = heat.lowest_ns * heat.row_factor.powf(row as f64 + 0.5);
        middle_ns.max(1.0).log10().floor().min(19.0) as i32
    };
    let used = || heat.cells.iter().flatten().map(|(row, _)| decade(usize::from(*row)));
    let decades: Vec<i32> = match used().min().zip(used().max()) {
        Some((low, high)) => (low..=high).collect(),
        None => Vec::new(),
    };
    let span = |power: i32| {
        let edge = |power: i32| number::round_time(10_f64.powi(power).round() as u64);
        format!("{}–{}", edge(power), edge(power + 1))
    };
    let heads =
        ["due at, s".to_owned()].into_iter().chain(decades.iter().copied().map(span)).chain(["unanswered".to_owned()]);
    let row = |row: Range<usize>| {
        let cells = || heat.cells.get(row.clone()).unwrap_or_default().iter().flatten();
        let in_decade = |power| {
            let counts = cells().filter(|(height, _)| decade(usize::from(*height)) == power);
            number::count(counts.map(|(_, n)| n).sum())
        };
        let unanswered = number::count(heat.unanswered.get(row.clone()).unwrap_or_default().iter().sum());
        let counts = decades.iter().copied().map(in_decade).chain([unanswered]);
        std::iter::once(time_rows::start(series, &row)).chain(counts).collect::<Vec<_>>()
    };
    let caption =
        format!("Requests by time and response time{}", time_rows::explained(series, "with all of its requests"));
    Table::new(caption, heads).with_rows(time_rows::rows(series).map(row))
}

fn lanes_table(series: &RunSeries) -> Table {
    let load = &series.load;
    let heads = ["at, s", "planned", "sent", "answered", "failed", "backlog", "in flight"].map(str::to_owned);
    let times = |all: &[QuantileSeries], of: &str| -> Vec<String> {
        all.iter().map(|one| format!("{of} {}", number::quantile_name(one.q))).collect()
    };
    let heads = heads.into_iter().chain(times(&series.response_time, "response time"));
    let heads = heads.chain(times(&series.generator_lag, "generator lag"));
    let row = |row: Range<usize>| {
        let rates = [&load.planned_per_s, &load.sent_per_s, &load.completed_per_s, &load.failed_per_s];
        let counts = [&load.backlog, &load.in_flight];
        let quantiles = series.response_time.iter().chain(&series.generator_lag);
        std::iter::once(time_rows::start(series, &row))
            .chain(rates.map(|per_s| time_rows::mean_rate(series, per_s, &row)))
            .chain(counts.map(|values| time_rows::last(values, &row)))
            .chain(quantiles.map(|one| time_rows::highest(&one.values_ns, &row)))
            .collect::<Vec<_>>()
    };
    let how = "with its mean rates, the backlog at its end and the highest percentiles in it";
    let caption = format!("The run by time{}", time_rows::explained(series, how));
    Table::new(caption, heads).with_rows(time_rows::rows(series).map(row)).without_empty_columns()
}

fn pauses(pauses: &[PauseSpan]) -> Table {
    let side = |side: PausedSide| match side {
        PausedSide::Generator => "truetail did not run",
        PausedSide::Server => "requests were in flight and none was answered",
    };
    let length = |span: &PauseSpan| number::time(((span.to_s - span.from_s) * 1e9).max(0.0).round() as u64);
    let row = |span: &PauseSpan| [side(span.side).to_owned(), seconds(span.from_s), length(span)];
    let mut longest: Vec<&PauseSpan> = pauses.iter().collect();
    longest.sort_by(|a, b| (b.to_s - b.from_s).total_cmp(&(a.to_s - a.from_s)));
    let caption = if longest.len() > MAX_PAUSES { "The longest pauses" } else { "Pauses, longest first" };
    longest.truncate(MAX_PAUSES);
    Table::new(caption, ["what", "at, s", "length"]).with_rows(longest.into_iter().map(row))
}
