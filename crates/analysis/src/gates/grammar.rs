//! The text form of a gate: `METRIC OP LIMIT`.
//!
//! | part | forms |
//! |---|---|
//! | METRIC of a time | `p99`, `p99.9`, `max`, `mean`; or after `response-time`, `service-time`, `first-byte` |
//! | METRIC of streams | these after `first-event`, `event-gap`, `longest-gap`, `ttft`, `itl`, `tpot` |
//! | METRIC of sessions | these after `session-time` |
//! | shares as METRIC | `error-rate`, `unanswered`, `check-failures`, `harmed` |
//! | shares of streams and sessions | `incomplete-streams`, `goodput`, `incomplete-sessions`, `session-goodput` |
//! | other METRIC | `throughput`, `recovery` |
//! | `{NAME}` after METRIC | a target, or for sessions a flow; not for `check-failures`, streams and events |
//! | OP | `>`, `>=`, `<`, `<=` |
//! | LIMIT | a duration (`50ms`), a share (`1%` or `0.01`), or a rate (`950/s`) |

use truetail_model::time::{Nanos, Rate};

use super::metric::{GateMetric, Operator, Statistic, TimeKind};
use crate::streams::StreamMetric;

/// A parsed gate.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Parsed {
    pub(super) metric: GateMetric,
    /// Name of a target, or `None` for the whole run.
    pub(super) target: Option<String>,
    pub(super) operator: Operator,
    /// Nanoseconds, a share in [0, 1], or a number per second.
    pub(super) limit: f64,
}

const FORMS: &str = "write METRIC OP LIMIT: what must hold as --slo 'p99 < 50ms', what fails the run as --fail-if 'p99 > 50ms'; \
                     also service-time p99.9, error-rate (1%), throughput (950/s), max, mean, first-byte, unanswered, check-failures, and of \
                     streams first-event, event-gap, longest-gap, ttft, itl, tpot, incomplete-streams, goodput, and of sessions \
                     session-time, incomplete-sessions, and of events recovery (30s), harmed (1%)";

/// Parses a gate.
///
/// # Errors
/// One line that says what is wrong with the text.
pub(super) fn parse(text: &str) -> Result<Parsed, String> {
    let (outside, target) = without_target(text)?;
    let malformed = || format!("'{}' is not a condition; {FORMS}", text.trim());
    let (name, operator, limit) = split(&outside).ok_or_else(malformed)?;
    let metric = metric_named(name).ok_or_else(malformed)?;
    if target.is_some() && metric.is_of_the_whole() {
        let what = match metric {
            _ if metric.is_about_streams() => "streams",
            _ if metric.is_about_events() => "events",
            _ => "checks",
        };
        return Err(format!("'{}': {what} are counted for the whole run; leave {{…}} out", text.trim()));
    }
    let limit = limit_of(metric, limit).map_err(|problem| format!("'{}': {problem}", text.trim()))?;
    Ok(Parsed { metric, target, operator, limit })
}

/// Splits the text into the part without `{NAME}` and the name. The last brace ends it, since it may have placeholders.
fn without_target(text: &str) -> Result<(String, Option<String>), String> {
    let Some((before, rest)) = text.split_once('{') else { return Ok((text.to_owned(), None)) };
    let unclosed = || format!("'{}' has a {{ without its }}; write p99{{GET /items}} > 50ms", text.trim());
    let (name, after) = rest.rsplit_once('}').ok_or_else(unclosed)?;
    if name.trim().is_empty() {
        return Err(format!("'{}' names no target; write p99{{GET /items}} > 50ms", text.trim()));
    }
    Ok((format!("{before}{after}"), Some(name.trim().to_owned())))
}

/// Splits a text into metric, operator and limit.
fn split(text: &str) -> Option<(&str, Operator, &str)> {
    let at = text.find(['<', '>'])?;
    let (name, rest) = text.split_at(at);
    let (operator, limit) =
        [(">=", Operator::AtLeast), ("<=", Operator::AtMost), (">", Operator::Above), ("<", Operator::Below)]
            .into_iter()
            .find_map(|(sign, operator)| Some((operator, rest.strip_prefix(sign)?)))?;
    Some((name.trim(), operator, limit.trim()))
}

fn metric_named(name: &str) -> Option<GateMetric> {
    match name {
        "error-rate" => Some(GateMetric::ErrorRate),
        "unanswered" => Some(GateMetric::Unanswered),
        "check-failures" => Some(GateMetric::CheckFailures),
        "throughput" => Some(GateMetric::Throughput),
        "recovery" => Some(GateMetric::Recovery),
        "harmed" => Some(GateMetric::Harmed),
        "incomplete-sessions" => Some(GateMetric::IncompleteSessions),
        "incomplete-streams" => Some(GateMetric::IncompleteStreams),
        "goodput" => Some(GateMetric::Goodput),
        "session-goodput" => Some(GateMetric::SessionGoodput),
        _ => time_named(name),
    }
}

fn time_named(name: &str) -> Option<GateMetric> {
    let Some((kind, statistic)) = name.split_once(char::is_whitespace) else {
        return statistic_named(name).map(|statistic| GateMetric::Time(TimeKind::Response, statistic));
    };
    let statistic = statistic_named(statistic.trim())?;
    if kind == "session-time" {
        return Some(GateMetric::SessionTime(statistic));
    }
    match StreamMetric::named(kind) {
        Some(metric) => Some(GateMetric::StreamTime(metric, statistic)),
        None => {
            let kind = TimeKind::ALL.into_iter().find(|one| one.name() == kind)?;
            Some(GateMetric::Time(kind, statistic))
        }
    }
}

fn statistic_named(name: &str) -> Option<Statistic> {
    match name {
        "max" => Some(Statistic::Quantile(1.0)),
        "mean" => Some(Statistic::Mean),
        percentile => quantile_named(percentile).map(Statistic::Quantile),
    }
}

/// Parses `p99` into 0.99.
pub(crate) fn quantile_named(name: &str) -> Option<f64> {
    part_of_one(name.strip_prefix('p')?)
}

/// Parses `5%` into 0.05. It may be above 1.
pub(crate) fn percent(text: &str) -> Option<f64> {
    let share = text.trim().strip_suffix('%')?.trim_end().parse::<f64>().ok()?;
    (share.is_finite() && share >= 0.0).then_some(share / 100.0)
}

/// Converts `99.9` to 0.999. Parses a decimal, because a division by 100 would not be exact to the last bit.
fn part_of_one(percent: &str) -> Option<f64> {
    let (whole, decimals) = percent.split_once('.').unwrap_or((percent, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(decimals) || whole.len() > 2 {
        return None;
    }
    format!("0.{whole:0>2}{decimals}").parse().ok().filter(|q| *q > 0.0 && *q < 1.0)
}

fn limit_of(metric: GateMetric, text: &str) -> Result<f64, String> {
    match metric {
        GateMetric::Time(..) | GateMetric::StreamTime(..) | GateMetric::SessionTime(_) | GateMetric::Recovery => {
            text.parse::<Nanos>().map(|time| time.0 as f64).map_err(|error| error.to_string())
        }
        GateMetric::Throughput => text.parse::<Rate>().map(Rate::as_per_second).map_err(|error| error.to_string()),
        GateMetric::ErrorRate
        | GateMetric::Unanswered
        | GateMetric::CheckFailures
        | GateMetric::Harmed
        | GateMetric::IncompleteStreams
        | GateMetric::Goodput
        | GateMetric::SessionGoodput
        | GateMetric::IncompleteSessions => {
            share(text).ok_or_else(|| format!("'{text}' is not a share; write 1% or 0.01, from 0 to 100%"))
        }
    }
}

/// Parses `1%` or `0.01` as a share in [0, 1].
fn share(text: &str) -> Option<f64> {
    let value = match text.strip_suffix('%') {
        Some(percent) => percent.trim_end().parse::<f64>().ok()? / 100.0,
        None => text.parse::<f64>().ok()?,
    };
    (0.0..=1.0).contains(&value).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metric(text: &str) -> GateMetric {
        parse(text).unwrap_or_else(|error| panic!("{error}")).metric
    }

    #[test]
    fn metrics_have_names() {
        let time = |kind, statistic| GateMetric::Time(kind, statistic);
        for (text, expected) in [
            ("p99 > 50ms", time(TimeKind::Response, Statistic::Quantile(0.99))),
            ("response-time p99 > 50ms", time(TimeKind::Response, Statistic::Quantile(0.99))),
            ("p99.9>1s", time(TimeKind::Response, Statistic::Quantile(0.999))),
            (" max >= 2s ", time(TimeKind::Response, Statistic::Quantile(1.0))),
            ("mean > 10ms", time(TimeKind::Response, Statistic::Mean)),
            ("service-time p99 > 5ms", time(TimeKind::Service, Statistic::Quantile(0.99))),
            ("first-byte  mean < 1us", time(TimeKind::FirstByte, Statistic::Mean)),
            ("first-event p99 > 1s", GateMetric::StreamTime(StreamMetric::FirstEvent, Statistic::Quantile(0.99))),
            ("event-gap p99.9 > 50ms", GateMetric::StreamTime(StreamMetric::EventGap, Statistic::Quantile(0.999))),
            ("longest-gap max > 1s", GateMetric::StreamTime(StreamMetric::LongestGap, Statistic::Quantile(1.0))),
            ("ttft p99 > 500ms", GateMetric::StreamTime(StreamMetric::FirstContent, Statistic::Quantile(0.99))),
            ("itl max > 1s", GateMetric::StreamTime(StreamMetric::ContentGap, Statistic::Quantile(1.0))),
            ("tpot mean > 50ms", GateMetric::StreamTime(StreamMetric::TimePerOutputToken, Statistic::Mean)),
            ("event-gap mean > 1s", GateMetric::StreamTime(StreamMetric::EventGap, Statistic::Mean)),
            ("incomplete-streams > 1%", GateMetric::IncompleteStreams),
            ("session-time p99 > 2s", GateMetric::SessionTime(Statistic::Quantile(0.99))),
            ("incomplete-sessions > 1%", GateMetric::IncompleteSessions),
            ("session-goodput < 95%", GateMetric::SessionGoodput),
            ("error-rate > 1%", GateMetric::ErrorRate),
            ("unanswered >= 0.001", GateMetric::Unanswered),
            ("check-failures > 0.1%", GateMetric::CheckFailures),
            ("recovery > 30s", GateMetric::Recovery),
            ("harmed > 1%", GateMetric::Harmed),
            ("throughput < 950/s", GateMetric::Throughput),
        ] {
            assert_eq!(metric(text), expected, "{text}");
        }
    }

    #[test]
    fn limits_have_units() {
        for (text, limit) in [
            ("p99 > 50ms", 5e7),
            ("error-rate > 1%", 0.01),
            ("error-rate > 1 %", 0.01),
            ("unanswered >= 0.001", 0.001),
            ("throughput < 950", 950.0),
            ("throughput < 60/m", 1.0),
        ] {
            assert_eq!(parse(text).unwrap().limit, limit, "{text}");
        }
    }

    #[test]
    fn a_target_stands_in_braces_and_may_have_placeholders() {
        for (text, name) in [
            ("p99{GET /items} > 20ms", "GET /items"),
            ("p99 { GET /items } > 20ms", "GET /items"),
            ("service-time p50{POST /items #2} > 20ms", "POST /items #2"),
            ("p99{GET /api/{{id}}?limit=5} > 20ms", "GET /api/{{id}}?limit=5"),
            ("error-rate{GET /} > 1%", "GET /"),
        ] {
            assert_eq!(parse(text).unwrap().target.as_deref(), Some(name), "{text}");
        }
    }

    #[test]
    fn what_is_no_gate_says_so_in_one_line() {
        for text in [
            "",
            "p99",
            "p99 > ",
            "p99 > 50",
            "p99 = 50ms",
            "p99 => 50ms",
            "p > 1ms",
            "p100 > 1ms",
            "p0 > 1ms",
            "p9.9.9 > 1ms",
            "p-1 > 1ms",
            "median > 1ms",
            "service-time > 1ms",
            "latency p99 > 1ms",
            "error-rate > 2",
            "error-rate > 1ms",
            "throughput < 0/s",
            "throughput < 1ms",
            "p99{GET / > 1ms",
            "p99{} > 1ms",
            "check-failures{GET /} > 1%",
            "event-gap p99{GET /} > 1ms",
            "incomplete-streams{GET /} > 1%",
            "event-gap > 1ms",
        ] {
            let error = parse(text).expect_err(text);
            assert!(error.contains(&format!("'{text}'").replace("> '", ">'")) && !error.contains('\n'), "{error}");
        }
    }

    #[test]
    fn percentiles_are_read_to_the_last_bit() {
        for (percent, q) in
            [("50", 0.5), ("99", 0.99), ("99.9", 0.999), ("99.99", 0.9999), ("5", 0.05), ("97.5", 0.975)]
        {
            assert_eq!(part_of_one(percent), Some(q));
        }
    }
}
