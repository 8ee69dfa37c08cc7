//! The view of simulated runs, on terminals of every size.

mod simulated;

use std::sync::OnceLock;

use proptest::prelude::*;
use ratatui_core::backend::TestBackend;
use ratatui_core::style::Color;
use ratatui_core::terminal::Terminal;
use truetail_model::scenario::builtin;
use truetail_report::{LiveState, number};
use truetail_watch::{Buffer, History, Key, Page, Palette, Rect, ScreenState, TerminalStyle, View, paint};

const COLORED: TerminalStyle = TerminalStyle { palette: Palette::Indexed, unicode: true };
const PLAIN: TerminalStyle = TerminalStyle { palette: Palette::Monochrome, unicode: true };

/// Returns every scenario, watched to its end.
fn runs() -> &'static [(LiveState, History)] {
    static RUNS: OnceLock<Vec<(LiveState, History)>> = OnceLock::new();
    RUNS.get_or_init(|| {
        builtin::all().iter().map(|scenario| simulated::watched(scenario).expect("it can be simulated")).collect()
    })
}

fn run_of(name: &str) -> &'static (LiveState, History) {
    let place = builtin::all().iter().position(|scenario| scenario.name == name);
    &runs()[place.unwrap_or_else(|| panic!("no scenario {name}"))]
}

fn view<'a>((state, history): &'a (LiveState, History), look: TerminalStyle) -> View<'a> {
    View { state: Some(state), history, stopping: false, note: None, choice: ScreenState::default(), look }
}

fn drawn(view: View<'_>, width: u16, height: u16) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a terminal of its own");
    terminal.draw(|frame| view.draw(frame.buffer_mut())).expect("a buffer takes everything");
    terminal.backend().buffer().clone()
}

fn lines(buffer: &Buffer) -> Vec<String> {
    let line = |y| (0..buffer.area.width).map(|x| buffer[(x, y)].symbol()).collect::<String>().trim_end().to_owned();
    (0..buffer.area.height).map(line).collect()
}

fn text(buffer: &Buffer) -> String {
    lines(buffer).join("\n")
}

fn assert_holds(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no '{part}' in\n{text}");
    }
}

#[test]
fn a_usual_terminal_shows_what_matters() {
    let run = run_of("02-single-hiccup");
    let text = text(&drawn(view(run, PLAIN), 80, 24));
    assert_holds(&text, &["GET http://127.0.0.1:8080/api, open loop at 1000/s", "Measurement", "so far"]);
    assert_holds(&text, &["FAILED p99 > 50ms", "PASSED error-rate > 1%", "offered", "sent", "answered", "in flight"]);
    assert_holds(&text, &["response time", "service time", "generator lag", "q stop", "Tab over time", "? help"]);
    let p99 = run.0.findings.response_time.quantiles.iter().find(|quantile| quantile.q == 0.99).expect("p99");
    let shown = text.lines().find(|line| line.starts_with("p99 ")).expect("a row for p99");
    assert_eq!(shown.split_whitespace().nth(1), Some(number::bracketed(p99).as_str()));
}

#[test]
fn a_large_terminal_shows_figures_beside_pictures() {
    let run = run_of("02-single-hiccup");
    let text = text(&drawn(view(run, COLORED), 200, 50));
    assert_holds(&text, &["p99.99", "max", "Statuses", "in flight", "lag p99", "▀", "60s"]);
    let p99 = text.lines().find(|line| line.trim_start().starts_with("p99 ")).expect("a row for p99");
    assert!(p99.chars().count() > 80, "a picture stands beside it: {p99}");
}

#[test]
fn a_small_terminal_shows_the_headline() {
    let text = text(&drawn(view(run_of("02-single-hiccup"), PLAIN), 40, 12));
    assert_holds(&text, &["draining", "Measurement", "p99", "FAILED", "in flight", "q stop"]);
}

#[test]
fn the_heat_map_shows_the_stall_where_it_was() {
    let run = run_of("02-single-hiccup");
    let choice = ScreenState::default().after(Key::NextPage);
    let buffer = drawn(View { choice, ..view(run, COLORED) }, 120, 40);
    let colored = |x: u16| (0..40).filter(|y| matches!(buffer[(x, *y)].fg, Color::Indexed(_))).count();
    // Requests that were due in the stall took various times up to a second, so these columns are higher than others.
    let highest = (12..100).max_by_key(|x| colored(*x)).expect("columns");
    assert!(colored(highest) > 3 * colored(20).max(1), "{}", text(&buffer));
}

#[test]
fn before_the_first_results_it_says_so() {
    let history = History::default();
    let view = View {
        state: None,
        history: &history,
        stopping: false,
        note: None,
        choice: ScreenState::default(),
        look: PLAIN,
    };
    assert_holds(&text(&drawn(view, 80, 24)), &["waiting for the first results", "q stop"]);
}

#[test]
fn stopping_and_notes_are_shown() {
    let run = run_of("01-healthy");
    let view = View { stopping: true, note: Some("saturated: offer less"), ..view(run, PLAIN) };
    assert_holds(&text(&drawn(view, 80, 24)), &["stopping: waiting for", "saturated: offer less"]);
}

#[test]
fn help_explains_keys_and_marks() {
    let choice = ScreenState::default().after(Key::Help);
    let text = text(&drawn(View { choice, ..view(run_of("01-healthy"), PLAIN) }, 80, 40));
    assert_holds(&text, &["q, Ctrl-C", "Shift-Tab", "n≥3688", "generator lag"]);
}

#[test]
fn names_from_outside_cannot_command_the_terminal() {
    let (mut state, history) = run_of("01-healthy").clone();
    state.run.facts.offered.url = Some("http://h/\x1b[2J\x1b]0;owned\x07\u{9b}31m\r\n\u{202e}/日本".to_owned());
    state.findings.gates[0].text = "p99 > \x1b[31m1ms".to_owned();
    let run = (state, history);
    for look in [COLORED, TerminalStyle { unicode: false, ..PLAIN }] {
        let buffer = drawn(View { note: Some("a\x1b[2Jb"), ..view(&run, look) }, 100, 30);
        let all: String = buffer.content.iter().map(|cell| cell.symbol()).collect();
        assert!(!all.chars().any(|c| c.is_control() || c == '\u{202e}'), "{all:?}");
        assert_holds(&text(&buffer), &["http://h/[2J", "a[2Jb"]);
        // Only sequences of this crate: positions and emphasis.
        let painted = paint(None, &buffer);
        for sequence in painted.split('\x1b').skip(1) {
            let end = sequence.find(|c: char| c.is_ascii_alphabetic()).expect("it ends");
            assert!(sequence.starts_with('[') && matches!(&sequence[end..=end], "m" | "H" | "J"), "{sequence:?}");
        }
    }
}

#[test]
fn without_colors_there_are_none_and_without_unicode_all_is_ascii() {
    for run in runs() {
        let buffer = drawn(view(run, TerminalStyle { unicode: false, ..PLAIN }), 120, 40);
        for cell in &buffer.content {
            assert!((cell.fg, cell.bg) == (Color::Reset, Color::Reset) && cell.symbol().is_ascii(), "{cell:?}");
        }
    }
}

fn any_look() -> impl Strategy<Value = TerminalStyle> {
    let palette = prop_oneof![Just(Palette::Monochrome), Just(Palette::Basic), Just(Palette::Indexed)];
    (palette, any::<bool>()).prop_map(|(palette, unicode)| TerminalStyle { palette, unicode })
}

fn any_choice() -> impl Strategy<Value = ScreenState> {
    let page = prop_oneof![Just(Page::All), Just(Page::OverTime), Just(Page::Answers)];
    (page, any::<bool>()).prop_map(|(page, help)| ScreenState { page, help })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// The screen fits a terminal of any size.
    #[test]
    fn it_fits_every_terminal(
        width in 1u16..260,
        height in 1u16..80,
        look in any_look(),
        choice in any_choice(),
        which in any::<prop::sample::Index>(),
        has_state in any::<bool>(),
        stopping in any::<bool>(),
    ) {
        let run = which.get(runs());
        let state = Some(&run.0).filter(|_| has_state);
        let note = stopping.then_some("a note");
        let buffer = drawn(View { state, choice, stopping, note, ..view(run, look) }, width, height);
        // The most important part is present as long as there is a row.
        prop_assert!(buffer.content.iter().any(|cell| cell.symbol() != " "));
        let painted = paint(None, &buffer);
        prop_assert!(!painted.contains('\n'));
    }

    /// A part of a run can be drawn like the whole run.
    #[test]
    fn what_was_seen_may_be_little(looks in 0usize..4, width in 1u16..120, height in 1u16..40) {
        let (state, history) = &runs()[0];
        let mut seen = History::default();
        if let Some(latest) = history.latest() {
            for n in 0..looks {
                seen.add(truetail_report::RunProgress { sent: n as u64, ..*latest });
            }
        }
        let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
        View { history: &seen, ..view(&(state.clone(), History::default()), PLAIN) }.draw(&mut buffer);
    }
}
