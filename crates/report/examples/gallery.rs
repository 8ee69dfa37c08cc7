//! Prints every summary of the tests as this terminal would show it:
//!
//! `cargo run -p truetail-report --example gallery [WIDTH] [ascii]`.

#[path = "../tests/suite/fixtures.rs"]
mod fixtures;

use truetail_report::{Style, SummaryOptions, summary};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let width = arguments.iter().find_map(|argument| argument.parse().ok()).unwrap_or(100);
    let unicode = !arguments.iter().any(|argument| argument == "ascii");
    for fixture in fixtures::all() {
        println!(
            "--- {}\n\n{}",
            fixture.name,
            summary(&fixture.run, &fixture.findings, SummaryOptions::default(), Style { color: true, width, unicode })
        );
    }
}
