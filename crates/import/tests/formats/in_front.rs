//! Files with something in front of their content, or with a damaged first line: every stored file of every format is
//! recognised and read all the same.

use std::collections::{BTreeMap, BTreeSet};

use truetail_import::{ImportOptions, all, read};
use truetail_run::{ForeignRequest, ForeignRun};

use crate::stored::results;
use crate::{file, recognised};

/// What shells, terminals and tools print before their output.
const BANNERS: [&str; 6] = [
    "$ ./load.sh --users 10\n",
    "+ ./load.sh\n\n\n",
    "2026-11-20T06:56:03Z INFO starting, see https://example.com/a,b;c|d\n[main] WARN {not: json}\n",
    "> load@1.0.0 start\n> node load.js\n\n[1] 4711\n",
    "{\"level\":\"info\",\"msg\":\"starting\"}\n",
    "time,message\n   \t\nStopping in 3 \"seconds\n",
];
/// Returns true for a file of a binary format.
fn is_binary(format: &str, bytes: &[u8]) -> bool {
    format == "vegeta-gob" || bytes.starts_with(b"\0")
}

fn read_all(bytes: &[u8]) -> (ForeignRun, Vec<ForeignRequest>) {
    let mut requests = Vec::new();
    let run = read(&mut &bytes[..], None, &ImportOptions::default(), &mut |request| requests.push(*request));
    (run.unwrap_or_else(|error| panic!("{error}")), requests)
}

/// Returns the smallest stored file of each format, of at least two if there are.
fn files() -> BTreeMap<&'static str, Vec<Vec<u8>>> {
    let mut files = BTreeMap::<_, Vec<Vec<u8>>>::new();
    for path in results() {
        let bytes = file(&path);
        let [format] = recognised(&bytes)[..] else { continue };
        let readable = read(&mut &bytes[..], None, &ImportOptions::default(), &mut |_| {}).is_ok();
        if !is_binary(format, &bytes) && readable {
            files.entry(format).or_default().push(bytes);
        }
    }
    files.values_mut().for_each(|files| {
        files.sort_by_key(Vec::len);
        files.truncate(2);
    });
    files
}

#[test]
fn what_is_in_front_of_the_content_does_not_matter() {
    for (format, files) in files() {
        for bytes in files {
            let (plain, requests) = read_all(&bytes);
            let crlf = String::from_utf8_lossy(&bytes).replace("\r\n", "\n").replace('\n', "\r\n").into_bytes();
            let changed = BANNERS.map(|banner| [banner.as_bytes(), &bytes].concat()).into_iter().chain([
                [b"\xef\xbb\xbf", &bytes[..]].concat(),
                [b"\n\r\n  \n", &bytes[..]].concat(),
                crlf,
            ]);
            for (index, bytes) in changed.enumerate() {
                assert_eq!(recognised(&bytes), [format], "change {index}");
                let (run, read) = read_all(&bytes);
                assert_eq!(read, requests, "{format}, change {index}");
                assert_eq!(run.claims.quantiles, plain.claims.quantiles, "{format}, change {index}");
                let in_front =
                    BANNERS.get(index).map_or(0, |text| text.lines().filter(|line| !line.trim().is_empty()).count());
                let left_out = (run.damage.rows_left_out - plain.damage.rows_left_out) as usize;
                assert!([0, in_front].contains(&left_out), "{format}, change {index}: {left_out} of {in_front}");
            }
        }
    }
}

/// Without a header, a damaged first row is one row less.
#[test]
fn text_in_front_of_a_binary_file_is_named_with_the_remedy() {
    let formats = results().into_iter().map(|path| file(&path)).filter_map(|bytes| match recognised(&bytes)[..] {
        [format] if is_binary(format, &bytes) => Some((format, bytes)),
        _ => None,
    });
    let mut seen = BTreeSet::new();
    for (format, bytes) in formats {
        seen.insert(format);
        for banner in BANNERS {
            let longer = [banner.as_bytes(), &bytes].concat();
            let options = ImportOptions::default();
            let error = read(&mut &longer[..], None, &options, &mut |_| {}).expect_err("text").to_string();
            let remedy = format!("remove it, for example with 'tail -c +{} FILE'", banner.len() + 1);
            assert!(error.contains(&format!("it is not {format}, because")) && error.contains(&remedy), "{error}");
        }
    }
    assert_eq!(seen, BTreeSet::from(["gatling-log", "vegeta-gob"]));
}

#[test]
fn a_damaged_first_row_is_passed_over_and_told() {
    for format in ["vegeta-csv", "vegeta-json", "k6-json", "access-json", "nginx-log", "h2load-log", "fortio-log"] {
        let files = &files()[format];
        let bytes = &files[0];
        let first = bytes.iter().position(|byte| *byte == b'\n').expect("a line");
        let damaged = [b"5,\"", &bytes[first / 2..]].concat();
        let (run, requests) = read_all(&damaged);
        assert_eq!(run.format, format);
        let (plain, whole) = read_all(bytes);
        let lost = whole.len() - requests.len();
        assert!(lost <= 1, "{format}");
        // Workers are numbered as they appear.
        let times = |requests: &[ForeignRequest]| -> Vec<_> {
            requests.iter().map(|request| (request.start_ns, request.duration, request.outcome)).collect()
        };
        assert_eq!(times(&requests), times(&whole[lost..]), "{format}");
        let (place, why) = run.damage.first.expect("the first line");
        assert!(why.starts_with("it is not like the lines behind it: '5,\""), "{format}: {why}");
        assert_eq!(run.damage.rows_left_out, plain.damage.rows_left_out + 1, "{format}");
        assert_eq!((place.line, run.claims.requests), (1, None), "{format}");
    }
}

#[test]
fn places_count_what_is_in_front() {
    let text = "RUN\tsim.A\ta\t1795157763037\t \t3.9.5\nREQUEST\t\tr\tx\ty\tOK\t \n\
                REQUEST\t\tr\t1795157763047\t1795157763057\tOK\t \n";
    let banner = "$ gatling\nwelcome\n";
    let (run, _) = read_all(format!("{banner}{text}").as_bytes());
    let place = run.damage.first.expect("a damaged row").0;
    let at = banner.len() + text.find("REQUEST").expect("a row");
    assert_eq!((place.line, place.byte), (4, at as u64));
    assert_eq!(run.notes, ["2 lines in front of the content were passed over, first '$ gatling'"]);
}

/// Keys may come after lists of any length.
#[test]
fn keys_are_found_at_the_end_of_a_long_document() {
    let numbers = vec!["0.25"; 60_000].join(",");
    let text = format!(
        "{{\"ttfts\":[{numbers}],\"completed\":1,\"num_prompts\":1,\"request_rate\":1,\"model_id\":\"m\",\"tokenizer_id\":\"m\"}}"
    );
    assert_eq!(recognised(text.as_bytes()), ["vllm"]);
}

#[test]
fn no_two_formats_claim_a_file() {
    for path in results() {
        let claims = recognised(&file(&path));
        assert!(claims.len() <= 1, "{path}: {claims:?}");
    }
    let without: Vec<_> = all().iter().map(|format| format.info().name).collect();
    let stored: Vec<_> = results().iter().flat_map(|path| recognised(&file(path))).collect();
    let missing: Vec<_> = without.into_iter().filter(|name| !stored.contains(name)).collect();
    assert!(missing.len() <= 5, "formats without a stored file: {missing:?}");
}
