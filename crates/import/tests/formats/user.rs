//! Tables of no tool.

use truetail_import::{ImportError, ImportOptions, by_name, read};
use truetail_model::record::Outcome;
use truetail_model::time::Nanos;
use truetail_run::{ForeignRequest, ForeignRun, ForeignStarts};

fn import(columns: &str, units: &str, text: &str) -> Result<(ForeignRun, Vec<ForeignRequest>), ImportError> {
    let pairs = |text: &str| {
        let pairs = text.split(',').filter_map(|pair| pair.split_once('='));
        pairs.map(|(role, column)| (role.to_owned(), column.to_owned())).collect()
    };
    let options = ImportOptions { columns: pairs(columns), units: pairs(units), ..ImportOptions::default() };
    let mut requests = Vec::new();
    let run = read(&mut text.as_bytes(), None, &options, &mut |request| requests.push(*request))?;
    Ok((run, requests))
}

const REQUEST: ForeignRequest = ForeignRequest {
    worker: Some(0),
    ..ForeignRequest::new(Some(1_795_157_763_037_000_000), Nanos(12_500_000), Outcome::response(200))
};

#[test]
fn a_table_with_a_header() {
    let text = "when;took_ms;who;code\n2026-11-20T06:56:03.037Z;12.5;a;200\n1795157763.037;12.5;b;503\n";
    let (run, requests) = import("start=when,duration=took_ms,worker=who,status=code", "", text).expect("a table");
    let second = ForeignRequest { outcome: Outcome::response(503), worker: Some(1), ..REQUEST };
    assert_eq!(requests, [REQUEST, second]);
    assert_eq!((run.format, run.clock.starts), ("csv", ForeignStarts::Unix));
    assert_eq!((run.clock.start_resolution_ns, run.clock.duration_resolution_ns), (1_000_000, 100_000));
}

#[test]
fn a_table_without_header_has_numbers_of_columns() {
    let text = "1795157763037,a,12500,200\n1795157763037,a,12500,200\n";
    let (_, requests) = import("start=1,worker=2,duration=3,status=4", "duration=us", text).expect("a table");
    assert_eq!(requests, [REQUEST, REQUEST]);
}

#[test]
fn json_lines() {
    let text = "{\"at\":1795157763.037,\"t\":{\"d\":12.5},\"who\":7,\"status\":200}\n\
                {\"at\":\"2026-11-20T06:56:03.037Z\",\"t\":{\"d\":\"12.5\"},\"who\":8,\"status\":\"200\"}\n\
                {\"at\":1795157763.037,\"t\":{}}\n";
    let (run, requests) =
        import("start=at,duration=t.d,worker=who,status=status", "duration=ms", text).expect("JSON lines");
    assert_eq!(requests, [REQUEST, ForeignRequest { worker: Some(1), ..REQUEST }]);
    assert_eq!((run.format, run.damage.rows_left_out), ("jsonl", 1));
    assert_eq!(run.damage.first.map(|(place, what)| (place.line, what)), Some((3, "'duration' is empty".to_owned())));
}

#[test]
fn starts_may_be_relative_or_missing_and_ends_may_replace_durations() {
    let text = "from,to\n0.5,0.75\n1.5,1.25\n2.0,2.1\n";
    let (run, requests) = import("start=from,end=to", "start=s,end=s", text).expect("a table");
    assert_eq!(
        (run.clock.starts, requests[0].duration, requests[0].start_ns),
        (ForeignStarts::Run, Nanos(250_000_000), Some(500_000_000))
    );
    assert_eq!(
        (requests.len(), run.damage.first.map(|(_, what)| what)),
        (2, Some("it ends before it starts".to_owned()))
    );
    let (run, requests) = import("duration=ms_total", "duration=ms", "ms_total,x\n5,\n6,\n").expect("a table");
    assert_eq!((run.clock.starts, run.clock.start_resolution_ns), (ForeignStarts::None, 0));
    assert_eq!((requests[0].start_ns, requests[1].duration), (None, Nanos(6_000_000)));
}

#[test]
fn what_is_missing_is_said() {
    for (columns, units, what) in [
        ("duration=took", "", "the unit of 'took' is not known; add --units duration=ms, us, ns or s"),
        ("duration=took", "duration=h", "the unit of 'duration' must be ns, us, ms or s, not 'h'"),
        ("duration=gone,start=when", "duration=ms", "the table has no column 'gone'; it has when, took"),
        (
            "start=when,duration=took",
            "duration=ms",
            "the first 'start' is neither a date nor a Unix time of 10, 13, 16 or 19 digits; add --units start=s, ms, us or ns",
        ),
        ("start=when", "", "name the column 'duration', or 'start' and 'end'"),
        ("start=when,duration=took,start=took", "", "'start' is named twice"),
        (
            "length=took",
            "",
            "'length' is no column that is read; name start, end, duration, worker, status, error, bytes",
        ),
    ] {
        let error = import(columns, units, "when,took\n1,2\n").expect_err(what);
        assert_eq!(error.to_string(), what);
    }
    let csv = by_name("csv").expect("a format");
    let error = read(&mut &b"a,b\n"[..], Some(csv), &ImportOptions::default(), &mut |_| ()).expect_err("no columns");
    assert!(matches!(error, ImportError::Options(_)), "{error}");
}

#[test]
fn a_unit_is_that_of_the_first_row_or_none() {
    // Nanoseconds since the start of a run, which soon have as many digits as a Unix time.
    let text: String = (1..80).map(|n| format!("{},0.5\n", n * 250_000_000_u64)).collect();
    let error = import("start=1,duration=2", "duration=ms", &text).expect_err("no unit");
    assert!(error.to_string().contains("add --units start="), "{error}");
    let (run, requests) = import("start=1,duration=2", "duration=ms,start=ns", &text).expect("a table");
    assert_eq!((requests.len(), run.damage.rows_left_out, run.clock.starts), (79, 0, ForeignStarts::Run));
}

#[test]
fn json_and_csv_of_the_same_rows_read_alike() {
    let times = ["1795157763.037", "1795157763.1", "1795157764"];
    let csv: String = times.iter().map(|at| format!("{at},0.0125\n")).collect();
    let json: String = times.iter().map(|at| format!("{{\"at\":{at},\"took\":0.0125}}\n")).collect();
    for units in ["duration=s", "duration=s,start=s"] {
        let (table, rows) = import("start=1,duration=2", units, &csv).expect("a table");
        let (lines, objects) = import("start=at,duration=took", units, &json).expect("JSON lines");
        assert_eq!(rows, objects);
        assert_eq!(table.clock, lines.clock, "{units}");
    }
}

#[test]
fn a_known_format_needs_neither_columns_nor_units() {
    let text = "offset,response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code\n";
    let hey = by_name("hey-csv").expect("a format");
    let pair = |name: &str, value: &str| vec![(name.to_owned(), value.to_owned())];
    for (options, what) in [
        (ImportOptions { columns: pair("start", "offset"), ..ImportOptions::default() }, "--columns says nothing"),
        (ImportOptions { units: pair("start", "ms"), ..ImportOptions::default() }, "--units says nothing"),
    ] {
        let error = read(&mut text.as_bytes(), Some(hey), &options, &mut |_| ()).expect_err(what);
        assert!(error.to_string().starts_with(what), "{error}");
    }
}

#[test]
fn no_error_may_be_written_as_a_word() {
    let csv = "took_ms,error\n5,false\n5,0\n5,\n5,reset\n";
    let json = "{\"took_ms\":5,\"error\":false}\n{\"took_ms\":5,\"error\":\"0\"}\n{\"took_ms\":5}\n{\"took_ms\":5,\"error\":\"reset\"}\n";
    for text in [csv, json] {
        let (_, requests) = import("duration=took_ms,error=error", "", text).expect("rows");
        let answered: Vec<_> = requests.iter().map(|one| matches!(one.outcome, Outcome::Response { .. })).collect();
        assert_eq!(answered, [true, true, true, false], "{text}");
    }
}
