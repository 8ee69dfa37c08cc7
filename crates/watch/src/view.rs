//! The whole screen: which parts it has, and where they stand.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::text::Line;
use truetail_report::LiveState;

use crate::choice::{Choice, Page};
use crate::frame::Frame;
use crate::history::History;
use crate::lanes::{self, Lane};
use crate::look::{Emphasis, Look};
use crate::quantiles::Table;
use crate::rows::{Block, LAST, stack};
use crate::text::{Labelled, draw_lines};
use crate::{answers, decisions, headline, heat_map, help, load};

/// A run that is going on, as the screen shows it.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The latest results; `None` before the first.
    pub state: Option<&'a LiveState>,
    /// The looks at its counters.
    pub history: &'a History,
    /// No more requests are sent, because it is being stopped.
    pub stopping: bool,
    /// The latest note, which is printed again after the run.
    pub note: Option<&'a str>,
    /// The page.
    pub choice: Choice,
    /// What the terminal can show.
    pub look: Look,
}

/// From this many columns on, figures stand beside the pictures.
const WIDE: u16 = 132;
/// The columns of the figures then.
const FIGURES: u16 = 74;
/// With fewer rows, figures and pictures do not stand beside each other.
const LOW: u16 = 16;

impl View<'_> {
    /// Draws the view over all of `buffer`, whatever its size.
    pub fn draw(&self, buffer: &mut Buffer) {
        let area = buffer.area;
        buffer.reset();
        if area.is_empty() {
            return;
        }
        let columns = area.width;
        let title = headline::title(self.state.map(|state| &state.run), self.look, columns);
        let (more, look) = (title.len() as u16 - 1, self.look);
        let keys = help::keys(look, self.choice.page.next().name());
        let note = self.note.map(|note| look.span(Emphasis::Doubt, note)).map(Line::from);
        let mut blocks = vec![
            Block::new(3, 1, move |area, buffer| draw_lines(&title, look, area, buffer)).and(20, more),
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

    /// Verdict, gates, rates, quantiles.
    fn figures(&self, columns: u16) -> Vec<Block<'_>> {
        let look = self.look;
        let mut blocks = Vec::new();
        if let Some(state) = self.state {
            blocks.push(labelled(decisions::verdict(&state.findings, look, columns), [7, 8, 40], 2));
            blocks.push(labelled(decisions::gates(&state.run, &state.findings, look, columns), [9, 10, 14], 2));
        }
        blocks.extend(self.load(columns));
        if let Some(state) = self.state {
            let table = Table::new(&state.findings, look, columns);
            let height = table.height();
            blocks.push(Block::gap());
            let draw = move |area: Rect, buffer: &mut Buffer| draw_lines(&table.lines(area.height), look, area, buffer);
            blocks.push(Block::new(6, height.min(2), draw).and(8, 3).and(13, height.saturating_sub(5)));
        }
        blocks
    }

    /// Rates of now, and how many requests wait.
    fn load(&self, columns: u16) -> Vec<Block<'_>> {
        vec![labelled(load::lines(self.state, self.history, self.look, columns), [5, 6, 9], 1)]
    }

    /// All reasons, statuses, errors and targets.
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

    /// The heat map, the lanes under it, and their time axis.
    fn pictures(&self, area: Rect) -> Vec<Block<'_>> {
        let (Some(state), Some(frame)) = (self.state, self.frame(area.width)) else { return Vec::new() };
        let series = &state.series;
        let useful = heat_map::useful_rows(&series.heat_map, self.look).saturating_add(1);
        let heat = move |area: Rect, buffer: &mut Buffer| {
            heat_map::draw(&series.heat_map, &series.time, &frame, area, buffer);
        };
        let mut blocks = vec![Block::new(11, 3, heat).and(12, 2).and(15, 5).and(60, useful.saturating_sub(10))];
        let history = self.history;
        let knows_backlog = history.latest().is_some_and(|look| load::backlog(state, look).is_some());
        let lanes = [
            (16, Some(Lane::response_time(&frame, series, 0.5)), Emphasis::Plain),
            (13, Some(Lane::response_time(&frame, series, 0.99)), Emphasis::Plain),
            (10, Some(Lane::generator_lag(&frame, series, 0.99)), Emphasis::Plain),
            (12, Some(Lane::sent(&frame, history)), Emphasis::Plain),
            (14, Some(Lane::answered(&frame, history)), Emphasis::Plain),
            (15, Some(Lane::backlog(&frame, history)).filter(|_| knows_backlog), Emphasis::Plain),
            (15, Some(Lane::in_flight(&frame, history)), Emphasis::Plain),
        ];
        for (rank, lane, emphasis) in lanes {
            if let Some(lane) = lane.filter(Lane::has_values) {
                let draw = move |area: Rect, buffer: &mut Buffer| lane.draw(&frame, emphasis, area, buffer);
                blocks.push(Block::new(rank, 1, draw));
            }
        }
        if !series.pauses.is_empty() {
            let draw = move |area: Rect, buffer: &mut Buffer| lanes::draw_pauses(&series.pauses, &frame, area, buffer);
            blocks.push(Block::new(14, 1, draw));
        }
        blocks.push(Block::new(10, 1, move |area, buffer| frame.axis(area, buffer)));
        blocks
    }

    /// The frame of the pictures; `None` where there is nothing to draw yet.
    fn frame(&self, columns: u16) -> Option<Frame> {
        let (state, progress) = (self.state?, self.history.latest()?);
        let offered = &state.run.facts.offered;
        let (now_s, from_s) = (progress.elapsed.as_secs_f64(), state.series.time.from_s);
        let end_s = offered.duration_ns.map(|ns| ns as f64 / 1e9);
        Some(Frame::new(self.look, columns, from_s, now_s.max(from_s), end_s))
    }
}

/// Text as a block: its first `least` lines by the first rank, up to three by the second, the rest by the third.
fn labelled<'a>(text: Labelled, ranks: [u8; 3], least: u16) -> Block<'a> {
    let rows = text.rows();
    let [first, more, all] = ranks;
    let least = least.min(rows);
    let some = 3u16.min(rows).saturating_sub(least);
    let draw = move |area: Rect, buffer: &mut Buffer| text.draw(area, buffer);
    Block::new(first, least, draw).and(more, some).and(all.min(LAST), rows.saturating_sub(least + some))
}
