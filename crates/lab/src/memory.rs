//! How much memory the processes of a group held at most.
//!
//! The system's own figure at the end of a child (`ru_maxrss`) is never below what its *parent* held when it started it,
//! which makes a small tool look as large as this program. So the high-water mark of each process (`VmHWM` of
//! `/proc/<pid>/status`, which begins anew with a program) is read while it lives.

use std::collections::BTreeSet;
use std::fs;

/// Between two readings, in turns of the caller's loop.
const EVERY: u32 = 10;
/// Between two searches for new processes of the group, in readings.
const SEARCH_EVERY: u32 = 3;

/// The largest high-water mark seen of any process in a group.
#[derive(Debug)]
pub(crate) struct Memory {
    group: u32,
    known: BTreeSet<u32>,
    turn: u32,
    peak_bytes: Option<u64>,
}

impl Memory {
    /// Of the group whose leader is `group`.
    pub(crate) fn of_group(group: u32) -> Memory {
        Memory { group, known: BTreeSet::from([group]), turn: 0, peak_bytes: None }
    }

    /// To be called every few milliseconds.
    pub(crate) fn watch(&mut self) {
        if self.turn.is_multiple_of(EVERY) {
            if self.turn.is_multiple_of(EVERY * SEARCH_EVERY) {
                // Not added: the number of a process that has ended can become somebody else's.
                self.known = members(self.group).into_iter().collect();
            }
            let marks = self.known.iter().filter_map(|pid| high_water_mark(*pid));
            self.peak_bytes = marks.chain(self.peak_bytes).max();
        }
        self.turn += 1;
    }

    /// The mark; `None` where the system does not say.
    pub(crate) fn peak_bytes(&self) -> Option<u64> {
        self.peak_bytes
    }
}

fn members(group: u32) -> Vec<u32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid| group_of(*pid) == Some(group)).collect()
}

/// The fifth field of `/proc/<pid>/stat`; the second is a name in parentheses that may hold anything.
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
        let mut memory = Memory::of_group(group);
        memory.watch();
        assert!(memory.peak_bytes().is_some());
    }
}
