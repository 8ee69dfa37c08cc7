//! Folders with impossible values: each is refused with one line, before anything is computed from it.

use std::fs;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer, V2Serializer};
use serde_json::{Value, json};
use std::io::Write;
use tempfile::TempDir;
use truetail_model::record::{RecorderOptions, Samples, SamplesOptions};
use truetail_run::{Facts, MergeError, folder, merge};

use crate::broken::{complaint, failure};
use crate::support::{run, saved, steady, two_runs};

/// Returns a field of a log: a histogram with `count` times this value.
fn payload(value: u64, count: u64) -> String {
    let mut histogram = Histogram::<u64>::new_with_bounds(1, 3_600_000_000_000, 3).unwrap();
    histogram.record_n(value, count).unwrap();
    let mut bytes = Vec::new();
    V2DeflateSerializer::new().serialize(&histogram, &mut bytes).unwrap();
    STANDARD.encode(bytes)
}

/// Returns a field of a log: these bytes, deflated.
fn deflated(bytes: &[u8]) -> String {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    let deflated = encoder.finish().unwrap();
    let head = [0x1c84_9314_u32.to_be_bytes(), (deflated.len() as u32).to_be_bytes()].concat();
    STANDARD.encode([head, deflated].concat())
}

fn log_line(tag: &str, payload: &str) -> String {
    format!("Tag={tag},0.000,1.000,0.0,{payload}\n")
}

fn in_json(change: impl Fn(&mut Value)) -> impl Fn(String) -> String {
    move |text| {
        let mut file: Value = serde_json::from_str(&text).unwrap();
        change(&mut file);
        serde_json::to_string_pretty(&file).unwrap()
    }
}

fn set(place: &'static str, value: Value) -> impl Fn(&mut Value) {
    move |file| *file.pointer_mut(place).unwrap_or_else(|| panic!("{place}")) = value.clone()
}

/// Returns the folder of a run that kept only some of its requests.
pub fn sampled() -> TempDir {
    let samples = SamplesOptions { capacity: 100, slowest: 10 };
    let run = run(RecorderOptions { samples, ..RecorderOptions::default() }, &steady(2));
    saved(&run)
}

fn edit(folder: &Path, name: &str, change: impl FnOnce(String) -> String) {
    let path = folder.join(name);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(path, change(text)).unwrap();
}

#[test]
fn error_status_times_outside_the_response_times_are_refused() {
    let folder = sampled();
    let slower_than_all = payload(3_000_000_000_000, 4);
    edit(folder.path(), folder::HISTOGRAMS, |text| {
        let is_other = |line: &&str| !line.starts_with("Tag=error_status_time,");
        let others: String = text.split_inclusive('\n').filter(is_other).collect();
        others + &log_line("error_status_time", &slower_than_all)
    });
    edit(
        folder.path(),
        folder::RUN,
        in_json(|file| {
            let ns = 3_000_000_000_000_u64;
            // Buckets of the log can hold this value.
            file["recorded"]["exact"]["error_status_time"] =
                json!({"count": 4, "sum_ns": ns * 4, "min_ns": ns, "max_ns": ns});
        }),
    );
    let error = failure(folder.path()).to_string();
    assert!(
        error.contains("histograms.hlog: its tag error_status_time holds values that response_time does not"),
        "{error}"
    );
}

/// The effect of each event is computed from all requests, so a hundred thousand would take days.
#[test]
fn more_marks_than_a_run_has_and_marks_out_of_order_are_refused() {
    let folder = sampled();
    let marks = |at: &[u64]| {
        let mark = |at_ns: &u64| json!({"name": "true", "at_ns": at_ns, "state": "cannot_tell", "requests": 0, "message": "m"});
        let marks: Vec<Value> = at.iter().map(mark).collect();
        edit(folder.path(), folder::RUN, in_json(|file| file["marks"] = json!(marks)));
        failure(folder.path()).to_string()
    };
    let many = marks(&vec![1; 100_000]);
    assert!(many.contains("run.json: marks: 100000 commands, and a run starts at most 32"), "{many}");
    let unordered = marks(&[2, 1]);
    assert!(unordered.contains("run.json: marks: the commands are not in the order"), "{unordered}");
}

#[test]
fn counts_of_seconds_that_add_up_to_too_many_are_refused() {
    for (column, name) in [(1, "planned"), (2, "sent"), (3, "completed"), (4, "failed")] {
        let complaint = complaint(folder::TIMELINE, |text| {
            let row = |(number, line): (usize, &str)| {
                let mut fields: Vec<String> = line.split(',').map(str::to_owned).collect();
                if number > 0 {
                    fields[column] = (u64::MAX / 2 + 1).to_string();
                }
                fields.join(",") + "\n"
            };
            text.lines().enumerate().map(row).collect()
        });
        assert!(
            complaint.starts_with(&format!("timeline.csv, line 2: up to this line {name} adds up to")),
            "{complaint}"
        );
    }
    let complaint = complaint(folder::TIMELINE, |text| {
        let row = |line: &str| {
            let mut fields: Vec<&str> = line.split(',').collect();
            if fields[0] == "1" {
                fields[5] = "123456";
            }
            fields.join(",") + "\n"
        };
        text.lines().map(row).collect()
    });
    assert!(complaint.contains("timeline.csv, line 3: error_status is 123456, but completed only"), "{complaint}");
}

#[test]
fn lines_of_a_log_that_add_up_to_too_many_are_refused() {
    let many = payload(1_000, (1 << 62) - 1);
    for tag in ["response_time", "response_time@1", "of_a_later_version"] {
        let complaint = complaint(folder::HISTOGRAMS, |text| {
            text + &log_line(tag, &payload(1_000, 1)) + &log_line(tag, &many).repeat(5)
        });
        assert!(
            complaint.starts_with("histograms.hlog, line ") && complaint.contains(&format!(", {tag} has 4611686")),
            "{complaint}"
        );
    }
}

/// Found by reading: the deserializer reserved as much memory as the line asked for.
#[test]
fn a_log_line_cannot_reserve_more_than_a_histogram() {
    let mut histogram = Vec::new();
    V2Serializer::new().serialize(&Histogram::<u64>::new_with_bounds(1, 1 << 40, 3).unwrap(), &mut histogram).unwrap();
    let mut greedy = histogram.clone();
    greedy[4..8].copy_from_slice(&u32::MAX.to_be_bytes());
    let counts = histogram.len() - 40;
    for (bytes, says) in [
        (greedy, format!("it says that 4294967295 bytes of counts follow, but {counts} do")),
        (vec![0; 1 << 24], "it is longer than 524288 bytes, which no histogram of a run is".to_owned()),
        (vec![0; 3], "it says that 0 bytes of counts follow".to_owned()),
    ] {
        let complaint = complaint(folder::HISTOGRAMS, |text| text + &log_line("x", &deflated(&bytes)));
        assert!(complaint.contains("the histogram cannot be decoded: ") && complaint.contains(&says), "{complaint}");
    }
    let complaint = complaint(folder::HISTOGRAMS, |text| text + &log_line("x", &STANDARD.encode(&histogram)));
    assert!(complaint.contains("it is no deflated histogram of version 2"), "{complaint}");
}

#[test]
fn a_distribution_of_a_later_version_is_passed_over() {
    let folder = sampled();
    edit(folder.path(), folder::HISTOGRAMS, |text| text + &log_line("of_a_later_version", &payload(1_000, 3)));
    let unnamed = failure(folder.path()).to_string();
    assert!(unnamed.contains("recorded.exact.of_a_later_version in run.json is null"), "{unnamed}");
    edit(
        folder.path(),
        folder::RUN,
        in_json(|file| {
            file["recorded"]["exact"]["of_a_later_version"] =
                json!({"count": 3, "sum_ns": 3_000, "min_ns": 1_000, "max_ns": 1_000});
        }),
    );
    assert_eq!(folder::load(folder.path()).unwrap().run.snapshot.tally.planned, 2000);
}

#[test]
fn a_run_file_that_no_run_writes_is_refused() {
    let pauses = vec![json!({"worker": 0, "at_ns": 1, "length_ns": 1}); 101];
    for (place, value, says) in [
        ("/statuses/200", json!(1), "its statuses add up to 5, but its tally says that 1992 arrivals were answered"),
        ("/statuses/200", json!(u64::MAX), "its statuses add up to 18446744073709551619, but its tally"),
        ("/statuses", json!({"0": 5}), "its statuses add up to 5, but its tally"),
        ("/causes", json!({"reset_by_peer": 3}), "its causes add up to 3, but its tally says that 4 arrivals failed"),
        ("/by_target/0/statuses/200", json!(0), "its by_target[0].statuses add up to 4, but"),
        ("/by_target/0/tally/planned", json!(0), "its by_target[0].tally does not balance"),
        (
            "/elapsed_ns",
            json!(u64::MAX),
            "its elapsed_ns is 18446744073709551615, but no run is longer than 1152921504606846976 ns",
        ),
        ("/recorded/measure_from_ns", json!(u64::MAX), "its recorded.measure_from_ns is 18446744073709551615"),
        ("/recorded/last_end_ns", json!(u64::MAX), "its recorded.last_end_ns is 18446744073709551615"),
        (
            "/recorded/samples/seen",
            json!(2001),
            "its recorded.samples.seen is 2001, but only 2000 arrivals were planned",
        ),
        ("/recorded/timeline/sent", json!(2001), "its recorded.timeline.sent is 2001, but only 2000"),
        (
            "/recorded/exact/start_delay/count",
            json!(1999),
            "2000 arrivals were issued, but recorded.exact.start_delay counts 1999",
        ),
        (
            "/recorded/exact/connect_time/count",
            json!(2009),
            "2000 arrivals were issued, but recorded.exact.connect_time counts 2009",
        ),
        ("/recorded/exact/response_time/max_ns", json!(u64::MAX), "its recorded.exact.response_time.max_ns is 1844"),
        ("/recorded/exact/response_time@1/count", json!(u64::MAX), "its recorded.exact.response_time@1 counts 1844"),
        ("/generator/pauses", json!(pauses), "its generator.pauses lists 101 pauses, but a run keeps the 100 longest"),
        ("/generator/pauses/0/at_ns", json!(u64::MAX), "its generator.pauses[0].at_ns is 18446744073709551615, but"),
        ("/generator/cpu/system_ns", json!(u64::MAX), "its generator.cpu.system_ns is 18446744073709551615"),
        ("/generator/stray_answers", json!(u64::MAX), "its generator.stray_answers is 18446744073709551615"),
        ("/bytes_in", json!(u64::MAX), "its bytes_in is 18446744073709551615"),
        ("/checks/0/failed", json!(u64::MAX), "its checks[0].failed is 18446744073709551615"),
        ("/generator/clock_reading_ns", json!(u64::MAX), "its generator.clock_reading_ns is 18446744073709551615"),
    ] {
        let complaint = complaint(folder::RUN, in_json(set(place, value)));
        assert!(complaint.starts_with("run.json: ") && complaint.contains(says), "{place}: {complaint}");
    }
}

#[test]
fn a_sum_that_the_buckets_rule_out_is_found_out() {
    for sum in [1_u64, u64::MAX] {
        let complaint = complaint(folder::RUN, in_json(set("/recorded/exact/service_time/sum_ns", json!(sum))));
        assert!(
            complaint.starts_with("histograms.hlog: it contains ") && complaint.contains("recorded.exact.service_time"),
            "{complaint}"
        );
    }
}

#[test]
fn requests_that_no_run_has_are_refused() {
    let in_line_3 = |column: usize, value: &'static str| {
        move |text: String| {
            let row = |(number, line): (usize, &str)| {
                let mut fields: Vec<&str> = line.split(',').collect();
                if number == 2 {
                    fields[column] = value;
                }
                fields.join(",") + "\n"
            };
            text.lines().enumerate().map(row).collect::<String>()
        }
    };
    for (column, name) in
        [(2, "intended_start_ns"), (3, "actual_start_ns"), (4, "end_ns"), (10, "read_lag_ns"), (15, "knock_on_ns")]
    {
        let complaint = complaint(folder::SAMPLES, in_line_3(column, "18446744073709551615"));
        let says = format!("samples.csv, line 3: {name} is 18446744073709551615, but no run is longer than");
        assert!(complaint.starts_with(&says), "{complaint}");
    }
    let complaint_about_bytes = complaint(folder::SAMPLES, in_line_3(14, "18446744073709551615"));
    assert!(
        complaint_about_bytes.contains("line 3: up to this line bytes_in adds up to more"),
        "{complaint_about_bytes}"
    );
    // A timeout in place of an answer.
    let changed = complaint(folder::SAMPLES, |text| text.replacen("response,200,", "timed_out,,", 1));
    assert!(changed.contains("its requests have other outcomes than the tally in run.json counts"), "{changed}");
}

#[test]
fn runs_that_are_too_many_together_are_not_merged() {
    let mut parts = two_runs();
    parts.iter_mut().for_each(|part| part.snapshot.tally.planned = 1 << 48);
    let error = merge(parts.into()).unwrap_err();
    assert_eq!(error, MergeError::TooMany { planned: 1 << 49 });
    assert!(error.to_string().contains("together they plan 562949953421312 arrivals"), "{error}");
}

/// The sum saturates, and is refused before anything is added to it.
#[test]
fn numbers_that_are_too_large_together_are_not_merged() {
    type Enlarge = fn(&mut Facts);
    let enlarged: [(&str, Enlarge); 4] = [
        ("generator.paused_ns is 1152921504606846978", |facts| {
            facts.generator.as_mut().unwrap().paused_ns = (1 << 59) + 1;
        }),
        ("generator.cpu.user_ns is 18446744073709551615", |facts| {
            facts.generator.as_mut().unwrap().cpu.user_ns = u64::MAX;
        }),
        ("bytes_in is 2305843009213693952", |facts| facts.bytes_in = 1 << 60),
        ("checks[0].passed is 18446744073709551615", |facts| facts.checks[0].passed = u64::MAX),
    ];
    for (says, enlarge) in enlarged {
        let mut parts = two_runs();
        parts.iter_mut().for_each(|part| enlarge(&mut part.facts));
        let error = merge(parts.into()).unwrap_err().to_string();
        let whole =
            format!("these runs cannot be merged: together their {says}, but no run has more than 1152921504606846976");
        assert_eq!(error, whole);
    }
}

#[test]
fn answers_that_are_too_large_together_are_not_merged() {
    let parts = two_runs().map(|mut part| {
        let samples = &part.snapshot.samples;
        let mut records = samples.even().to_vec();
        records[0].bytes_in = 1 << 60;
        part.snapshot.samples = Samples::from_parts(samples.options(), records, 1, &[], samples.offered());
        part
    });
    let error = merge(parts.into()).unwrap_err();
    assert!(matches!(error, MergeError::TooManyBytes { bytes } if bytes >= 1 << 61), "{error:?}");
    assert!(
        error.to_string().starts_with("these runs cannot be merged: together their answers have 2305843009213"),
        "{error}"
    );
}
