//! All outputs for a run that was read from a folder. Shared by the tests here and the fuzz target `run_folder`.

use std::path::Path;

use truetail_analysis::compare::{StreamFigures, compare};
use truetail_analysis::gates::{Gate, judge_all};
use truetail_analysis::series::series;
use truetail_page::{RunPage, run_page};
use truetail_report::plot::{pictures_of_run, run_spectrum};
use truetail_report::{
    JunitSuite, Style, SummaryOptions, csv_files, hgrm, junit, markdown_summary, quantiles_csv, summary, vllm_json,
};
use truetail_run::wire::{self, v1};
use truetail_run::{Findings, MergeError, Run, folder, merge};

const GATES: [&str; 8] = [
    "p99 > 50ms",
    "p37 < 1us",
    "mean > 1s",
    "service-time p99.9 >= 10ms",
    "first-byte p50 > 1ms",
    "error-rate > 1%",
    "unanswered > 0.1%",
    "throughput < 100/s",
];

/// Computes and formats everything about a run, merges it with a run of the same load, and saves both in `scratch`.
/// Panics on a bug: if any step panics, disagrees with the run, or cannot be read back.
pub fn exercise(run: &Run, scratch: &Path) {
    let findings = show(run);
    comes_back(run, &findings, &scratch.join("again"));
    let mut later = run.clone();
    later.facts.started_at_unix_ns = Some(later.facts.started_at_unix_ns.map_or(1, |started| started ^ 1));
    match merge(vec![run.clone(), later]) {
        Ok(merged) => {
            assert_eq!(merged.snapshot.tally.planned, run.snapshot.tally.planned * 2);
            let findings = show(&merged);
            comes_back(&merged, &findings, &scratch.join("merged"));
        }
        Err(MergeError::TooMany { .. } | MergeError::TooManyBytes { .. } | MergeError::TooLarge(_)) => {}
        // A part of a load merges only with its other parts, and a merged run does not merge again.
        Err(error) => assert!(run.facts.stripe.is_some() || run.facts.shards.is_some(), "{error}"),
    }
}

/// Returns the findings, after formatting every text and picture.
fn show(run: &Run) -> Findings {
    let mut findings = truetail_analysis::findings(run);
    let gates = GATES.map(|gate| gate.parse::<Gate>().unwrap_or_else(|error| panic!("{error}")));
    findings.gates = judge_all(&gates, run, &findings);
    for details in [false, true] {
        for width in [40, 80] {
            let options = SummaryOptions { saved: Some("folder"), details };
            let text = summary(run, &findings, options, Style { width, ..Style::default() });
            assert!(text.ends_with('\n') && !text.contains("NaN") && !text.contains("inf"), "{text}");
        }
    }
    assert!(junit(&[JunitSuite::for_run(None, run, &findings)]).is_ok());
    assert!(!markdown_summary(run, &findings).is_empty());
    let series = series(run, &findings);
    let page = run_page(&RunPage::new(run, &findings, &series));
    assert!(page.ends_with("</html>\n") || page.ends_with("</html>"), "{}", page.len());
    for (name, picture) in pictures_of_run(run, &findings, &series).into_iter().chain([("spectrum", run_spectrum(run))])
    {
        assert!(!picture.svg().contains("NaN") && !picture.svg().contains("inf\""), "{name}: {}", picture.svg());
    }
    assert!(csv_files(&findings, &series).iter().any(|file| !file.content.is_empty()));
    assert!(!quantiles_csv(&findings).is_empty() && !hgrm(&run.snapshot).is_empty());
    let streams = StreamFigures::of_run(run, &findings);
    drop(compare(&[&findings], &[&findings]).with_streams([streams.as_ref()], [streams.as_ref()]));
    drop(vllm_json(run, &findings));
    findings
}

/// Checks that a saved run reads back unchanged.
fn comes_back(run: &Run, findings: &Findings, into: &Path) {
    let text = v1::run_file(run, findings).to_json();
    let parsed = wire::parse(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(parsed.to_json(), text);
    folder::save(into, run, findings).unwrap_or_else(|error| panic!("{error}"));
    let loaded = folder::load(into).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(loaded.run.snapshot.tally, run.snapshot.tally);
    assert_eq!(loaded.run.facts.offered, run.facts.offered);
}
