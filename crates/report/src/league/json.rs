//! The league as JSON.

use serde::Serialize;
use truetail_analysis::league::{LeagueRow, QUANTILES, StreamRow, TimeRange};

use super::table::LeagueTable;
use crate::json::pretty_json;

#[derive(Serialize)]
struct LeagueJson<'a> {
    scenario: &'a str,
    duration_ns: u64,
    truth: TruthJson,
    /// Periods when the service could not answer, or was slow, on the fault clock.
    window: &'a [TimeRange],
    tools: &'a [LeagueRow],
    /// Truth and tools of streams; omitted if the answers are not streams.
    #[serde(skip_serializing_if = "Option::is_none")]
    streams: Option<StreamsJson<'a>>,
}

#[derive(Serialize)]
struct StreamsJson<'a> {
    /// Time to the first token.
    first_truth: Vec<TrueQuantile>,
    /// Gaps between tokens.
    gap_truth: Vec<TrueQuantile>,
    tools: &'a [StreamRow],
}

#[derive(Serialize)]
struct TruthJson {
    quantiles: Vec<TrueQuantile>,
}

/// A quantile of the truth; without a value if no answer ever comes.
#[derive(Serialize)]
struct TrueQuantile {
    q: f64,
    value_ns: Option<u64>,
}

/// Returns the truth, and all results of each tool.
pub fn json(league: &LeagueTable<'_>) -> String {
    let at = |q| TrueQuantile { q, value_ns: league.truth.quantile(q).map(|value| value.0) };
    let streams = league.streams.map(|(truth, tools)| {
        let of = |at: &dyn Fn(f64) -> Option<u64>| QUANTILES.map(|q| TrueQuantile { q, value_ns: at(q) }).into();
        StreamsJson { first_truth: of(&|q| truth.first_at(q)), gap_truth: of(&|q| truth.gap_at(q)), tools }
    });
    pretty_json(&LeagueJson {
        scenario: &league.scenario.name,
        duration_ns: league.duration.0,
        truth: TruthJson { quantiles: QUANTILES.into_iter().map(at).collect() },
        window: league.window,
        tools: league.rows,
        streams,
    })
}
