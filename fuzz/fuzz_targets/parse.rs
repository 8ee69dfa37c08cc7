//! Arbitrary output of a tool: the parser of the tool in `TRUETAIL_FUZZ_TOOL` reads or refuses it, and its report is
//! consistent.
#![no_main]

use std::env;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use truetail_fuzz::{keys, load, output};
use truetail_model::time::Nanos;
use truetail_tools::{Tool, ToolReport, by_name, names};

static TOOL: LazyLock<&'static dyn Tool> = LazyLock::new(|| {
    let name = env::var("TRUETAIL_FUZZ_TOOL").unwrap_or_default();
    by_name(&name).unwrap_or_else(|| panic!("set TRUETAIL_FUZZ_TOOL to one of {:?}", names()))
});
static KEYS: LazyLock<Vec<&'static str>> = LazyLock::new(|| keys(*TOOL));

fuzz_target!(|input: &[u8]| {
    if let Ok(report) = TOOL.parse(&output(input, &KEYS), &load()) {
        check(&report, input.len());
    }
});

fn check(report: &ToolReport, bytes: usize) {
    assert!(report.requests.len() <= bytes, "more requests than bytes");
    let quantiles = &report.claims.quantiles;
    assert!(quantiles.iter().all(|claim| claim.q > 0.0 && claim.q < 1.0), "{quantiles:?}");
    assert!(quantiles.is_sorted_by(|a, b| a.q < b.q), "{quantiles:?}");
    assert!(report.claims.rate_per_second.is_none_or(f64::is_finite));
    if report.time_span() < MAX_RUN {
        assert_eq!(report.snapshot().tally.check(), Ok(()));
    }
}

/// Snapshots have data for each second, so longer runs would take time from the parser.
const MAX_RUN: Nanos = Nanos::from_secs(100);
