//! Start delay, gaps between requests, and response time by rate.

use std::ops::Range;

use maud::{Markup, html};
use truetail_analysis::series::{GapSeries, RunSeries};
use truetail_report::{number, plot};

use super::page::RunPage;
use super::time_rows::{self, time};
use super::wording::none;
use crate::document::Section;
use crate::figure::Figure;
use crate::table::Table;

pub(super) fn delay(page: &RunPage<'_>) -> Section {
    Section { id: "delay", heading: "Start delay, by who caused it", content: delay_content(page) }
}

fn delay_content(page: &RunPage<'_>) -> Markup {
    let delays = &page.series.start_delay;
    let lists = [&delays.generator_lag_ns, &delays.connection_wait_ns, &delays.connect_ns];
    let is_known = lists.iter().any(|list| list.iter().any(Option::is_some));
    let is_late = lists.iter().any(|list| list.iter().flatten().any(|ns| *ns > 0));
    if !page.live && !is_known {
        return none("The start delay is not known over time.");
    }
    if !page.live && !is_late {
        return none("No request was sent late.");
    }
    html! {
        (Figure {
            name: "delay",
            picture: plot::start_delay(page.series),
            caption: "How much later than due requests were sent, on average: because truetail was late (generator lag), because \
                      no connection was free (connection wait), or because one had to be opened (connect).",
            table: delay_table(page.series),
        }.markup())
    }
}

fn delay_table(series: &RunSeries) -> Table {
    let delays = &series.start_delay;
    let row = |row: Range<usize>| {
        let lists = [&delays.generator_lag_ns, &delays.connection_wait_ns, &delays.connect_ns];
        let highest = lists.map(|list| time_rows::highest(list, &row));
        std::iter::once(time_rows::start(series, &row)).chain(highest).collect::<Vec<_>>()
    };
    let caption = format!("Mean start delay by time{}", time_rows::explained(series, "with the highest means in it"));
    Table::new(caption, ["due at, s", "generator lag", "connection wait", "connect"])
        .with_rows(time_rows::rows(series).map(row))
        .without_empty_columns()
}

/// Returns the section of planned and real gaps between requests.
pub(super) fn gaps(page: &RunPage<'_>) -> Section {
    let content = if page.series.gaps.is_none() && !page.live {
        none("Gaps between requests are not shown: that needs at least 100 requests, each of them saved.")
    } else {
        let caption = "How far apart requests were sent, beside how far apart they were planned.";
        let table = page.series.gaps.as_ref().map_or_else(|| Table::new("Gaps between requests", ["gap"]), gaps_table);
        Figure { name: "gaps", picture: plot::gaps(page.series), caption, table }.markup()
    };
    Section { id: "gaps", heading: "Gaps between requests", content }
}

fn gaps_table(gaps: &GapSeries) -> Table {
    let edge = |bin: usize| number::time((gaps.lowest_ns * gaps.bin_factor.powf(bin as f64)).round() as u64);
    let bins = gaps.planned.iter().zip(&gaps.sent).enumerate();
    let used = bins.filter(|(_, (planned, sent))| **planned > 0.0 || **sent > 0.0);
    Table::new("Gaps between requests", ["gap", "planned", "sent"]).with_rows(used.map(|(bin, (planned, sent))| {
        [format!("{}–{}", edge(bin), edge(bin + 1)), number::share(*planned), number::share(*sent)]
    }))
}

/// Returns the section of response time by rate, if the rate changed.
pub(super) fn rate(page: &RunPage<'_>) -> Option<Section> {
    if page.series.by_rate.is_empty() {
        return None;
    }
    let content = html! {
        (Figure {
            name: "rate",
            picture: plot::by_rate(page.series),
            caption: "Response times by the planned rate at which requests were due.",
            table: rate_table(page.series),
        }.markup())
    };
    Some(Section { id: "rate", heading: "Response time by rate", content })
}

fn rate_table(series: &RunSeries) -> Table {
    let mut all: Vec<f64> = series.by_rate.iter().flat_map(|band| band.quantiles.iter().map(|(q, _)| *q)).collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    let heads = ["planned", "answered", "requests"].map(str::to_owned).into_iter();
    let heads = heads.chain(all.iter().map(|q| number::quantile_name(*q)));
    Table::new("Response times by rate", heads).with_rows(series.by_rate.iter().map(|band| {
        let at = |q: &f64| time(band.quantiles.iter().find(|(one, _)| one == q).map(|(_, ns)| *ns));
        [number::rate(band.planned_per_s), number::rate(band.completed_per_s), number::count(band.arrivals)]
            .into_iter()
            .chain(all.iter().map(at))
            .collect::<Vec<_>>()
    }))
}
