//! The league as JSON.

use serde::Serialize;
use truetail_analysis::league::{LeagueRow, QUANTILES, TimeRange};

use super::table::LeagueTable;
use crate::json::pretty_json;

#[derive(Serialize)]
struct LeagueJson<'a> {
    scenario: &'a str,
    duration_ns: u64,
    truth: TruthJson,
    /// When the service could not answer, or was slow, on the fault clock.
    window: &'a [TimeRange],
    tools: &'a [LeagueRow],
}

#[derive(Serialize)]
struct TruthJson {
    quantiles: Vec<TrueQuantile>,
}

/// A quantile of the truth; no value where no answer ever comes.
#[derive(Serialize)]
struct TrueQuantile {
    q: f64,
    value_ns: Option<u64>,
}

/// Everything that is known of each tool, and the truth.
pub fn json(league: &LeagueTable<'_>) -> String {
    let at = |q| TrueQuantile { q, value_ns: league.truth.quantile(q).map(|value| value.0) };
    pretty_json(&LeagueJson {
        scenario: &league.scenario.name,
        duration_ns: league.duration.0,
        truth: TruthJson { quantiles: QUANTILES.into_iter().map(at).collect() },
        window: league.window,
        tools: league.rows,
    })
}
