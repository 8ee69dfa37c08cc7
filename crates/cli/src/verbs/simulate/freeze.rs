//! The lab freeze.

use truetail_report::number;
use truetail_report::plot::{IntervalPlot, IntervalSeries, Role, Shade, intervals};
use truetail_sim::labs::freeze::{self, FreezeInterval, FreezeOptions, FreezeResult, FreezeSeries};

use super::lab::{Files, Lab, Line, column, refused};
use super::pictures;
use crate::outcome::Result;

/// closed-loop-raw, closed-loop-corrected, open-loop.
const ROLES: [Role; 3] = [Role::Closed, Role::Corrected, Role::Open];

/// Runs it.
pub fn run(options: &FreezeOptions) -> Result<Lab> {
    let found = freeze::run(options).map_err(|error| refused("freeze", &error))?;
    let columns = found.series.iter().map(|one| column(&one.series, one.series.name)).collect();
    let figures = found.series.iter().map(figure).collect();
    let series = found.series.clone().into_iter().zip(ROLES);
    Ok(Lab {
        name: "freeze",
        lines: series.map(|(one, role)| Line::simulated(one.series, role)).collect(),
        truth: Vec::new(),
        title: title(options),
        subtitle: subtitle(options),
        columns,
        figures,
        files: Box::new(move |spectrum| files(&found, spectrum)),
    })
}

fn figure(one: &FreezeSeries) -> String {
    let p99 = one.whole_run_p99_ms.map_or("–".to_owned(), |p99| p99.to_string());
    format!("{}: {} requests were sent, p99 of the whole run {p99} ms", one.series.name, one.total_requests)
}

fn title(options: &FreezeOptions) -> String {
    format!("A freeze of {}, seen three ways", number::round_time(options.pause_length.0))
}

fn subtitle(options: &FreezeOptions) -> String {
    let users = if options.users == 1 { "one user".to_owned() } else { format!("{} users", options.users) };
    format!(
        "A request takes {}; the closed loop has {users}, the open loop sends every {}.",
        number::round_time(options.base.0),
        number::round_time(options.expected_interval.0)
    )
}

/// Pictures, CSV files, and the manifest that knows them all.
fn files(found: &FreezeResult, spectrum: Files) -> Result<Files> {
    let mut files = pictures::drawn("p99-comparison", &intervals(&p99(found)))?;
    files.extend(pictures::drawn("throughput", &intervals(&throughput(found)))?);
    files.extend(spectrum);
    let artifacts = found.artifacts_beside(&files).into_iter().map(|file| (file.name, file.contents.into_bytes()));
    files.extend(artifacts);
    Ok(files)
}

fn p99(found: &FreezeResult) -> IntervalPlot {
    let ms = |value: Option<u64>| value.map(|ms| ms as f64);
    let quantity = format!("p99 of each {}, ms", length_of_interval(&found.options));
    plot(found, quantity, |row| ms(row.p99_ms), |one| ms(one.whole_run_p99_ms))
}

fn throughput(found: &FreezeResult) -> IntervalPlot {
    plot(found, "requests sent, per second".to_owned(), |row| Some(row.throughput_rps), |_| None)
}

fn length_of_interval(options: &FreezeOptions) -> String {
    let length = number::round_time(options.snapshot_interval.0);
    if length == "1 s" { "second".to_owned() } else { length }
}

fn plot(
    found: &FreezeResult,
    quantity: String,
    value: impl Fn(&FreezeInterval) -> Option<f64>,
    whole_run: impl Fn(&FreezeSeries) -> Option<f64>,
) -> IntervalPlot {
    let options = &found.options;
    let series = |(one, role): (&FreezeSeries, Role)| IntervalSeries {
        name: one.series.name.to_owned(),
        role,
        values: one.intervals.iter().map(&value).collect(),
        whole_run: whole_run(one),
    };
    let (from, length) = (options.pause_start.as_secs_f64(), options.pause_length.as_secs_f64());
    IntervalPlot {
        title: title(options),
        subtitle: subtitle(options),
        quantity,
        ends: found.series[0].intervals.iter().map(|row| row.elapsed.as_secs_f64()).collect(),
        series: found.series.iter().zip(ROLES).map(series).collect(),
        shade: (length > 0.0).then(|| Shade { from, to: from + length, label: "freeze".to_owned() }),
    }
}
