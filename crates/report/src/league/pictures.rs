//! Pictures of a league: percentiles of a few and of all tools, and single requests.

use std::collections::BTreeMap;

use truetail_analysis::league::{Observed, Row, State};
use truetail_model::record::Snapshot;
use truetail_model::workload::LoadModelKind;

use super::LeagueTable;
use crate::number;
use crate::plot::{Curve, Model, Panel, Picture, RequestPlot, Role, many_tools_spectrum, requests, tool_spectrum};

/// What a tool gave besides its row.
#[derive(Clone, Debug)]
pub struct ToolData<'a> {
    /// Its row.
    pub row: &'a Row,
    /// Its latencies; empty where it gave quantiles only.
    pub data: &'a Snapshot,
    /// The quantiles that it printed: (q, nanoseconds), 1 for the largest.
    pub points: Vec<(f64, u64)>,
    /// Its single requests, where it says when each began: (start from its first, latency), nanoseconds.
    pub requests: Vec<(u64, u64)>,
}

/// Who stands for the open loop, the first that is there, beside ab.
const OPEN: [&str; 2] = ["vegeta", "truetail"];
/// Whose single requests are shown, the first that has some.
const TIMED_CLOSED: [&str; 4] = ["hey", "k6-constant-vus", "jmeter-thread-group", "truetail-closed"];
const TIMED_OPEN: [&str; 3] = ["vegeta", "truetail", "k6-constant-arrival-rate"];

/// All that can be drawn of these tools: (name of the file, picture).
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
    tool.row.state == State::Ok && (tool.data.tally.planned > 0 || !tool.points.is_empty())
}

fn title(league: &LeagueTable<'_>, words: &str) -> String {
    format!("{}: {words}", league.scenario.name)
}

fn subtitle(league: &LeagueTable<'_>, ending: &str) -> String {
    let rate = league.rows.first().map_or(0.0, |row| row.rate_asked_per_second);
    format!("{} for {} asked of each tool; {ending}", number::rate(rate), number::round_time(league.duration.0))
}

fn curve(tool: &ToolData<'_>, role: Role) -> Curve {
    let reported = tool.row.reported.as_ref();
    // Who does not say how many requests are in its latencies has about as many as the server saw.
    let seen = tool.row.arrivals.map(|arrivals| arrivals.count);
    let measured = reported.and_then(|reported| reported.measured).or(seen).unwrap_or_default();
    let p99 = reported.and_then(|reported| reported.quantile(0.99)).map(|p99| p99.value_ns);
    Curve::of_tool(&tool.row.tool, role, tool.data, &tool.points, measured, p99)
}

fn pair(league: &LeagueTable<'_>, words: &str, closed: &ToolData<'_>, open: &ToolData<'_>) -> Picture {
    let curves = [curve(closed, Role::Closed), curve(open, Role::Open), Curve::of_truth("the truth", league.truth)];
    tool_spectrum(&title(league, words), &subtitle(league, "each as it reports itself"), &curves)
}

/// Colours by what was observed, highest p99 first, as the curves lie at p99.
fn all(league: &LeagueTable<'_>, tools: &[&ToolData<'_>]) -> Picture {
    let mut sorted: Vec<&ToolData<'_>> = tools.to_vec();
    let p99 = |tool: &ToolData<'_>| Some(tool.row.reported.as_ref()?.quantile(0.99)?.value_ns);
    sorted.sort_by_key(|tool| (std::cmp::Reverse(p99(tool)), tool.row.tool.clone()));
    let mut curves: Vec<Curve> = vec![Curve::of_truth("the truth", league.truth)];
    curves.extend(sorted.iter().zip(roles(&sorted)).map(|(tool, role)| curve(tool, role)));
    let key = match tools.iter().all(|tool| is_not_shown(tool.row)) {
        true => "blue is open by its label, red closed, pink filled in",
        false => "blue was seen to be open, green partly, red closed, pink filled in",
    };
    many_tools_spectrum(&title(league, "all tools"), &subtitle(league, key), &curves)
}

/// A colour for what was observed, and dashes within it; truetail's line is solid.
fn roles(tools: &[&ToolData<'_>]) -> Vec<Role> {
    let mut numbers: BTreeMap<Model, usize> = BTreeMap::new();
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

fn is_not_shown(row: &Row) -> bool {
    matches!(row.observed_model, Some(Observed::NotShown) | None)
}

/// What was observed; by its label, where the scenario shows nothing.
fn model_of(row: &Row) -> Model {
    match row.observed_model {
        _ if row.is_back_filled() => Model::Filled,
        Some(Observed::NotShown) if row.label_model == LoadModelKind::Open => Model::Open,
        Some(Observed::NotShown) if row.label_model == LoadModelKind::Closed => Model::Closed,
        Some(Observed::Open) => Model::Open,
        Some(Observed::Closed) => Model::Closed,
        Some(Observed::Partly) => Model::Partly,
        Some(Observed::NotShown) | None => Model::Unknown,
    }
}

fn timeline(league: &LeagueTable<'_>, tools: &[&ToolData<'_>]) -> Option<Picture> {
    let first = |names: &[&str]| {
        names.iter().find_map(|name| tools.iter().find(|tool| tool.row.tool == *name && !tool.requests.is_empty()))
    };
    let panel =
        |tool: &ToolData<'_>, role| Panel { name: tool.row.tool.clone(), role, requests: tool.requests.clone() };
    let (closed, open) = (first(&TIMED_CLOSED)?, first(&TIMED_OPEN)?);
    let shades: Vec<(u64, u64)> = league.window.iter().map(|stretch| (stretch.from_ns, stretch.to_ns)).collect();
    let whole = shades.iter().any(|(from, to)| *from == 0 && *to >= league.duration.0);
    let ending =
        if shades.is_empty() || whole { "a dot is a request" } else { "a dot is a request; shaded: the stall" };
    Some(requests(&RequestPlot {
        title: title(league, "single requests, closed above open"),
        subtitle: subtitle(league, ending),
        quantity: "as reported",
        duration_ns: league.duration.0,
        shades: if whole { Vec::new() } else { shades },
        panels: vec![panel(closed, Role::Closed), panel(open, Role::Open)],
    }))
}
