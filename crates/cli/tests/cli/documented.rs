//! Commands in the documents: each runs briefly against a server of this test, or is at least a valid command line.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use super::support::{CommandOutput, ServeProcess, TestDir, TestProcess};
use super::{http2, tls};

pub(super) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the Markdown files of the documents, with their text.
pub(super) fn pages() -> Vec<(PathBuf, String)> {
    let mut found: Vec<_> = ["README.md", "GLOSSARY.md", "docs", "scenarios", "examples", "bindings/python/README.md"]
        .iter()
        .flat_map(|path| below(&root().join(path)))
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .map(|path| (path.clone(), fs::read_to_string(&path).expect("a page")))
        .collect();
    found.sort();
    found
}

fn below(path: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(path) else { return vec![path.to_owned()] };
    entries.flat_map(|entry| below(&entry.expect("an entry").path())).collect()
}

/// Returns the lines of indented or fenced blocks of a page, without indentation. A trailing backslash joins lines.
fn blocks(page: &str) -> Vec<String> {
    let mut fenced = false;
    let mut goes_on = false;
    let mut lines: Vec<String> = Vec::new();
    for line in page.lines() {
        fenced ^= line.starts_with("```");
        let Some(line) = (if fenced { Some(line) } else { line.strip_prefix("    ") }) else { continue };
        let text = line.trim_end_matches('\\').trim();
        match lines.last_mut() {
            Some(last) if goes_on => *last += &format!(" {text}"),
            _ => lines.push(text.to_owned()),
        }
        goes_on = line.ends_with('\\');
    }
    lines
}

/// Returns the arguments of `program` in these lines, without remarks and pipelines. Lines with `…` are left out.
fn commands<'a>(blocks: &'a [String], program: &str) -> Vec<&'a str> {
    let arguments = |line: &'a String| {
        let line = line.trim_start_matches("$ ").trim_start_matches("target/release/");
        let rest = line.strip_prefix(program)?.strip_prefix(' ')?;
        let text = rest[..end_of_command(rest)].trim().trim_end_matches(" &");
        (!text.contains('…')).then_some(text)
    };
    blocks.iter().filter_map(arguments).collect()
}

/// Returns the end of a command: two blanks or a '#' start a remark, and a pipe another command, unless quoted.
fn end_of_command(text: &str) -> usize {
    let marks = ["  ", " #", " | ", " > ", " && "];
    let places = marks.iter().flat_map(|mark| text.match_indices(mark)).map(|(place, _)| place);
    let is_quoted = |place: &usize| ['\'', '"'].iter().any(|quote| text[..*place].matches(*quote).count() % 2 == 1);
    places.filter(|place| !is_quoted(place)).min().unwrap_or(text.len())
}

/// Runs `truetail ARGUMENTS` through a shell, which parses the quotes.
fn run(dir: &TestDir, arguments: &str) -> CommandOutput {
    let script = format!("exec \"$0\" {arguments}");
    TestProcess::start(dir.command_by(&["sh", "-c", &script], &[])).end()
}

/// Returns the command with `more` arguments, inserted before a `--`.
fn with(arguments: &str, more: &str) -> String {
    match arguments.split_once(" -- ") {
        Some((before, after)) => format!("{before} {more} -- {after}"),
        None => format!("{arguments} {more}"),
    }
}

/// Returns the command without these options and their values.
fn without(arguments: &str, options: &[&str]) -> String {
    // Arguments of curl stay as they are.
    let end = [" -- ", " --curl "].iter().filter_map(|mark| arguments.find(mark)).min();
    let (own, rest) = arguments.split_at(end.unwrap_or(arguments.len()));
    let mut words = Vec::new();
    let mut before = "";
    for word in own.split(' ') {
        if !options.contains(&word) && !options.contains(&before) {
            words.push(word);
        }
        before = word;
    }
    words.join(" ") + rest
}

/// Returns the command with `origin` in place of the origin of its URLs, which must start with `scheme`.
fn at(arguments: &str, scheme: &str, origin: &str) -> String {
    let Some(start) = arguments.find(scheme) else { return arguments.to_owned() };
    let host = start + scheme.len();
    let end = arguments[host..].find(['/', ' ', '\'', '"', '?']).map_or(arguments.len(), |length| host + length);
    format!("{}{origin}{}", &arguments[..start], &arguments[end..])
}

/// Servers of every kind that the commands need, and the files that they name.
struct Stage {
    dir: TestDir,
    plain: ServeProcess,
    tls: String,
    http2: String,
}

impl Stage {
    fn new() -> Stage {
        let dir = TestDir::new();
        let plain = ServeProcess::start(&dir, "01");
        let (tls, certificate) = tls::serve();
        let (client, key) = tls::client();
        let files = [
            ("authority.pem", certificate.clone()),
            ("server.pem", certificate),
            ("client.pem", client),
            ("client.key", key),
        ];
        for (name, text) in files {
            dir.file(name, &text);
        }
        dir.file("item.json", "{\"n\":1}");
        dir.file("truetail.toml", &format!("[run.checkout]\nurl = \"{}/items\"\nrate = 100\n", plain.url));
        dir.file("shop.hurl", "# truetail: name login\nGET {{host}}/login\nHTTP 200\n\nGET {{host}}/items\nHTTP 200\n");
        dir.file("chat.hurl", "# truetail: stream\nGET {{host}}/stream?events=3\nHTTP 200\n");
        for name in ["browse.hurl", "buy.hurl", "login.hurl"] {
            dir.file(name, "GET {{host}}/items\nHTTP 200\n");
        }
        dir.file("api.hurl", "GET {{baseUrl}}/items\nHTTP 200\n");
        dir.file("account.hurl", "GET {{host}}/account/{{user}}?id={{id}}\nHTTP 200\n");
        dir.file("turns.hurl", "# truetail: stream\nGET {{host}}/stream?events=3&q={{first}}\nHTTP 200\n");
        dir.file("turns.csv", "first,second\nHi,Why\n");
        dir.file("users.csv", "user,id\nann,1\nbob,2\n");
        dir.file("hour.replay", "0,GET /items\n0.2,GET /cart\n");
        dir.file("targets.txt", &format!("GET {}/items\n", plain.url));
        dir.file("api.txt", &format!("GET {}/items/{{{{id}}}}\n", plain.url));
        for rows in ["items.csv", "ids.csv", "rows.csv"] {
            dir.file(rows, "id,name\n1,one\n2,two\n");
        }
        let origin = |url: String| url.trim_end_matches('/').to_owned();
        dir.file("prompts.jsonl", "{\"prompt\": \"Say \\\"hi\\\"\\nto me.\", \"tokens\": 16}\n");
        dir.file(
            "agents.jsonl",
            "{\"id\":\"a\",\"prompt\":\"x\"}\n{\"id\":\"b\",\"after\":[\"a\"],\"prompt\":\"{{a}}\"}\n",
        );
        Stage { dir, plain, tls: origin(tls), http2: origin(http2::serve(100)) }
    }

    /// Returns the command as a short run against one of these servers; `None` if no server fits.
    fn shortened(&self, arguments: &str) -> Option<String> {
        // Gates may need more requests.
        let gates = ["--fail-if", "--slo", "--until"];
        let elsewhere = [
            "--unix-socket",
            "--out",
            "--watch",
            "--live",
            "--otlp",
            "--tokenizer",
            // The server is no language model.
            "--llm auto",
            "--llm-dialect",
            "--prompts",
            "--script",
            // Nor does it take calls of gRPC.
            "--proto",
            // It has no page of metrics either.
            "--scrape",
            "--start-at",
            "--stripe",
            "--resolve",
            "--config",
            "trace:",
            // This test has no server for channels.
            "tcp://",
            "ws://",
            "wss://",
            "grpc://",
            "grpcs://",
            "redis://",
        ];
        if !arguments.starts_with("run ") || elsewhere.iter().chain(&gates).any(|option| arguments.contains(option)) {
            return None;
        }
        let line = without(arguments, &["-d", "--duration", "-n", "--requests", "--warmup", "--max-time"]);
        let line = with(&line, "-d 300ms --quiet --no-save");
        match (line.contains("https://"), line.contains("--http2")) {
            (false, false) => Some(at(&line, "http://", &self.plain.url)),
            (false, true) => Some(at(&line, "http://", &self.http2)),
            (true, false) => {
                let line = at(&line, "https://", &self.tls);
                let trusts = line.contains("--ca") || line.contains("--insecure") || line.contains(" -k");
                Some(if trusts { line } else { with(&line, "--insecure") })
            }
            // This test has no server for HTTP/2 over TLS.
            (true, true) => None,
        }
    }

    /// Runs the command, a shorter variant, or its `--help`. Returns false for `--help`, with the line and the output.
    fn try_out(&self, arguments: &str) -> (bool, String, CommandOutput) {
        for scenario in arguments.split(' ').filter(|word| word.ends_with(".toml") && !word.ends_with("truetail.toml"))
        {
            self.dir.file(scenario, "[workload]\nrate = 100\nduration = \"1s\"\n[service]\nbaseline = \"1ms\"\n");
        }
        let as_it_is = ["simulate ", "lab tools", "completions ", "help "];
        let (runs, line) = match self.shortened(arguments) {
            Some(line) => (true, line),
            None if as_it_is.iter().any(|verb| arguments.starts_with(verb)) => (true, arguments.to_owned()),
            None => (false, with(arguments, "--help")),
        };
        let output = run(&self.dir, &line);
        (runs, line, output)
    }
}

/// Returns every command of the pages once, with its page.
fn all_commands() -> BTreeMap<String, PathBuf> {
    let mut found = BTreeMap::new();
    for (path, page) in pages() {
        for arguments in commands(&blocks(&page), "truetail") {
            found.entry(arguments.to_owned()).or_insert_with(|| path.clone());
        }
    }
    found
}

/// Returns true if the command itself ran, and false if only its `--help` did.
fn works(stage: &Stage, arguments: &str, page: &Path) -> bool {
    let (runs, line, output) = stage.try_out(arguments);
    // A gate may fail, and a busy machine may leave the question open.
    let works = matches!(output.code, Some(0)) || runs && matches!(output.code, Some(3 | 4));
    assert!(works, "{}: truetail {arguments}\nrun as: truetail {line}\n{output:?}", page.display());
    runs
}

/// Runs several commands at a time, because most of them wait.
#[test]
fn the_commands_in_the_documents_work() {
    let stage = Stage::new();
    let commands: Vec<_> = all_commands().into_iter().collect();
    let count = |part: &[(String, PathBuf)]| part.iter().filter(|(line, page)| works(&stage, line, page)).count();
    let ran: usize = thread::scope(|scope| {
        let parts: Vec<_> =
            commands.chunks(commands.len().div_ceil(4)).map(|part| scope.spawn(|| count(part))).collect();
        parts.into_iter().map(|part| part.join().expect("no command failed")).sum()
    });
    assert!(ran >= 40, "{ran} commands");
}

#[test]
fn what_the_documents_make_can_be_made() {
    let makefile = fs::read_to_string(root().join("Makefile")).expect("a Makefile");
    let targets = makefile.lines().filter_map(|line| line.split_once(':')).flat_map(|(names, _)| names.split(' '));
    let scenarios = ["01", "02", "03", "04", "05", "06"].map(|number| format!("scenario-{number}"));
    let targets: Vec<_> = targets.map(str::to_owned).chain(scenarios).collect();
    let mut found = 0;
    for (path, page) in pages() {
        for target in commands(&blocks(&page), "make") {
            assert!(targets.iter().any(|name| name == target), "{}: make {target}", path.display());
            found += 1;
        }
    }
    assert!(found >= 5, "{found} targets");
}

#[test]
fn a_command_is_found_without_its_remark() {
    let page = "text\n\n    truetail lab tools      which tools\n    make demo\n```text\n$ truetail run URL \\\n  -r 5   # quick\n\
                target/release/truetail demo | head\n```\ntruetail is\n";
    let blocks = blocks(page);
    assert_eq!(commands(&blocks, "truetail"), ["lab tools", "run URL -r 5", "demo"]);
    assert_eq!(commands(&blocks, "make"), ["demo"]);
    assert_eq!(with("run -r 5 -- curl x", "--help"), "run -r 5 --help -- curl x");
    assert_eq!(without("run -d 5s -r 5 -- curl -d 5", &["-d"]), "run -r 5 -- curl -d 5");
    assert_eq!(at("run 'http://a:8080/x' -r 5", "http://", "http://b:1"), "run 'http://b:1/x' -r 5");
}
