//! `truetail audit`: tests whether a client left requests out.

use std::fs;
use std::path::{Path, PathBuf};

use truetail_analysis::audit::{AuditFinding, Auditor};
use truetail_import::Format;
use truetail_page::{AuditPage, audit_page};
use truetail_report::{AuditReport, audit_json, audit_text};

use super::prometheus::audit_pages;
use super::reading::{format_of, import_options, read};
use crate::args::audit::AuditArgs;
use crate::error::{CliError, ExitCode, Result, usage_error};
use crate::gating::check_place;
use crate::{command_line, output};

/// Audits each file and prints the findings. A file that cannot be read does not stop the audit of the next ones. Or
/// compares two pages of metrics with a run.
///
/// # Errors
/// If a format is not known, one of the files could not be read, or the page cannot be written.
pub(crate) fn audit(args: AuditArgs) -> Result<ExitCode> {
    if let (Some(run), [before, after]) = (&args.run, args.prometheus.as_slice()) {
        return audit_pages(before, after, run, args.json);
    }
    if args.run.is_some() {
        return Err(usage_error("--run is for --prometheus BEFORE AFTER, and not for result files"));
    }
    let format = format_of(&args.reading)?;
    args.html.as_deref().map_or(Ok(()), |page| check_page(page, &args.files))?;
    let audited: Vec<Result<AuditReport>> = args.files.iter().map(|file| audit_file(file, format, &args)).collect();
    let mut failed: Option<CliError> = None;
    let mut reports = Vec::new();
    for result in audited {
        match result {
            Ok(report) => reports.push(report),
            Err(error) => {
                if let Some(earlier) = failed.replace(error) {
                    output::note(&earlier.message);
                }
            }
        }
    }
    if !reports.is_empty() {
        output::print(&text(&reports, args.json))?;
        args.html.as_deref().map_or(Ok(()), |file| write_page(file, &reports, &args))?;
    }
    failed.map_or(Ok(exit_code(&reports)), Err)
}

/// Refuses a page that would overwrite a file to audit.
fn check_page(page: &Path, files: &[PathBuf]) -> Result<()> {
    check_place("--html", page)?;
    let same =
        |file: &PathBuf| fs::canonicalize(file).is_ok_and(|file| fs::canonicalize(page).is_ok_and(|page| page == file));
    match files.iter().find(|file| same(file)) {
        Some(file) => {
            Err(usage_error(format!("--html would overwrite '{}', one of the files to audit", file.display())))
        }
        None => Ok(()),
    }
}

fn write_page(file: &Path, reports: &[AuditReport], args: &AuditArgs) -> Result<()> {
    let command = command_line::from_words(&args.typed.words);
    output::write_file(file, audit_page(&AuditPage { reports, command: &command }))
}

fn audit_file(file: &Path, format: Option<&'static dyn Format>, args: &AuditArgs) -> Result<AuditReport> {
    let mut auditor = Auditor::new();
    let options = import_options(&args.reading, args.expected_interval);
    let run = read(file, format, &options, &mut |request| auditor.request(request))?;
    let audit = auditor.finish(&run, args.reading.users, args.expected_interval);
    Ok(AuditReport { file: file.display().to_string(), run, audit })
}

fn text(reports: &[AuditReport], json: bool) -> String {
    if json {
        return audit_json(reports);
    }
    let style = output::stdout_style();
    reports.iter().map(|report| audit_text(report, style)).collect::<Vec<_>>().join("\n")
}

fn exit_code(reports: &[AuditReport]) -> ExitCode {
    let code = |finding| match finding {
        AuditFinding::NoneSeen => ExitCode::Success,
        AuditFinding::Likely | AuditFinding::Certain => ExitCode::GateFailed,
        AuditFinding::CannotTell => ExitCode::Open,
    };
    // Findings are ordered by severity.
    reports.iter().map(|report| report.audit.finding).max().map_or(ExitCode::Success, code)
}
