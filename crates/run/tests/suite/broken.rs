//! Folders that cannot be written or read: each gives one clear error line.

use std::fs;
use std::path::Path;

use crate::impossible::sampled;
use crate::support::{findings, run, saved, steady};
use proptest::prelude::*;
use tempfile::{TempDir, tempdir};
use truetail_model::record::RecorderOptions;
use truetail_run::folder::{self, LoadError, SaveError};

fn save(folder: &Path) -> Result<(), SaveError> {
    let run = run(RecorderOptions::default(), &steady(2));
    folder::save(folder, &run, &findings(&run))
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_new_folder_holds_the_files_of_a_run_and_nothing_else() {
    let parent = tempdir().unwrap();
    let folder = parent.path().join("runs/today");
    folder::check_writable(&folder).unwrap();
    assert_eq!(names(&folder), [""; 0]);
    save(&folder).unwrap();
    assert_eq!(
        names(&folder),
        [
            folder::FAILED_ANSWERS,
            folder::HISTOGRAMS,
            folder::RUN,
            folder::SAMPLES,
            folder::SCRAPES,
            folder::SERVER_TIMING,
            folder::TIMELINE
        ]
    );
}

#[test]
fn a_run_is_replaced_and_foreign_files_stay() {
    let folder = tempdir().unwrap();
    save(folder.path()).unwrap();
    fs::write(folder.path().join(folder::REPORT), "of the old run").unwrap();
    fs::write(folder.path().join("notes.txt"), "mine").unwrap();
    fs::write(folder.path().join(".run.json.partial-1"), "{").unwrap();
    let mut other = run(RecorderOptions::default(), &steady(1));
    other.facts.failed_answers.clear();
    folder::save(folder.path(), &other, &findings(&other)).unwrap();
    assert_eq!(folder::load(folder.path()).unwrap().run.snapshot.tally.planned, 1000);
    assert!(!folder.path().join(folder::REPORT).exists() && !folder.path().join(folder::FAILED_ANSWERS).exists());
    assert_eq!(fs::read_to_string(folder.path().join("notes.txt")).unwrap(), "mine");
}

#[test]
fn a_folder_of_something_else_is_left_alone() {
    let folder = tempdir().unwrap();
    for (name, content) in [("samples.csv", "1,2"), ("run.json", "{\"schema\": \"somebody/1\"}")] {
        fs::write(folder.path().join(name), content).unwrap();
        for refused in [folder::check_writable(folder.path()), save(folder.path())] {
            let error = refused.unwrap_err();
            assert!(matches!(error, SaveError::Occupied { .. }), "{error}");
            assert!(error.to_string().contains(&folder.path().display().to_string()), "{error}");
        }
        assert_eq!(fs::read_to_string(folder.path().join(name)).unwrap(), content);
    }
    assert_eq!(names(folder.path()), ["run.json", "samples.csv"]);
}

#[test]
fn what_a_save_that_was_cut_off_left_is_no_obstacle() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join(".run.json.partial-1"), "{").unwrap();
    folder::check_writable(folder.path()).unwrap();
    save(folder.path()).unwrap();
}

#[test]
fn a_file_is_no_folder() {
    let parent = tempdir().unwrap();
    let file = parent.path().join("file");
    fs::write(&file, "").unwrap();
    assert!(matches!(folder::check_writable(&file).unwrap_err(), SaveError::NotAFolder(_)));
    let error = folder::check_writable(&file.join("below")).unwrap_err();
    assert!(matches!(error, SaveError::Io { .. }) && error.to_string().contains("below"), "{error}");
    assert!(matches!(failure(&file), LoadError::NotARun(_)));
    assert!(matches!(failure(&parent.path().join("nowhere")), LoadError::NotARun(_)));
}

#[track_caller]
pub fn failure(folder: &Path) -> LoadError {
    let Err(error) = folder::load(folder) else { panic!("this folder must not load") };
    error
}

/// Returns a saved run with one changed file.
fn changed(name: &str, change: impl Fn(String) -> String) -> TempDir {
    let folder = tempdir().unwrap();
    save(folder.path()).unwrap();
    let path = folder.path().join(name);
    fs::write(&path, change(fs::read_to_string(&path).unwrap())).unwrap();
    folder
}

/// Returns the error of loading a run with one changed file, without the path of the folder.
#[track_caller]
pub fn complaint(name: &str, change: impl Fn(String) -> String) -> String {
    let folder = changed(name, change);
    let error = failure(folder.path()).to_string();
    assert!(!error.contains('\n'), "{error}");
    error.replace(&format!("{}/", folder.path().display()), "")
}

/// Changes one line, counted from 1.
fn line(number: usize, change: impl Fn(&str) -> String) -> impl Fn(String) -> String {
    move |text| {
        let line = |(i, line): (usize, &str)| if i + 1 == number { change(line) } else { line.to_owned() };
        text.split_inclusive('\n').enumerate().map(line).collect()
    }
}

#[test]
fn every_complaint_names_the_file_and_the_line() {
    for (name, number, from, to, says) in [
        (folder::SAMPLES, 3, "response", "respond", "samples.csv, line 3: outcome 'respond' cannot have a status"),
        (folder::SAMPLES, 5, ",", ";,", "samples.csv, line 5: kept is 'all;'"),
        (folder::SAMPLES, 5, ",", ",x", "samples.csv, line 5: "),
        (folder::SAMPLES, 5, ",", ",,", "samples.csv, line 5: 19 fields, but the first line has 18"),
        (folder::SAMPLES, 1, "end_ns", "end", "samples.csv, line 2: missing field `end_ns`"),
        (folder::TIMELINE, 2, "0,1000", "0,-1000", "timeline.csv, line 2: "),
        (folder::TIMELINE, 2, "0,1000", "1,1000", "timeline.csv, line 2: second 1 where second 0 was expected"),
        (folder::RUN, 3, "verdict", "verdikt", "run.json: missing field `verdict`"),
    ] {
        let complaint = complaint(name, line(number, |line| line.replacen(from, to, 1)));
        assert!(complaint.contains(says), "{complaint}");
    }
}

#[test]
fn complaints_about_the_log_name_the_line() {
    let first_interval = |text: &str| text.lines().position(|line| line.starts_with("Tag=")).unwrap() + 1;
    for (from, to, says) in [
        ("Tag=", "Etikett=", "neither a comment nor an interval"),
        ("HISTFAAAA", "HIST*AAAA", "the histogram is not valid base64"),
        ("HISTF", "HISTG", "the histogram cannot be decoded"),
    ] {
        let number = std::cell::Cell::new(0);
        let complaint = complaint(folder::HISTOGRAMS, |text| {
            number.set(first_interval(&text));
            line(number.get(), |line| line.replacen(from, to, 1))(text)
        });
        assert!(complaint.starts_with(&format!("histograms.hlog, line {}: {says}", number.get())), "{complaint}");
    }
    assert!(complaint(folder::HISTOGRAMS, |text| text[..text.len() - 9].to_owned()).contains("the line is cut off"));
}

/// Found by fuzzing.
#[test]
fn a_count_that_has_no_negative_is_refused() {
    // A histogram whose only count is -2⁶³.
    const LOWEST: &str = "HISTFAAAACR42pNpmSzMwMDAyQABzFCaEch0M9ixgMH+A0TgPwwAAKMpDUs=";
    let complaint = complaint(folder::HISTOGRAMS, |text| format!("{text}Tag=x,0.000,1.000,0.0,{LOWEST}\n"));
    assert!(complaint.contains("the histogram cannot be decoded"), "{complaint}");
}

#[test]
fn files_of_different_runs_are_told_apart() {
    let without_last_line = |text: String| text[..=text[..text.len() - 1].rfind('\n').unwrap()].to_owned();
    for name in [folder::HISTOGRAMS, folder::TIMELINE, folder::SAMPLES] {
        let complaint = complaint(name, without_last_line);
        assert!(
            complaint.starts_with(&format!("{name}: it contains ")) && complaint.contains("recorded."),
            "{complaint}"
        );
    }
}

#[test]
fn books_that_do_not_balance_are_refused() {
    // 2000 arrivals: 4 time out, and 4 are reset.
    for (from, to, says) in [
        (
            "\"planned\": 2000",
            "\"planned\": 2001",
            "its tally does not balance: 2001 arrivals were planned and 2000 have an outcome",
        ),
        (
            "\"responses\": 1992",
            "\"responses\": 18446744073709551615",
            "its tally does not balance: 2000 arrivals were planned and 1844",
        ),
        ("\"issued\": 0", "\"issued\": 1", "its warmup_tally does not balance: 0 arrivals were planned"),
        (
            "\"timed_out\": 4",
            "\"timed_out\": 3,\n\"later\": 1",
            "its tally does not balance: 2000 arrivals were planned and 1999 have an outcome",
        ),
    ] {
        let complaint = complaint(folder::RUN, |text| {
            assert!(text.contains(from), "{from}");
            text.replacen(from, to, 1)
        });
        assert!(complaint.starts_with("run.json: ") && complaint.contains(says), "{complaint}");
    }
    // Sums that overflow 64 bits in one run, or only in several runs: first in the run's books, then in the warm-up's.
    let counted = |books: &str, planned: u64, issued: [(&str, u64); 2]| {
        complaint(folder::RUN, |text| {
            let mut file: serde_json::Value = serde_json::from_str(&text).unwrap();
            let books = file[books].as_object_mut().unwrap();
            books.values_mut().for_each(|count| *count = 0.into());
            let issued = issued.into_iter().chain([("planned", planned), ("issued", planned)]);
            issued.for_each(|(name, count)| books[name] = count.into());
            serde_json::to_string(&file).unwrap()
        })
    };
    for books in ["tally", "warmup_tally"] {
        let over = counted(books, u64::MAX, [("connect_failed", u64::MAX), ("reset", 1)]);
        assert!(
            over.contains(&format!("its {books} does not balance: {} arrivals were planned and", u64::MAX)),
            "{over}"
        );
        let many = counted(books, u64::MAX, [("connect_failed", u64::MAX), ("reset", 0)]);
        assert!(many.contains(&format!("its {books} plans {} arrivals, more than", u64::MAX)), "{many}");
    }
    let swapped = |text: String| {
        text.replacen("\"responses\": 1992", "\"responses\": 1991", 1).replacen(
            "\"timed_out\": 4",
            "\"timed_out\": 5",
            1,
        )
    };
    let complaint = complaint(folder::RUN, swapped);
    assert!(
        complaint.contains("1991 arrivals were answered, but recorded.exact.response_time counts 1992"),
        "{complaint}"
    );
}

#[test]
fn a_sample_that_lost_rows_is_found_out() {
    let folder = sampled();
    let path = folder.path().join(folder::SAMPLES);
    let text = fs::read_to_string(&path).unwrap();
    for kept in ["one-in-", "slowest"] {
        let lost = text.lines().position(|line| line.starts_with(kept)).unwrap();
        let rest: String =
            text.lines().enumerate().filter(|(i, _)| *i != lost).map(|(_, l)| format!("{l}\n")).collect();
        fs::write(&path, rest).unwrap();
        assert!(matches!(failure(folder.path()), LoadError::Disagree { .. }), "{kept}");
    }
}

#[test]
fn a_log_that_is_missing_is_said_to_be() {
    let folder = tempdir().unwrap();
    save(folder.path()).unwrap();
    fs::remove_file(folder.path().join(folder::HISTOGRAMS)).unwrap();
    let error = failure(folder.path());
    assert!(matches!(error, LoadError::Io { .. }) && error.to_string().contains("histograms.hlog"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    /// Any damage to a file gives an answer and never a panic.
    #[test]
    fn no_damage_makes_loading_panic(
        name in proptest::sample::select(vec![folder::RUN, folder::HISTOGRAMS, folder::TIMELINE, folder::SAMPLES]),
        damage in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..4),
        cut in proptest::option::weighted(0.2, any::<proptest::sample::Index>()),
    ) {
        let small = run(RecorderOptions::default(), &steady(1)[..60]);
        let folder = saved(&small);
        let path = folder.path().join(name);
        let mut bytes = fs::read(&path).unwrap();
        for (place, byte) in &damage {
            let place = place.index(bytes.len());
            bytes[place] = *byte;
        }
        cut.inspect(|cut| bytes.truncate(cut.index(bytes.len())));
        fs::write(&path, bytes).unwrap();
        let _ = folder::load(folder.path());
    }
}

#[test]
fn a_file_that_is_no_regular_file_is_refused_at_once() {
    for name in [folder::RUN, folder::HISTOGRAMS, folder::TIMELINE, folder::SAMPLES] {
        let folder = tempdir().unwrap();
        save(folder.path()).unwrap();
        let path = folder.path().join(name);
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
        let error = folder::load(folder.path()).unwrap_err().to_string();
        assert!(error.starts_with(&format!("cannot read {}", path.display())), "{error}");
        assert!(error.ends_with("a pipe, a socket or a device; give a regular file"), "{error}");
    }
}

/// Imitates a full disk: the file cannot be created, because a folder has its name.
#[test]
fn what_a_run_can_do_without_does_not_cost_the_rest() {
    for (name, missing) in
        [(folder::TIMELINE, folder::MissingFile::Timeline), (folder::SAMPLES, folder::MissingFile::Samples)]
    {
        let folder = tempdir().unwrap();
        save(folder.path()).unwrap();
        fs::create_dir(folder.path().join(format!(".{name}.partial-{}", std::process::id()))).unwrap();
        let error = save(folder.path()).unwrap_err();
        assert!(matches!(error, SaveError::Lacking { .. }) && error.to_string().contains(name), "{error}");
        assert!(!folder.path().join(name).exists(), "{name} of the run that was there");
        let loaded = folder::load(folder.path()).unwrap();
        assert_eq!((loaded.missing, loaded.run.snapshot.tally.planned), (vec![missing], 2000));
    }
}

#[test]
fn a_run_that_lacks_what_it_needs_leaves_the_old_one() {
    let folder = tempdir().unwrap();
    save(folder.path()).unwrap();
    let before = names(folder.path());
    let blocked = format!(".{}.partial-{}", folder::RUN, std::process::id());
    fs::create_dir(folder.path().join(&blocked)).unwrap();
    assert!(matches!(save(folder.path()).unwrap_err(), SaveError::Io { .. }));
    fs::remove_dir(folder.path().join(&blocked)).unwrap();
    assert_eq!(names(folder.path()), before);
    assert!(folder::load(folder.path()).unwrap().missing.is_empty());
}
