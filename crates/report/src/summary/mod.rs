//! The screen of a run: verdict, offered load, outcomes, tail latency, causes of late starts, and the timeline.

mod fidelity;
mod gates;
mod generator;
mod labelled;
mod outcomes;
mod overview;
mod tail;
mod timeline;
mod uncertainty;

use truetail_run::{Findings, Run};

use crate::style::Style;

/// The summary of a run. `saved` is the folder that it was saved in, if it was.
pub fn summary(run: &Run, findings: &Findings, saved: Option<&str>, style: Style) -> String {
    let sections = [
        overview::verdict(&findings.verdict, style),
        gates::lines(findings, style),
        overview::offered(run, findings, style),
        outcomes::lines(run, findings, style),
        times(run, findings, style),
        timeline::lines(run, findings, style),
        overview::notes(run, saved, style),
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

/// The response times and what explains them; in saturation, where they are no property of the service, its capacity.
fn times(run: &Run, findings: &Findings, style: Style) -> Vec<String> {
    let late = [tail::start_delay(findings, style), generator::lines(run, findings, style)].concat();
    let arrivals = fidelity::arrivals(run, findings, style);
    let saturated = tail::capacity(findings, style);
    if !saturated.is_empty() {
        return [saturated, late, arrivals].concat();
    }
    let mut lines = tail::table(findings, style);
    let by_status = tail::by_status(findings, style);
    let rest = [
        uncertainty::lines(findings, style),
        late,
        arrivals,
        fidelity::settling(findings, style),
        fidelity::shadow(findings, style),
    ]
    .concat();
    for section in [by_status, rest].into_iter().filter(|section| !section.is_empty()) {
        lines.push(String::new());
        lines.extend(section);
    }
    lines
}
