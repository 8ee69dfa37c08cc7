//! Conditions under which a series fails: `p99 slower than 5%`.

use std::fmt;
use std::str::FromStr;

use truetail_run::{GateFinding, GateState};

use super::figure::HistoryFigure;
use super::levels::Level;
use super::scan::FEWEST_RUNS;
use super::series::{History, PercentileHistory};
use crate::gates::percent;

/// A condition under which a series fails: its newest level is slower, by more than a share, than the fastest level
/// before it.
#[derive(Clone, PartialEq, Debug)]
pub struct HistoryGate {
    text: String,
    figure: HistoryFigure,
    share: f64,
}

/// Error for a text that is not a valid condition: one line, which quotes the text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HistoryGateError(String);

impl fmt::Display for HistoryGateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for HistoryGateError {}

impl FromStr for HistoryGate {
    type Err = HistoryGateError;

    fn from_str(text: &str) -> Result<HistoryGate, HistoryGateError> {
        let text = text.trim();
        let malformed = || {
            HistoryGateError(format!(
                "'{text}' is not a condition; write PERCENTILE slower than SHARE, such as 'p99 slower than 5%', 'ttft p99 \
                 slower than 5%' or 'output-tokens slower than 5%'"
            ))
        };
        let (name, share) = text.split_once("slower than").ok_or_else(malformed)?;
        let share = percent(share).ok_or_else(malformed)?;
        let figure = HistoryFigure::named(name.trim()).map_err(|why| match why.is_empty() {
            true => malformed(),
            false => HistoryGateError(format!("'{text}' {why}")),
        })?;
        Ok(HistoryGate { text: text.to_owned(), figure, share })
    }
}

impl HistoryGate {
    /// Decides the condition. It fails if the whole interval of the ratio is beyond the limit. It is open if only a
    /// part of the interval is beyond the limit, or if the series could hide a shift as large as the limit.
    pub fn judge(&self, history: &History) -> GateFinding {
        let found = history.percentiles.iter().find(|percentile| percentile.figure == self.figure);
        let (state, ratio, message) = match found.filter(|found| found.points.len() >= FEWEST_RUNS) {
            None => {
                let runs = found.map_or(0, |found| found.points.len());
                let message =
                    format!("{runs} comparable runs have {}, and {FEWEST_RUNS} are needed", self.figure.name());
                (GateState::Open, None, message)
            }
            Some(found) => self.judge_levels(found),
        };
        GateFinding {
            text: self.text.clone(),
            state,
            value_ns: None,
            limit_ns: None,
            value: ratio.map(|ratio| self.figure.loss(ratio)),
            limit: Some(self.share),
            message,
        }
    }

    fn judge_levels(&self, found: &PercentileHistory) -> (GateState, Option<f64>, String) {
        let smallest_shown = self.figure.loss(1.0 + found.smallest_shown);
        let shown = format!("a shift of {:.1} % would show within 5 runs", smallest_shown * 100.0);
        let (newest, before) = found.levels.split_last().expect("points have a level");
        let Some(fastest) = before.iter().min_by(|a, b| a.value.total_cmp(&b.value)) else {
            let is_fine = smallest_shown <= self.share;
            let state = if is_fine { GateState::Holds } else { GateState::Open };
            let help = if is_fine { "" } else { "; longer runs would show smaller ones" };
            return (state, Some(1.0), format!("no change found; {shown}{help}"));
        };
        let (low, high) = newest.ratio_to(fastest);
        let is_beyond = |logarithm: f64| self.figure.loss(logarithm.exp()) > self.share;
        let state = match (is_beyond(low), is_beyond(high)) {
            (true, _) => GateState::Fails,
            (false, true) => GateState::Open,
            (false, false) => GateState::Holds,
        };
        let ratio = (newest.value - fastest.value).exp();
        (state, Some(ratio), format!("{} against the fastest level before", change(self.figure, newest, fastest)))
    }
}

/// Formats `+15.2 % (+13.1 … +17.4 %)`; of output tokens the change of their rate, which falls.
fn change(figure: HistoryFigure, newest: &Level, other: &Level) -> String {
    let percent = |logarithm: f64| logarithm.exp_m1() * 100.0;
    let middle = newest.value - other.value;
    let (low, high) = newest.ratio_to(other);
    let (middle, low, high) =
        if figure == HistoryFigure::OutputTokens { (-middle, -high, -low) } else { (middle, low, high) };
    format!("{:+.1} % ({:+.1} … {:+.1} %)", percent(middle), percent(low), percent(high))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StreamMetric;

    #[test]
    fn the_rate_of_output_tokens_is_judged() {
        let gate: HistoryGate = "output-tokens slower than 5%".parse().expect("a condition");
        let level = |value: f64, points| Level { points, value, without_generator: value, error: 1e-9 };
        let judged = |rate: f64| {
            let found = PercentileHistory {
                figure: HistoryFigure::OutputTokens,
                runs: (0..12).collect(),
                points: Vec::new(),
                levels: vec![level(0.0, 0..6), level(-rate.ln(), 6..12)],
                changes: Vec::new(),
                smallest_shown: 0.01,
            };
            gate.judge_levels(&found)
        };
        let (state, ratio, message) = judged(0.951);
        assert_eq!(state, GateState::Holds, "the time per token grew by 5.2 %");
        assert!((HistoryFigure::OutputTokens.loss(ratio.expect("a ratio")) - 0.049).abs() < 1e-9);
        assert!(message.starts_with("-4.9 % (-4.9 … -4.9 %)"), "{message}");
        let (state, _, message) = judged(0.949);
        assert_eq!(state, GateState::Fails);
        assert!(message.starts_with("-5.1 %"), "{message}");
        assert_eq!(judged(1.2).0, GateState::Holds);
    }

    #[test]
    fn a_condition_names_a_percentile_and_a_share() {
        let gate: HistoryGate = " p99 slower than 5 % ".parse().expect("a condition");
        assert_eq!((gate.figure, gate.share), (HistoryFigure::ResponseTime(0.99), 0.05));
        let gate: HistoryGate = "ttft p99 slower than 5%".parse().expect("a condition");
        assert_eq!(gate.figure, HistoryFigure::StreamTime(StreamMetric::FirstContent, 0.99));
        let gate: HistoryGate = "output-tokens slower than 5%".parse().expect("a condition");
        assert_eq!(gate.figure, HistoryFigure::OutputTokens);
        for text in [
            "p99",
            "p99 slower than",
            "p99 slower than -1%",
            "p99 slower than 5",
            "p99 > 5ms",
            "p75 slower than 5%",
            "tpot p99.9 slower than 5%",
            "ttft slower than 5%",
            "longest-gap p99 slower than 5%",
            "tokens slower than 5%",
        ] {
            assert!(text.parse::<HistoryGate>().is_err(), "{text}");
        }
    }
}
