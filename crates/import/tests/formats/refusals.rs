//! Damaged files: the intact part is used, and the damage is reported with its place.

use truetail_import::{Excerpt, ImportOptions, Likeness, all};

use crate::{file, format, try_import};

/// Returns the error of an unusable file.
fn refused(name: &str, bytes: &[u8]) -> String {
    try_import(name, bytes).expect_err("no use").to_string()
}

#[test]
fn json_that_was_cut_off_says_at_which_byte_and_line() {
    let bytes = file("import/fortio/1.68.2/stall.json");
    let error = refused("fortio-json", &bytes[..1_000]);
    assert!(error.contains("at byte 1000; the file was cut off"), "{error}");
    let lines = 1 + bytes[..1_000].iter().filter(|byte| **byte == b'\n').count();
    assert!(error.starts_with(&format!("line {lines}: EOF while parsing")), "{error}");
}

#[test]
fn json_of_another_tool_is_refused_by_name() {
    let error = refused("fortio-json", &file("tools/autocannon/9.0.0/stall/closed.json"));
    assert_eq!(error, "line 1: this does not begin like the result of 'fortio load -json'");
}

#[test]
fn a_text_in_utf_16_is_refused_with_what_to_do() {
    let bytes: Vec<u8> = "\u{feff}Running".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let read = format("wrk").read(&mut &bytes[..], &ImportOptions::default(), &mut |_| {});
    let error = read.expect_err("UTF-16").to_string();
    assert!(error.contains("it is in UTF-16; convert it with 'iconv -f UTF-16 -t UTF-8'"), "{error}");
}

#[test]
fn the_mark_of_utf_8_does_no_harm() {
    let marked = [b"\xef\xbb\xbf", &file("tools/oha/1.16.0/errors/corrected.json")[..]].concat();
    assert_eq!(try_import("oha-json", &marked).expect("a result").0.claims.measured, Some(560));
}

#[test]
fn a_truncated_wrk_report_is_refused_at_its_end() {
    let bytes = file("tools/wrk/4.1.0/stall/stdout.txt");
    let error = refused("wrk", &bytes[..bytes.len() - 10]);
    let expected = "the report stops before its last line; it was cut off (this importer was tested with wrk 4.1.0)";
    assert!(error.starts_with("line 11") && error.ends_with(expected), "{error}");
}

#[test]
fn rows_of_h2load_are_left_out_and_counted() {
    let whole = String::from_utf8(file("tools/h2load/1.52.0/errors/samples.tsv")).expect("text");
    let mut lines: Vec<&str> = whole.lines().collect();
    lines[3] = "1795157902644294\t200\t-5";
    lines[8] = "what is this";
    let damaged = lines.join("\n");
    let (run, requests) = try_import("h2load-log", damaged.as_bytes()).expect("a log");
    assert_eq!(requests.len(), 67, "two rows make no sense, and the last has no end");
    let damage = run.damage;
    let (place, why) = damage.first.expect("the first");
    assert_eq!((damage.rows_left_out, place.line), (2, 4));
    assert_eq!(place.byte as usize, lines[..3].iter().map(|line| line.len() + 1).sum::<usize>());
    assert_eq!(why, "not a start, a status and a time in microseconds");
    assert_eq!(damage.truncated_at.map(|place| place.line), Some(70));
}

#[test]
fn xml_that_was_cut_off_is_used_up_to_there() {
    let bytes = file("import/jmeter/5.6.3/errors.xml");
    let text = String::from_utf8(bytes.clone()).expect("text");
    let tenth = text.match_indices("<httpSample").nth(10).expect("an eleventh sample").0;
    // Within the eleventh sample.
    let (run, requests) = try_import("jmeter-xml", &bytes[..tenth + 40]).expect("a beginning");
    assert_eq!(requests.len(), 10);
    assert_eq!(run.damage.truncated_at.map(|place| place.byte), Some(tenth as u64));
    let (line, why) = run.damage.first.map(|(place, why)| (place.line, why)).expect("what is wrong");
    assert_eq!(line, 1 + text[..tenth].matches('\n').count() as u64);
    assert!(why.contains(&format!("from byte {tenth} on this is no XML")), "{why}");
    // Between two samples: only the end of the root is missing.
    let (run, requests) = try_import("jmeter-xml", &bytes[..tenth]).expect("a beginning");
    assert_eq!((requests.len(), run.damage.rows_left_out), (10, 0));
    assert_eq!(run.damage.truncated_at.map(|place| place.byte), Some(tenth as u64));
}

#[test]
fn samples_of_xml_without_a_time_are_left_out() {
    let xml = r#"<testResults version="1.2">
<httpSample t="5" ts="1000" s="true" rc="200" tn="a"/>
<httpSample t="-5" ts="1000" s="true" rc="200" tn="a"/>
<sample t="7" ts="1001" s="true" rc="" tn="b"><httpSample t="6" ts="1001" s="true" rc="200" tn="b"/></sample>
<httpSample t="8" s="true" rc="200" tn="a"/>
</testResults>
"#;
    let (run, requests) = try_import("jmeter-xml", xml.as_bytes()).expect("samples");
    let workers: Vec<_> = requests.iter().map(|request| (request.duration.0 / 1_000_000, request.worker)).collect();
    assert_eq!(workers, [(5, Some(0)), (7, Some(1))]);
    let (place, why) = run.damage.first.expect("the first");
    assert_eq!((run.damage.rows_left_out, place.line), (2, 3));
    assert_eq!(why, "the attribute 't' is missing, negative or not a number");
    assert_eq!(run.notes, ["samples that are parts of others and were not read: 1"]);
}

#[test]
fn logs_of_gatling_are_used_as_far_as_they_are_whole() {
    let bytes = file("tools/gatling/3.15.1/stall/simulation.log");
    let whole = try_import("gatling-log", &bytes).expect("a log").1;
    let (run, requests) = try_import("gatling-log", &bytes[..bytes.len() - 3]).expect("a beginning");
    assert!(requests.len() >= whole.len() - 1 && run.damage.truncated_at.is_some(), "{:?}", run.damage);
    assert_eq!(requests, whole[..requests.len()]);
    assert_eq!(run.damage.truncated_at.map(|place| place.line), Some(0), "a binary file has no lines");
    let error = refused("gatling-log", &bytes[..30]);
    assert!(error.starts_with("byte ") && error.ends_with("the log ends within a record; it was cut off"), "{error}");
    let text = String::from_utf8(file("tools/gatling/3.11.5/stall/simulation.log")).expect("text");
    let row = text.lines().position(|line| line.starts_with("REQUEST")).expect("a request");
    let damaged: Vec<String> = text
        .lines()
        .enumerate()
        .map(|(i, line)| if i == row { line.replace("OK", "?") } else { line.to_owned() })
        .collect();
    let (run, requests) = try_import("gatling-log", damaged.join("\n").as_bytes()).expect("a log");
    let place = run.damage.first.expect("the first").0;
    assert_eq!((run.damage.rows_left_out, place.line), (1, row as u64 + 1));
    assert_eq!(run.damage.truncated_at.map(|place| place.line), Some(text.lines().count() as u64));
    assert!((598..=599).contains(&requests.len()), "the row and, if it was a request, the last line");
}

#[test]
fn rows_of_locust_with_too_few_cells_are_left_out() {
    let text = String::from_utf8(file("import/locust/2.47.0/stall/stats_history.csv")).expect("text");
    let cut = &text[..text.len() - 30];
    let (run, _) = try_import("locust-history", cut.as_bytes()).expect("a table");
    assert_eq!(run.claims.requests, Some(305), "that of the last row that is whole");
    assert_eq!(run.damage.rows_left_out, 1);
    assert_eq!(run.damage.truncated_at.map(|place| place.line), Some(text.lines().count() as u64));
    let header = text.lines().next().expect("a header");
    let error = refused("locust-history", header.as_bytes());
    assert_eq!(error, "line 1: no row 'Aggregated' in this table of 0 rows");
}

#[test]
fn what_comes_near_says_what_is_missing() {
    let near = |name: &str, head: &[u8]| match format(name).likeness(&Excerpt::new(head)) {
        Likeness::Near(why) => why,
        other => panic!("{name}: {other:?}"),
    };
    let whole = file("tools/wrk2/4.0.0/stall/stdout.txt");
    assert_eq!(near("wrk", &whole), "it has lines that only wrk2 prints");
    assert_eq!(near("oha-csv", b"request-start,DNS\n1,2\n"), "the column 'request-duration' is missing");
    assert_eq!(near("har", br#"{"log":{"entries":[]}}"#), "the key 'startedDateTime' is missing");
    assert_eq!(near("locust-stats", b"Type,Name,Request Count\n"), "the column 'Failure Count' is missing");
}

#[test]
fn nothing_is_no_format_and_no_format_is_two() {
    for head in [&b""[..], b"\n", b"{}", b"[]", b"a,b\n1,2\n", b"\0\0\0\0"] {
        let found: Vec<_> =
            all().iter().filter(|format| format.likeness(&Excerpt::new(head)) == Likeness::Yes).collect();
        assert!(found.is_empty(), "{:?}", found.iter().map(|format| format.info().name).collect::<Vec<_>>());
    }
    let mut names: Vec<_> = all().iter().map(|format| format.info().name).collect();
    names.sort_unstable();
    assert!(names.windows(2).all(|two| two[0] != two[1]), "{names:?}");
}

#[test]
fn rows_of_oha_are_left_out_and_counted() {
    let whole = String::from_utf8(file("tools/oha/1.16.0/errors/samples.csv")).expect("text");
    let mut lines: Vec<&str> = whole.lines().collect();
    lines[5] = "0.1,0,0,0,-0.01,3,200";
    let (run, requests) = try_import("oha-csv", lines.join("\n").as_bytes()).expect("rows");
    assert_eq!((requests.len(), run.damage.rows_left_out), (558, 2), "the last one has no end");
    assert_eq!(run.damage.first.map(|(place, _)| place.line), Some(6));
    assert_eq!(run.damage.truncated_at.map(|place| place.line), Some(561));
}
