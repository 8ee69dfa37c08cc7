//! What the audit of a result file found, and what a correction of it adds, as text and JSON.

use serde::Serialize;
use truetail_analysis::audit::{Audit, AuditFinding, CorrectedQuantile, Evidence, QUANTILES, ReportedQuantile};
use truetail_analysis::figures::quantile_name;
use truetail_model::record::Histogram;
use truetail_run::{Damage, FilePlace, ForeignRun, ForeignView, Habit};

use crate::json::pretty_json;
use crate::number;
use crate::style::{Emphasis, Style};
use crate::table::{Align, TextTable};

/// A file, what it holds, and what the audit found.
#[derive(Clone, Debug)]
pub struct AuditReport {
    /// The name of the file.
    pub file: String,
    /// What it says of the run as a whole.
    pub run: ForeignRun,
    /// What was found.
    pub audit: Audit,
}

/// The screen.
pub fn audit_text(report: &AuditReport, style: Style) -> String {
    let AuditReport { file, run, audit } = report;
    let mut lines = vec![headline(file, run.view, audit.finding, style), about(run, audit, style)];
    for evidence in &audit.evidence {
        lines.extend(item(&sentence(&evidence.message), style));
    }
    lines.extend(table(audit, style));
    lines.extend(missing(audit).iter().flat_map(|text| style.wrap(text, style.columns())));
    lines.extend(damage_lines(&run.damage, style));
    lines.extend(note_lines(&run.notes, style));
    lines.extend(habits(run, style));
    lines.into_iter().map(|line| line + "\n").collect()
}

fn headline(file: &str, view: ForeignView, finding: AuditFinding, style: Style) -> String {
    let (word, emphasis, says) = match finding {
        AuditFinding::NoneSeen => ("NONE SEEN", Emphasis::Good, "no sign that the client left out requests"),
        AuditFinding::Likely if view == ForeignView::Server => {
            ("LIKELY", Emphasis::Doubt, "nothing reached the server while something was slow")
        }
        AuditFinding::Likely => {
            ("LIKELY", Emphasis::Doubt, "the client seems to have left out requests while something was slow")
        }
        AuditFinding::Certain => ("CERTAIN", Emphasis::Bad, "the client left out requests while something was slow"),
        AuditFinding::CannotTell => {
            ("CANNOT TELL", Emphasis::Doubt, "the file does not show whether requests were left out")
        }
    };
    format!("{} {}", style.emphasize(emphasis, word), style.printable(&format!("{file}: {says}")))
}

fn about(run: &ForeignRun, audit: &Audit, style: Style) -> String {
    let mut parts = vec![run.format.to_owned()];
    parts.extend(run.version.as_ref().map(|version| format!("version {version}")));
    parts.extend(audit.requests.map(|requests| counted(requests, "request")));
    parts.extend(audit.failed.map(|failed| format!("{failed} failed")));
    if run.view == ForeignView::Server {
        parts.push("seen by the server".to_owned());
    }
    style.printable(&parts.join(" · "))
}

/// `1 row`, `2 rows`.
fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn sentence(message: &str) -> String {
    let mut characters = message.chars();
    let first = characters.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(characters).chain(['.']).collect()
}

/// An item of a list.
fn item(text: &str, style: Style) -> Vec<String> {
    let lines = style.wrap(text, style.columns() - 2);
    lines
        .into_iter()
        .enumerate()
        .map(|(index, line)| format!("{}{line}", if index == 0 { "- " } else { "  " }))
        .collect()
}

fn table(audit: &Audit, style: Style) -> Vec<String> {
    if audit.reported.is_empty() {
        return Vec::new();
    }
    let heads = [("", Align::Left), ("reported", Align::Right), ("corrected", Align::Right), ("bounds", Align::Left)];
    let mut table = TextTable::new(&heads);
    let is_corrected = matches!(audit.finding, AuditFinding::Likely | AuditFinding::Certain);
    for reported in &audit.reported {
        let corrected = audit.corrected.iter().find(|one| one.q == reported.q).filter(|_| is_corrected);
        table.row(vec![
            quantile_name(reported.q),
            number::time(reported.value_ns),
            corrected.map_or(String::new(), |one| number::time(one.value_ns)),
            corrected
                .map_or(String::new(), |one| format!("{} … {}", number::time(one.low_ns), number::time(one.high_ns))),
        ]);
    }
    std::iter::once(String::new()).chain(table.lines(0, style)).chain([String::new()]).collect()
}

fn missing(audit: &Audit) -> Option<String> {
    let missing = audit.missing_arrivals.filter(|missing| *missing > 0)?;
    let users = audit.users.map_or(String::new(), |users| format!(" Users: {users}."));
    let interval = audit
        .expected_interval
        .map_or(String::new(), |interval| format!(" Each sends every {}.", number::time(interval.0)));
    let about = if is_upper_bound(audit) { "up to" } else { "about" };
    let requests = counted(missing, "request");
    Some(format!("Missing: {about} {requests} that a client on a schedule would have sent.{users}{interval}"))
}

/// From a summary only the most that can be missing is known, unless it counts all its slow requests.
fn is_upper_bound(audit: &Audit) -> bool {
    let differs = |evidence: &Evidence| evidence.numbers.get("missing_low") != evidence.numbers.get("missing_high");
    audit.evidence.iter().any(differs)
}

fn damage_lines(damage: &Damage, style: Style) -> Vec<String> {
    let mut lines = Vec::new();
    if damage.rows_left_out > 0 {
        let first = damage
            .first
            .as_ref()
            .map_or(String::new(), |(place, what)| format!("; the first is {}: {what}", place_text(*place)));
        lines.extend(item(&format!("Left out: {}{first}", counted(damage.rows_left_out, "row")), style));
    }
    if let Some(place) = damage.truncated_at {
        lines.extend(item(&format!("The file is cut off {}.", place_text(place)), style));
    }
    lines
}

fn note_lines(notes: &[String], style: Style) -> Vec<String> {
    notes.iter().flat_map(|note| item(&format!("Note: {note}"), style)).collect()
}

/// A binary file has no lines.
fn place_text(place: FilePlace) -> String {
    let FilePlace { line, byte } = place;
    if line == 0 { format!("at byte {byte}") } else { format!("in line {line}, at byte {byte}") }
}

fn habits(run: &ForeignRun, style: Style) -> Vec<String> {
    let Some(tool) = run.tool.filter(|_| !run.habits.is_empty()) else { return Vec::new() };
    let mut lines = vec![style.printable(&format!("What {tool} does by itself:"))];
    lines.extend(run.habits.iter().flat_map(|habit| item(&format!("{} ({})", habit.what, habit.source), style)));
    lines
}

/// The schema of the JSON.
const SCHEMA: &str = "truetail.audit/1";

#[derive(Serialize)]
struct AuditFile<'a> {
    schema: &'static str,
    file: &'a str,
    format: &'static str,
    tool: Option<&'static str>,
    version: Option<&'a str>,
    finding: AuditFinding,
    view: ForeignView,
    #[serde(flatten)]
    found: Found<'a>,
    #[serde(flatten)]
    reading: Reading<'a>,
}

#[derive(Serialize)]
struct Found<'a> {
    evidence: &'a [Evidence],
    requests: Option<u64>,
    failed: Option<u64>,
    missing_arrivals: Option<u64>,
    users: Option<u32>,
    expected_interval_ns: Option<u64>,
    reported: Quantiles<&'a [ReportedQuantile]>,
    corrected: Quantiles<&'a [CorrectedQuantile]>,
}

#[derive(Serialize)]
struct Reading<'a> {
    #[serde(flatten)]
    unused: Unused<'a>,
    notes: &'a [String],
    habits: &'a [Habit],
}

/// What of the file could not be used.
#[derive(Serialize)]
struct Unused<'a> {
    truncated_at: Option<FilePlace>,
    rows_left_out: u64,
    first_left_out: Option<LeftOut<'a>>,
}

fn unused(damage: &Damage) -> Unused<'_> {
    Unused {
        truncated_at: damage.truncated_at,
        rows_left_out: damage.rows_left_out,
        first_left_out: damage.first.as_ref().map(|(place, what)| LeftOut { place: *place, what }),
    }
}

#[derive(Serialize)]
struct LeftOut<'a> {
    #[serde(flatten)]
    place: FilePlace,
    what: &'a str,
}

#[derive(Serialize)]
struct Quantiles<Q> {
    quantiles: Q,
}

fn audit_file(report: &AuditReport) -> AuditFile<'_> {
    let AuditReport { file, run, audit } = report;
    AuditFile {
        schema: SCHEMA,
        file,
        format: run.format,
        tool: run.tool,
        version: run.version.as_deref(),
        finding: audit.finding,
        view: run.view,
        found: Found {
            evidence: &audit.evidence,
            requests: audit.requests,
            failed: audit.failed,
            missing_arrivals: audit.missing_arrivals,
            users: audit.users,
            expected_interval_ns: audit.expected_interval.map(|interval| interval.0),
            reported: Quantiles { quantiles: &audit.reported },
            corrected: Quantiles { quantiles: &audit.corrected },
        },
        reading: Reading { unused: unused(&run.damage), notes: &run.notes, habits: run.habits },
    }
}

/// JSON, version 1: one object for one file, and an array of such objects for several.
pub fn audit_json(reports: &[AuditReport]) -> String {
    match reports {
        [one] => pretty_json(&audit_file(one)),
        several => pretty_json(&several.iter().map(audit_file).collect::<Vec<_>>()),
    }
}

/// Latencies before and after HdrHistogram's correction.
#[derive(Clone, Debug)]
pub struct CorrectReport {
    /// The name of the file.
    pub file: String,
    /// What the user should know before using the result.
    pub warnings: Vec<String>,
    /// What of the file could not be used.
    pub damage: Damage,
    /// What a reader of its numbers should know.
    pub notes: Vec<String>,
    /// As the file has them.
    pub before: Histogram,
    /// With the requests that were added.
    pub after: Histogram,
    /// How many were added.
    pub added: u64,
}

/// The screen.
pub fn correct_text(report: &CorrectReport, style: Style) -> String {
    let heads = [("", Align::Left), ("before", Align::Right), ("after", Align::Right)];
    let mut table = TextTable::new(&heads);
    for (before, after) in values(&report.before).into_iter().zip(values(&report.after)) {
        table.row(vec![quantile_name(before.q), number::time(before.value_ns), number::time(after.value_ns)]);
    }
    let counts = format!(
        "{}: {}, and {} that HdrHistogram's correction added. These were never measured.",
        report.file,
        counted(report.before.count(), "request"),
        report.added
    );
    let mut lines = style.wrap(&counts, style.columns());
    lines
        .extend(report.warnings.iter().flat_map(|warning| style.wrap(&format!("Warning: {warning}"), style.columns())));
    lines.push(String::new());
    lines.extend(table.lines(0, style));
    let below: Vec<String> =
        damage_lines(&report.damage, style).into_iter().chain(note_lines(&report.notes, style)).collect();
    lines.extend((!below.is_empty()).then(String::new));
    lines.extend(below);
    lines.into_iter().map(|line| line + "\n").collect()
}

#[derive(Serialize)]
struct CorrectFile<'a> {
    schema: &'static str,
    file: &'a str,
    before: Counted,
    after: Counted,
    added: u64,
    warnings: &'a [String],
    #[serde(flatten)]
    unused: Unused<'a>,
    notes: &'a [String],
}

#[derive(Serialize)]
struct Counted {
    count: u64,
    quantiles: Vec<ReportedQuantile>,
}

fn values(histogram: &Histogram) -> Vec<ReportedQuantile> {
    let value = |q: f64| Some(ReportedQuantile { q, value_ns: histogram.quantile(q)?.0 });
    QUANTILES.into_iter().filter_map(value).collect()
}

/// JSON, version 1.
pub fn correct_json(report: &CorrectReport) -> String {
    let counted = |histogram: &Histogram| Counted { count: histogram.count(), quantiles: values(histogram) };
    pretty_json(&CorrectFile {
        schema: "truetail.correct/1",
        file: &report.file,
        before: counted(&report.before),
        after: counted(&report.after),
        added: report.added,
        warnings: &report.warnings,
        unused: unused(&report.damage),
        notes: &report.notes,
    })
}
