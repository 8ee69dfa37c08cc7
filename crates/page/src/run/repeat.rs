//! Data for repeating the run: command, seed, machines, versions.

use std::time::{Duration, UNIX_EPOCH};

use maud::{Markup, html};
use truetail_report::number;
use truetail_report::words::LabelledText;
use truetail_run::{HostInfo, Run, RunSource};

use super::page::RunPage;
use super::wording::{labelled, none};
use crate::document::Section;
use crate::text::clipped;

const LONGEST_COMMAND: usize = 10_000;

pub(super) fn section(page: &RunPage<'_>) -> Section {
    let content = html! {
        (command(page.run))
        (labelled(facts(page.run)))
    };
    Section { id: "repeat", heading: "To repeat this run", content }
}

/// Describes time and place of the run: `2025-11-20 07:56:00 UTC, took 30.02s, on linux x86_64`.
pub(super) fn when_and_where(run: &Run) -> String {
    let started = run.facts.started_at_unix_ns.map(utc);
    let took = Some(run.facts.elapsed_ns).filter(|ns| *ns > 0).map(|ns| format!("took {}", number::time(ns)));
    let host = run.facts.host.as_ref().map(|host| format!("on {} {}", host.os, host.arch));
    let parts: Vec<String> = [started, took, host].into_iter().flatten().collect();
    parts.join(", ")
}

fn utc(unix_ns: u64) -> String {
    let time = humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_nanos(unix_ns)).to_string();
    time.replace('T', " ").replace('Z', " UTC")
}

fn command(run: &Run) -> Markup {
    let without = match run.facts.source {
        RunSource::Sockets => {
            "The command of this run is not known: it was merged from runs with different commands, made from a program, or saved \
             by an older version."
        }
        RunSource::Simulator => "This run was simulated. Its command is not known.",
        RunSource::Callable => "This run measured a function inside a program. There is no command.",
        RunSource::Import { .. } => "This run was imported from another tool. Its command is not known.",
    };
    html! {
        @match &run.facts.command {
            Some(command) => {
                pre { code { (clipped(command, LONGEST_COMMAND)) } }
                @if command.contains("[redacted]") || command.contains(" bytes left out]") {
                    p.faint { "Passwords, header values that may grant access, and long bodies are left out of the command." }
                }
            }
            None => { (none(without)) }
        }
    }
}

fn facts(run: &Run) -> Vec<LabelledText> {
    let facts = &run.facts;
    let mix = facts.offered.mix.as_ref();
    let made_before = mix.filter(|_| !facts.offered.asks_by_any_method());
    let known = [
        ("Seed", facts.offered.seed.or(mix.and_then(|mix| mix.seed)).map(|seed| seed.to_string())),
        ("Schedule", Some(format!("{} (hash of every planned arrival)", run.snapshot.schedule_hash))),
        ("Requests", made_before.map(|mix| format!("{} (hash of every request)", mix.hash))),
        ("truetail", Some(facts.version.clone())),
        ("Started", facts.started_at_unix_ns.map(utc)),
        ("Machine", facts.host.as_ref().map(machine)),
        (
            "Generator",
            facts.generator.as_ref().map(|generator| {
                let files = generator.open_files_limit.map_or(String::new(), |n| format!(", at most {n} open files"));
                format!("{}, {} timing{files}", threads(generator.threads), generator.timing.name())
            }),
        ),
    ];
    known.into_iter().filter_map(|(label, text)| Some((label, text?))).collect()
}

fn threads(n: u32) -> String {
    if n == 1 { "1 thread".to_owned() } else { format!("{n} threads") }
}

fn machine(host: &HostInfo) -> String {
    let cpus = if host.cpus == 1 { "1 CPU".to_owned() } else { format!("{} CPUs", host.cpus) };
    let cpus = host.cpu_model.as_ref().map_or(cpus.clone(), |model| format!("{cpus} ({model})"));
    let memory = host.memory_bytes.map(|bytes| format!("{:.1} GiB of memory", bytes as f64 / f64::from(1 << 30)));
    let system = [Some(host.os.clone()), host.kernel.clone(), Some(host.arch.clone())];
    let system = system.into_iter().flatten().collect::<Vec<_>>().join(" ");
    [Some(system), Some(cpus), memory].into_iter().flatten().collect::<Vec<_>>().join(", ")
}
