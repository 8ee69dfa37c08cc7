//! Command lines, as they would be typed.

use std::path::{Path, PathBuf};

use truetail_model::time::{Nanos, Rate};
use truetail_tools::{Found, Invocation, Load, by_name};

use crate::support::load;

fn command(tool: &str, load: &Load) -> Result<Invocation, String> {
    let found = Found { path: PathBuf::from(tool), version: "unknown".to_owned() };
    let tool = by_name(tool).unwrap_or_else(|| panic!("no tool {tool}"));
    tool.command(&found, load, Path::new(".")).map_err(|error| error.to_string())
}

/// 1000 requests a second, 10 users or 99 connections, for 2.5 s with a timeout of 1.5 s.
fn busy() -> Load {
    Load {
        rate: Rate::per_second(1000.0).expect("a rate"),
        duration: Nanos::from_millis(2_500),
        users: 10,
        connections: 99,
        timeout: Some(Nanos::from_millis(1_500)),
        ..load()
    }
}

#[test]
fn each_tool_takes_its_part_of_the_load() {
    for (tool, line) in [
        ("ab", "-q -k -r -t 3 -n 10000000 -c 10 -g samples.tsv -e percentiles.csv -s 2"),
        ("hey", "-z 2500ms -c 10 -o csv -t 2"),
        ("wrk", "-t2 -c10 -d3s --latency --timeout 2s"),
        ("wrk2", "-t1 -c99 -d3s -R1000 --latency --timeout 2s"),
        ("h2load", "--h1 -t1 -c10 -D2500ms --log-file=samples.tsv -N 1500ms"),
        ("oha", "--no-tui -w -z 2500ms -q 1000 -c 99 --latency-correction --output-format csv -t 1500ms"),
        ("autocannon", "-j -c 10 -d 3 -t 2"),
    ] {
        let invocation = command(tool, &busy()).expect("a command line");
        assert_eq!(invocation.program, Path::new(tool));
        assert_eq!(invocation.args.join(" "), format!("{line} http://127.0.0.1:8080/api"));
    }
}

#[test]
fn without_a_timeout_each_tool_keeps_its_own() {
    for tool in ["ab", "hey", "wrk", "wrk2", "h2load", "oha", "autocannon"] {
        let with = command(tool, &busy()).expect("a command line").args.len();
        let without = command(tool, &Load { timeout: None, ..busy() }).expect("a command line").args.len();
        assert!(without < with, "{tool}");
    }
}

#[test]
fn wrk2_takes_whole_rates_only() {
    let load = Load { rate: Rate::per_second(12.5).expect("a rate"), ..busy() };
    let error = command("wrk2", &load).expect_err("half a request");
    assert_eq!(error, "wrk2 cannot offer this: its -R takes whole requests a second, not 12.5");
}
