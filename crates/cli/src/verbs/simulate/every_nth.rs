//! The lab every-nth, in virtual time.

use truetail_report::number;
use truetail_report::plot::Role;
use truetail_sim::labs::every_nth::{self, EveryNthOptions, EveryNthResult};

use super::lab::{Column, Lab, Line, Slow, column, refused};
use crate::outcome::Result;

/// Its name.
pub const NAME: &str = "every-nth";

/// Runs it.
pub fn run(options: &EveryNthOptions) -> Result<Lab> {
    let found = find(options)?;
    let columns = columns(&found, ["closed-loop", "open-loop", "ratio"]);
    let figures = [crowded(options), Some(slow(&found))].into_iter().flatten().collect();
    Ok(Lab {
        name: NAME,
        title: title(options),
        subtitle: subtitle(options),
        columns,
        figures,
        lines: lines(found),
        truth: Vec::new(),
        files: Box::new(Ok),
    })
}

/// The two loops in virtual time.
pub fn find(options: &EveryNthOptions) -> Result<EveryNthResult> {
    every_nth::run(options).map_err(|error| refused(NAME, &error))
}

/// Under these heads: closed, open, and how many times the one is the other.
pub fn columns(found: &EveryNthResult, heads: [&str; 3]) -> Vec<Column> {
    let ratios = found.ratios().map(|ratio| number::factor(ratio.ratio())).collect();
    let [closed, open, ratio] = heads;
    let ratio = Column { head: ratio.to_owned(), cells: ratios };
    vec![column(&found.closed, closed), column(&found.open, open), ratio]
}

/// The two loops as they are saved and drawn.
pub fn lines(found: EveryNthResult) -> Vec<Line> {
    let slow = |requests| Some(Slow { limit: found.slow_from, requests });
    let (closed_slow, open_slow) = (slow(found.closed_slow), slow(found.open_slow));
    vec![
        Line { slow: closed_slow, ..Line::simulated(found.closed, Role::Closed) },
        Line { slow: open_slow, ..Line::simulated(found.open, Role::Open) },
    ]
}

fn slow(found: &EveryNthResult) -> String {
    format!(
        "slower than {}: {} requests of the closed loop, {} of the open loop",
        number::round_time(found.slow_from.0),
        number::count(found.closed_slow),
        number::count(found.open_slow)
    )
}

/// More is offered than the service can do: what comes of it depends on how long it lasts.
pub fn crowded(options: &EveryNthOptions) -> Option<String> {
    let share = options.utilisation();
    (share >= 1.0).then(|| {
        format!(
            "{} ask for {} of the service's time: the open loop's backlog grows as long as the run lasts; the service \
             can do {}",
            number::rate(options.rate.as_per_second()),
            number::share(share),
            number::rate(options.rate.as_per_second() / share)
        )
    })
}

/// The headline of its picture.
pub fn title(options: &EveryNthOptions) -> String {
    let (pause, every) = (number::round_time(options.pause.0), number::count(options.pause_every));
    format!("A pause of {pause} once in {every} requests")
}

/// The sentence below.
pub fn subtitle(options: &EveryNthOptions) -> String {
    format!(
        "One server, {} of work; the open loop offers {} for {}.",
        number::round_time(options.work.0),
        number::rate(options.rate.as_per_second()),
        number::round_time(options.duration.0)
    )
}
