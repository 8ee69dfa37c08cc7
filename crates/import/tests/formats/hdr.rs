//! HdrHistogram's formats: the log as HdrHistogram's crate writes it, and the text with the figures that it states.

use std::time::{Duration, UNIX_EPOCH};

use hdrhistogram::Histogram;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};
use hdrhistogram::serialization::{V2DeflateSerializer, V2Serializer};
use truetail_import::ImportOptions;
use truetail_run::LatencyFrom;

use crate::{file, format, recognised, try_import};

/// The values of an interval, in milliseconds.
fn histogram(digits: u8, millis: impl IntoIterator<Item = u64>) -> Histogram<u64> {
    let mut histogram = Histogram::new_with_bounds(1, 3_600_000_000_000, digits).expect("bounds");
    millis.into_iter().for_each(|ms| histogram.record(ms * 1_000_000).expect("within its bounds"));
    histogram
}

/// A log of two intervals for each tag.
fn log(digits: u8, tags: &[Option<&str>]) -> Vec<u8> {
    let mut log = Vec::new();
    let mut serializer = V2DeflateSerializer::new();
    let mut head = IntervalLogWriterBuilder::new();
    head.add_comment("[Histogram log format version 1.3]").with_start_time(UNIX_EPOCH);
    let mut writer = head.begin_log_with(&mut log, &mut serializer).expect("a log");
    for second in 0..2 {
        for tag in tags {
            let values = histogram(digits, (1..=100).map(|ms| ms + second * 1_000));
            let start = Duration::from_secs(second);
            writer.write_histogram(&values, start, Duration::from_secs(1), tag.and_then(Tag::new)).expect("a line");
        }
    }
    log
}

#[test]
fn a_log_is_the_sum_of_its_intervals() {
    for digits in [2, 3, 4] {
        let bytes = log(digits, &[None]);
        assert_eq!(recognised(&bytes), ["hlog"]);
        let run = try_import("hlog", &bytes).expect("a log").0;
        let histogram = run.histogram.expect("a histogram");
        assert_eq!((histogram.count(), run.claims.measured), (200, Some(200)));
        let within = |ns: u64, ms: u64| ns.abs_diff(ms * 1_000_000) <= ms * 1_000_000 / 100 + 1;
        assert!(within(histogram.quantile(0.5).expect("values").0, 100), "{digits}");
        assert!(within(histogram.max().expect("values").0, 1_100), "{digits}");
        assert_eq!(run.claims.latency_from, LatencyFrom::Send);
    }
}

#[test]
fn of_several_tags_the_response_times_are_read() {
    let run = try_import("hlog", &log(3, &[Some("service_time"), Some("response_time")])).expect("a log").0;
    assert_eq!((run.claims.measured, run.claims.latency_from), (Some(200), LatencyFrom::Intended));
    assert!(run.notes.iter().any(|note| note.contains("'response_time' was read; the others are 'service_time'")));
    assert!(run.notes.iter().all(|note| !note.contains("unit")), "truetail's own unit is known");
    let run = try_import("hlog", &log(3, &[Some("failed"), Some("response_time")])).expect("a log").0;
    assert!(run.notes.iter().any(|note| note.ends_with("slower than all of these: 200")), "{:?}", run.notes);
    let run = try_import("hlog", &log(3, &[Some("a"), None])).expect("a log").0;
    assert!(run.notes.iter().any(|note| note.contains("the others are 'a'")), "{:?}", run.notes);
}

#[test]
fn a_line_that_was_cut_off_is_left_out() {
    let bytes = log(3, &[None]);
    let run = try_import("hlog", &bytes[..bytes.len() - 5]).expect("a beginning").0;
    assert_eq!(run.claims.measured, Some(100));
    assert!(run.damage.truncated_at.is_some());
}

#[test]
fn a_line_whose_histogram_is_damaged_is_left_out_and_told() {
    let text = String::from_utf8(log(3, &[None])).expect("text");
    let last = text.trim_end().rfind('\n').expect("lines") + 1;
    let (before, line) = text.split_at(last);
    let cells: Vec<_> = line.trim_end().split(',').collect();
    for (payload, what) in [
        ("####", "not valid base64"),
        ("HISTEw==", "says that it has 0 bytes of counts"),
        ("HISTIQAAAAA=", "versions 0 and 1 are not read"),
        (&cells[3][..40], ""),
    ] {
        let damaged = format!("{before}{},{},{},{payload}\n", cells[0], cells[1], cells[2]);
        let run = try_import("hlog", damaged.as_bytes()).expect("the first line").0;
        assert_eq!((run.claims.measured, run.damage.rows_left_out), (Some(100), 1), "{payload}");
        let (place, why) = run.damage.first.expect("what is wrong");
        assert!(why.contains(what) && place.byte == last as u64, "{why}");
    }
}

#[test]
fn a_histogram_that_claims_more_memory_than_it_fills_is_refused() {
    use base64::Engine;
    use hdrhistogram::serialization::Serializer;
    let mut bytes = Vec::new();
    V2Serializer::new().serialize(&histogram(3, [1]), &mut bytes).expect("bytes");
    bytes[4..8].copy_from_slice(&u32::MAX.to_be_bytes());
    let payload = base64::engine::general_purpose::STANDARD.encode(&bytes);
    let log = format!("#[Histogram log format version 1.3]\n0.0,1.0,1.0,{payload}\n");
    let error = try_import("hlog", log.as_bytes()).expect_err("nothing to use").to_string();
    assert!(error.starts_with("line 2: the histogram says that it has 4294967295 bytes"), "{error}");
}

#[test]
fn the_text_has_the_counts_that_its_last_line_states() {
    let bytes = file("import/hyperfoil/0.25.2/stall.hgrm");
    let run = try_import("hgrm", &bytes).expect("a distribution").0;
    let histogram = run.histogram.expect("a histogram");
    assert_eq!((histogram.count(), run.claims.measured), (626, Some(626)));
    let text = String::from_utf8(bytes).expect("text");
    let damaged = text.replacen("107           1.11", "1.1 what", 1);
    let run = try_import("hgrm", damaged.as_bytes()).expect("a distribution").0;
    assert_eq!(run.damage.first.map(|(place, _)| place.line), Some(4));
    let falling = text.replacen("       154 ", "        15 ", 1);
    let run = try_import("hgrm", falling.as_bytes()).expect("a distribution").0;
    assert_eq!(
        run.damage.first.map(|(place, why)| (place.line, why)),
        Some((5, "less than in the line before".to_owned()))
    );
}

#[test]
fn our_own_text_is_read_back() {
    let text = "       Value     Percentile TotalCount 1/(1-Percentile)\n\n       1.500 0.000000000000         10           1.00\n       \
                2.500 1.000000000000         20\n#[Mean    =        2.000, StdDeviation   =        0.500]\n#[Max     =        2.500, \
                Total count    =           25]\n#[Unanswered = 5 of 25 arrivals, which are slower than every value above]\n";
    let run = try_import("hgrm", text.as_bytes()).expect("a distribution").0;
    assert_eq!((run.claims.measured, run.histogram.map(|histogram| histogram.count())), (Some(25), Some(20)));
    assert_eq!(run.claims.mean_ns, Some(2_000_000));
    assert!(run.damage.first.is_none() && run.damage.truncated_at.is_none());
}

#[test]
fn the_unit_that_the_user_says_counts() {
    let in_unit =
        |unit: &str| ImportOptions { units: vec![("duration".to_owned(), unit.to_owned())], ..Default::default() };
    let max = |name: &str, bytes: &[u8], options: &ImportOptions| {
        let mut input = bytes;
        let run = format(name).read(&mut input, options, &mut |_| {});
        run.map(|run| (run.claims.max_ns, run.notes.iter().filter(|note| note.contains("unit")).count()))
    };
    let bytes = file("import/hyperfoil/0.25.2/stall.hgrm");
    assert_eq!(max("hgrm", &bytes, &ImportOptions::default()).expect("ms"), (Some(973_080_000), 1));
    assert_eq!(max("hgrm", &bytes, &in_unit("us")).expect("us"), (Some(973_080), 0));
    let (ns, notes) = max("hlog", &log(3, &[None]), &in_unit("us")).expect("a log");
    assert!(ns.is_some_and(|ns| ns >= 1_000_000_000_000) && notes == 0, "{ns:?}");
    let error = max("hlog", &bytes, &in_unit("days")).expect_err("no unit").to_string();
    assert_eq!(error, "the unit of 'duration' must be ns, us, ms or s, not 'days'");
}
