//! Page of a run: its place, and the command that it shows.

use std::fs;

use super::support::{ServeProcess, TestDir, assert_complete};

/// Checks that this is the page of the run. Its look in a browser is not tested here.
fn assert_page(html: &str, of: &str) {
    assert!(html.starts_with("<!DOCTYPE html>") && html.trim_end().ends_with("</html>"), "{of}");
    assert!(html.contains("<section id=\"verdict\"") && html.contains("<svg class=\"inner\""), "{of}");
    assert!(html.contains(of), "{of}");
}

#[test]
fn a_saved_run_has_its_page_and_the_command_that_made_it() {
    let dir = TestDir::new();
    let served = ServeProcess::start(&dir, "01-healthy");
    let url = served.api();
    let output = dir.truetail(&["run", &url, "-r", "200", "-n", "60", "--out", "a run", "--html", "page.html"]);
    let saved = assert_complete(&dir.path().join("a run"));
    output.assert_code(&saved, 0);
    let command = format!("truetail run {url} -r 200 -n 60 --out 'a run' --html page.html");
    assert_eq!(saved["command"], command.as_str());
    for file in ["a run/report.html", "page.html"] {
        let html = fs::read_to_string(dir.path().join(file)).expect(file);
        assert_page(&html, &url);
        assert!(html.contains("-r 200 -n 60"), "{file}");
    }
    let again = dir.truetail(&["report", "a run", "-o", "again.html"]);
    again.assert_code(&saved, 0);
    let [first, again] = ["page.html", "again.html"].map(|file| fs::read_to_string(dir.path().join(file)).expect(file));
    assert_eq!(first, again, "a page made again from the folder is the same");
}

#[test]
fn a_page_shows_other_runs_beside_its_own() {
    let dir = TestDir::new();
    for (scenario, out) in [("01-healthy", "one"), ("02-single-hiccup", "other")] {
        let output = dir.truetail(&["simulate", scenario, "--out", out]);
        assert_eq!(output.code, Some(0), "{output:?}");
        assert_page(&fs::read_to_string(dir.path().join(out).join("report.html")).expect("a page"), scenario);
    }
    let output = dir.truetail(&["report", "one", "-o", "both.html", "--overlay", "other"]);
    assert_eq!(output.code, Some(0), "{output:?}");
    let html = fs::read_to_string(dir.path().join("both.html")).expect("a page");
    assert_page(&html, "\"name\":\"other\"");
    let missing = dir.truetail(&["report", "one", "-o", "x.html", "--overlay", "nowhere"]);
    assert_eq!((missing.code, missing.stdout.as_str()), (Some(1), ""), "{missing:?}");
    assert!(!dir.path().join("x.html").exists());
}

#[test]
fn a_lab_has_a_page_that_leads_to_those_of_its_series() {
    let dir = TestDir::new();
    let output = dir.truetail(&["simulate", "freeze", "--out", "freeze"]);
    assert_eq!(output.code, Some(0), "{output:?}");
    let html = fs::read_to_string(dir.path().join("freeze/report.html")).expect("a page");
    assert!(html.contains("truetail simulate freeze --out freeze"), "{html}");
    for series in ["closed-loop-raw", "closed-loop-corrected", "open-loop"] {
        assert!(html.contains(&format!("href=\"{series}/report.html\"")), "{series}");
        assert!(dir.path().join("freeze").join(series).join("report.html").exists());
    }
}

#[test]
fn a_page_without_a_place_is_refused_before_the_load() {
    let dir = TestDir::new();
    for (arguments, part) in [
        (
            &["run", "http://127.0.0.1:9/", "-r", "1", "--html", "no/such/page.html"][..],
            "--html no/such/page.html: there is no",
        ),
        (&["run", "http://127.0.0.1:9/", "-r", "1", "--html", "."], "is a folder; name a file"),
        (&["report", "run", "--overlay", "other"], "--output"),
    ] {
        let output = dir.truetail(arguments);
        assert_eq!((output.code, output.stderr.lines().count()), (Some(2), 1), "{output:?}");
        assert!(output.stderr.contains(part), "{output:?}");
    }
    assert!(dir.runs().is_empty());
}

#[test]
fn secrets_are_in_no_file_of_a_run() {
    let dir = TestDir::new();
    let served = ServeProcess::start(&dir, "01-healthy");
    let header = "Authorization: Bearer hunter2";
    let output = dir.truetail(&[
        "run",
        &served.api(),
        "-r",
        "100",
        "-n",
        "3",
        "-H",
        header,
        "-H",
        "X-Kind: plain",
        "--out",
        "run",
    ]);
    let saved = assert_complete(&dir.path().join("run"));
    output.assert_code(&saved, 0);
    let command = saved["command"].as_str().expect("a command");
    assert!(command.contains("'Authorization: [redacted]'") && command.contains("'X-Kind: plain'"), "{command}");
    for entry in fs::read_dir(dir.path().join("run")).expect("a folder") {
        let path = entry.expect("an entry").path();
        let content = fs::read(&path).expect("a file");
        assert!(!String::from_utf8_lossy(&content).contains("hunter2"), "{}", path.display());
    }
}
