//! Rows of the tables of a comparison.

use truetail_analysis::StreamMetric;
use truetail_analysis::compare::{
    Change, Comparison, Difference, QuantileComparison, RateComparison, ShareComparison, StreamTimeComparison,
    StreamsComparison,
};
use truetail_analysis::figures::quantile_name;

use crate::number;

/// Quantiles of times of streams in the table. JSON has all that are compared.
const SHOWN: [f64; 4] = [0.5, 0.9, 0.99, 0.999];
/// Highest end of an interval of ratios in a table. JSON has each end.
const HIGHEST_RATIO: f64 = 1e4;

/// Returns the column heads of a table of `what`.
pub(crate) fn heads(what: &str, comparison: &Comparison) -> Vec<String> {
    // Several looks share the error probability, so that it may be `98.75 %`.
    let interval = format!("{} % interval", (comparison.confidence * 1e4).round() / 100.0);
    [what, "A", "B", "B/A", interval.as_str(), ""].map(str::to_owned).into()
}

/// Returns the row of a quantile of the response time.
pub(crate) fn quantile_row(quantile: &QuantileComparison) -> Vec<String> {
    named_row(quantile_name(quantile.q), quantile)
}

/// Returns the rows of streams: times that a side has, tokens, and goodput.
pub(crate) fn stream_rows(streams: &StreamsComparison) -> Vec<Vec<String>> {
    let (content, events): (Vec<_>, Vec<_>) = streams.times.iter().partition(|time| time.metric.is_of_llm());
    // Content says more than the events that carry it.
    let is_of_llm = !content.is_empty();
    let says_less = |metric| is_of_llm && matches!(metric, StreamMetric::FirstEvent | StreamMetric::EventGap);
    let times = content.into_iter().chain(events).filter(|time| !says_less(time.metric)).flat_map(time_rows);
    let tokens = streams.output_tokens_per_second.as_ref().map(rate_row);
    times.chain(tokens).chain(streams.goodput.as_ref().map(share_row)).collect()
}

fn time_rows(time: &StreamTimeComparison) -> impl Iterator<Item = Vec<String>> {
    let name = match time.metric {
        StreamMetric::FirstEvent => "first event",
        StreamMetric::EventGap => "gap",
        StreamMetric::LongestGap => "longest gap",
        StreamMetric::FirstContent => "TTFT",
        StreamMetric::ContentGap => "ITL",
        StreamMetric::TimePerOutputToken => "TPOT",
    };
    let is_shown = |quantile: &&QuantileComparison| {
        SHOWN.contains(&quantile.q) && (quantile.a_ns.is_some() || quantile.b_ns.is_some())
    };
    let shown = time.quantiles.iter().filter(is_shown);
    shown.map(move |quantile| named_row(format!("{name} {}", quantile_name(quantile.q)), quantile))
}

fn named_row(name: String, quantile: &QuantileComparison) -> Vec<String> {
    let time = |ns: Option<u64>| ns.map_or("–".to_owned(), number::time);
    let [a, b] = [quantile.a_ns, quantile.b_ns].map(time);
    let ratio = quantile.ratio.map_or("–".to_owned(), |ratio| format!("{ratio:.3}"));
    let interval = ratio_interval(quantile.ratio_low, quantile.ratio_high);
    vec![name, a, b, ratio, interval, words(quantile)]
}

fn rate_row(rate: &RateComparison) -> Vec<String> {
    let [a, b] = [rate.a, rate.b].map(number::rate_if_any);
    let ratio = rate.ratio.map_or("–".to_owned(), |ratio| format!("{ratio:.3}"));
    let interval = ratio_interval(rate.ratio_low, rate.ratio_high);
    vec!["output tokens".to_owned(), a, b, ratio, interval, change_words(rate.change)]
}

/// Returns the row of goodput. It has a difference in percent points, because a share may be 0.
fn share_row(share: &ShareComparison) -> Vec<String> {
    let points = |difference: f64| format!("{:+.1}", difference * 100.0);
    let interval = interval(share.difference_low, share.difference_high, points);
    let difference = format!("{} points", points(share.difference));
    vec![
        "goodput".to_owned(),
        number::share(share.a),
        number::share(share.b),
        difference,
        interval,
        change_words(share.change),
    ]
}

/// Formats the interval of a ratio. An end above [`HIGHEST_RATIO`] comes from a lower bound near 0 and says nothing.
fn ratio_interval(low: Option<f64>, high: Option<f64>) -> String {
    interval(low, high.filter(|high| *high <= HIGHEST_RATIO), |end| format!("{end:.3}"))
}

fn interval(low: Option<f64>, high: Option<f64>, end: impl Fn(f64) -> String) -> String {
    match (low.map(&end), high.map(&end)) {
        (Some(low), Some(high)) => format!("{low} … {high}"),
        (Some(low), None) => format!("≥ {low}"),
        (None, Some(high)) => format!("≤ {high}"),
        (None, None) => String::new(),
    }
}

fn words(quantile: &QuantileComparison) -> String {
    match (quantile.difference, quantile.ratio_low, quantile.ratio_high) {
        (Difference::Slower, Some(low), None) => format!("B is at least {} × slower", factor(low)),
        (Difference::Faster, None, Some(high)) => format!("B is at least {} × faster", factor(1.0 / high)),
        (Difference::Slower, ..) => "B is slower".to_owned(),
        (Difference::Faster, ..) => "B is faster".to_owned(),
        (Difference::NoDifferenceShown, ..) => "no difference shown".to_owned(),
        (Difference::CannotTell, ..) => "cannot tell".to_owned(),
    }
}

fn change_words(change: Change) -> String {
    let words = match change {
        Change::Higher => "B is higher",
        Change::Lower => "B is lower",
        Change::NoDifferenceShown => "no difference shown",
        Change::CannotTell => "cannot tell",
    };
    words.to_owned()
}

/// Formats a factor that is a lower bound, rounded down: `2.1`, or `1.043` if one digit would round to 1.
fn factor(bound: f64) -> String {
    let digits = if bound < 1.1 { 1e3 } else { 10.0 };
    ((bound * digits).floor() / digits).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_that_says_nothing_is_left_out() {
        assert_eq!(ratio_interval(Some(0.5), Some(2.0)), "0.500 … 2.000");
        assert_eq!(ratio_interval(Some(0.5), Some(6.4e13)), "≥ 0.500");
        assert_eq!(ratio_interval(None, Some(f64::INFINITY)), "");
    }
}
