//! Results of the audit and the correction of a result file, as text and JSON.

mod correct;
mod json;
mod words;

use truetail_analysis::audit::{Audit, AuditFinding};
use truetail_run::ForeignRun;

use crate::style::{Emphasis, Style};
use crate::table::{Align, TextTable};

pub use correct::{CorrectReport, correct_json, correct_text};
pub use json::audit_json;
pub use words::{AuditWords, audit_words};

/// A result file and the result of its audit.
#[derive(Clone, Debug)]
pub struct AuditReport {
    /// Name of the file.
    pub file: String,
    /// Statements of the file about the whole run.
    pub run: ForeignRun,
    /// Result of the audit.
    pub audit: Audit,
}

/// Returns the text for the terminal.
pub fn audit_text(report: &AuditReport, style: Style) -> String {
    let words = audit_words(report);
    let headline = style.printable(&format!("{}: {}", report.file, words.says));
    let headline = format!("{} {headline}", style.emphasize(emphasis(report.audit.finding), words.finding));
    let mut lines = vec![headline, style.printable(&words.about.join(" · "))];
    lines.extend(items(&words.evidence, style));
    lines.extend(table(&words, style));
    lines.extend(words.missing.iter().flat_map(|text| style.wrap(text, style.columns())));
    lines.extend(items(&words.unused, style));
    lines.extend(note_lines(&words.notes, style));
    if let Some(tool) = report.run.tool.filter(|_| !words.habits.is_empty()) {
        lines.push(style.printable(&format!("What {tool} does by itself:")));
        lines.extend(items(&words.habits, style));
    }
    lines.into_iter().map(|line| line + "\n").collect()
}

const fn emphasis(finding: AuditFinding) -> Emphasis {
    match finding {
        AuditFinding::NoneSeen => Emphasis::Good,
        AuditFinding::Likely | AuditFinding::CannotTell => Emphasis::Doubt,
        AuditFinding::Certain => Emphasis::Bad,
    }
}

fn items(texts: &[String], style: Style) -> Vec<String> {
    texts.iter().flat_map(|text| item(text, style)).collect()
}

fn item(text: &str, style: Style) -> Vec<String> {
    let lines = style.wrap(text, style.columns() - 2);
    lines
        .into_iter()
        .enumerate()
        .map(|(index, line)| format!("{}{line}", if index == 0 { "- " } else { "  " }))
        .collect()
}

fn note_lines(notes: &[String], style: Style) -> Vec<String> {
    notes.iter().flat_map(|note| item(&format!("Note: {note}"), style)).collect()
}

fn table(words: &AuditWords, style: Style) -> Vec<String> {
    if words.rows.is_empty() {
        return Vec::new();
    }
    let heads = [("", Align::Left), ("reported", Align::Right), ("corrected", Align::Right), ("bounds", Align::Left)];
    let shown = words.columns();
    let mut table = TextTable::new(&heads[..shown]);
    words.rows.iter().for_each(|row| table.row(row[..shown].to_vec()));
    std::iter::once(String::new()).chain(table.lines(0, style)).chain([String::new()]).collect()
}
