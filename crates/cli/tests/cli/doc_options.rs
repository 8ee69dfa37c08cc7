//! Options in the documents: the page of a command names exactly the options that the command has.

use std::collections::BTreeSet;
use std::path::Path;

use super::documented::{pages, root};
use super::support::TestDir;

/// Returns the verbs that `truetail --help` lists.
fn verbs(dir: &TestDir) -> Vec<String> {
    let help = dir.truetail(&["--help"]).stdout;
    let list = help.lines().skip_while(|line| !line.starts_with("Commands:")).skip(1);
    let names = list.take_while(|line| line.starts_with("  ")).filter(|line| !line.starts_with("   "));
    names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help").map(str::to_owned).collect()
}

/// Returns `-r` and `--rate` of every option of a command.
fn options(dir: &TestDir, command: &[&str]) -> BTreeSet<String> {
    let help = dir.truetail(&[command, &["--help"]].concat());
    assert_eq!(help.code, Some(0), "{command:?}: {help:?}");
    let lines = help.stdout.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
    let names = lines.flat_map(|line| line.split_whitespace().take(2)).filter(|word| word.starts_with('-'));
    let bare = |word: &str| {
        word.trim_end_matches(',').trim_end_matches("...").split(['[', '=']).next().unwrap_or_default().to_owned()
    };
    names.map(bare).collect()
}

/// Returns the options of a verb and of its subcommands.
fn options_of(dir: &TestDir, verb: &str) -> BTreeSet<String> {
    match verb {
        "lab" => ["tools", "run"].iter().flat_map(|inner| options(dir, &["lab", inner])).collect(),
        "flow" => ["from-access-log", "from-har", "from-openapi"]
            .iter()
            .flat_map(|inner| options(dir, &["flow", inner]))
            .collect(),
        "grpc" => ["list", "describe"].iter().flat_map(|inner| options(dir, &["grpc", inner])).collect(),
        "runs" => {
            [&["runs"][..], &["runs", "rm"], &["runs", "keep"]].iter().flat_map(|inner| options(dir, inner)).collect()
        }
        "k8s" => ["render", "run"].iter().flat_map(|inner| options(dir, &["k8s", inner])).collect(),
        _ => options(dir, &[verb]),
    }
}

/// Returns all words that look like options.
fn mentioned(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
    let is_option = |word: &&str| {
        let name = word.trim_start_matches('-');
        let dashes = word.len() - name.len();
        (dashes == 1 && name.len() == 1 || dashes == 2) && name.starts_with(|c: char| c.is_ascii_alphabetic())
    };
    words.filter(is_option).map(str::to_owned).collect()
}

#[test]
fn the_page_of_each_command_names_its_options_and_no_others() {
    let dir = TestDir::new();
    let verbs = verbs(&dir);
    assert!(verbs.len() >= 10, "{verbs:?}");
    for verb in verbs {
        let file = root().join(format!("docs/verbs/{verb}.md"));
        let page = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let named = mentioned(&page);
        let mut options = options_of(&dir, &verb);
        options.retain(|name| name.starts_with("--") && name != "--help");
        for option in &options {
            assert!(named.contains(option), "docs/verbs/{verb}.md does not name {option}");
        }
        // An example may contain options of another program.
        let tables: String = page.lines().filter(|line| line.starts_with('|')).collect();
        for name in mentioned(&tables).iter().filter(|name| name.starts_with("--")) {
            assert!(options.contains(name), "docs/verbs/{verb}.md names {name}, which truetail {verb} does not have");
        }
    }
}

/// Returns true for the page of another tool.
fn is_translation(path: &Path) -> bool {
    path.parent() == Some(&root().join("docs/moving")) && !path.ends_with("README.md")
}

#[test]
fn what_replaces_the_options_of_other_tools_exists() {
    let dir = TestDir::new();
    let options = options(&dir, &["run"]);
    let mut found = 0;
    for (path, page) in pages().iter().filter(|(path, _)| is_translation(path)) {
        for row in page.lines().filter(|line| line.starts_with("| ")) {
            let ours = row.split(" | ").nth(1).unwrap_or_default();
            for name in mentioned(ours) {
                found += 1;
                assert!(options.contains(&name), "{}: truetail run has no {name}: {row}", path.display());
            }
        }
    }
    assert!(found > 150, "{found} options");
}

#[test]
fn options_are_told_from_other_words() {
    let text = "`-r`, `--rate 5/s` -- and `-duration`, well-known, --no-save, - 1";
    assert_eq!(mentioned(text).into_iter().collect::<Vec<_>>(), ["--no-save", "--rate", "-r"]);
}
