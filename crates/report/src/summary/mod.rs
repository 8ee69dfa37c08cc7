//! The one screen of a run: verdict, what was offered, the books, the tail, who was late, and how it went over time.

mod conduct;
mod generator;
mod head;
mod saturation;
mod tail;
mod timeline;
mod uncertainty;
mod what_happened;

use truetail_run::{Findings, Run};

use crate::number;
use crate::style::{Ink, Style};

/// Columns before the text of a section.
const MARGIN: usize = 12;

/// The summary of a run. `saved` is where it was saved, if it was.
pub fn summary(run: &Run, findings: &Findings, saved: Option<&str>, style: Style) -> String {
    let sections = [
        head::verdict(&findings.verdict, style),
        head::offered(run, findings, style),
        what_happened::lines(run, findings, style),
        times(run, findings, style),
        timeline::lines(run, findings, style),
        head::notes(run, saved, style),
    ];
    let mut text = String::new();
    for section in sections.iter().filter(|section| !section.is_empty()) {
        if !text.is_empty() {
            text.push('\n');
        }
        for line in section {
            text.push_str(line);
            text.push('\n');
        }
    }
    text
}

/// The response times and what belongs to them; in saturation, where they say nothing of the service, what does.
fn times(run: &Run, findings: &Findings, style: Style) -> Vec<String> {
    let late = [tail::start_delay(findings, style), generator::lines(run, findings, style)].concat();
    let arrivals = conduct::arrivals(run, findings, style);
    let saturated = saturation::lines(findings, style);
    if !saturated.is_empty() {
        return [saturated, late, arrivals].concat();
    }
    let mut lines = tail::table(findings, style);
    let by_status = tail::by_status(findings, style);
    let rest = [
        uncertainty::lines(findings, style),
        late,
        arrivals,
        conduct::settling(findings, style),
        conduct::shadow(findings, style),
    ]
    .concat();
    for section in [by_status, rest].into_iter().filter(|section| !section.is_empty()) {
        lines.push(String::new());
        lines.extend(section);
    }
    lines
}

/// A line with a label in the margin.
fn labelled(label: &str, text: &str, style: Style) -> String {
    let space = " ".repeat(MARGIN.saturating_sub(label.chars().count() + 2).max(1));
    format!("  {}{space}{text}", style.paint(Ink::Faint, label)).trim_end().to_owned()
}

/// A label in the margin, and text that goes on below itself.
fn labelled_text(label: &str, text: &str, style: Style) -> Vec<String> {
    let lines = style.wrap(text, style.columns().saturating_sub(MARGIN));
    let label_of = |i: usize| if i == 0 { label } else { "" };
    lines.iter().enumerate().map(|(i, line)| labelled(label_of(i), line, style)).collect()
}
