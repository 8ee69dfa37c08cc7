//! Response times by time and size, as colours or shades.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Color, Style};
use ratatui_core::text::{Line, Span};
use truetail_analysis::series::{HeatMap, TimeAxis};
use truetail_report::number;

use crate::frame::Frame;
use crate::look::{Emphasis, Palette, TerminalStyle};

/// Terminal colours out of 256, from few requests to many, visible on dark and light backgrounds. Each is brighter than
/// the one before, so that their order is visible even without colour vision.
const COLORS: [u8; 7] = [54, 61, 31, 36, 77, 148, 226];
/// Shades without colours, from few requests to many.
const SHADES: [char; 4] = ['░', '▒', '▓', '█'];
/// ASCII characters, from few requests to many.
const ASCII: [char; 4] = ['.', ':', '*', '#'];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ink {
    /// Two cells per character, each with a colour.
    HalfBlocks,
    /// One cell per character, by a character that covers more or less.
    Characters([char; 4]),
}

impl Ink {
    const fn for_terminal(look: TerminalStyle) -> Ink {
        match (look.palette, look.unicode) {
            (Palette::Indexed, true) => Ink::HalfBlocks,
            (Palette::Monochrome | Palette::Basic, true) => Ink::Characters(SHADES),
            (_, false) => Ink::Characters(ASCII),
        }
    }

    const fn cells_per_row(self) -> usize {
        match self {
            Ink::HalfBlocks => 2,
            Ink::Characters(_) => 1,
        }
    }

    /// Returns the level of a cell with `count` of at most `largest` requests, on a logarithmic scale; `None` if empty.
    fn level(self, count: u64, largest: u64) -> Option<usize> {
        let highest = match self {
            Ink::HalfBlocks => COLORS.len() - 1,
            Ink::Characters(characters) => characters.len() - 1,
        };
        let share = if largest > 1 { (count as f64).ln() / (largest as f64).ln() } else { 1.0 };
        (count > 0).then(|| ((share * highest as f64).round() as usize).min(highest))
    }

    /// Returns a character for one place on the screen. `levels` has its cells, from the lowest to the highest.
    fn symbol(self, levels: &[Option<usize>]) -> Option<(char, Style)> {
        let color = |level: usize| Color::Indexed(COLORS[level]);
        match (self, levels) {
            (Ink::HalfBlocks, [Some(lower), Some(upper)]) => {
                Some(('▀', Style::new().fg(color(*upper)).bg(color(*lower))))
            }
            (Ink::HalfBlocks, [None, Some(upper)]) => Some(('▀', Style::new().fg(color(*upper)))),
            (Ink::HalfBlocks, [Some(lower), ..]) => Some(('▄', Style::new().fg(color(*lower)))),
            (Ink::HalfBlocks, _) => None,
            (Ink::Characters(characters), levels) => {
                levels.first().copied().flatten().map(|level| (characters[level], Style::new()))
            }
        }
    }
}

/// Layout of a heat map on the rows of the screen.
struct Grid<'a> {
    map: &'a HeatMap,
    ink: Ink,
    /// The lowest row of the map with a count.
    lowest: usize,
    rows_per_cell: usize,
    height: usize,
}

impl<'a> Grid<'a> {
    /// Creates a layout; `None` if the map has no count or there is no room.
    fn new(map: &'a HeatMap, look: TerminalStyle, height: u16) -> Option<Grid<'a>> {
        let used = || map.cells.iter().flatten().filter(|(_, count)| *count > 0).map(|(row, _)| usize::from(*row));
        let (lowest, highest) = used().min().zip(used().max())?;
        let ink = Ink::for_terminal(look);
        let height = usize::from(height);
        let rows_per_cell = (highest - lowest + 1).div_ceil((height * ink.cells_per_row()).max(1));
        (height > 0).then_some(Grid { map, ink, lowest, rows_per_cell, height })
    }

    fn cells(&self) -> usize {
        self.height * self.ink.cells_per_row()
    }

    /// Returns the counts of the cells in a column of the terminal, the lowest first.
    fn column(&self, frame: &Frame, column: usize, axis: &TimeAxis) -> Vec<u64> {
        let mut counts = vec![0u64; self.cells()];
        for cells in frame.span.sources(column, axis).filter_map(|source| self.map.cells.get(source)) {
            for (row, count) in cells {
                let cell = usize::from(*row).saturating_sub(self.lowest) / self.rows_per_cell;
                if let Some(sum) = counts.get_mut(cell) {
                    *sum += count;
                }
            }
        }
        counts
    }

    /// Returns the lower edge, in ns, of the row of the screen that is `row` rows above the lowest.
    fn begins_ns(&self, row: usize) -> f64 {
        let rows = self.lowest + row * self.ink.cells_per_row() * self.rows_per_cell;
        self.map.lowest_ns * self.map.row_factor.powi(i32::try_from(rows).unwrap_or(i32::MAX))
    }

    /// Returns round times with their rows: powers of ten, or if fewer than two fit, also their double and fivefold.
    fn marks(&self) -> Vec<(usize, u64)> {
        let of = |steps: &[f64]| -> Vec<(usize, u64)> {
            let within = |row: usize| round_between(self.begins_ns(row), self.begins_ns(row + 1), steps);
            (0..self.height).filter_map(|row| Some((row, within(row)?))).collect()
        };
        let decades = of(&[1.0]);
        if decades.len() >= 2 { decades } else { of(&[1.0, 2.0, 5.0]) }
    }
}

/// Returns the largest time in `[from, to)`, in nanoseconds, that is a power of ten times one of `steps`.
fn round_between(from: f64, to: f64, steps: &[f64]) -> Option<u64> {
    let exponent = to.max(1.0).log10().floor() as i32;
    let candidates = [exponent, exponent - 1].into_iter().flat_map(|exponent| {
        let power = 10f64.powi(exponent);
        steps.iter().map(move |step| step * power)
    });
    candidates.filter(|value| (from..to).contains(value)).reduce(f64::max).map(|value| value.round() as u64)
}

/// Returns the number of rows of the screen that the map can use.
pub(crate) fn useful_rows(map: &HeatMap, look: TerminalStyle) -> u16 {
    let Some(grid) = Grid::new(map, look, u16::MAX) else { return 0 };
    let used = map.cells.iter().flatten().map(|(row, _)| usize::from(*row)).max().unwrap_or(0) + 1 - grid.lowest;
    u16::try_from(used.div_ceil(grid.ink.cells_per_row())).unwrap_or(u16::MAX)
}

/// Draws the map into `area`. Above it, draws a row of the requests without an answer, if any.
pub(crate) fn draw(map: &HeatMap, axis: &TimeAxis, frame: &Frame, area: Rect, buffer: &mut Buffer) {
    let has_unanswered = map.unanswered.iter().any(|count| *count > 0);
    let mut area = area;
    if has_unanswered && area.height > 0 {
        draw_unanswered(map, axis, frame, area, buffer);
        area = Rect { y: area.y + 1, height: area.height - 1, ..area };
    }
    let Some(grid) = Grid::new(map, frame.look, area.height) else { return };
    let plot = frame.plot_area(area);
    let columns: Vec<Vec<u64>> = (0..usize::from(plot.width)).map(|column| grid.column(frame, column, axis)).collect();
    let largest = columns.iter().flatten().copied().max().unwrap_or(0);
    for (counts, x) in columns.iter().zip(plot.x..) {
        for (cells, y) in counts.chunks(grid.ink.cells_per_row()).zip((area.y..area.bottom()).rev()) {
            let levels: Vec<Option<usize>> = cells.iter().map(|count| grid.ink.level(*count, largest)).collect();
            if let Some((symbol, style)) = grid.ink.symbol(&levels)
                && let Some(cell) = buffer.cell_mut((x, y))
            {
                cell.set_char(symbol).set_style(style);
            }
        }
    }
    for (row, time) in grid.marks() {
        let y = area.bottom() - 1 - row as u16;
        frame.label(&number::round_time(time), area, y, buffer);
    }
    legend(grid.ink, largest, frame, area, buffer);
}

fn draw_unanswered(map: &HeatMap, axis: &TimeAxis, frame: &Frame, area: Rect, buffer: &mut Buffer) {
    let plot = frame.plot_area(area);
    frame.label("no answer", area, area.y, buffer);
    let mark = frame.look.either('×', 'x').to_string();
    let mut all = 0;
    for (column, x) in (plot.x..plot.right()).enumerate() {
        let sources = frame.span.sources(column, axis);
        let count: u64 = sources.filter_map(|source| map.unanswered.get(source)).sum();
        all += count;
        if count > 0 {
            buffer.set_line(x, area.y, &Line::from(frame.look.span(Emphasis::Bad, &mark)), 1);
        }
    }
    let caption = frame.look.span(Emphasis::Plain, &format!("{} requests", number::count(all)));
    frame.caption(Line::from(caption), area, area.y, buffer);
}

/// Draws the meaning of the brightest and the darkest cell.
fn legend(ink: Ink, largest: u64, frame: &Frame, area: Rect, buffer: &mut Buffer) {
    let sample = |level: usize| match ink {
        Ink::HalfBlocks => Span::styled("█", Style::new().fg(Color::Indexed(COLORS[level]))),
        Ink::Characters(characters) => Span::raw(characters[level].to_string()),
    };
    let highest = ink.level(largest, largest).unwrap_or(0);
    let rows = [(highest, format!(" {} requests", number::count(largest))), (0, " 1".to_owned())];
    for ((level, text), y) in rows.into_iter().filter(|(level, _)| largest > 1 || *level > 0).zip(area.y..area.bottom())
    {
        let line = Line::from(vec![sample(level), frame.look.span(Emphasis::Plain, &text)]);
        frame.caption(line, area, y, buffer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_logarithmic_and_no_request_is_invisible() {
        let ink = Ink::HalfBlocks;
        assert_eq!(ink.level(0, 1000), None);
        assert_eq!(ink.level(1, 1_000_000), Some(0));
        assert_eq!(ink.level(1000, 1_000_000), Some(3));
        assert_eq!(ink.level(1_000_000, 1_000_000), Some(6));
        assert_eq!(ink.level(1, 1), Some(6));
        assert_eq!(Ink::Characters(SHADES).level(7, 7), Some(3));
    }

    #[test]
    fn marks_are_round_times() {
        assert_eq!(round_between(9e6, 11e6, &[1.0]), Some(10_000_000));
        assert_eq!(round_between(10e6, 11e6, &[1.0]), Some(10_000_000));
        assert_eq!(round_between(9e6, 10e6, &[1.0]), None);
        assert_eq!(round_between(18e6, 60e6, &[1.0, 2.0, 5.0]), Some(50_000_000));
        assert_eq!(round_between(0.5, 0.9, &[1.0]), None);
    }
}
