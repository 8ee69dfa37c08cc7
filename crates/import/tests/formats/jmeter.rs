use truetail_import::{Excerpt, Likeness, by_name};
use truetail_model::time::Nanos;

use crate::{file, import, try_import};

const CLOSED: &str = "tools/jmeter-thread-group/5.6.3";

#[test]
fn a_file_without_header_and_one_with_other_columns() {
    let bytes = file(&format!("{CLOSED}/healthy/samples.csv"));
    let header = bytes.iter().position(|byte| *byte == b'\n').expect("a header") + 1;
    let (run, headless) = import("jmeter-csv", &bytes[header..]);
    assert!(run.notes[0].contains("has no header"), "{:?}", run.notes);
    assert_eq!(headless, import("jmeter-csv", &bytes).1);

    let few = "elapsed;timeStamp\n7;2026/11/20 06:56:03.037\n";
    let (run, requests) = import("jmeter-csv", few.as_bytes());
    assert_eq!((requests[0].start_ns, requests[0].duration), (Some(1_795_157_763_037_000_000), Nanos(7_000_000)));
    assert_eq!((requests[0].worker, requests[0].bytes_in, run.claims.failed, run.load.users), (None, None, None, None));
}

#[test]
fn two_runs_in_one_file_are_told() {
    let bytes = file(&format!("{CLOSED}/healthy/samples.csv"));
    let thrice = [&bytes[..], &bytes[..], &bytes[..]].concat();
    assert_eq!(import("jmeter-csv", &thrice).0.notes[0], "the header comes again at line 567: the file holds 3 runs");
    let twice = [&bytes[..], &bytes[..]].concat();
    let (run, _) = import("jmeter-csv", &twice);
    assert_eq!((run.requests, run.damage.rows_left_out), (2 * 565, 0));
    assert_eq!(run.notes[0], "the header comes again at line 567: the file holds 2 runs");
    assert!(run.notes[1].starts_with("the clock steps back once, first by"), "{:?}", run.notes);
    assert!(run.notes[1].contains("at line 568"), "{:?}", run.notes);

    let header = bytes.iter().position(|byte| *byte == b'\n').expect("a header") + 1;
    let later = String::from_utf8_lossy(&bytes[header..]).replace("\n17951", "\n17961");
    let (run, _) = import("jmeter-csv", &[&bytes[..], later.as_bytes()].concat());
    assert!(run.notes.iter().any(|note| note.contains("may hold two runs")), "{:?}", run.notes);
}

#[test]
fn wrong_rows_are_left_out_and_the_first_is_named() {
    let text = "timeStamp,elapsed,label,success\n\
                1795157951005,10,a,true\n\
                1795157951006,-3,a,true\n\
                nonsense\n\
                \n\
                1795157951007,x,a,true\n\
                1795157951008,12,\"a,\nb\",true\n\
                1795157951009,13,\"a,true\n\
                1795157951010,14,a,false\n";
    let (run, requests) = import("jmeter-csv", text.as_bytes());
    assert_eq!((requests.len(), run.damage.rows_left_out, run.claims.failed), (3, 4, Some(1)));
    let (place, what) = run.damage.first.expect("a place");
    assert_eq!((place.byte, place.line, &what[..]), (56, 3, "'elapsed' is negative"));

    let lost = "timeStamp,elapsed,label\n1795157951005,\"10,a\n1795157951006,11,\"b\"\n1795157951007,12,\"c\n";
    let (run, requests) = import("jmeter-csv", lost.as_bytes());
    let durations: Vec<_> = requests.iter().map(|request| request.duration).collect();
    assert_eq!(durations, [Nanos(11_000_000), Nanos(12_000_000)]);
    assert_eq!(run.damage.rows_left_out, 1);
    assert_eq!(
        run.damage.first.map(|(place, what)| (place.line, what)),
        Some((2, "a quote in it is not closed".to_owned()))
    );
}

#[test]
fn sums_of_transactions_are_no_requests() {
    let text = "timeStamp,elapsed,label,responseCode,responseMessage,success\n\
                1795157951005,10,a,200,OK,true\n\
                1795157951005,22,all,200,\"Number of samples in transaction : 2, number of failing samples : 0\",true\n\
                1795157951015,12,b,200,OK,true\n";
    let (run, requests) = import("jmeter-csv", text.as_bytes());
    assert_eq!(requests.len(), 2);
    let note = "what was no exchange over the network is left out: 1 of transactions, whose requests count themselves";
    assert_eq!(run.notes, [note]);
}

#[test]
fn timestamps_that_are_ends_are_suspected() {
    let bytes = file(&format!("{CLOSED}/stall/samples.csv"));
    let text = String::from_utf8(bytes).expect("UTF-8");
    let ends: Vec<String> = text.lines().map(with_end).collect();
    let (run, _) = import("jmeter-csv", (ends.join("\n") + "\n").as_bytes());
    assert!(run.notes.iter().any(|note| note.contains("sampleresult.timestamp.start=false")), "{:?}", run.notes);
}

/// Returns a row as JMeter writes it if timestamps are ends.
fn with_end(row: &str) -> String {
    let mut fields = row.splitn(3, ',');
    let start = fields.next().unwrap();
    let elapsed = fields.next().unwrap();
    let rest = fields.next().unwrap();
    match (start.parse::<u64>(), elapsed.parse::<u64>()) {
        (Ok(start), Ok(elapsed)) => format!("{},{elapsed},{rest}", start + elapsed),
        _ => row.to_owned(),
    }
}

#[test]
fn what_comes_near_is_named() {
    let near = by_name("jmeter-csv").expect("a format").likeness(&Excerpt::new(b"timeStamp,Latency,label\n1,2,a\n"));
    assert_eq!(near, Likeness::Near("the column 'elapsed' is missing".to_owned()));
    let wrong = try_import("jmeter-csv", b"timeStamp,elapsed\nx,y\nz\n").expect_err("no row is right");
    assert_eq!(wrong.to_string(), "line 2: 'timeStamp' is not a number");
}
