//! The output that makes a terminal show the next screen.

use std::fmt::Write;

use ratatui_core::buffer::{Buffer, Cell};
use ratatui_core::style::{Color, Modifier};

/// Returns the escape sequences and characters that change a terminal from `before` to `next`. They cover only cells
/// that differ, or the whole screen if there is no screen before or its size was different.
pub fn paint(before: Option<&Buffer>, next: &Buffer) -> String {
    let mut text = String::new();
    let same_size = before.filter(|before| before.area == next.area);
    if same_size.is_none() {
        text.push_str("\x1b[0m\x1b[2J");
    }
    let blank = Buffer::empty(next.area);
    let mut place = None;
    let mut style = None;
    for (x, y, cell) in same_size.unwrap_or(&blank).diff_iter(next) {
        if place != Some((x, y)) {
            // Rows and columns of a terminal count from 1.
            let _ = write!(text, "\x1b[{};{}H", y + 1, x + 1);
        }
        if style != Some(style_of(cell)) {
            style = Some(style_of(cell));
            write_style(&mut text, cell);
        }
        text.push_str(cell.symbol());
        // The terminal may disagree on the width of the character, so the next one gets an explicit position.
        place = cell.symbol().is_ascii().then_some((x + 1, y));
    }
    if style.is_some() {
        text.push_str("\x1b[0m");
    }
    text
}

fn style_of(cell: &Cell) -> (Color, Color, Modifier) {
    (cell.fg, cell.bg, cell.modifier)
}

fn write_style(text: &mut String, cell: &Cell) {
    text.push_str("\x1b[0");
    for (modifier, code) in [(Modifier::BOLD, 1), (Modifier::DIM, 2), (Modifier::REVERSED, 7)] {
        if cell.modifier.contains(modifier) {
            let _ = write!(text, ";{code}");
        }
    }
    for (color, plain, indexed) in [(cell.fg, 30, 38), (cell.bg, 40, 48)] {
        match color {
            Color::Red => drop(write!(text, ";{}", plain + 1)),
            Color::Green => drop(write!(text, ";{}", plain + 2)),
            Color::Yellow => drop(write!(text, ";{}", plain + 3)),
            Color::Indexed(number) => drop(write!(text, ";{indexed};5;{number}")),
            // No other colours are used here.
            _ => {}
        }
    }
    text.push('m');
}

#[cfg(test)]
mod tests {
    use ratatui_core::layout::Rect;
    use ratatui_core::style::Style;

    use super::*;

    #[test]
    fn only_what_differs_is_sent() {
        let area = Rect::new(0, 0, 10, 2);
        let mut first = Buffer::empty(area);
        first.set_string(0, 0, "sent 100", Style::new());
        assert_eq!(paint(None, &first), "\x1b[0m\x1b[2J\x1b[1;1H\x1b[0msent\x1b[1;6H100\x1b[0m");
        assert_eq!(paint(Some(&first), &first), "");
        let mut next = first.clone();
        next.set_string(5, 0, "101", Style::new().fg(Color::Red).add_modifier(Modifier::BOLD));
        next.set_string(0, 1, "▀", Style::new().fg(Color::Indexed(226)).bg(Color::Indexed(54)));
        let sent = paint(Some(&first), &next);
        assert_eq!(sent, "\x1b[1;6H\x1b[0;1;31m101\x1b[2;1H\x1b[0;38;5;226;48;5;54m▀\x1b[0m");
        let wider = Buffer::empty(Rect::new(0, 0, 12, 2));
        assert_eq!(paint(Some(&next), &wider), "\x1b[0m\x1b[2J", "a terminal of another size is drawn from nothing");
    }
}
