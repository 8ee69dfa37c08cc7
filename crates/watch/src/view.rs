//! The whole screen: its parts, and their places.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::text::Line;
use truetail_report::LiveState;

use crate::choice::{Page, ScreenState};
use crate::frame::Frame;
use crate::history::History;
use crate::lanes::{self, Lane};
use crate::look::{Emphasis, TerminalStyle};
use crate::quantiles::Table;
use crate::rows::{Block, LAST, stack};
use crate::text::{Labelled, draw_lines};
use crate::{answers, decisions, headline, heat_map, help, load};

/// A run in progress, as the screen shows it.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The latest results; `None` before the first ones.
    pub state: Option<&'a LiveState>,
    /// Looks at the counters of the run.
    pub history: &'a History,
    /// True if the run is being stopped and sends no more requests.
    pub stopping: bool,
    /// The latest note, which is printed again after the run.
    pub note: Option<&'a str>,
    /// Page and help.
    pub choice: ScreenState,
    /// Capabilities of the terminal.
    pub look: TerminalStyle,
}

/// Minimum number of columns for figures next to the pictures.
const WIDE: u16 = 132;
/// Columns of these figures.
const FIGURES: u16 = 74;
/// Minimum number of rows for figures next to the pictures.
const LOW: u16 = 16;

impl View<'_> {
    /// Draws the view over all of `buffer`, of any size.
    pub fn draw(&self, buffer: &mut Buffer) {
        let area = buffer.area;
        buffer.reset();
        if area.is_empty() {
            return;
        }
        let columns = area.width;
        let title = headline::title(self.state.map(|state| &state.run), self.look, columns);
        let more = title.len() as u16 - 1;
        let look = self.look;
        let keys = help::keys(look, self.choice.page.next().name());
        let note = self.note.map(|note| look.span(Emphasis::Doubt, note)).map(Line::from);
        let mut blocks = vec![
            Block::new(3, 1, move |area, buffer| draw_lines(&title, look, area, buffer)).and(16, more),
            Block::new(0, 1, |area, buffer| self.draw_position(area, buffer)),
            Block::new(4, 1, |area, buffer| self.draw_page(area, buffer)).and(5, u16::MAX),
        ];
        if let Some(note) = note {
            blocks.push(Block::new(2, 1, move |area, buffer| {
                draw_lines(std::slice::from_ref(&note), look, area, buffer)
            }));
        }
        blocks.push(Block::new(1, 1, move |area, buffer| draw_lines(std::slice::from_ref(&keys), look, area, buffer)));
        stack(&blocks, area, buffer);
    }

    fn draw_position(&self, area: Rect, buffer: &mut Buffer) {
        if let Some(progress) = self.history.latest() {
            headline::draw_position(progress, self.stopping, self.look, area, buffer);
        }
    }

    fn draw_page(&self, area: Rect, buffer: &mut Buffer) {
        let is_wide = area.width >= WIDE && area.height >= LOW;
        match self.choice.page {
            _ if self.choice.help => help::page(self.look, area.width).draw(area, buffer),
            Page::All if is_wide => {
                let figures = Rect { width: FIGURES, ..area };
                let pictures = Rect { x: area.x + FIGURES + 2, width: area.width - FIGURES - 2, ..area };
                let blocks = [self.figures(FIGURES), self.details(FIGURES)].into_iter().flatten();
                stack(&blocks.collect::<Vec<_>>(), figures, buffer);
                stack(&self.pictures(pictures), pictures, buffer);
            }
            Page::All => {
                let blocks = [self.figures(area.width), vec![Block::gap()], self.pictures(area)].into_iter().flatten();
                stack(&blocks.collect::<Vec<_>>(), area, buffer);
            }
            Page::OverTime => stack(&self.pictures(area), area, buffer),
            Page::Answers => {
                let blocks = [self.load(area.width), self.details(area.width)].into_iter().flatten();
                stack(&blocks.collect::<Vec<_>>(), area, buffer);
            }
        }
    }

    fn figures(&self, columns: u16) -> Vec<Block<'_>> {
        let look = self.look;
        let mut blocks = Vec::new();
        if let Some(state) = self.state {
            blocks.push(labelled(decisions::verdict(&state.findings, look, columns), [7, 10, 40], 1));
            blocks.push(labelled(decisions::gates(&state.run, &state.findings, look, columns), [7, 9, 17], 1));
        }
        blocks.extend(self.load(columns));
        if let Some(state) = self.state {
            let table = Table::new(&state.findings, look, columns);
            let height = table.height();
            blocks.push(Block::gap());
            let draw = move |area: Rect, buffer: &mut Buffer| draw_lines(&table.lines(area.height), look, area, buffer);
            blocks.push(Block::new(6, height.min(2), draw).and(8, 3).and(13, 1).and(17, height.saturating_sub(6)));
        }
        blocks
    }

    fn load(&self, columns: u16) -> Vec<Block<'_>> {
        vec![labelled(load::lines(self.state, self.history, self.look, columns), [5, 6, 9], 1)]
    }

    fn details(&self, columns: u16) -> Vec<Block<'_>> {
        let Some(state) = self.state else { return Vec::new() };
        let look = self.look;
        let targets = answers::targets(state, look, columns);
        let rows = targets.len() as u16;
        let mut blocks = vec![Block::gap()];
        if self.choice.page == Page::Answers {
            blocks.push(labelled(decisions::verdict(&state.findings, look, columns), [10, 30, 41], 1));
            blocks.push(labelled(decisions::gates(&state.run, &state.findings, look, columns), [12, 31, 42], 1));
        }
        blocks.push(labelled(answers::lines(state, look, columns), [11, 32, 43], 2));
        if rows > 0 {
            blocks.push(Block::gap());
            let draw = move |area: Rect, buffer: &mut Buffer| draw_lines(&targets, look, area, buffer);
            blocks.push(Block::new(33, 2.min(rows), draw).and(44, rows));
        }
        blocks
    }

    fn pictures(&self, area: Rect) -> Vec<Block<'_>> {
        let (Some(state), Some(frame)) = (self.state, self.frame(area.width)) else { return Vec::new() };
        let series = &state.series;
        // One more row for requests without an answer.
        let useful = heat_map::useful_rows(&series.heat_map, self.look).saturating_add(1);
        let beyond = |rows: u16| useful.saturating_sub(rows);
        let heat = move |area: Rect, buffer: &mut Buffer| {
            heat_map::draw(&series.heat_map, &series.time, &frame, area, buffer);
        };
        let mut blocks =
            vec![Block::new(11, 3, heat).and(14, beyond(3).min(2)).and(18, beyond(5).min(5)).and(60, beyond(10))];
        for (rank, lane) in self.lanes(state, &frame).into_iter().filter(|(_, lane)| lane.has_values()) {
            blocks.push(Block::new(rank, 1, move |area, buffer| lane.draw(&frame, area, buffer)));
        }
        if !series.pauses.is_empty() {
            let draw = move |area: Rect, buffer: &mut Buffer| lanes::draw_pauses(&series.pauses, &frame, area, buffer);
            blocks.push(Block::new(14, 1, draw));
        }
        blocks.push(Block::new(10, 1, move |area, buffer| frame.axis(area, buffer)));
        blocks
    }

    /// Returns the lanes, from top to bottom, with their ranks.
    fn lanes(&self, state: &LiveState, frame: &Frame) -> Vec<(u8, Lane)> {
        let series = &state.series;
        let history = self.history;
        let mut lanes = vec![
            (16, Lane::response_time(frame, series, 0.5)),
            (12, Lane::response_time(frame, series, 0.99)),
            (10, Lane::generator_lag(frame, series, 0.99)),
            (12, Lane::sent(frame, history)),
            (12, Lane::answered(frame, history)),
            (15, Lane::in_flight(frame, history)),
        ];
        if load::is_due_known(state) {
            lanes.push((15, Lane::backlog(frame, history)));
        }
        lanes
    }

    /// Returns the frame of the pictures; `None` if there is nothing to draw yet.
    fn frame(&self, columns: u16) -> Option<Frame> {
        let state = self.state?;
        let progress = self.history.latest()?;
        let offered = &state.run.facts.offered;
        let now_s = progress.elapsed.as_secs_f64();
        let from_s = state.series.time.from_s;
        let end_s = offered.duration_ns.map(|ns| ns as f64 / 1e9);
        Some(Frame::new(self.look, columns, from_s, now_s.max(from_s), end_s))
    }
}

/// Returns text as a block: `least` lines have the first rank, lines up to the third the second, further ones the
/// third.
fn labelled<'a>(text: Labelled, ranks: [u8; 3], least: u16) -> Block<'a> {
    let rows = text.rows();
    let [first, more, all] = ranks;
    let least = least.min(rows);
    let some = 3u16.min(rows).saturating_sub(least);
    let draw = move |area: Rect, buffer: &mut Buffer| text.draw(area, buffer);
    Block::new(first, least, draw).and(more, some).and(all.min(LAST), rows.saturating_sub(least + some))
}
