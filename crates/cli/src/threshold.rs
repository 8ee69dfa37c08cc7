//! `--fail-if`: a condition that must not hold, such as `p99 > 50ms`.

use std::fmt;
use std::str::FromStr;

use truetail_model::record;
use truetail_model::time::Nanos;
use truetail_report::number;
use truetail_run::{Findings, Quantile, Run};

/// A condition on a run under which it fails.
#[derive(Clone, PartialEq, Debug)]
pub struct Threshold {
    text: String,
    metric: Metric,
    comparison: Comparison,
    /// Nanoseconds for a time, a part of 1 for a share.
    limit: f64,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Metric {
    /// Response time at this quantile; 1 is the largest.
    Quantile(f64),
    /// Share of the planned arrivals without an answer, or with an error status.
    ErrorRate,
    /// Share of the planned arrivals without an answer.
    Unanswered,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Comparison {
    Above,
    AtLeast,
    Below,
    AtMost,
}

/// The longer ones first, since a shorter one is their beginning.
const COMPARISONS: [(&str, Comparison); 4] =
    [(">=", Comparison::AtLeast), ("<=", Comparison::AtMost), (">", Comparison::Above), ("<", Comparison::Below)];

/// What became of a threshold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Judgement {
    /// The condition does not hold.
    Passed,
    /// It holds; the line says by how much.
    Failed(String),
    /// The run cannot show that it does not hold; the line says why. Counts as failed.
    Unshown(String),
}

/// What is known of a metric.
enum Known {
    Exactly(f64),
    /// The truth is this or more.
    AtLeast(f64),
    /// No answer would ever have come.
    Endless,
    /// The sample cannot carry it.
    Unsupported {
        needs_n: Option<u64>,
    },
}

impl FromStr for Threshold {
    type Err = String;

    fn from_str(text: &str) -> Result<Threshold, String> {
        let malformed = || {
            format!(
                "'{text}' is not a threshold; write METRIC > LIMIT such as 'p99 > 50ms', with one of p50, p99.9 or any \
                 other percentile, max, error-rate, unanswered"
            )
        };
        let found = COMPARISONS.iter().find_map(|(sign, kind)| Some((text.split_once(sign)?, *kind)));
        let ((name, limit), comparison) = found.ok_or_else(malformed)?;
        let limit = limit.trim();
        let metric = Metric::named(name.trim()).ok_or_else(malformed)?;
        let limit = match metric {
            Metric::Quantile(_) => limit.parse::<Nanos>().map_err(|error| format!("'{text}': {error}"))?.0 as f64,
            Metric::ErrorRate | Metric::Unanswered => share(limit)
                .ok_or_else(|| format!("'{text}': '{}' is not a share; write 1% or 0.01, from 0 to 100%", limit))?,
        };
        Ok(Threshold { text: text.trim().to_owned(), metric, comparison, limit })
    }
}

/// 0.999 for `99.9`, to the last bit, which a division by 100 would not give.
fn part_of_one(percent: &str) -> Option<f64> {
    let (whole, decimals) = percent.split_once('.').unwrap_or((percent, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(decimals) || whole.len() > 2 {
        return None;
    }
    format!("0.{whole:0>2}{decimals}").parse().ok().filter(|q| *q > 0.0)
}

/// `1%` or `0.01`, as a part of 1.
fn share(text: &str) -> Option<f64> {
    let value = match text.strip_suffix('%') {
        Some(percent) => percent.trim_end().parse::<f64>().ok()? / 100.0,
        None => text.parse::<f64>().ok()?,
    };
    (0.0..=1.0).contains(&value).then_some(value)
}

impl Threshold {
    /// Does the condition hold for a run with these findings?
    pub fn judge(&self, run: &Run, findings: &Findings) -> Judgement {
        self.decide(self.metric.of(run, findings))
    }

    fn decide(&self, known: Known) -> Judgement {
        let seen = self.metric.describe(&known);
        match known {
            Known::Unsupported { needs_n } => {
                let needs = needs_n.map_or(String::new(), |n| format!(", it needs at least {n}"));
                Judgement::Unshown(format!("{self} cannot be shown: the sample does not carry it{needs}"))
            }
            Known::Exactly(value) if self.comparison.holds(value, self.limit) => {
                Judgement::Failed(format!("{self} holds: it is {seen}"))
            }
            Known::Exactly(_) => Judgement::Passed,
            Known::Endless => self.judge_bound(f64::INFINITY, &seen),
            Known::AtLeast(bound) => self.judge_bound(bound, &seen),
        }
    }

    /// Where the truth may be anything from `bound` on.
    fn judge_bound(&self, bound: f64, seen: &str) -> Judgement {
        let (at_bound, far_above) =
            (self.comparison.holds(bound, self.limit), self.comparison.holds(f64::INFINITY, self.limit));
        match (at_bound, far_above) {
            (true, true) => Judgement::Failed(format!("{self} holds: it is {seen}")),
            (false, false) => Judgement::Passed,
            _ => Judgement::Unshown(format!("{self} cannot be shown: it is {seen}, and may be more")),
        }
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "--fail-if '{}'", self.text)
    }
}

impl Comparison {
    fn holds(self, value: f64, limit: f64) -> bool {
        match self {
            Comparison::Above => value > limit,
            Comparison::AtLeast => value >= limit,
            Comparison::Below => value < limit,
            Comparison::AtMost => value <= limit,
        }
    }
}

impl Metric {
    fn named(name: &str) -> Option<Metric> {
        match name {
            "max" => Some(Metric::Quantile(1.0)),
            "error-rate" => Some(Metric::ErrorRate),
            "unanswered" => Some(Metric::Unanswered),
            _ => part_of_one(name.strip_prefix('p')?).map(Metric::Quantile),
        }
    }

    fn of(self, run: &Run, findings: &Findings) -> Known {
        let tally = &findings.tally;
        let error_statuses = findings.response_time_error_status.as_ref().map_or(0, |errors| errors.count);
        let share = |part: u64| match tally.planned {
            0 => Known::Unsupported { needs_n: Some(1) },
            planned => Known::Exactly(part as f64 / planned as f64),
        };
        match self {
            Metric::Quantile(q) => known(truetail_analysis::quantile(run, record::Metric::ResponseTime, q)),
            Metric::Unanswered => share(tally.unanswered()),
            Metric::ErrorRate => share(tally.unanswered() + error_statuses),
        }
    }

    fn describe(self, known: &Known) -> String {
        let value = |value: f64| match self {
            Metric::Quantile(_) => number::time(value as u64),
            Metric::ErrorRate | Metric::Unanswered => format!("{:.3} %", value * 100.0),
        };
        match known {
            Known::Exactly(exact) => value(*exact),
            Known::AtLeast(bound) => format!("at least {}", value(*bound)),
            Known::Endless => "beyond every answer: those arrivals got none".to_owned(),
            Known::Unsupported { .. } => String::new(),
        }
    }
}

fn known(quantile: Quantile) -> Known {
    match quantile {
        Quantile { supported: true, no_answer: true, .. } => Known::Endless,
        Quantile { supported: true, value_ns: Some(value), at_least: true, .. } => Known::AtLeast(value as f64),
        Quantile { supported: true, value_ns: Some(value), .. } => Known::Exactly(value as f64),
        Quantile { needs_n, .. } => Known::Unsupported { needs_n },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(text: &str, known: Known) -> Judgement {
        text.parse::<Threshold>().unwrap().decide(known)
    }

    #[test]
    fn what_is_a_threshold() {
        for text in [
            "p99 > 50ms",
            "p95 > 1ms",
            "p99.9>1s",
            " max >= 2s ",
            "p50 < 1us",
            "error-rate > 1%",
            "unanswered >= 0.001",
        ] {
            let threshold: Threshold = text.parse().unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(threshold.to_string(), format!("--fail-if '{}'", text.trim()));
        }
        for text in [
            "",
            "p99",
            "p99 > ",
            "p99 > 50",
            "p > 1ms",
            "p100 > 1ms",
            "p0 > 1ms",
            "p9.9.9 > 1ms",
            "p-1 > 1ms",
            "mean > 1ms",
            "error-rate > 2",
            "error-rate > 1ms",
        ] {
            assert!(text.parse::<Threshold>().is_err(), "{text}");
        }
    }

    #[test]
    fn percentiles_to_the_last_bit() {
        for (percent, q) in
            [("50", 0.5), ("99", 0.99), ("99.9", 0.999), ("99.99", 0.9999), ("5", 0.05), ("97.5", 0.975)]
        {
            assert_eq!(part_of_one(percent), Some(q));
        }
    }

    #[test]
    fn a_bound_decides_only_what_it_can() {
        let ms = |n: f64| n * 1e6;
        assert!(matches!(judged("p99 > 50ms", Known::AtLeast(ms(60.0))), Judgement::Failed(_)));
        assert!(matches!(judged("p99 > 50ms", Known::AtLeast(ms(40.0))), Judgement::Unshown(_)));
        assert!(matches!(judged("p99 < 50ms", Known::AtLeast(ms(60.0))), Judgement::Passed));
        assert!(matches!(judged("p99 < 50ms", Known::AtLeast(ms(40.0))), Judgement::Unshown(_)));
        assert!(matches!(judged("max > 1h", Known::Endless), Judgement::Failed(_)));
        assert!(matches!(judged("max < 1h", Known::Endless), Judgement::Passed));
        assert!(matches!(judged("p99 > 50ms", Known::Exactly(ms(50.0))), Judgement::Passed));
        assert!(matches!(judged("p99 >= 50ms", Known::Exactly(ms(50.0))), Judgement::Failed(_)));
    }
}
