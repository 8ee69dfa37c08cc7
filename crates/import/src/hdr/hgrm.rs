//! The percentile distribution of HdrHistogram (`.hgrm`) and Vegeta (`report -type=hdrplot`): one line per step.

use truetail_model::record::Histogram;
use truetail_model::time::Nanos;
use truetail_run::{ClaimedQuantile, Claims, ForeignClock, ForeignRun, LatencyFrom, UnusedRows};
use truetail_tools::units;

use super::{HdrFile, MAX_VALUES};
use crate::whole::file::{content, leave_out, place_of, run, text};
use crate::whole::rows::{Row, each_row};
use crate::{Excerpt, FormatInfo, ImportError, Likeness};

pub(crate) static HGRM: HdrFile = HdrFile {
    info: &FormatInfo {
        name: "hgrm",
        about: "a percentile distribution of HdrHistogram, or of 'vegeta report -type=hdrplot'",
        tool: None,
    },
    likeness,
    read,
};

/// HdrHistogram's examples, wrk2 and Vegeta print milliseconds.
const USUAL_UNIT_NS: u64 = 1_000_000;

/// The claimed quantiles, as far as the file has lines for them.
const CLAIMED: [f64; 6] = [0.5, 0.75, 0.9, 0.99, 0.999, 0.9999];

fn likeness(excerpt: &Excerpt<'_>) -> Likeness {
    let first =
        excerpt.text().lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned).unwrap_or_default();
    if !first.starts_with("Value") {
        return Likeness::No;
    }
    match ["Percentile", "TotalCount"].into_iter().find(|name| !first.contains(name)) {
        None => Likeness::Yes,
        Some(missing) => Likeness::Near(format!("it has 'Value', but '{missing}' is missing")),
    }
}

/// A line with numbers.
struct Step {
    value: Nanos,
    decimals: usize,
    q: f64,
    cumulative: u64,
}

/// Sum of the lines.
#[derive(Default)]
struct Steps {
    unit_ns: u64,
    histogram: Histogram,
    last: Option<Step>,
    quantiles: Vec<(f64, Nanos)>,
    claims: Footer,
    /// The maximum number of decimals of a value.
    decimals: usize,
    damage: UnusedRows,
}

/// The lines at the end, which Vegeta does not write.
#[derive(Default)]
struct Footer {
    mean_ns: Option<u64>,
    max_ns: Option<u64>,
    total: Option<u64>,
}

fn read(bytes: &[u8], said_unit_ns: Option<u64>) -> Result<ForeignRun, ImportError> {
    let unit_ns = said_unit_ns.unwrap_or(USUAL_UNIT_NS);
    let mut steps = Steps { unit_ns, ..Steps::default() };
    let cut_off = each_row(bytes, |row| steps.take(&row));
    // Without a line end, the last line is complete only if nothing can follow it.
    steps.damage.truncated_at = cut_off.filter(|_| !text(bytes).trim_end().ends_with(']'));
    if steps.histogram.is_empty() && steps.claims.total != Some(0) {
        return Err(content(place_of(bytes, bytes.len()), "no line with a value, a percentile and a count"));
    }
    Ok(steps.finish(said_unit_ns.is_some() || text(bytes).contains("Value(ms)")))
}

impl Steps {
    fn take(&mut self, row: &Row<'_>) {
        let line = row.line.trim();
        if let Some(footer) = line.strip_prefix("#[") {
            self.claims.take(footer.trim_end_matches(']'), self.unit_ns);
        } else if !line.starts_with("Value") && !line.starts_with('#') {
            match Step::read(line, self.unit_ns).and_then(|step| self.add(step)) {
                Ok(()) => {}
                Err(why) => leave_out(&mut self.damage, || (row.place, why)),
            }
        }
    }

    fn add(&mut self, step: Step) -> Result<(), String> {
        let (value, before) = self.last.as_ref().map_or((Nanos::ZERO, 0), |last| (last.value, last.cumulative));
        if step.value < value || step.cumulative < before {
            return Err("less than in the line before".to_owned());
        }
        if step.cumulative > MAX_VALUES {
            return Err(format!("a count of {}, more than a run can have", step.cumulative));
        }
        self.histogram.record_n(step.value, step.cumulative - before);
        self.quantiles.push((step.q, step.value));
        self.decimals = self.decimals.max(step.decimals);
        self.last = Some(step);
        Ok(())
    }

    fn finish(self, unit_is_known: bool) -> ForeignRun {
        let Steps { unit_ns, histogram, quantiles, claims: footer, decimals, damage, .. } = self;
        let at = |q: f64| quantiles.iter().find(|(at, _)| (at - q).abs() < 1e-9).map(|(_, value)| value.0);
        let claimed = CLAIMED.into_iter().filter_map(|q| Some(ClaimedQuantile { q, value_ns: at(q)?, printed: true }));
        let claims = Claims {
            quantiles: claimed.collect(),
            mean_ns: footer.mean_ns,
            max_ns: footer.max_ns,
            measured: Some(footer.total.unwrap_or(histogram.count())),
            ..Claims::silent(LatencyFrom::Send)
        };
        let mut notes = vec![
            "the file does not say where its latencies start, or whether they were corrected; they are read as starting when \
             a request was sent"
                .to_owned(),
        ];
        if !unit_is_known {
            notes.push("the file does not say its unit; its values are read as milliseconds; --units duration=us says otherwise".to_owned());
        }
        let clock = ForeignClock { duration_resolution_ns: finest(unit_ns, decimals), ..ForeignClock::default() };
        let histogram = Some(histogram).filter(|histogram| !histogram.is_empty());
        ForeignRun { clock, histogram: histogram.map(Into::into), damage, notes, ..run(claims) }
    }
}

/// Returns the smallest difference of values with this many decimals, in nanoseconds.
fn finest(unit_ns: u64, decimals: usize) -> u64 {
    let parts = u32::try_from(decimals).ok().and_then(|decimals| 10u64.checked_pow(decimals));
    parts.map_or(1, |parts| (unit_ns / parts).max(1))
}

impl Step {
    /// Reads `  10.29 0.100000000000          1           1.11`. The last column is missing at 100 %.
    fn read(line: &str, unit_ns: u64) -> Result<Step, String> {
        let cells: Vec<_> = line.split_whitespace().collect();
        let step = match cells[..] {
            [value, q, cumulative] | [value, q, cumulative, _] => {
                units::scaled(value, unit_ns as f64).zip(q.parse().ok()).zip(cumulative.parse().ok())
            }
            _ => None,
        };
        let step = step.filter(|((_, q), _)| (0.0..=1.0).contains(q));
        let ((value, q), cumulative) = step.ok_or("not a value, a percentile and a count")?;
        let decimals = cells[0].split_once('.').map_or(0, |(_, decimals)| decimals.len());
        Ok(Step { value, decimals, q, cumulative })
    }
}

impl Footer {
    /// Reads `Mean = 11.219, StdDeviation = 0.354` and `Max = 12.136, Total count = 600`, with any spaces.
    fn take(&mut self, line: &str, unit_ns: u64) {
        for pair in line.split(',') {
            let Some((name, value)) = pair.split_once('=') else { continue };
            let time = units::scaled(value, unit_ns as f64).map(|time| time.0);
            match name.trim() {
                "Mean" => self.mean_ns = time,
                "Max" => self.max_ns = time,
                "Total count" => self.total = value.trim().parse().ok(),
                _ => {}
            }
        }
    }
}
