//! Pictures of a league: percentiles of a few and of all tools, and single requests.

use std::collections::BTreeMap;

use truetail_analysis::league::{LeagueRow, ObservedModel, ToolState};
use truetail_model::record::Snapshot;
use truetail_model::workload::LoadModelKind;

use super::table::LeagueTable;
use crate::number;
use crate::plot::{Curve, Panel, Picture, RequestPlot, Role, ToolModel, many_tools_spectrum, requests, tool_spectrum};

/// Data of a tool for pictures.
#[derive(Clone, Debug)]
pub struct ToolData<'a> {
    /// Row of the tool.
    pub row: &'a LeagueRow,
    /// Latencies; empty if the tool gave only quantiles.
    pub data: &'a Snapshot,
    /// Quantiles that the tool printed: (q in (0, 1], nanoseconds).
    pub points: Vec<(f64, u64)>,
    /// Single requests, if their starts are known: (start since the first one, latency), nanoseconds.
    pub requests: Vec<(u64, u64)>,
}

/// Candidates for the open loop beside ab: the first with a curve is drawn.
const OPEN: [&str; 2] = ["vegeta", "truetail"];
/// Candidates for the closed and the open loop in the picture of single requests: the first with requests is drawn.
const TIMED_CLOSED: [&str; 4] = ["hey", "k6-constant-vus", "jmeter-thread-group", "truetail-closed"];
const TIMED_OPEN: [&str; 3] = ["vegeta", "truetail", "k6-constant-arrival-rate"];

/// Returns all pictures that the data allow: (file name without extension, picture).
pub fn pictures(league: &LeagueTable<'_>, tools: &[ToolData<'_>]) -> Vec<(String, Picture)> {
    let drawn: Vec<&ToolData<'_>> = tools.iter().filter(|tool| has_curve(tool)).collect();
    let by_name = |name: &str| drawn.iter().copied().find(|tool| tool.row.tool == name);
    let open = || OPEN.iter().find_map(|name| by_name(name));
    let pairs = [
        ("closed-vs-open", "closed loop against open loop", by_name("ab"), open()),
        ("k6", "k6, both ways", by_name("k6-constant-vus"), by_name("k6-constant-arrival-rate")),
        ("jmeter", "JMeter, both ways", by_name("jmeter-thread-group"), by_name("jmeter-precise-throughput")),
    ];
    let mut pictures = Vec::new();
    for (file, words, closed, open) in pairs {
        if let (Some(closed), Some(open)) = (closed, open) {
            pictures.push((file.to_owned(), pair(league, words, closed, open)));
        }
    }
    if !drawn.is_empty() {
        pictures.push(("all-tools".to_owned(), all(league, &drawn)));
    }
    pictures.extend(timeline(league, &drawn).map(|picture| ("timeline".to_owned(), picture)));
    pictures
}

fn has_curve(tool: &ToolData<'_>) -> bool {
    tool.row.state == ToolState::Ok && (tool.data.tally.planned > 0 || !tool.points.is_empty())
}

fn title(league: &LeagueTable<'_>, words: &str) -> String {
    format!("{}: {words}", league.scenario.name)
}

fn subtitle(league: &LeagueTable<'_>, ending: &str) -> String {
    let rate = league.rows.first().map_or(0.0, |row| row.rate_asked_per_second);
    format!("each tool: {} for {}; {ending}", number::rate(rate), number::round_time(league.duration.0))
}

/// For streams, tools report more than the time to the whole answer.
fn quantity(league: &LeagueTable<'_>) -> &'static str {
    match league.streams {
        None => "as each tool reports it",
        Some(_) => "time to the whole answer, as each tool reports it",
    }
}

fn curve(tool: &ToolData<'_>, role: Role) -> Curve {
    let reported = tool.row.reported.as_ref();
    // A tool that does not state its number of requests has measured about as many as the server saw.
    let seen = tool.row.arrivals.map(|arrivals| arrivals.count);
    let measured = reported.and_then(|reported| reported.measured).or(seen).unwrap_or_default();
    let p99 = reported.and_then(|reported| reported.quantile(0.99)).map(|p99| p99.value_ns);
    Curve::from_tool(&tool.row.tool, role, tool.data, &tool.points, measured, p99)
}

fn pair(league: &LeagueTable<'_>, words: &str, closed: &ToolData<'_>, open: &ToolData<'_>) -> Picture {
    let curves = [curve(closed, Role::Closed), curve(open, Role::Open), Curve::from_truth("the truth", league.truth)];
    let quantity = quantity(league);
    tool_spectrum(&title(league, words), &subtitle(league, quantity), quantity, &curves)
}

/// Draws all curves, the highest p99 first. The colour shows the observed load model.
fn all(league: &LeagueTable<'_>, tools: &[&ToolData<'_>]) -> Picture {
    let mut sorted: Vec<&ToolData<'_>> = tools.to_vec();
    let p99 = |tool: &ToolData<'_>| Some(tool.row.reported.as_ref()?.quantile(0.99)?.value_ns);
    sorted.sort_by_key(|tool| (std::cmp::Reverse(p99(tool)), tool.row.tool.clone()));
    let mut curves: Vec<Curve> = vec![Curve::from_truth("the truth", league.truth)];
    curves.extend(sorted.iter().zip(roles(&sorted)).map(|(tool, role)| curve(tool, role)));
    let key = match tools.iter().all(|tool| is_not_shown(tool.row)) {
        true => "by label: blue open, red closed, pink filled in",
        false => "as observed: blue open, green partly open, red closed, pink filled in",
    };
    many_tools_spectrum(&title(league, "all tools"), &subtitle(league, key), quantity(league), &curves)
}

/// Returns roles: a colour for each observed load model, and dashes for tools of one model. truetail's line is solid.
fn roles(tools: &[&ToolData<'_>]) -> Vec<Role> {
    let mut numbers: BTreeMap<ToolModel, usize> = BTreeMap::new();
    let mut roles = vec![Role::Truth; tools.len()];
    let mut order: Vec<usize> = (0..tools.len()).collect();
    order.sort_by_key(|index| tools[*index].row.tool != "truetail");
    for index in order {
        let model = model_of(tools[index].row);
        let number = numbers.entry(model).or_default();
        roles[index] = Role::Tool(model, *number);
        *number += 1;
    }
    roles
}

fn is_not_shown(row: &LeagueRow) -> bool {
    matches!(row.observed_model, Some(ObservedModel::NotShown) | None)
}

/// Returns the observed load model, or that of the label if the scenario shows no model.
fn model_of(row: &LeagueRow) -> ToolModel {
    match row.observed_model {
        _ if row.is_back_filled() => ToolModel::Filled,
        Some(ObservedModel::NotShown) if row.label_model == LoadModelKind::Open => ToolModel::Open,
        Some(ObservedModel::NotShown) if row.label_model == LoadModelKind::Closed => ToolModel::Closed,
        Some(ObservedModel::Open) => ToolModel::Open,
        Some(ObservedModel::Closed) => ToolModel::Closed,
        Some(ObservedModel::Partly) => ToolModel::Partly,
        Some(ObservedModel::NotShown) | None => ToolModel::Unknown,
    }
}

fn timeline(league: &LeagueTable<'_>, tools: &[&ToolData<'_>]) -> Option<Picture> {
    let first = |names: &[&str]| {
        names.iter().find_map(|name| tools.iter().find(|tool| tool.row.tool == *name && !tool.requests.is_empty()))
    };
    let panel =
        |tool: &ToolData<'_>, role| Panel { name: tool.row.tool.clone(), role, requests: tool.requests.clone() };
    let closed = first(&TIMED_CLOSED)?;
    let open = first(&TIMED_OPEN)?;
    let shades: Vec<(u64, u64)> = league.window.iter().map(|stretch| (stretch.from_ns, stretch.to_ns)).collect();
    let whole = shades.iter().any(|(from, to)| *from == 0 && *to >= league.duration.0);
    let ending =
        if shades.is_empty() || whole { "a dot is a request" } else { "a dot is a request; shaded: the stall" };
    Some(requests(&RequestPlot {
        title: title(league, "single requests, closed above open"),
        subtitle: subtitle(league, ending),
        quantity: if league.streams.is_some() { "whole answers" } else { "as reported" },
        duration_ns: league.duration.0,
        shades: if whole { Vec::new() } else { shades },
        panels: vec![panel(closed, Role::Closed), panel(open, Role::Open)],
    }))
}
