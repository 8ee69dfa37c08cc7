use truetail_model::record::{Cause, Outcome};
use truetail_model::time::Nanos;
use truetail_run::{ForeignRequest, ForeignStarts, LatencyFrom};

use crate::{file, import, with_outcome, with_status};

const OPEN: &str = "tools/k6-constant-arrival-rate/1.8.1";

#[test]
fn arrivals_at_a_rate() {
    for (case, requests, users) in
        [("healthy", 121, Some(1_500)), ("errors", 120, Some(1_500)), ("whole-seconds", 61, Some(20))]
    {
        let (run, read) = import("k6-csv", &file(&format!("{OPEN}/{case}/samples.csv")));
        assert_eq!((run.requests, read.len(), run.claims.dropped), (requests, requests as usize, None), "{case}");
        assert_eq!((run.load.users, run.claims.latency_from), (users, LatencyFrom::Send), "{case}");
        assert_eq!((run.clock.starts, run.clock.duration_resolution_ns), (ForeignStarts::Unix, 1), "{case}");
        assert_eq!(run.damage.rows_left_out, 0, "{case}");
    }
}

#[test]
fn whole_seconds_are_said() {
    let (run, read) = import("k6-csv", &file(&format!("{OPEN}/whole-seconds/samples.csv")));
    assert_eq!(run.clock.start_resolution_ns, 1_000_000_000);
    assert!(run.notes.iter().any(|note| note.contains("K6_CSV_TIME_FORMAT")), "{:?}", run.notes);
    let ends = read.iter().map(|request| request.start_ns.expect("a start") + request.duration.0);
    assert_eq!(ends.filter(|end| end % 1_000_000_000 == 0).count(), 61);
    let (run, _) = import("k6-csv", &file(&format!("{OPEN}/healthy/samples.csv")));
    assert_eq!((run.clock.start_resolution_ns, &run.notes[..]), (1, &[][..]));
}

#[test]
fn failures_have_their_causes() {
    let (_, refused) = import("k6-csv", &file(&format!("{OPEN}/refused/samples.csv")));
    assert_eq!((refused.len(), with_outcome(&refused, Outcome::ConnectFailed(Cause::Refused))), (121, 121));
    let (_, timeouts) = import("k6-csv", &file(&format!("{OPEN}/timeouts/samples.csv")));
    assert_eq!(with_outcome(&timeouts, Outcome::TimedOut), 6);
    let (_, errors) = import("k6-csv", &file(&format!("{OPEN}/errors/samples.csv")));
    assert_eq!((with_status(&errors, 200), with_status(&errors, 503)), (104, 8));
}

#[test]
fn users_are_read_from_their_column_or_the_tags() {
    let rows = "metric_name,timestamp,metric_value,status,vu\n\
                http_req_duration,1795157763037549531,11.5,200,7\n\
                http_req_duration,1795157763137549531,12.5,200,9\n\
                dropped_iterations,1795157763137549531,3.000000,,\n";
    let (run, requests) = import("k6-csv", rows.as_bytes());
    assert_eq!(run.claims.dropped, Some(3));
    let first = ForeignRequest {
        start_ns: Some(1_795_157_763_026_049_531),
        duration: Nanos(11_500_000),
        outcome: Outcome::Response { status: 200 },
        worker: Some(0),
        bytes_in: None,
        waited: Nanos::ZERO,
    };
    assert_eq!((requests[0], requests[1].worker), (first, Some(1)));
    let tags = "metric_name,timestamp,metric_value,status,extra_tags,metadata\n\
                http_req_duration,1795157763037549531,11.5,200,a=b,iter=0&vu=7\n";
    assert_eq!(import("k6-csv", tags.as_bytes()).1[0], first);
}

#[test]
fn a_file_that_was_cut_off_is_read_up_to_there() {
    let bytes = file(&format!("{OPEN}/cut-off/samples.csv"));
    let (run, _) = import("k6-csv", &bytes);
    let last = bytes.iter().rposition(|byte| *byte == b'\n').expect("a row") as u64 + 1;
    assert_eq!((run.damage.rows_left_out, run.damage.truncated_at.map(|place| place.byte)), (1, Some(last)));
}

#[test]
fn json_lines() {
    let (run, requests) = import("k6-json", &file("import/k6/1.8.1/errors/samples-first-300-lines.json"));
    assert_eq!((requests.len(), run.damage.rows_left_out, run.load.users), (20, 0, Some(20)));
    assert_eq!((with_status(&requests, 200), with_status(&requests, 503)), (17, 2));
    let resets = with_outcome(&requests, Outcome::Reset(Cause::ResetByPeer));
    assert_eq!((resets, run.clock.start_resolution_ns), (1, 1));
    let first = ForeignRequest {
        start_ns: Some(1_795_157_771_790_335_619 - 11_505_530),
        duration: Nanos(11_505_530),
        outcome: Outcome::Response { status: 200 },
        worker: None,
        bytes_in: None,
        waited: Nanos::ZERO,
    };
    assert_eq!(requests[0], first);
}
