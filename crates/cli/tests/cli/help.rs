//! Help and version.

use super::support::{Desk, Running};

#[test]
fn each_verb_shows_an_example_first() {
    let desk = Desk::new();
    for verb in ["demo", "run", "serve", "simulate", "lab", "certify", "report", "merge"] {
        for flag in ["--help", "-h"] {
            let told = desk.truetail(&[verb, flag]);
            assert_eq!((told.code, told.stderr.as_str()), (Some(0), ""), "{verb} {flag}");
            let mut lines = told.stdout.lines();
            assert!(lines.next().is_some_and(|line| line.starts_with("Example")), "{}", told.stdout);
            let example = lines.next().unwrap_or_default().trim();
            assert!(example.starts_with(&format!("truetail {verb}")), "{}", told.stdout);
            assert!(!told.stdout.contains('\x1b'), "no colours into a pipe");
        }
    }
}

#[test]
fn the_program_lists_its_verbs_and_knows_its_version() {
    let desk = Desk::new();
    let help = desk.truetail(&["--help"]);
    assert_eq!(help.code, Some(0));
    for verb in ["demo", "run", "serve", "simulate", "lab", "certify", "report", "merge"] {
        assert!(help.stdout.lines().any(|line| line.trim_start().starts_with(verb)), "{verb} in {}", help.stdout);
    }
    let version = desk.truetail(&["--version"]);
    assert_eq!((version.code, version.stdout), (Some(0), format!("truetail {}\n", env!("CARGO_PKG_VERSION"))));
}

#[test]
fn nobody_has_to_read_the_help_to_its_end() {
    let told = Running::start_unread(Desk::new().command(&["run", "--help"])).end();
    assert_eq!((told.code, told.stderr.as_str()), (Some(0), ""));
}
