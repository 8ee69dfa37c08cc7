//! The measured target, and the progress of the run.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::text::Line;
use truetail_report::{RunProgress, number, words};
use truetail_run::Run;

use crate::look::{Emphasis, TerminalStyle};
use crate::text::draw_lines;

/// Returns the target and the load, in as many lines as necessary.
pub(crate) fn title(run: Option<&Run>, look: TerminalStyle, columns: u16) -> Vec<Line<'static>> {
    let text = run.map_or("waiting for the first results".to_owned(), words::headline);
    look.wrap(&text, columns).iter().map(|line| Line::from(look.span(Emphasis::Bold, line))).collect()
}

/// Draws a bar, with the time after it.
pub(crate) fn draw_position(
    progress: &RunProgress,
    stopping: bool,
    look: TerminalStyle,
    area: Rect,
    buffer: &mut Buffer,
) {
    let (text, emphasis) = position(progress, stopping);
    let text = Line::from(look.span(emphasis, &text));
    let room = usize::from(area.width).saturating_sub(text.width() + 2);
    let done = progress.share_done().filter(|_| room >= 8);
    let Some(done) = done else {
        draw_lines(&[text], look, area, buffer);
        return;
    };
    let full = (done * room as f64).floor() as usize;
    let filled = look.either('━', '=');
    let empty = look.either('─', '-');
    let repeated = |c: char, times: usize| c.to_string().repeat(times);
    let mut line = Line::from(vec![
        look.span(Emphasis::Good, &repeated(filled, full)),
        look.span(Emphasis::Faint, &repeated(empty, room - full)),
        look.span(Emphasis::Plain, "  "),
    ]);
    line.extend(text.spans);
    buffer.set_line(area.x, area.y, &line, area.width);
}

/// Returns the position, such as `12s / 60s`, or the number of answers that a stopping run waits for.
fn position(progress: &RunProgress, stopping: bool) -> (String, Emphasis) {
    if stopping {
        let text = format!("stopping: waiting for {} answers", number::count(progress.in_flight));
        return (text, Emphasis::Doubt);
    }
    (progress.position(), Emphasis::Plain)
}
