//! The peak resident memory of a process group.
//!
//! `ru_maxrss` of a child is never below the memory that its *parent* held at the fork, so a small tool would look as
//! large as this program. Instead, `VmHWM` of `/proc/<pid>/status`, which `exec` resets, is sampled while each
//! process lives.

use std::collections::BTreeSet;

use truetail_reactor::machine;

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
                self.pids = machine::members_of(self.group).into_iter().collect();
            }
            let marks = self.pids.iter().filter_map(|pid| machine::peak_memory_bytes(Some(*pid)));
            self.peak_bytes = marks.chain(self.peak_bytes).max();
        }
        self.calls += 1;
    }

    /// Returns the peak in bytes; `None` if the system does not tell.
    pub(crate) fn peak_bytes(&self) -> Option<u64> {
        self.peak_bytes
    }
}

#[cfg(test)]
mod tests {
    use rustix::process::{getpgid, getpid};
    use truetail_reactor::machine;

    use super::PeakMemory;

    #[test]
    fn the_group_of_this_process_has_a_peak_if_the_system_tells() {
        let group = getpgid(None).expect("every process has one").as_raw_nonzero().get() as u32;
        let mut memory = PeakMemory::for_group(group);
        memory.sample();
        assert_eq!(memory.peak_bytes().is_some(), machine::peak_memory_bytes(None).is_some());
        assert!(memory.pids.contains(&(getpid().as_raw_nonzero().get() as u32)) || memory.peak_bytes().is_none());
    }
}
