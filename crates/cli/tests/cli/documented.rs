//! The commands in the documents work: those that need nothing but a plain HTTP server run, and the command line
//! understands the others.

use std::fs;
use std::path::{Path, PathBuf};

use super::support::{CommandOutput, ServeProcess, TestDir, TestProcess};

/// README.md and the pages of docs, with their text.
fn pages() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let docs = fs::read_dir(root.join("docs")).expect("docs").map(|entry| entry.expect("an entry").path());
    let docs = docs.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    let others = ["README.md", "docs/lab/README.md"].map(|path| root.join(path));
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        (path, text)
    };
    docs.chain(others).map(read).collect()
}

/// A command `truetail …` in a block of its own, without the remark beside it. Lines with `…` are not commands.
fn command(line: &str) -> Option<&str> {
    let line = line.strip_prefix("    ").unwrap_or(line);
    let rest = line.strip_prefix("truetail ")?;
    let text = rest[..end_of_command(rest)].trim();
    (!text.contains('…')).then_some(text)
}

/// A remark follows two blanks or a '#', and the rest of a pipeline is another command; quotes hide all of them.
fn end_of_command(text: &str) -> usize {
    let marks = ["  ", " #", " | ", " > ", " && "];
    let places = marks.iter().flat_map(|mark| text.match_indices(mark)).map(|(place, _)| place);
    let is_quoted = |place: &usize| ['\'', '"'].iter().any(|quote| text[..*place].matches(*quote).count() % 2 == 1);
    places.filter(|place| !is_quoted(place)).min().unwrap_or(text.len())
}

/// The commands of a page: in blocks that are indented or fenced.
fn commands(page: &str) -> Vec<&str> {
    let mut fenced = false;
    let is_command = |line: &&str| {
        fenced ^= line.starts_with("```");
        fenced || line.starts_with("    ")
    };
    page.lines().filter(is_command).filter_map(command).collect()
}

/// Runs `truetail ARGUMENTS` by a shell, which reads its quotes.
fn run(dir: &TestDir, arguments: &str) -> CommandOutput {
    let script = format!("exec \"$0\" {arguments}");
    TestProcess::start(dir.command_by(&["sh", "-c", &script], &[])).end()
}

/// What the line before `--` becomes with `more` arguments.
fn with(arguments: &str, more: &str) -> String {
    match arguments.split_once(" -- ") {
        Some((before, after)) => format!("{before} {more} -- {after}"),
        None => format!("{arguments} {more}"),
    }
}

/// The same command for a short run against another server.
fn shortened(arguments: &str, server: &str) -> String {
    let mut words = Vec::new();
    let mut after = "";
    for word in arguments.split(' ') {
        if !["-d", "--duration", "--warmup"].contains(&word) && !["-d", "--duration", "--warmup"].contains(&after) {
            words.push(word);
        }
        after = word;
    }
    with(&words.join(" ").replace("http://127.0.0.1:8080", server), "-d 300ms --quiet --no-save")
}

/// A short run shows that the command works. A gate may be refused for so few requests, so it is only understood.
fn needs_only_a_server(arguments: &str) -> bool {
    let more = ["https://", "--http2", "--unix-socket", "--out", "--watch", "--live", "--start-at", "--stripe"];
    let gates = ["--fail-if", "--until"];
    let has_target = arguments.contains("//127.0.0.1:8080") || arguments.contains("--targets");
    let needs_more = more.iter().chain(&gates).any(|option| arguments.contains(option)) || arguments.ends_with('\\');
    arguments.starts_with("run ") && has_target && !needs_more
}

#[test]
fn the_commands_in_the_documents_work() {
    let dir = TestDir::new();
    let server = ServeProcess::start(&dir, "01");
    dir.file("targets.txt", &format!("GET {}/items\n", server.url));
    dir.file("my-hiccup.toml", truetail_model::scenario::builtin::text("02").expect("a scenario").1);
    for name in ["items.csv", "ids.csv", "rows.csv"] {
        dir.file(name, "id,name\n1,one\n2,two\n");
    }
    let mut ran = 0;
    for (path, page) in pages() {
        for arguments in commands(&page) {
            let line = if needs_only_a_server(arguments) {
                shortened(arguments, &server.url)
            } else if arguments.starts_with("simulate ") {
                arguments.to_owned()
            } else {
                with(arguments.trim_end_matches('\\'), "--help")
            };
            let is_run = !line.contains("--help");
            ran += usize::from(is_run);
            let output = run(&dir, &line);
            // A check may fail, and a busy machine or an overload leaves a measurement INVALID.
            let codes: &[i32] = if is_run { &[0, 3, 4] } else { &[0] };
            let works = output.code.is_some_and(|code| codes.contains(&code));
            assert!(works, "{}: truetail {arguments}, run as {line}: {output:?}", path.display());
        }
    }
    assert!(ran >= 8, "{ran} commands");
}

#[test]
fn a_command_is_found_without_its_remark() {
    let page = "text\n\n    truetail lab tools      which tools\n    make demo\n```text\ntruetail run URL -r 5   # quick\n\
                truetail run URL --fail-if 'p99 > 5ms' > file\n```\ntruetail is\n";
    assert_eq!(commands(page), ["lab tools", "run URL -r 5", "run URL --fail-if 'p99 > 5ms'"]);
    assert_eq!(with("run -r 5 -- curl x", "--help"), "run -r 5 --help -- curl x");
    assert_eq!(shortened("run http://127.0.0.1:8080/ -d 30s", "S"), "run S/ -d 300ms --quiet --no-save");
}
