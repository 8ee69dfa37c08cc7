//! The machines that shared a load, one per row.

use truetail_run::{Run, Shard, Shards, VerdictState, ranges};

use super::labelled::labelled_text;
use crate::number;
use crate::style::Style;
use crate::table::{Align, TextTable};

/// Limit on the rows; run.json has all machines.
const MAX_ROWS: usize = 16;

/// Returns a row for each machine, and the distance between their starts.
pub(super) fn lines(run: &Run, style: Style) -> Vec<String> {
    let Some(shards) = &run.facts.shards else { return Vec::new() };
    let mut table = TextTable::new(&[
        ("stripe", Align::Right),
        ("planned", Align::Right),
        ("answered", Align::Right),
        ("never issued", Align::Right),
        ("lag p99", Align::Right),
        ("lag max", Align::Right),
        ("late", Align::Right),
        ("measurement", Align::Left),
    ]);
    shown(shards).into_iter().for_each(|shard| table.row(cells(shard, shards.of)));
    let mut lines = table.lines(4, style);
    let hidden = shards.by_stripe.len().saturating_sub(MAX_ROWS);
    if hidden > 0 {
        lines.push(format!("    and {hidden} more, with no worse verdict; all are in run.json"));
    }
    lines.extend(remarks(shards).into_iter().flat_map(|(label, text)| labelled_text(label, &text, style)));
    lines
}

/// Returns the machines by number, or if they are too many, the ones with the worst verdict and the largest lag.
fn shown(shards: &Shards) -> Vec<&Shard> {
    let mut all: Vec<&Shard> = shards.by_stripe.iter().collect();
    if all.len() > MAX_ROWS {
        all.sort_by_key(|shard| std::cmp::Reverse((shard.verdict, shard.generator_lag_p99_ns)));
        all.truncate(MAX_ROWS);
    }
    all
}

fn cells(shard: &Shard, of: u32) -> Vec<String> {
    let time = |ns: Option<u64>| ns.map_or(String::new(), number::time);
    let verdict = shard.verdict.map_or("", VerdictState::name);
    vec![
        format!("{}/{of}", shard.index),
        number::count(shard.planned),
        number::count(shard.responses),
        if shard.never_issued > 0 { number::count(shard.never_issued) } else { String::new() },
        time(shard.generator_lag_p99_ns),
        time(shard.generator_lag_max_ns),
        if shard.late_ns > 0 { number::round_time(shard.late_ns) } else { String::new() },
        [verdict].into_iter().chain(shard.reasons.iter().map(String::as_str)).collect::<Vec<_>>().join(" "),
    ]
}

fn remarks(shards: &Shards) -> Vec<(&'static str, String)> {
    let mut said = Vec::new();
    if !shards.missing.is_empty() {
        said.push(("Missing", format!("stripes {} of {}", ranges(&shards.missing), shards.of)));
    }
    if let Some(latest) = shards.latest().filter(|_| shards.by_stripe.len() > 1) {
        let lag = number::time(latest.generator_lag_p99_ns.unwrap_or(0));
        said.push(("Worst lag", format!("p99 {lag}, of stripe {}/{}", latest.index, shards.of)));
    }
    if let Some(apart) = shards.origins_apart_ns().filter(|_| shards.by_stripe.len() > 1) {
        let starts =
            if apart == 0 { "at one instant".to_owned() } else { format!("{} apart", number::round_time(apart)) };
        said.push((
            "Starts",
            format!("{starts}, each by the clock of its machine; how far those clocks differ is not in the folders"),
        ));
    }
    said
}
