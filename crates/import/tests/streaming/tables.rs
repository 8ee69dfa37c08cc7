//! Simple tables: hey, ab, Locust, Vegeta.

use truetail_model::record::{Cause, Outcome};
use truetail_model::time::Nanos;
use truetail_run::{ForeignRequest, ForeignStarts};

use crate::{file, import, with_outcome, with_status};

#[test]
fn hey() {
    for (case, rows) in [("healthy", 600), ("stall", 505), ("errors", 600), ("timeouts", 308), ("refused", 0)] {
        let (run, requests) = import("hey-csv", &file(&format!("tools/hey/0.1.4/{case}/samples.csv")));
        assert_eq!((requests.len(), run.damage.rows_left_out), (rows, 0), "{case}");
        assert_eq!((run.clock.starts, run.clock.start_resolution_ns), (ForeignStarts::Run, 100_000));
        assert_eq!(run.claims.requests, None, "requests without an answer have no row");
    }
    let (_, requests) = import("hey-csv", &file("tools/hey/0.1.4/stall/samples.csv"));
    let first = ForeignRequest {
        start_ns: Some(52_900_000),
        duration: Nanos(10_700_000),
        outcome: Outcome::Response { status: 200 },
        worker: None,
        bytes_in: None,
        waited: Nanos::ZERO,
    };
    assert_eq!(requests[0], first);
    let (run, cut) = import("hey-csv", &file("tools/hey/0.1.4/cut-off/samples.csv"));
    assert!(run.damage.truncated_at.is_some() || cut.len() == 300, "{:?}", run.damage);
}

#[test]
fn hey_keeps_a_million() {
    let mut file =
        b"response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset\n".to_vec();
    for _ in 0..1_000_000 {
        file.extend_from_slice(b"0.0107,0,0,0,0,0,200,0.0529\n");
    }
    let (run, _) = import("hey-csv", &file);
    assert_eq!(run.notes.last().map(String::as_str), Some("hey keeps only its first 1000000 results"));
}

#[test]
fn ab() {
    let (run, requests) = import("ab-g", &file("tools/ab/2.3/stall/samples.tsv"));
    assert_eq!((requests.len(), run.clock.start_resolution_ns), (600, 1_000_000_000));
    assert_eq!(run.clock.duration_resolution_ns, 1_000_000);
    assert_eq!(requests[599].start_ns, Some(1_795_157_695_000_000_000));
    assert_eq!(
        (requests[599].duration, requests[599].outcome),
        (Nanos(1_048_000_000), Outcome::Response { status: 0 })
    );
    assert_eq!((run.claims.failed, requests[0].worker), (None, None));
    let (run, requests) = import("ab-g", &file("tools/ab/2.3/cut-off/samples.tsv"));
    assert_eq!((requests.len(), run.damage.rows_left_out), (297, 0));
}

#[test]
fn locust() {
    let (run, requests) = import("locust-samples", &file("tools/locust/2.47.0/errors/samples.csv"));
    assert_eq!((requests.len(), run.damage.rows_left_out), (1_546, 0));
    assert_eq!((requests[1].start_ns, requests[1].duration), (Some(1_795_172_937_949_922_000), Nanos(63_469_000)));
    assert_eq!(run.clock.start_resolution_ns, 1_000);
    assert!(with_status(&requests, 503) > 0);
    let (_, refused) = import("locust-samples", &file("tools/locust/2.47.0/refused/samples.csv"));
    assert_eq!((refused.len(), with_outcome(&refused, Outcome::ConnectFailed(Cause::Refused))), (570, 570));
}

#[test]
fn vegeta() {
    for (case, failed) in [("healthy", 0), ("stall", 0), ("errors", 43), ("timeouts", 30), ("refused", 600)] {
        let (run, requests) = import("vegeta-csv", &file(&format!("tools/vegeta/12.13.0/{case}/results.csv")));
        assert_eq!((requests.len(), run.claims.failed, run.damage.rows_left_out), (600, Some(failed), 0), "{case}");
        assert_eq!((run.claims.requests, &run.notes[..]), (Some(600), &[][..]), "{case}");
    }
    let (_, requests) = import("vegeta-csv", &file("tools/vegeta/12.13.0/errors/results.csv"));
    let first = ForeignRequest {
        start_ns: Some(1_795_157_751_992_101_447),
        duration: Nanos(11_574_664),
        outcome: Outcome::Response { status: 200 },
        worker: None,
        bytes_in: Some(3),
        waited: Nanos::ZERO,
    };
    assert_eq!(requests[0], first);
    // The same run, as JSON.
    let (run, lines) = import("vegeta-json", &file("import/vegeta/12.13.0/errors/results-first-60-lines.json"));
    assert_eq!((&lines[..], run.claims.failed), (&requests[..60], Some(4)));
    let (_, refused) = import("vegeta-json", &file("import/vegeta/12.13.0/refused/results-first-20-lines.json"));
    assert_eq!((refused.len(), with_outcome(&refused, Outcome::ConnectFailed(Cause::Refused))), (20, 20));
    let (run, cut) = import("vegeta-csv", &file("tools/vegeta/12.13.0/cut-off/results.csv"));
    assert_eq!(
        (cut.len(), run.damage.rows_left_out, run.damage.truncated_at.map(|place| place.line)),
        (142, 1, Some(143))
    );
}

#[test]
fn vegeta_without_vegeta() {
    for case in ["errors", "refused"] {
        let (run, requests) =
            import("vegeta-gob", &file(&format!("import/vegeta/12.13.0/{case}/results-first-12000-bytes.bin")));
        let (_, rows) = import("vegeta-csv", &file(&format!("tools/vegeta/12.13.0/{case}/results.csv")));
        assert!(requests.len() > 60, "{case}: {}", requests.len());
        assert_eq!(requests, rows[..requests.len()], "{case}");
        let place = run.damage.truncated_at.expect("the file was cut off");
        assert!((11_500..12_000).contains(&place.byte), "{place:?}");
        assert_eq!((run.damage.rows_left_out, run.claims.requests), (1, None), "{case}");
    }
}
