//! One-row pictures of a figure over time.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::text::Line;
use truetail_analysis::series::{PauseSpan, PausedSide, QuantileSeries, RunSeries};
use truetail_report::{number, sparkline};

use crate::frame::Frame;
use crate::history::History;
use crate::look::Emphasis;

/// A row with a value per column, and a format for the smallest and the largest value.
pub(crate) struct Lane {
    label: String,
    values: Vec<Option<f64>>,
    write: fn(f64) -> String,
}

impl Lane {
    fn new(label: &str, frame: &Frame, value: impl Fn(usize) -> Option<f64>, write: fn(f64) -> String) -> Lane {
        Lane { label: label.to_owned(), values: (0..frame.span.columns).map(value).collect(), write }
    }

    /// Requests sent per second, by the time when they were sent.
    pub(crate) fn sent(frame: &Frame, history: &History) -> Lane {
        let value = |column| rates(frame, history, column).map(|rates| rates.sent);
        Lane::new("sent", frame, value, number::rate)
    }

    /// Answers per second, by the time when they came.
    pub(crate) fn answered(frame: &Frame, history: &History) -> Lane {
        let value = |column| rates(frame, history, column).map(|rates| rates.answered);
        Lane::new("answered", frame, value, number::rate)
    }

    /// Maximum number of requests in flight.
    pub(crate) fn in_flight(frame: &Frame, history: &History) -> Lane {
        let value = |column: usize| {
            let (from, to) = frame.span.times(column);
            history.looks(from, to).iter().map(|look| look.in_flight as f64).reduce(f64::max)
        };
        Lane::new("in flight", frame, value, whole)
    }

    /// Maximum backlog. Requires a run whose number of due arrivals is known at each moment.
    pub(crate) fn backlog(frame: &Frame, history: &History) -> Lane {
        let value = |column: usize| {
            let (from, to) = frame.span.times(column);
            let waiting = history.looks(from, to).iter().map(|look| look.planned.saturating_sub(look.sent) as f64);
            waiting.reduce(f64::max)
        };
        Lane::new("backlog", frame, value, whole)
    }

    /// A quantile of the response time, by intended start.
    pub(crate) fn response_time(frame: &Frame, series: &RunSeries, q: f64) -> Lane {
        Lane::quantile(frame, series, &series.response_time, q, "")
    }

    /// A quantile of the generator lag, by intended start.
    pub(crate) fn generator_lag(frame: &Frame, series: &RunSeries, q: f64) -> Lane {
        Lane::quantile(frame, series, &series.generator_lag, q, "lag ")
    }

    /// The quantile `q`, or the largest value if no column has enough requests for it.
    fn quantile(frame: &Frame, series: &RunSeries, of: &[QuantileSeries], q: f64, what: &str) -> Lane {
        let has_values = |one: &&QuantileSeries| one.values_ns.iter().any(Option::is_some);
        let find = |q: f64| of.iter().find(|one| one.q == q).filter(has_values);
        let found = find(q).or_else(|| find(1.0));
        let label = format!("{what}{}", number::quantile_name(found.map_or(q, |one| one.q)));
        let value = |column| Some(frame.span.largest(column, &series.time, &found?.values_ns)? as f64);
        Lane::new(&label, frame, value, |ns| number::time(ns as u64))
    }

    pub(crate) fn has_values(&self) -> bool {
        self.values.iter().any(Option::is_some)
    }

    /// Draws the lane into the first row of `area`.
    pub(crate) fn draw(&self, frame: &Frame, area: Rect, buffer: &mut Buffer) {
        let plot = frame.plot_area(area);
        frame.label(&self.label, area, area.y, buffer);
        let line = Line::from(frame.look.span(Emphasis::Plain, &sparkline(&self.values, frame.look.report())));
        buffer.set_line(plot.x, plot.y, &line, plot.width);
        frame.caption(Line::from(frame.look.span(Emphasis::Plain, &self.range())), area, area.y, buffer);
    }

    fn range(&self) -> String {
        let values = || self.values.iter().flatten().copied();
        let ends = values().reduce(f64::min).zip(values().reduce(f64::max));
        let ends = ends.map(|(low, high)| ((self.write)(low), (self.write)(high)));
        ends.map_or(String::new(), |(low, high)| if low == high { low } else { format!("{low}…{high}") })
    }
}

fn rates(frame: &Frame, history: &History, column: usize) -> Option<crate::history::Rates> {
    let (from, to) = frame.span.times(column);
    history.rates(from, to)
}

fn whole(value: f64) -> String {
    number::count(value as u64)
}

/// Draws pauses into the first row of `area`: `g` for the generator, `s` for the server.
pub(crate) fn draw_pauses(pauses: &[PauseSpan], frame: &Frame, area: Rect, buffer: &mut Buffer) {
    let plot = frame.plot_area(area);
    frame.label("pauses", area, area.y, buffer);
    for pause in pauses {
        let (letter, emphasis) = match pause.side {
            PausedSide::Generator => ("g", Emphasis::Doubt),
            PausedSide::Server => ("s", Emphasis::Bad),
        };
        let Some(first) = frame.span.column_of(pause.from_s) else { continue };
        let last = frame.span.column_of(pause.to_s).unwrap_or(first).max(first);
        for column in first..=last {
            let x = plot.x.saturating_add(column as u16);
            let is_generator = buffer.cell((x, plot.y)).is_some_and(|cell| cell.symbol() == "g");
            // If both paused, the server may have been waiting for the generator.
            if x < plot.right() && !is_generator {
                buffer.set_line(x, plot.y, &Line::from(frame.look.span(emphasis, letter)), 1);
            }
        }
    }
    let caption = frame.look.span(Emphasis::Plain, "g truetail, s server");
    frame.caption(Line::from(caption), area, area.y, buffer);
}
