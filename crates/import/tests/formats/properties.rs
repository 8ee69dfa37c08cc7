//! Files that were cut or have a wrong byte: no format panics or reports more requests than the file has bytes.

use proptest::prelude::*;
use truetail_import::{Excerpt, Likeness, all};

use crate::{file, try_import};

/// A file of each format.
const FILES: &[(&str, &str)] = &[
    ("wrk", "tools/wrk/4.1.0/errors/stdout.txt"),
    ("wrk2", "tools/wrk2/4.0.0/stall/stdout.txt"),
    ("ab-report", "tools/ab/2.3/errors/stdout-r.txt"),
    ("ab-percentiles", "tools/ab/2.3/stall/percentiles.csv"),
    ("hey-summary", "tools/hey/0.1.5/timeouts/stdout.txt"),
    ("oha-text", "tools/oha/1.16.0/errors/stdout.txt"),
    ("oha-csv", "tools/oha/1.16.0/errors/samples.csv"),
    ("oha-json", "tools/oha/1.16.0/errors/corrected.json"),
    ("k6-summary", "tools/k6-constant-arrival-rate/1.8.1/dropped/summary.json"),
    ("k6-summary", "import/by-hand/k6-handle-summary.json"),
    ("vegeta-report", "import/vegeta/12.13.0/errors.json"),
    ("jmeter-xml", "import/jmeter/5.6.3/errors.xml"),
    ("gatling-log", "tools/gatling/3.11.5/cut-off/simulation.log"),
    ("gatling-log", "tools/gatling/3.15.1/cut-off/simulation.log"),
    ("locust-stats", "import/locust/2.47.0/errors/stats.csv"),
    ("locust-history", "import/locust/2.47.0/stall/stats_history.csv"),
    ("locust-json", "tools/locust/2.47.0/errors/result.json"),
    ("hyperfoil-lab", "tools/hyperfoil/0.25.2/errors/result.json"),
    ("hyperfoil", "import/hyperfoil/0.27.1/errors.json"),
    ("fortio-json", "import/fortio/1.68.2/errors.json"),
    ("fortio-log", "import/fortio/1.68.2/errors.jsonl"),
    ("autocannon", "tools/autocannon/9.0.0/stall/result.json"),
    ("h2load-log", "tools/h2load/1.52.0/errors/samples.tsv"),
    ("vllm", "import/by-hand/vllm-detailed.json"),
    ("sglang", "import/by-hand/sglang.jsonl"),
    ("guidellm", "import/by-hand/guidellm.json"),
    ("hgrm", "import/vegeta/12.13.0/stall.hdrplot"),
    ("har", "import/by-hand/browser.har"),
];

fn check(name: &str, bytes: &[u8]) -> Result<(), TestCaseError> {
    for format in all() {
        let _: Likeness = format.likeness(&Excerpt::new(bytes));
    }
    let Ok((run, requests)) = try_import(name, bytes) else { return Ok(()) };
    prop_assert!(requests.len() <= bytes.len());
    let quantiles = &run.claims.quantiles;
    prop_assert!(quantiles.iter().all(|one| one.q > 0.0 && one.q < 1.0), "{quantiles:?}");
    prop_assert!(quantiles.is_sorted_by(|a, b| a.q < b.q), "{quantiles:?}");
    prop_assert!(run.claims.rate_per_second.is_none_or(f64::is_finite));
    prop_assert!(run.damage.rows_left_out == 0 || run.damage.first.is_some(), "{:?}", run.damage);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_file_that_was_cut_off((name, path) in prop::sample::select(FILES), at in any::<prop::sample::Index>()) {
        let bytes = file(path);
        check(name, &bytes[..at.index(bytes.len() + 1)])?;
    }

    #[test]
    fn a_file_with_wrong_bytes(
        (name, path) in prop::sample::select(FILES),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut bytes = file(path);
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        check(name, &bytes)?;
    }

    #[test]
    fn a_file_with_other_digits(
        (name, path) in prop::sample::select(FILES),
        changes in prop::collection::vec((any::<prop::sample::Index>(), "[0-9eE.+-]{1,20}"), 1..3),
    ) {
        let mut bytes = file(path);
        for (at, digits) in changes {
            let places: Vec<_> = (0..bytes.len()).filter(|at| bytes[*at].is_ascii_digit()).collect();
            if !places.is_empty() {
                let at = *at.get(&places);
                bytes.splice(at..=at, digits.bytes());
            }
        }
        check(name, &bytes)?;
    }

    #[test]
    fn any_bytes_in_any_format(index in any::<prop::sample::Index>(), bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        check(index.get(all()).info().name, &bytes)?;
    }
}
