//! Properties for arbitrary bytes: no parser panics, and a shorter file never reports more.

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use truetail_tools::{InstalledTool, Tool, ToolOutput, ToolReport, all};

use crate::captures::CAPTURES;
use crate::support::{load, parse};

/// Returns the keys of the files that the parser of a tool wants.
fn wanted_files(tool: &dyn Tool) -> Vec<&'static str> {
    let found = InstalledTool { path: PathBuf::from("tool"), version: tool.info().tested_version.to_owned() };
    let invocation = tool.command(&found, &load(), Path::new(".")).expect("a command line");
    invocation.outputs.iter().map(|(key, _)| *key).collect()
}

/// Returns one part of an output: standard output, or one of the files.
fn part(output: &mut ToolOutput, part: prop::sample::Index) -> &mut Vec<u8> {
    match part.index(1 + output.files.len()) {
        0 => &mut output.stdout,
        file => output.files.values_mut().nth(file - 1).expect("one of its files"),
    }
}

/// Returns the number of requests of a report, by each of its counts.
fn requests(report: &ToolReport) -> [u64; 4] {
    let claims = &report.claims;
    let counted = report.histogram.as_ref().map_or(0, |histogram| histogram.count());
    [claims.measured.unwrap_or_default(), claims.requests.unwrap_or_default(), report.requests.len() as u64, counted]
}

fn is_tidy(report: &ToolReport) -> bool {
    let quantiles = &report.claims.quantiles;
    quantiles.is_sorted_by(|a, b| a.q < b.q)
        && quantiles.iter().all(|claim| claim.q > 0.0 && claim.q < 1.0)
        && report.claims.rate_per_second.is_none_or(f64::is_finite)
}

#[test]
fn whole_outputs_are_tidy_and_their_books_balance() {
    for capture in CAPTURES.iter() {
        let Ok(report) = parse(&capture.tool, &capture.output()) else { continue };
        assert!(is_tidy(&report), "{capture}");
        assert_eq!(report.snapshot().tally.check(), Ok(()), "{capture}");
    }
}

#[test]
fn an_error_names_the_tool_and_the_version_that_was_tested() {
    for tool in all() {
        let error = tool.parse(&ToolOutput::default(), &load()).expect_err("nothing is no report").to_string();
        assert!(error.starts_with(tool.name()) && error.contains(tool.info().tested_version), "{error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn less_of_a_file_is_never_more_of_a_run(
        which in any::<prop::sample::Index>(),
        place in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(),
    ) {
        let capture = which.get(&CAPTURES);
        let mut output = capture.output();
        let whole = parse(&capture.tool, &output);
        let bytes = part(&mut output, place);
        bytes.truncate(at.index(bytes.len() + 1));
        if let (Ok(whole), Ok(cut)) = (whole, parse(&capture.tool, &output)) {
            prop_assert!(is_tidy(&cut));
            for (cut, whole) in requests(&cut).into_iter().zip(requests(&whole)) {
                prop_assert!(cut <= whole, "{capture}: {cut} of {whole}");
            }
        }
    }

    #[test]
    fn a_damaged_file_is_read_or_refused(
        which in any::<prop::sample::Index>(),
        place in any::<prop::sample::Index>(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
    ) {
        let capture = which.get(&CAPTURES);
        let mut output = capture.output();
        let bytes = part(&mut output, place);
        prop_assume!(!bytes.is_empty());
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Ok(report) = parse(&capture.tool, &output) {
            prop_assert!(is_tidy(&report));
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(stdout: Vec<u8>, file: Vec<u8>, exit_code: Option<i32>) {
        for tool in all() {
            let files = wanted_files(*tool);
            for key in if files.is_empty() { vec![""] } else { files } {
                let files = [(key.to_owned(), file.clone())].into();
                let output = ToolOutput { stdout: stdout.clone(), stderr: file.clone(), exit_code, files };
                if let Ok(report) = tool.parse(&output, &load()) {
                    prop_assert!(is_tidy(&report));
                }
            }
        }
    }
}
