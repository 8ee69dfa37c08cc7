//! The meaning of the keys and the marks.

use ratatui_core::text::Line;

use crate::look::{Emphasis, TerminalStyle};
use crate::text::Labelled;

/// Returns the line of keys that is always shown.
pub(crate) fn keys(look: TerminalStyle, next_page: &str) -> Line<'static> {
    let key = |name: &str| look.span(Emphasis::Bold, name);
    let what = |text: &str| look.span(Emphasis::Faint, text);
    Line::from(vec![key("q"), what(" stop   "), key("Tab"), what(&format!(" {next_page}   ")), key("?"), what(" help")])
}

pub(crate) fn page(look: TerminalStyle, columns: u16) -> Labelled {
    let mut text = Labelled::new(look, columns).with_margin(16);
    let lines = [
        ("q, Ctrl-C", "stop: send no more requests, wait for answers, report. Again: stop waiting, and report at once"),
        ("Tab", "next page: all, over time, answers. Shift-Tab goes back, Esc returns to the first page"),
        ("?", "show or hide this help"),
        ("", ""),
        ("so far", "every figure is about the requests that have ended so far, and may change until the run ends"),
        ("response time", "from the scheduled start of a request to the end of its answer"),
        ("service time", "from the first byte sent to the end of the answer"),
        ("generator lag", "how late truetail sent a request although a connection was free"),
        ("10…12ms", "truetail was late: the true value is inside this range"),
        ("≥2s", "the percentile falls among requests without an answer: it is at least this long"),
        ("n≥3688", "too few requests for this percentile: it needs this many"),
        ("backlog", "requests that are due and not sent yet"),
        (
            "over time",
            "each column shows requests by their scheduled start, brighter where there are more. p99 and lag are the \
                       highest of their column",
        ),
    ];
    for (label, line) in lines {
        text.add(label, line, Emphasis::Plain, true);
    }
    text
}
