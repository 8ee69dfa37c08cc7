//! The peak resident memory of a process group.
//!
//! `ru_maxrss` of a child is never below the memory that its *parent* held at the fork, so a small tool would look as
//! large as this program. Instead, `VmHWM` of `/proc/<pid>/status`, which `exec` resets, is sampled while each
//! process lives.

use std::collections::BTreeSet;
use std::fs;

/// Number of calls of [`PeakMemory::sample`] per reading.
const READ_EVERY: u32 = 10;
/// Number of readings per search for new processes of the group.
const SEARCH_EVERY: u32 = 3;

/// The largest high-water mark seen in any one process of a group.
#[derive(Debug)]
pub(crate) struct PeakMemory {
    group: u32,
    pids: BTreeSet<u32>,
    calls: u32,
    peak_bytes: Option<u64>,
}

impl PeakMemory {
    /// Starts to watch the group whose leader has the process id `group`.
    pub(crate) fn for_group(group: u32) -> PeakMemory {
        PeakMemory { group, pids: BTreeSet::from([group]), calls: 0, peak_bytes: None }
    }

    /// Reads the memory at every tenth call. Call it about every 20 ms.
    pub(crate) fn sample(&mut self) {
        if self.calls.is_multiple_of(READ_EVERY) {
            if self.calls.is_multiple_of(READ_EVERY * SEARCH_EVERY) {
                // Replaced, not extended: the system may reuse the id of an ended process.
                self.pids = members(self.group).into_iter().collect();
            }
            let marks = self.pids.iter().filter_map(|pid| high_water_mark(*pid));
            self.peak_bytes = marks.chain(self.peak_bytes).max();
        }
        self.calls += 1;
    }

    /// Returns the peak in bytes; `None` if there is no `/proc`.
    pub(crate) fn peak_bytes(&self) -> Option<u64> {
        self.peak_bytes
    }
}

fn members(group: u32) -> Vec<u32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid| group_of(*pid) == Some(group)).collect()
}

/// Returns the fifth field of `/proc/<pid>/stat`. The second field is a name in parentheses that may contain anything.
fn group_of(pid: u32) -> Option<u32> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    text.rsplit_once(')')?.1.split_whitespace().nth(2)?.parse().ok()
}

fn high_water_mark(pid: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = text.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? * 1024)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_a_mark_and_a_group() {
        let pid = std::process::id();
        assert!(high_water_mark(pid).is_some_and(|bytes| bytes > 100_000));
        let group = group_of(pid).expect("a group");
        assert!(members(group).contains(&pid));
        let mut memory = PeakMemory::for_group(group);
        memory.sample();
        assert!(memory.peak_bytes().is_some());
    }
}
