//! Progress of a run in one line.

use truetail_model::time::Nanos;

use crate::number;
use crate::style::{Emphasis, Style};

/// State of a run in progress.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct RunProgress {
    /// Time since the origin.
    pub elapsed: Nanos,
    /// Length of the schedule; `None` if unknown, as for a number of requests in the closed model.
    pub total: Option<Nanos>,
    /// Number of requests of the run, if that defines its length.
    pub requests: Option<u64>,
    /// Arrivals planned until now.
    pub planned: u64,
    /// Requests started until now.
    pub sent: u64,
    /// Complete answers until now.
    pub answered: u64,
    /// Requests that failed or timed out until now.
    pub failed: u64,
    /// Requests started and not ended.
    pub in_flight: u64,
    /// Recent rate of started requests per second.
    pub sent_per_second: f64,
    /// Median response time until now; `None` if unknown, as before the first answer.
    pub p50: Option<Nanos>,
    /// p99 of the response time until now; `None` if unknown, as before the first answer.
    pub p99: Option<Nanos>,
}

impl RunProgress {
    /// Formats the progress: `12s / 60s`, `61s, draining`, `250 / 500 requests`, or `12s` if the end is unknown.
    pub fn position(&self) -> String {
        let seconds = |time: Nanos| number::count(time.0 / truetail_model::time::NANOS_PER_SECOND);
        match (self.total, self.requests) {
            (Some(total), _) if self.elapsed > total => format!("{}s, draining", seconds(self.elapsed)),
            (Some(total), _) => format!("{}s / {}s", seconds(self.elapsed), seconds(total)),
            (None, Some(requests)) => format!("{} / {} requests", number::count(self.sent), number::count(requests)),
            (None, None) => format!("{}s", seconds(self.elapsed)),
        }
    }

    /// Returns the completed share of the run, in [0, 1]; `None` if the end is unknown.
    pub fn share_done(&self) -> Option<f64> {
        let share = |part: u64, whole: u64| (whole > 0).then(|| (part as f64 / whole as f64).min(1.0));
        match (self.total, self.requests) {
            (Some(total), _) => share(self.elapsed.0, total.0),
            (None, Some(requests)) => share(self.sent, requests),
            (None, None) => None,
        }
    }
}

/// Highest number of columns of the bar.
const WIDEST_BAR: usize = 24;
/// Lowest number of columns of the bar. With less room, it is omitted.
const NARROWEST_BAR: usize = 6;

/// Formats one line: a bar if there is room, then [`progress_text`]. It fits the style's width, if the time does.
pub fn progress_line(progress: &RunProgress, style: Style) -> String {
    let text = progress_text(progress, style);
    let room = style.width.saturating_sub(text.chars().count() + 3);
    match progress.share_done() {
        Some(done) if room >= NARROWEST_BAR => format!("{}  {text}", bar(done, room.min(WIDEST_BAR), style)),
        _ => text,
    }
}

/// Formats one line without a bar, for logs: `12s / 60s  1000/s  in flight 12  p50 10.20ms  p99 11.00ms  errors 0`. It
/// fits the style's width, if the time does.
pub fn progress_text(progress: &RunProgress, style: Style) -> String {
    let mut text = String::new();
    for part in parts(progress) {
        let part = style.printable(&part);
        let gap = if text.is_empty() { "" } else { "  " };
        if text.chars().count() + gap.len() + part.chars().count() < style.width || text.is_empty() {
            text.push_str(gap);
            text.push_str(&part);
        }
    }
    text
}

/// Returns the parts, most important first. If space is short, the last ones are omitted first.
fn parts(progress: &RunProgress) -> Vec<String> {
    let quantile = |name, value: Option<Nanos>| value.map(|value| format!("{name} {}", number::time(value.0)));
    let waiting = progress.planned.saturating_sub(progress.sent);
    let waiting = (waiting > 0).then(|| format!("waiting {}", number::count(waiting)));
    [
        Some(progress.position()),
        Some(number::rate(progress.sent_per_second)),
        Some(format!("in flight {}", number::count(progress.in_flight))),
        waiting,
        quantile("p50", progress.p50),
        quantile("p99", progress.p99),
        Some(format!("errors {}", number::count(progress.failed))),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn bar(done: f64, columns: usize, style: Style) -> String {
    let full = (done * columns as f64).floor() as usize;
    let (filled, empty) = if style.unicode { ("━", "─") } else { ("=", "-") };
    let rest = style.emphasize(Emphasis::Faint, &empty.repeat(columns - full));
    format!("{}{rest}", style.emphasize(Emphasis::Good, &filled.repeat(full)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn midway() -> RunProgress {
        RunProgress {
            elapsed: Nanos::from_secs(12),
            total: Some(Nanos::from_secs(60)),
            planned: 12_000,
            sent: 12_000,
            answered: 11_988,
            in_flight: 12,
            sent_per_second: 1000.0,
            p50: Some(Nanos::from_micros(10_200)),
            p99: Some(Nanos::from_millis(11)),
            ..RunProgress::default()
        }
    }

    #[test]
    fn it_says_how_far_how_fast_and_how_well() {
        let line = progress_line(&midway(), Style { width: 120, ..Style::default() });
        let text = "12s / 60s  1000/s  in flight 12  p50 10.20ms  p99 11.00ms  errors 0";
        assert_eq!(line, format!("━━━━────────────────────  {text}"));
        assert_eq!(progress_text(&midway(), Style { width: 120, ..Style::default() }), text);
        let late = RunProgress { elapsed: Nanos::from_secs(61), planned: 60_000, sent: 59_000, ..midway() };
        let line = progress_line(&late, Style { width: 120, ..Style::default() });
        assert!(line.contains("61s, draining") && line.contains("waiting 1000"), "{line}");
    }

    #[test]
    fn it_never_wraps() {
        for width in 20..200 {
            let style = Style { width, ..Style::default() };
            let line = progress_line(&midway(), style);
            assert!(line.chars().count() < width, "{width}: {line}");
            assert!(line.contains("12s / 60s"), "{line}");
        }
    }

    #[test]
    fn before_the_first_answer_and_without_an_end() {
        let line = progress_line(&RunProgress::default(), Style { width: 120, ..Style::default() });
        assert_eq!(line, "0s  0/s  in flight 0  errors 0");
        let counted = RunProgress { requests: Some(500), sent: 250, planned: 250, ..RunProgress::default() };
        assert!(progress_line(&counted, Style { width: 120, unicode: false, ..Style::default() }).starts_with("====="));
    }
}
