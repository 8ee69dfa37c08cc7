//! The tables of docs/import-formats.md must match the code. `TRUETAIL_REFRESH=1` writes them.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use truetail_import::{all, habits};

/// Marks before the tables. The rest of their lines tells how the tables are made.
const FORMATS: &str = "<!-- formats:";
const HABITS: &str = "<!-- habits:";
const END: &str = "<!-- end -->";

fn formats() -> String {
    let mut table = "\n| format | tool | what it is |\n|---|---|---|\n".to_owned();
    for info in all().iter().map(|format| format.info()) {
        writeln!(table, "| `{}` | {} | {} |", info.name, info.tool.unwrap_or("any"), info.about)
            .expect("a String takes everything");
    }
    table + "\n"
}

fn tools() -> Vec<&'static str> {
    let mut tools: Vec<_> = all().iter().filter_map(|format| format.info().tool).collect();
    tools.sort_unstable();
    tools.dedup();
    tools
}

fn habits_of_tools() -> String {
    let mut text = String::new();
    for tool in tools() {
        writeln!(text, "\n### {tool}\n\n| habit | source |\n|---|---|").expect("a String takes everything");
        for habit in habits::for_tool(tool) {
            writeln!(text, "| {} | {} |", habit.what, habit.source).expect("a String takes everything");
        }
    }
    text + "\n"
}

/// Returns the page with `text` between the line that begins with `mark` and the next end.
fn with(page: &str, mark: &str, text: &str) -> String {
    let begin = page.find(mark).expect("the mark");
    let after = begin + page[begin..].find('\n').expect("a line end") + 1;
    let end = after + page[after..].find(END).expect("the end");
    format!("{}{text}{}", &page[..after], &page[end..])
}

#[test]
fn docs_list_every_format_and_every_habit() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/import-formats.md");
    let page = fs::read_to_string(&path).expect("the page");
    let made = with(&with(&page, FORMATS, &formats()), HABITS, &habits_of_tools());
    if std::env::var_os("TRUETAIL_REFRESH").is_some() {
        fs::write(&path, &made).expect("written");
    } else {
        assert_eq!(page, made, "run TRUETAIL_REFRESH=1 cargo test -p truetail-import --test formats docs");
    }
}
