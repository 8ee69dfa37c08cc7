use truetail_model::record::Outcome;
use truetail_model::time::Nanos;
use truetail_run::ForeignRequest;

use crate::{file, import};

const OPEN: &str = "tools/k6-constant-arrival-rate/1.8.1";

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
fn users_are_read_from_their_column_or_the_tags() {
    let rows = "metric_name,timestamp,metric_value,status,vu\n\
                http_req_duration,1795157763037549531,11.5,200,7\n\
                http_req_duration,1795157763137549531,12.5,200,9\n\
                dropped_iterations,1795157763137549531,3.000000,,\n";
    let (run, requests) = import("k6-csv", rows.as_bytes());
    assert_eq!(run.claims.dropped, Some(3));
    let first = ForeignRequest {
        worker: Some(0),
        ..ForeignRequest::new(Some(1_795_157_763_026_049_531), Nanos(11_500_000), Outcome::response(200))
    };
    assert_eq!((requests[0], requests[1].worker), (first, Some(1)));
    let tags = "metric_name,timestamp,metric_value,status,extra_tags,metadata\n\
                http_req_duration,1795157763037549531,11.5,200,a=b,iter=0&vu=7\n";
    assert_eq!(import("k6-csv", tags.as_bytes()).1[0], first);
}
