//! A few sessions in full, one below the other.

use truetail_analysis::series::SessionSeries;
use truetail_run::{SampledRequest, SampledSession, SessionEnding};

use super::frame::Frame;
use super::layout::INK;
use super::look::SeriesStyle;
use super::picture::Picture;
use super::sheet::{Sheet, Swatch, legend_height};
use super::svg::{Anchor, Label, Rect, Svg};
use super::text_width;
use super::waterfall::{AROUND, ROW, draw_frame, draw_names};
use crate::number;

const TITLE: &str = "A few sessions, request by request";
/// Heights of a request, of waiting, and of think time.
const REQUEST: f64 = 22.0;
const WAIT: f64 = 10.0;
const THINK: f64 = 2.0;
/// Lowest width of a request, so that it stays visible.
const NARROWEST: f64 = 1.5;
/// Adjacent steps look different; further steps reuse the looks.
const STEPS: [SeriesStyle; 4] = [SeriesStyle::Response, SeriesStyle::Sent, SeriesStyle::InFlight, SeriesStyle::Lag];
/// Font size of a step's name in its bar, and the longest name in a legend.
const NAME: f64 = 12.0;
const LONGEST_NAME: f64 = 220.0;

/// Draws sessions from their intended arrivals: waits before sending, requests, and think times.
pub fn session_waterfall(series: &SessionSeries) -> Picture {
    if series.sampled.is_empty() {
        return Sheet::nothing(TITLE, "No session was kept in full.");
    }
    let length_ns = |session: &SampledSession| session.end_ns.saturating_sub(session.intended_start_ns);
    let longest = series.sampled.iter().map(|shown| length_ns(&shown.session)).max().unwrap_or(1).max(1) as f64;
    let subtitle = "Each begins at its intended arrival. The time at the right is without the planned think time.";
    let legend = legend(series);
    let height = AROUND + legend_height(&legend) + series.sampled.len() as f64 * ROW;
    let mut sheet = Sheet::new(TITLE, subtitle, height, &legend);
    let area = sheet.area;
    let frame = draw_frame(&mut sheet, series.sampled.len(), longest, "since the intended arrival");
    for (n, shown) in series.sampled.iter().enumerate() {
        let row = Rect { y: area.y + n as f64 * ROW, height: ROW, ..area };
        let session = &shown.session;
        let ends = [number::time(session.time_ns()), ending(session).to_owned()];
        draw_names(&mut sheet.svg, row, (shown.because, session.intended_start_ns), &ends);
        SessionRow { frame: &frame, session, middle: row.y + ROW / 2.0 }.draw(&mut sheet.svg, &series.steps);
    }
    frame.draw_base(&mut sheet.svg);
    sheet.finish()
}

fn ending(session: &SampledSession) -> &'static str {
    match session.ending {
        SessionEnding::Completed => "completed",
        SessionEnding::EndedEarly(cause) => cause.describe(),
        SessionEnding::InFlightAtEnd => "in flight at end",
    }
}

/// Returns the sending time of a request without an answer at the end of the run; `None` if the user was thinking.
fn unanswered(session: &SampledSession) -> Option<u64> {
    session.requests.last().filter(|last| last.end_ns.is_none()).map(|last| last.sent_ns)
}

fn look_of(step: u32) -> SeriesStyle {
    STEPS[step as usize % STEPS.len()]
}

fn legend(series: &SessionSeries) -> Vec<(String, Swatch)> {
    let block = |name: &str, look: SeriesStyle, opacity: f64| (name.to_owned(), Swatch::Block(look, opacity));
    let sessions = || series.sampled.iter().map(|shown| &shown.session);
    let is_ended = |session: &SampledSession| matches!(session.ending, SessionEnding::EndedEarly(_));
    let mut legend = Vec::new();
    if series.steps.len() <= STEPS.len() {
        let name =
            |(nth, step): (u32, &String)| block(&text_width::fitted(step, 14.0, LONGEST_NAME), look_of(nth), 0.6);
        legend.extend((0..).zip(&series.steps).map(name));
    } else {
        legend.push(block("requests: steps that follow each other differ in colour", look_of(0), 0.6));
    }
    legend.push(block("due, and not sent yet", SeriesStyle::Wait, 0.8));
    let between = if series.has_retries { "think time, or the interval of a retry" } else { "think time" };
    legend.push((between.to_owned(), Swatch::Line(SeriesStyle::LagMax)));
    if sessions().any(|session| session.left_out > 0) {
        legend.push(block("requests that are not kept", SeriesStyle::Truth, 0.25));
    }
    if sessions().any(is_ended) {
        legend.push(("the request that ended its session".to_owned(), Swatch::Line(SeriesStyle::Failed)));
    }
    if sessions().any(|session| unanswered(session).is_some()) {
        legend.push(block("no answer until the run ended", SeriesStyle::LagMax, 0.3));
    }
    legend
}

struct SessionRow<'a> {
    frame: &'a Frame,
    session: &'a SampledSession,
    middle: f64,
}

impl SessionRow<'_> {
    fn draw(&self, svg: &mut Svg, steps: &[String]) {
        let session = self.session;
        let ends = session.requests.iter().map(|request| request.end_ns.unwrap_or(session.end_ns));
        // Stretches before each request; the one before the first is empty.
        let before = std::iter::once(session.intended_start_ns).chain(ends.clone());
        let gaps: Vec<(u64, u64)> = before.zip(&session.requests).map(|(from, next)| (from, next.due_ns)).collect();
        let last = gaps.len().saturating_sub(1);
        let (thinks, left_out) = gaps.split_at(if session.left_out > 0 { last } else { gaps.len() });
        svg.blocks(&self.blocks(thinks, THINK), SeriesStyle::LagMax, 0.9);
        svg.blocks(&self.blocks(left_out, WAIT), SeriesStyle::Truth, 0.25);
        let waits: Vec<(u64, u64)> = session.requests.iter().map(|request| (request.due_ns, request.sent_ns)).collect();
        svg.blocks(&self.blocks(&waits, WAIT), SeriesStyle::Wait, 0.8);
        for (nth, look) in (0..).zip(STEPS) {
            let is_mine = |request: &&SampledRequest| request.step as usize % STEPS.len() == nth;
            let mine = session.requests.iter().filter(is_mine).filter_map(|request| self.request(request));
            svg.blocks(&mine.collect::<Vec<_>>(), look, 0.6);
        }
        session.requests.iter().for_each(|request| self.draw_name(svg, request, steps));
        if let Some(from) = unanswered(session) {
            svg.blocks(&self.blocks(&[(from, session.end_ns)], WAIT), SeriesStyle::LagMax, 0.3);
        }
        if matches!(session.ending, SessionEnding::EndedEarly(_)) {
            let x = self.x(session.end_ns);
            let stroke = vec![(x, self.middle - REQUEST / 2.0 - 3.0), (x, self.middle + REQUEST / 2.0 + 3.0)];
            svg.series(&[stroke], SeriesStyle::Failed, 3.0);
        }
    }

    fn x(&self, at_ns: u64) -> f64 {
        self.frame.x(at_ns.min(self.session.end_ns).saturating_sub(self.session.intended_start_ns) as f64)
    }

    fn request(&self, request: &SampledRequest) -> Option<Rect> {
        let x = self.x(request.sent_ns);
        let end = self.x(request.end_ns?);
        Some(Rect { x, y: self.middle - REQUEST / 2.0, width: (end - x).max(NARROWEST), height: REQUEST })
    }

    /// Returns bars between these instants, except bars too narrow to see.
    fn blocks(&self, spans: &[(u64, u64)], height: f64) -> Vec<Rect> {
        let block = |(from, to): &(u64, u64)| {
            let x = self.x(*from);
            let width = self.x(*to) - self.x(*from);
            (width >= 0.2).then_some(Rect { x, y: self.middle - height / 2.0, width, height })
        };
        spans.iter().filter_map(block).collect()
    }

    /// Draws the name of a step in its bar, if there is room.
    fn draw_name(&self, svg: &mut Svg, request: &SampledRequest, steps: &[String]) {
        let (Some(bar), Some(text)) = (self.request(request), steps.get(request.step as usize)) else { return };
        if text_width::width(text, NAME) + 8.0 < bar.width {
            let x = bar.x + bar.width / 2.0;
            let y = self.middle + 4.5;
            svg.label(Label { x, y, text, size: NAME, anchor: Anchor::Middle, color: INK, bold: false });
        }
    }
}
