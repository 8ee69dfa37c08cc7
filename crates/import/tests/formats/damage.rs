//! Files that were cut off, changed, or written in another encoding.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use truetail_import::{ImportOptions, all, read, recognise};

use crate::{file, import, try_import};

/// A file of each format, and whether each of its rows is a request.
const FILES: [(&str, &str, bool); 11] = [
    ("jmeter-csv", "tools/jmeter-thread-group/5.6.3/errors/samples.csv", true),
    ("k6-csv", "tools/k6-constant-arrival-rate/1.8.1/whole-seconds/samples.csv", false),
    ("k6-json", "import/k6/1.8.1/errors/samples-first-300-lines.json", false),
    ("vegeta-csv", "tools/vegeta/12.13.0/errors/results.csv", true),
    ("vegeta-json", "import/vegeta/12.13.0/errors/results-first-60-lines.json", true),
    ("hey-csv", "tools/hey/0.1.4/errors/samples.csv", true),
    ("ab-g", "tools/ab/2.3/stall/samples.tsv", true),
    ("locust-samples", "tools/locust/2.47.0/errors/samples.csv", true),
    ("nginx-log", "import/nginx/1.22.1/timed.log", true),
    ("nginx-log", "import/nginx/1.22.1/named.log", true),
    ("access-json", "import/nginx/1.22.1/access.json", true),
];
/// Formats that begin with the names of their columns.
const WITH_HEADER: [&str; 5] = ["jmeter-csv", "k6-csv", "hey-csv", "ab-g", "locust-samples"];

/// Returns the first rows of a file.
fn beginning(path: &str, rows: usize) -> Vec<u8> {
    let bytes = file(path);
    let end =
        bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(rows).map_or(bytes.len(), |(at, _)| at + 1);
    bytes[..end].to_vec()
}

fn rows(format: &str, bytes: &[u8]) -> u64 {
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).count() as u64;
    lines.saturating_sub(u64::from(WITH_HEADER.contains(&format)))
}

/// Reads a damaged file. Checks that the counts add up, and that only damaged requests are lost.
fn check(
    format: &str,
    every_row_is_a_request: bool,
    whole: &[u8],
    damaged: &[u8],
    hit: u64,
) -> Result<(), TestCaseError> {
    let before = try_import(format, whole).expect("a whole file").0.requests;
    let Ok((run, requests)) = try_import(format, damaged) else { return Ok(()) };
    prop_assert_eq!(run.requests, requests.len() as u64);
    prop_assert_eq!(run.damage.first.is_some(), run.damage.rows_left_out > 0);
    let there = rows(format, damaged);
    let counted = run.requests + run.damage.rows_left_out;
    prop_assert!(counted <= there + 1, "{counted} of {there}");
    let header_was_hit = run.notes.iter().any(|note| note.contains("no header"));
    if every_row_is_a_request && memchr::memchr(b'"', damaged).is_none() && !header_was_hit {
        prop_assert_eq!(counted, there);
    }
    let first = run.damage.first.map(|(place, _)| place).into_iter().chain(run.damage.truncated_at);
    for place in first {
        prop_assert!(place.byte < damaged.len() as u64);
        let breaks = damaged[..place.byte as usize].iter().filter(|byte| **byte == b'\n').count() as u64;
        prop_assert_eq!(place.line, breaks + 1);
    }
    prop_assert!(run.requests + hit >= before.min(there), "{} of {before} are left", run.requests);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn a_file_may_end_anywhere(which in 0..FILES.len(), at in 0.0..1.0) {
        let (format, path, every) = FILES[which];
        let whole = beginning(path, 60);
        let end = (whole.len() as f64 * at) as usize;
        let Ok((run, requests)) = try_import(format, &whole[..end]) else { return Ok(()) };
        let (_, all) = try_import(format, &whole).expect("a whole file");
        prop_assert_eq!(&requests[..], &all[..requests.len()], "what is read is what was there");
        check(format, every, &whole, &whole[..end], all.len() as u64)?;
        prop_assert!(run.damage.rows_left_out <= 1);
    }

    #[test]
    fn any_byte_may_be_another(which in 0..FILES.len(), at in 0.0..1.0, byte in any::<u8>()) {
        let (format, path, every) = FILES[which];
        let whole = beginning(path, 60);
        let mut damaged = whole.clone();
        damaged[(whole.len() as f64 * at) as usize] = byte;
        check(format, every, &whole, &damaged, 2)?;
    }

    #[test]
    fn any_bytes_may_be_missing_or_double(which in 0..FILES.len(), from in 0.0..1.0, length in 0usize..300, double: bool) {
        let (format, path, every) = FILES[which];
        let whole = beginning(path, 60);
        let from = (whole.len() as f64 * from) as usize;
        let to = (from + length).min(whole.len());
        let middle = if double { [&whole[from..to], &whole[from..to]].concat() } else { Vec::new() };
        let damaged = [&whole[..from], &middle, &whole[to..]].concat();
        let lines = whole[from..to].iter().filter(|byte| **byte == b'\n').count() as u64;
        check(format, every, &whole, &damaged, lines + 2)?;
    }

    #[test]
    fn a_damaged_stream_of_gob_is_read_up_to_there_at_least(at in 0.0..1.0, byte in any::<u8>(), cut: bool) {
        let mut damaged = file("import/vegeta/12.13.0/errors/results-first-12000-bytes.bin");
        let (_, whole) = try_import("vegeta-gob", &damaged).expect("results");
        let per_request = damaged.len() / whole.len();
        let at = (damaged.len() as f64 * at) as usize;
        damaged[at] = byte;
        if cut {
            damaged.truncate(at);
        }
        let Ok((run, requests)) = try_import("vegeta-gob", &damaged) else { return Ok(()) };
        let untouched = (at / (per_request + 20)).saturating_sub(3).min(whole.len());
        prop_assert_eq!(&requests[..untouched], &whole[..untouched]);
        prop_assert!(run.damage.truncated_at.is_none_or(|place| place.byte <= damaged.len() as u64));
    }

    #[test]
    fn any_bytes_are_read_or_refused_by_every_format(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        for format in all() {
            let mut requests = 0;
            let run = read(&mut &bytes[..], Some(*format), &ImportOptions::default(), &mut |_| requests += 1);
            prop_assert!(run.is_err() || requests as usize <= bytes.len());
        }
        let _ = recognise(&bytes);
    }
}

#[test]
fn the_mark_of_utf_8_is_passed_over() {
    for (format, path, _) in FILES {
        let whole = beginning(path, 30);
        let marked = [b"\xef\xbb\xbf", &whole[..]].concat();
        assert_eq!(import(format, &marked).1, import(format, &whole).1, "{format}");
    }
}

#[test]
fn windows_line_breaks_and_invalid_utf_8_do_no_harm() {
    for (format, path, _) in FILES {
        let whole = beginning(path, 30);
        let windows: Vec<u8> = whole
            .iter()
            .flat_map(|byte| if *byte == b'\n' { &b"\r\n"[..] } else { std::slice::from_ref(byte) }.to_vec())
            .collect();
        assert_eq!(import(format, &windows).1, import(format, &whole).1, "{format}");
    }
    let latin = b"timeStamp,elapsed,label,threadName\n1795157951005,10,caf\xe9,us\xe9r 1\n1795157951006,11,caf\xc3\xa9,us\xe9r 1\n";
    let (run, requests) = import("jmeter-csv", latin);
    assert_eq!((requests.len(), requests[1].worker, run.damage.rows_left_out), (2, Some(0), 0));
}

#[test]
fn utf_16_is_converted() {
    let text = "timeStamp,elapsed\n1795157951005,10\n";
    let bytes: Vec<u8> = "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    let mut requests = Vec::new();
    let run = read(&mut &bytes[..], None, &ImportOptions::default(), &mut |request| requests.push(*request))
        .expect("samples");
    assert_eq!(requests, import("jmeter-csv", text.as_bytes()).1);
    assert!(run.notes.iter().any(|note| note.contains("UTF-16")), "{:?}", run.notes);
    let error = recognise(&bytes).err().expect("it is UTF-16");
    assert!(error.looks_like.contains("UTF-16"), "{error}");
}

#[test]
fn compressed_files_are_unpacked_and_cut_ones_read_up_to_there() {
    let (format, path, _) = FILES[1];
    let whole = file(path);
    let mut packer = GzEncoder::new(Vec::new(), Compression::default());
    packer.write_all(&whole).expect("memory");
    let packed = packer.finish().expect("memory");
    let expected = import(format, &whole).1;
    let mut requests = Vec::new();
    let run = read(&mut &packed[..], None, &ImportOptions::default(), &mut |request| requests.push(*request))
        .expect("samples");
    assert_eq!((run.format, &requests), (format, &expected));

    requests.clear();
    let half = &packed[..packed.len() / 2];
    let run =
        read(&mut &half[..], None, &ImportOptions::default(), &mut |request| requests.push(*request)).expect("samples");
    assert!(!requests.is_empty() && requests.len() < expected.len());
    assert_eq!(requests, expected[..requests.len()]);
    assert!(
        run.damage.truncated_at.is_some() && run.notes.iter().any(|note| note.contains("cut off")),
        "{:?}",
        run.notes
    );
}

#[test]
fn what_is_no_file_of_results_is_described() {
    for (bytes, looks_like) in [
        (&b""[..], "the file is empty"),
        (b"a,b,c\n1,2,3\n", "it looks like a table of 3 columns: a, b, c"),
        (b"{\"a\":1}\n", "it looks like JSON"),
        (b"\x00\x01\x02", "it is a binary file"),
        (b"Hello there\n", "it looks like text that begins with 'Hello there'"),
    ] {
        let error = recognise(bytes).err().expect("no format");
        assert_eq!(error.looks_like, looks_like);
    }
    let error = recognise(b"timeStamp,Latency,label\n1,2,a\n").err().expect("no elapsed");
    let text = "it looks like a table of 3 columns: timeStamp, Latency, label; it is not jmeter-csv, because the column 'elapsed' \
                is missing";
    assert_eq!(error.to_string(), text);
}
