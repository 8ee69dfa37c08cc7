//! `truetail audit --prometheus`: compares the request times that a service published with a saved run.

use std::path::Path;

use serde::Serialize;
use truetail_model::time::Nanos;
use truetail_report::scrape_text;
use truetail_run::wire::{ScrapeFile, v1};
use truetail_run::{Findings, Run, Scrape, ScrapeFinding, input};
use truetail_scrape::{Exposition, MAX_BYTES, Watch};

use crate::error::{ExitCode, Result, runtime_error};
use crate::output;
use crate::verbs::report;

/// Compares the increase of the service's histograms from one page of metrics to the other with the run between them.
///
/// # Errors
/// If a page or the run cannot be read.
pub(super) fn audit_pages(before: &Path, after: &Path, folder: &Path, json: bool) -> Result<ExitCode> {
    let first = page(before)?;
    let last = page(after)?;
    let mut run = report::load(folder)?;
    let mut watch = Watch::new(&first, Vec::new());
    watch.add(Nanos(run.facts.elapsed_ns), &last);
    run.facts.scrapes = vec![Scrape {
        name: after.display().to_string(),
        url: format!("{} … {}", before.display(), after.display()),
        reads: 2,
        left_out: watch.left_out(),
        histograms: watch.histograms(&run.snapshot.tally),
        ..Scrape::default()
    }];
    let findings = truetail_analysis::findings(&run);
    let text = if json { as_json(&run, &findings) } else { scrape_text(&run, &findings, output::stdout_style()) };
    output::print(&text)?;
    Ok(exit_code(&findings))
}

/// Reads a page of metrics.
fn page(file: &Path) -> Result<Exposition> {
    let unreadable = |problem: String| {
        runtime_error(format!("--prometheus '{}': {problem}; give a saved page of metrics", file.display()))
    };
    let bytes = input::bytes_within(file, MAX_BYTES as u64).map_err(|error| unreadable(error.to_string()))?;
    Exposition::parse(&bytes).map_err(|error| unreadable(error.to_string()))
}

/// Result as JSON: the field `scrapes` that the run's `run.json` would have.
#[derive(Serialize)]
struct AuditedMetrics {
    schema: &'static str,
    scrapes: Vec<ScrapeFile>,
}

fn as_json(run: &Run, findings: &Findings) -> String {
    let scrapes = v1::run_file(run, findings).scrapes;
    let audited = AuditedMetrics { schema: "truetail.audit-prometheus/1", scrapes };
    serde_json::to_string_pretty(&audited).expect("a part of run.json") + "\n"
}

fn exit_code(findings: &Findings) -> ExitCode {
    let all: Vec<ScrapeFinding> = findings.scrapes.iter().flatten().map(|histogram| histogram.finding).collect();
    let is = |finding| all.contains(&finding);
    match is(ScrapeFinding::Understates) || is(ScrapeFinding::Overstates) {
        true => ExitCode::GateFailed,
        false if is(ScrapeFinding::Agrees) => ExitCode::Success,
        false => ExitCode::Open,
    }
}
