//! Targets side by side.

use maud::html;
use truetail_report::{plot, words};

use super::page::RunPage;
use crate::document::Section;
use crate::figure::Figure;
use crate::table::Table;
use crate::text::clipped;

/// Maximum number of targets on the page. `run.json` has all of them.
const MAX_TARGETS: usize = 200;
const LONGEST_NAME: usize = 200;

/// Returns the section; `None` if there is only one target.
pub(super) fn section(page: &RunPage<'_>) -> Option<Section> {
    let run = page.run;
    let findings = page.findings;
    let all = run.facts.by_target.len().max(findings.targets.len());
    let mut rows = words::target_rows(run, findings, MAX_TARGETS);
    if rows.is_empty() {
        return None;
    }
    rows.iter_mut().for_each(|row| row[0] = clipped(&row[0], LONGEST_NAME));
    let table = Table::new("Targets", words::target_heads()).with_rows(rows);
    let content = html! {
        p { "A request counts as an error where it got no answer, or an answer with a status from 400." }
        (table.markup())
        @if all > MAX_TARGETS { p { "and " (all - MAX_TARGETS) " more targets, in run.json" } }
        @if findings.targets.len() > 1 {
            (Figure {
                name: "targets",
                picture: plot::targets(findings),
                caption: "Response times of each target.",
                table: Table::new("Targets in the picture", ["target"]),
            }.markup())
        }
    };
    Some(Section { id: "targets", heading: "Targets", content })
}
