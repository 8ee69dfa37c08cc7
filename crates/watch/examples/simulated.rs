//! Draws a simulated run as a watched run, on standard output. Arguments, after
//! `cargo run -p truetail-watch --example simulated --`:
//! `SCENARIO [WIDTHxHEIGHT] [over-time|answers|help] [ascii] [plain]`

#[path = "../tests/suite/simulated.rs"]
mod simulated;

use truetail_model::scenario::builtin;
use truetail_watch::{Buffer, Page, Palette, Rect, ScreenState, TerminalStyle, View, paint};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |word: &str| arguments.iter().any(|argument| argument == word);
    let name = arguments.first().map_or("02-single-hiccup", String::as_str);
    let size = arguments.iter().find_map(|argument| argument.split_once('x'));
    let (width, height) = match size {
        Some((width, height)) => (width.parse()?, height.parse()?),
        None => (80, 24),
    };
    let page = match (has("over-time"), has("answers")) {
        (true, _) => Page::OverTime,
        (_, true) => Page::Answers,
        _ => Page::All,
    };
    let (state, history) = simulated::watched(&builtin::find(name)?)?;
    let palette = if has("plain") { Palette::Monochrome } else { Palette::Indexed };
    let view = View {
        state: Some(&state),
        history: &history,
        stopping: false,
        note: None,
        choice: ScreenState { page, help: has("help") },
        look: TerminalStyle { palette, unicode: !has("ascii") },
    };
    let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
    view.draw(&mut buffer);
    println!("{}\x1b[{height};1H", paint(None, &buffer));
    Ok(())
}
