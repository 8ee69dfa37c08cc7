//! The documents explain all reasons, fields, files and flags.

use std::path::Path;

use truetail_model::record::Metric;

use super::support::{TestDir, assert_complete};

fn file(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn each_reason_for_a_verdict_is_explained() {
    let honesty = file("docs/honesty.md");
    for code in truetail_analysis::verdict::code::ALL {
        assert!(honesty.contains(&format!("| `{code}` |")), "docs/honesty.md does not explain {code}");
    }
}

#[test]
fn each_field_and_file_of_a_run_is_explained() {
    let dir = TestDir::new();
    let output = dir.truetail(&["simulate", "01", "--out", "here"]);
    assert_eq!(output.code, Some(0), "{output:?}");
    let run = assert_complete(&dir.path().join("here"));
    let page = file("docs/run-folder.md");
    let fields = run.as_object().expect("an object").keys().map(String::as_str);
    for name in fields.chain(Metric::ALL.map(Metric::name)) {
        assert!(page.contains(&format!("`{name}`")), "docs/run-folder.md does not explain {name}");
    }
    for entry in std::fs::read_dir(dir.path().join("here")).expect("a folder") {
        let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
        assert!(page.contains(&format!("| `{name}` |")), "docs/run-folder.md does not explain {name}");
    }
}

#[test]
fn the_readme_lists_flags_that_exist() {
    let dir = TestDir::new();
    let help = dir.truetail(&["run", "--help"]).stdout;
    let readme = file("README.md");
    let words = readme.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
    let flags: Vec<_> = words.filter(|word| word.starts_with("--") && word.len() > 3).collect();
    assert!(flags.contains(&"--slo"), "{flags:?}");
    for flag in flags {
        let elsewhere = ["--release", "--scenario", "--truth", "--path", "--locked"].contains(&flag);
        assert!(elsewhere || help.contains(flag), "README.md shows {flag}, which truetail run does not have");
    }
}
