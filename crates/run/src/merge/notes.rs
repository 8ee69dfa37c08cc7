//! Notes on a merged run.

use std::collections::HashSet;
use std::fmt::Write;

use truetail_model::record::Samples;

use crate::{HostInfo, Run};

#[derive(Default, Debug)]
pub(super) struct Notes {
    /// Every version in order of appearance, with the number of its runs.
    versions: Vec<(String, usize)>,
    /// Every machine in order of appearance, with the number of its runs.
    hosts: Vec<(Option<HostInfo>, usize)>,
    seeds: Option<(Seeds, bool)>,
}

/// Seeds of the spacing, of the choice of requests, and of the values in them.
type Seeds = [Option<u64>; 3];

impl Notes {
    pub(super) fn add(&mut self, run: &Run) {
        count(&mut self.versions, &run.facts.version);
        count(&mut self.hosts, &run.facts.host);
        let offered = &run.facts.offered;
        let seeds = [offered.seed, offered.mix.as_ref().and_then(|mix| mix.seed), offered.values_seed];
        let (first, differ) = self.seeds.unwrap_or((seeds, false));
        self.seeds = Some((first, differ || seeds != first));
    }

    /// Returns the notes on the merged run, in order. `lacks`: some run had no seconds, or no samples.
    pub(super) fn texts(&self, runs: usize, whole: &Run, lacks: [bool; 2]) -> Vec<String> {
        let mut notes = Vec::new();
        let mut note = |applies: bool, text: String| notes.extend(applies.then_some(text));
        note(runs > 1, format!("merged from {runs} runs"));
        note(
            whole.facts.shards.is_none() && overlaps(&whole.snapshot.samples),
            "several runs have the same arrivals, so they are repetitions; rates are sums over all of them".to_owned(),
        );
        note(self.seeds.is_some_and(|(_, differ)| differ), "the runs had different seeds".to_owned());
        note(
            self.versions.len() > 1,
            format!(
                "the runs were made with different versions of truetail: {}",
                listed(&self.versions, String::clone)
            ),
        );
        let machines = listed(&self.hosts, |host| host.as_ref().map_or("unknown".to_owned(), described));
        note(
            self.hosts.len() > 1,
            format!("the runs were made on different machines: {machines}; host describes the first"),
        );
        let [seconds, samples] = lacks;
        note(seconds, "a run had no distributions by second, so the merged run has none".to_owned());
        note(samples, "a run had no single requests, so the merged run has none".to_owned());
        notes
    }
}

fn count<T: Clone + PartialEq>(counts: &mut Vec<(T, usize)>, value: &T) {
    match counts.iter_mut().find(|(known, _)| known == value) {
        Some((_, runs)) => *runs += 1,
        None => counts.push((value.clone(), 1)),
    }
}

fn described(host: &HostInfo) -> String {
    format!("{} {} with {} CPUs", host.os, host.arch, host.cpus)
}

const MAX_LISTED: usize = 8;

fn listed<T>(counts: &[(T, usize)], text: impl Fn(&T) -> String) -> String {
    let mut all = String::new();
    for (place, (value, runs)) in counts.iter().take(MAX_LISTED).enumerate() {
        let comma = if place > 0 { ", " } else { "" };
        let times = if *runs > 1 { format!(" ({runs} runs)") } else { String::new() };
        write!(all, "{comma}{}{times}", text(value)).expect("a text grows");
    }
    let rest = counts.len().saturating_sub(MAX_LISTED);
    if rest > 0 {
        write!(all, " and {rest} more").expect("a text grows");
    }
    all
}

/// Returns true if an arrival exists twice among the kept requests. Whether a run keeps it depends only on its index.
fn overlaps(samples: &Samples) -> bool {
    let mut seen = HashSet::with_capacity(samples.even().len());
    samples.even().iter().any(|record| !seen.insert((record.index, record.intended_start)))
}
