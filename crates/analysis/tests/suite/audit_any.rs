//! Audits of requests at any instants, as a damaged file may contain: no overflow, and bounds that hold.

use proptest::prelude::*;
use truetail_analysis::audit::Auditor;
use truetail_model::record::Outcome;
use truetail_model::time::Nanos;
use truetail_run::ForeignRequest;

use crate::audit::loads::file;

/// As often small as near the maximum.
fn time() -> impl Strategy<Value = u64> {
    (0_u32..64, any::<u64>(), any::<bool>()).prop_map(|(shift, bits, is_late)| {
        let small = bits >> shift;
        if is_late { u64::MAX - small } else { small }
    })
}

/// From a nanosecond to an hour, the maximum of any file.
fn resolution() -> impl Strategy<Value = u64> {
    (0_u32..42, 1_u64..=3_600_000_000_000).prop_map(|(shift, ns)| (ns >> shift).max(1))
}

fn request() -> impl Strategy<Value = ForeignRequest> {
    (time(), time(), time(), proptest::option::of(0_u32..4)).prop_map(|(start, duration, waited, worker)| {
        ForeignRequest {
            waited: Nanos(waited),
            worker,
            ..ForeignRequest::new(Some(start), Nanos(duration), Outcome::response(200))
        }
    })
}

proptest! {
    #[test]
    fn any_requests_are_audited(rows in proptest::collection::vec(request(), 0..40), resolution in resolution()) {
        let mut run = file(resolution);
        run.requests = rows.len() as u64;
        let mut auditor = Auditor::new();
        rows.iter().for_each(|row| auditor.request(row));
        let audit = auditor.finish(&run, None, None);
        prop_assert!(audit.corrected.iter().all(|one| one.low_ns <= one.value_ns && one.value_ns <= one.high_ns), "{:?}", audit);
    }
}
