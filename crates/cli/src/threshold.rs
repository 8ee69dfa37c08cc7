//! `--fail-if`: a condition under which a run fails, such as `p99 > 50ms`.

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
    metric: ThresholdMetric,
    operator: Operator,
    /// Nanoseconds for a time, a share in [0, 1] otherwise.
    limit: f64,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum ThresholdMetric {
    /// Response time at this quantile, in (0, 1].
    Quantile(f64),
    /// Share of the planned arrivals without an answer, or with an error status.
    ErrorRate,
    /// Share of the planned arrivals without an answer.
    Unanswered,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Operator {
    Above,
    AtLeast,
    Below,
    AtMost,
}

/// Longer operators first, because the shorter ones are prefixes of them.
const OPERATORS: [(&str, Operator); 4] =
    [(">=", Operator::AtLeast), ("<=", Operator::AtMost), (">", Operator::Above), ("<", Operator::Below)];

/// The decision on a threshold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Judgement {
    /// The condition does not hold.
    Passed,
    /// It holds; the line says what the value is.
    Failed(String),
    /// The run cannot show whether it holds; the line says why. Counts as failed.
    Undecided(String),
}

/// What is known of the value of a metric.
enum MetricValue {
    Exactly(f64),
    /// The value is this or more: it is censored.
    AtLeast(f64),
    /// It falls among arrivals that failed: no answer would ever have come.
    Unanswered,
    /// The sample does not support it.
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
        let found = OPERATORS.iter().find_map(|(sign, kind)| Some((text.split_once(sign)?, *kind)));
        let ((name, limit), operator) = found.ok_or_else(malformed)?;
        let limit = limit.trim();
        let metric = ThresholdMetric::named(name.trim()).ok_or_else(malformed)?;
        let limit = match metric {
            ThresholdMetric::Quantile(_) => {
                limit.parse::<Nanos>().map_err(|error| format!("'{text}': {error}"))?.0 as f64
            }
            ThresholdMetric::ErrorRate | ThresholdMetric::Unanswered => share(limit)
                .ok_or_else(|| format!("'{text}': '{}' is not a share; write 1% or 0.01, from 0 to 100%", limit))?,
        };
        Ok(Threshold { text: text.trim().to_owned(), metric, operator, limit })
    }
}

/// 0.999 for `99.9`. Parsed as a decimal, because a division by 100 would not be exact to the last bit.
fn part_of_one(percent: &str) -> Option<f64> {
    let (whole, decimals) = percent.split_once('.').unwrap_or((percent, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(decimals) || whole.len() > 2 {
        return None;
    }
    format!("0.{whole:0>2}{decimals}").parse().ok().filter(|q| *q > 0.0)
}

/// `1%` or `0.01`, as a share in [0, 1].
fn share(text: &str) -> Option<f64> {
    let value = match text.strip_suffix('%') {
        Some(percent) => percent.trim_end().parse::<f64>().ok()? / 100.0,
        None => text.parse::<f64>().ok()?,
    };
    (0.0..=1.0).contains(&value).then_some(value)
}

impl Threshold {
    /// Decides whether the condition holds for a run with these findings.
    pub fn judge(&self, run: &Run, findings: &Findings) -> Judgement {
        self.decide(self.metric.of(run, findings))
    }

    fn decide(&self, known: MetricValue) -> Judgement {
        let seen = self.metric.describe(&known);
        match known {
            MetricValue::Unsupported { needs_n } => {
                let needs = needs_n.map_or(String::new(), |n| format!(", it needs at least {n}"));
                Judgement::Undecided(format!("{self} cannot be shown: the sample does not carry it{needs}"))
            }
            MetricValue::Exactly(value) if self.operator.holds(value, self.limit) => {
                Judgement::Failed(format!("{self} holds: it is {seen}"))
            }
            MetricValue::Exactly(_) => Judgement::Passed,
            MetricValue::Unanswered => self.judge_bound(f64::INFINITY, &seen),
            MetricValue::AtLeast(bound) => self.judge_bound(bound, &seen),
        }
    }

    /// Decides for a value of `bound` or more.
    fn judge_bound(&self, bound: f64, seen: &str) -> Judgement {
        let (at_bound, far_above) =
            (self.operator.holds(bound, self.limit), self.operator.holds(f64::INFINITY, self.limit));
        match (at_bound, far_above) {
            (true, true) => Judgement::Failed(format!("{self} holds: it is {seen}")),
            (false, false) => Judgement::Passed,
            _ => Judgement::Undecided(format!("{self} cannot be shown: it is {seen}, and may be more")),
        }
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "--fail-if '{}'", self.text)
    }
}

impl Operator {
    fn holds(self, value: f64, limit: f64) -> bool {
        match self {
            Operator::Above => value > limit,
            Operator::AtLeast => value >= limit,
            Operator::Below => value < limit,
            Operator::AtMost => value <= limit,
        }
    }
}

impl ThresholdMetric {
    fn named(name: &str) -> Option<ThresholdMetric> {
        match name {
            "max" => Some(ThresholdMetric::Quantile(1.0)),
            "error-rate" => Some(ThresholdMetric::ErrorRate),
            "unanswered" => Some(ThresholdMetric::Unanswered),
            _ => part_of_one(name.strip_prefix('p')?).map(ThresholdMetric::Quantile),
        }
    }

    fn of(self, run: &Run, findings: &Findings) -> MetricValue {
        let tally = &findings.tally;
        let error_statuses = findings.response_time_error_status.as_ref().map_or(0, |errors| errors.count);
        let share = |part: u64| match tally.planned {
            0 => MetricValue::Unsupported { needs_n: Some(1) },
            planned => MetricValue::Exactly(part as f64 / planned as f64),
        };
        match self {
            ThresholdMetric::Quantile(q) => known(truetail_analysis::quantile(run, record::Metric::ResponseTime, q)),
            ThresholdMetric::Unanswered => share(tally.unanswered()),
            ThresholdMetric::ErrorRate => share(tally.unanswered() + error_statuses),
        }
    }

    fn describe(self, known: &MetricValue) -> String {
        let value = |value: f64| match self {
            ThresholdMetric::Quantile(_) => number::time(value as u64),
            ThresholdMetric::ErrorRate | ThresholdMetric::Unanswered => format!("{:.3} %", value * 100.0),
        };
        match known {
            MetricValue::Exactly(exact) => value(*exact),
            MetricValue::AtLeast(bound) => format!("at least {}", value(*bound)),
            MetricValue::Unanswered => "beyond every answer: those arrivals got none".to_owned(),
            MetricValue::Unsupported { .. } => String::new(),
        }
    }
}

fn known(quantile: Quantile) -> MetricValue {
    match quantile {
        Quantile { supported: true, no_answer: true, .. } => MetricValue::Unanswered,
        Quantile { supported: true, value_ns: Some(value), at_least: true, .. } => MetricValue::AtLeast(value as f64),
        Quantile { supported: true, value_ns: Some(value), .. } => MetricValue::Exactly(value as f64),
        Quantile { needs_n, .. } => MetricValue::Unsupported { needs_n },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(text: &str, known: MetricValue) -> Judgement {
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
        assert!(matches!(judged("p99 > 50ms", MetricValue::AtLeast(ms(60.0))), Judgement::Failed(_)));
        assert!(matches!(judged("p99 > 50ms", MetricValue::AtLeast(ms(40.0))), Judgement::Undecided(_)));
        assert!(matches!(judged("p99 < 50ms", MetricValue::AtLeast(ms(60.0))), Judgement::Passed));
        assert!(matches!(judged("p99 < 50ms", MetricValue::AtLeast(ms(40.0))), Judgement::Undecided(_)));
        assert!(matches!(judged("max > 1h", MetricValue::Unanswered), Judgement::Failed(_)));
        assert!(matches!(judged("max < 1h", MetricValue::Unanswered), Judgement::Passed));
        assert!(matches!(judged("p99 > 50ms", MetricValue::Exactly(ms(50.0))), Judgement::Passed));
        assert!(matches!(judged("p99 >= 50ms", MetricValue::Exactly(ms(50.0))), Judgement::Failed(_)));
    }
}
