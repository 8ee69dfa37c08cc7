//! Help and version.

use std::collections::BTreeSet;

use super::support::{TestDir, TestProcess};

/// Returns the verbs in the list of `--help`, except `help`.
fn verbs(dir: &TestDir) -> Vec<String> {
    let help = dir.truetail(&["--help"]);
    assert_eq!(help.code, Some(0));
    let list = help.stdout.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let verbs = list.filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with(' ')));
    verbs.filter_map(|line| line.split_whitespace().next()).filter(|verb| *verb != "help").map(str::to_owned).collect()
}

#[test]
fn each_verb_shows_an_example_first() {
    let dir = TestDir::new();
    for verb in verbs(&dir) {
        for flag in ["--help", "-h"] {
            let output = dir.truetail(&[&verb, flag]);
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
    let pages = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/verbs")).unwrap();
    let names = pages
        .filter_map(|page| page.unwrap().file_name().into_string().unwrap().strip_suffix(".md").map(str::to_owned));
    let described: BTreeSet<String> = names.filter(|name| name != "README").collect();
    assert_eq!(verbs(&dir).into_iter().collect::<BTreeSet<_>>(), described);
    let version = dir.truetail(&["--version"]);
    assert_eq!((version.code, version.stdout), (Some(0), format!("truetail {}\n", env!("CARGO_PKG_VERSION"))));
    for words in [["--version", "--json"], ["--json", "-V"]] {
        let output = dir.truetail(&words);
        assert_eq!(output.code, Some(0));
        let build: serde_json::Value = serde_json::from_str(&output.stdout).unwrap();
        assert_eq!(build["version"], env!("CARGO_PKG_VERSION"));
        assert_eq!(build["arch"], std::env::consts::ARCH);
        assert!(build["features"].is_array());
        let services: Vec<&str> =
            build["linux"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
        assert_eq!(services.contains(&"kernel-stamps"), cfg!(target_os = "linux"), "{services:?}");
    }
    assert_eq!(dir.truetail(&["--json"]).code, Some(2));
}

#[test]
fn nobody_has_to_read_the_help_to_its_end() {
    let output = TestProcess::start_without_reader(TestDir::new().command(&["run", "--help"])).end();
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""));
}
