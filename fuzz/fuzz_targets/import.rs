//! An arbitrary file: the format in `TRUETAIL_FUZZ_FORMAT` reads or refuses it, and what it read is consistent.
#![no_main]

use std::env;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use truetail_analysis::audit::{Auditor, Corrected, Correction, Corrector};
use truetail_import::{Excerpt, Format, ImportOptions, all, by_name};
use truetail_model::time::Nanos;
use truetail_run::ForeignRequest;

static FORMAT: LazyLock<&'static dyn Format> = LazyLock::new(|| {
    let name = env::var("TRUETAIL_FUZZ_FORMAT").unwrap_or_default();
    let names = || all().iter().map(|format| format.info().name).collect::<Vec<_>>();
    by_name(&name).unwrap_or_else(|| panic!("set TRUETAIL_FUZZ_FORMAT to one of {:?}", names()))
});

/// What tables of no tool need to be read.
static OPTIONS: LazyLock<ImportOptions> = LazyLock::new(|| ImportOptions {
    columns: ["start", "duration", "status", "worker"].map(|column| (column.to_owned(), column.to_owned())).to_vec(),
    ..ImportOptions::default()
});

fuzz_target!(|input: &[u8]| {
    let _ = FORMAT.likeness(&Excerpt::new(input));
    let mut requests = 0u64;
    let mut rest = input;
    let mut auditor = Auditor::new();
    let mut corrector = Corrector::new(Nanos::from_millis(10));
    let mut count = |request: &ForeignRequest| {
        requests += 1;
        auditor.request(request);
        corrector.record(request.start_ns, request.duration);
    };
    if let Ok(run) = FORMAT.read(&mut rest, &OPTIONS, &mut count) {
        assert_eq!(run.requests, requests);
        assert!(requests <= input.len() as u64, "more requests than bytes");
        let audit = auditor.finish(&run, None, None);
        let in_bounds = audit.corrected.iter().all(|one| one.low_ns <= one.value_ns && one.value_ns <= one.high_ns);
        assert!(in_bounds, "{audit:?}");
        let correction = corrector.finish();
        let of_histogram =
            run.histogram.as_ref().map(|histogram| Correction::from_histogram(histogram, Nanos::from_millis(10)));
        for correction in [Some(correction), of_histogram].into_iter().flatten() {
            let Corrected { before, after, added } = &correction.whole;
            assert_eq!(before.count() + added, after.count());
            let parts: u64 = correction.intervals.iter().map(|one| one.corrected.before.count()).sum();
            assert!(correction.intervals.is_empty() || parts == before.count());
        }
        let quantiles = &run.claims.quantiles;
        assert!(quantiles.iter().all(|claim| claim.q > 0.0 && claim.q < 1.0), "{quantiles:?}");
        assert!(quantiles.is_sorted_by(|a, b| a.q < b.q), "{quantiles:?}");
        assert!(run.claims.rate_per_second.is_none_or(f64::is_finite));
        let within = |byte: u64| byte <= input.len() as u64;
        assert!(run.damage.first.as_ref().is_none_or(|(place, _)| within(place.byte)), "{:?}", run.damage);
        assert!(run.damage.truncated_at.is_none_or(|place| within(place.byte)), "{:?}", run.damage);
    }
});
