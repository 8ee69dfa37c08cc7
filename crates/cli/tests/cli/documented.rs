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
    // A remark follows two blanks or a '#'; the rest of a pipeline is not ours.
    let end = ["  ", " #", " | ", " > ", " && "].iter().filter_map(|mark| rest.find(mark)).min().unwrap_or(rest.len());
    let text = rest[..end].trim();
    (!text.contains('…')).then_some(text)
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

fn needs_only_a_server(arguments: &str) -> bool {
    let elsewhere = ["https://", "--http2", "--unix-socket", "--out", "--watch", "--live", "--start-at", "--stripe"];
    let is_run =
        arguments.starts_with("run ") && (arguments.contains("//127.0.0.1:8080") || arguments.contains("--targets"));
    is_run && !elsewhere.iter().any(|option| arguments.contains(option))
}

#[test]
fn the_commands_in_the_documents_work() {
    let dir = TestDir::new();
    let server = ServeProcess::start(&dir, "01");
    dir.file("targets.txt", &format!("GET {}/items\n", server.url));
    ["items.csv", "ids.csv", "rows.csv"].map(|name| dir.file(name, "id,name\n1,one\n2,two\n").len());
    let mut ran = 0;
    for (path, page) in pages() {
        for arguments in commands(&page) {
            let (line, codes): (_, &[i32]) = if needs_only_a_server(arguments) {
                ran += 1;
                // A gate may fail, and a busy machine may leave the question open.
                (shortened(arguments, &server.url), &[0, 3, 4])
            } else {
                (with(arguments, "--help"), &[0])
            };
            let output = run(&dir, &line);
            // A run this short has too few requests for some gates, which is told before the load.
            let too_short = output.code == Some(2) && output.stderr.contains("cannot be decided: it needs");
            let understood = too_short || output.code.is_some_and(|code| codes.contains(&code));
            assert!(understood, "{}: truetail {arguments}, run as {line}: {output:?}", path.display());
        }
    }
    assert!(ran >= 4, "{ran} commands");
}

#[test]
fn a_command_is_found_without_its_remark() {
    let page = "text\n\n    truetail lab tools      which tools\n    make demo\n```text\ntruetail run URL -r 5   # quick\n```\ntruetail is\n";
    assert_eq!(commands(page), ["lab tools", "run URL -r 5"]);
    assert_eq!(with("run -r 5 -- curl x", "--help"), "run -r 5 --help -- curl x");
    assert_eq!(shortened("run http://127.0.0.1:8080/ -d 30s", "S"), "run S/ -d 300ms --quiet --no-save");
}
