//! Help and version.

use super::support::{TestDir, TestProcess};

const VERBS: [&str; 12] =
    ["demo", "explore", "run", "serve", "simulate", "lab", "certify", "report", "merge", "k8s", "completions", "man"];

#[test]
fn each_verb_shows_an_example_first() {
    let dir = TestDir::new();
    for verb in VERBS {
        for flag in ["--help", "-h"] {
            let output = dir.truetail(&[verb, flag]);
            assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""), "{verb} {flag}");
            let mut lines = output.stdout.lines();
            assert!(lines.next().is_some_and(|line| line.starts_with("Example")), "{}", output.stdout);
            let example = lines.next().unwrap_or_default().trim();
            assert!(example.starts_with(&format!("truetail {verb}")), "{}", output.stdout);
            assert!(!output.stdout.contains('\x1b'), "no colours into a pipe");
        }
    }
}

#[test]
fn the_program_lists_its_verbs_and_knows_its_version() {
    let dir = TestDir::new();
    let help = dir.truetail(&["--help"]);
    assert_eq!(help.code, Some(0));
    for verb in VERBS {
        assert!(help.stdout.lines().any(|line| line.trim_start().starts_with(verb)), "{verb} in {}", help.stdout);
    }
    let version = dir.truetail(&["--version"]);
    assert_eq!((version.code, version.stdout), (Some(0), format!("truetail {}\n", env!("CARGO_PKG_VERSION"))));
    for words in [["--version", "--json"], ["--json", "-V"]] {
        let output = dir.truetail(&words);
        assert_eq!(output.code, Some(0));
        let build: serde_json::Value = serde_json::from_str(&output.stdout).unwrap();
        assert_eq!(build["version"], env!("CARGO_PKG_VERSION"));
        assert_eq!(build["arch"], std::env::consts::ARCH);
        assert!(build["features"].is_array());
    }
    assert_eq!(dir.truetail(&["--json"]).code, Some(2));
}

#[test]
fn nobody_has_to_read_the_help_to_its_end() {
    let output = TestProcess::start_without_reader(TestDir::new().command(&["run", "--help"])).end();
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""));
}
