//! The table of current quantiles.

use ratatui_core::text::{Line, Span};
use truetail_model::record::Metric;
use truetail_report::{number, words};
use truetail_run::{Distribution, Findings};

use crate::look::{Emphasis, TerminalStyle};
use crate::text::Labelled;

const GAP: usize = 2;
/// Quantiles in the order in which they are kept if there are fewer rows.
const BY_IMPORTANCE: [&str; 7] = ["p99", "p50", "max", "p99.9", "p90", "p95", "p99.99"];
const HEADLINE: &str = BY_IMPORTANCE[0];

/// A row per quantile: response time, its interval, service time and generator lag.
pub(crate) struct Table {
    look: TerminalStyle,
    columns: usize,
    /// Text in place of an empty table: in saturation, and before the first answer.
    stand_in: Labelled,
    /// A row per quantile, in ascending order.
    rows: Vec<[String; 5]>,
}

impl Table {
    pub(crate) fn new(findings: &Findings, look: TerminalStyle, columns: u16) -> Table {
        let mut stand_in = Labelled::new(look, columns);
        for (label, line) in words::capacity(findings) {
            stand_in.add(label, &line, Emphasis::Doubt, true);
        }
        let lag = &findings.metrics[Metric::GeneratorLag];
        let rows: Vec<[String; 5]> = words::times(findings)
            .into_iter()
            .zip(&findings.response_time.quantiles)
            .map(|([name, response, interval, service, _], quantile)| {
                [name, response, interval, service, at(lag, quantile.q)].map(|cell| look.printable(&cell))
            })
            .collect();
        if stand_in.lines.is_empty() && rows.is_empty() {
            stand_in.add("Percentiles", "none yet: no request has been answered", Emphasis::Plain, true);
        }
        Table { look, columns: usize::from(columns), stand_in, rows }
    }

    pub(crate) fn height(&self) -> u16 {
        if self.stand_in.lines.is_empty() { self.rows.len() as u16 + 1 } else { self.stand_in.rows() }
    }

    /// Returns the lines for this many rows of the screen: the heads and the most important quantiles.
    pub(crate) fn lines(&self, height: u16) -> Vec<Line<'static>> {
        if !self.stand_in.lines.is_empty() {
            return self.stand_in.lines.clone();
        }
        let importance = |name: &str| BY_IMPORTANCE.iter().position(|one| *one == name).unwrap_or(BY_IMPORTANCE.len());
        let mut names: Vec<&str> = self.rows.iter().map(|row| row[0].as_str()).collect();
        names.sort_by_key(|name| importance(name));
        names.truncate(usize::from(height).saturating_sub(1));
        let heads = ["", "response time", "95% interval", "service time", "generator lag"].map(str::to_owned);
        let shown = self.rows.iter().filter(|row| names.contains(&row[0].as_str())).cloned();
        let all: Vec<[String; 5]> = std::iter::once(heads).chain(shown).collect();
        let kept = self.fitting(&all);
        all.iter().enumerate().map(|(number, row)| self.line(number, row, &kept, &all)).collect()
    }

    /// Returns the columns that fit. Drops first the interval, then service time, then generator lag.
    fn fitting(&self, rows: &[[String; 5]]) -> Vec<usize> {
        let mut kept = vec![0, 1, 2, 3, 4];
        for least_important in [2, 3, 4] {
            let width: usize = kept.iter().map(|column| width(rows, *column) + GAP).sum::<usize>() - GAP;
            if width > self.columns {
                kept.retain(|column| *column != least_important);
            }
        }
        kept
    }

    fn line(&self, number: usize, row: &[String; 5], kept: &[usize], all: &[[String; 5]]) -> Line<'static> {
        let mut text = String::new();
        for column in kept {
            let cell = &row[*column];
            let width = width(all, *column);
            let gap = " ".repeat(if text.is_empty() { 0 } else { GAP });
            let is_left = matches!(column, 0 | 2);
            let cell = if is_left { format!("{cell:width$}") } else { format!("{cell:>width$}") };
            text = format!("{text}{gap}{cell}");
        }
        let emphasis = match number {
            0 => Emphasis::Faint,
            _ if row[0] == HEADLINE => Emphasis::Bold,
            _ => Emphasis::Plain,
        };
        Line::from(Span::styled(text.trim_end().to_owned(), self.look.style(emphasis)))
    }
}

fn width(rows: &[[String; 5]], column: usize) -> usize {
    rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0)
}

fn at(distribution: &Distribution, q: f64) -> String {
    let quantile = distribution.quantiles.iter().find(|quantile| quantile.q == q);
    quantile.filter(|quantile| quantile.supported).map_or("–".to_owned(), number::quantile)
}
