//! Local ports for very many connections.
//!
//! Linux assigns local ports for one destination by walking through its range: first the ports of one parity, then the
//! others. With half of the range in use (14,000 of the usual 28,000), each connect walks past all of them. This was
//! measured to take several milliseconds, and the generator does nothing else meanwhile. So a worker with many
//! connections picks the ports itself, which takes microseconds.

use truetail_reactor::machine;

/// The system's own choice is fast up to this number of connections. `u64::MAX` always leaves it to the system.
const MANY: u64 = 4_096;

/// The ports of one worker: its part of the system's range, used in rotation.
#[derive(Debug)]
pub(crate) struct LocalPorts {
    first: u16,
    count: u16,
    stride: u16,
    next: u16,
}

impl LocalPorts {
    pub(crate) fn new(number: u32, of: u32) -> LocalPorts {
        let (low, high) = machine::local_port_range().unwrap_or((32_768, 60_999));
        LocalPorts::for_worker(low, high, number, of)
    }

    fn for_worker(low: u16, high: u16, number: u32, of: u32) -> LocalPorts {
        let span = u32::from(high) - u32::from(low) + 1;
        let count = (span.saturating_sub(number)).div_ceil(of);
        // With more threads than ports, some threads have no port.
        let first = u32::from(low) + number;
        LocalPorts {
            first: u16::try_from(first).unwrap_or(0),
            count: if first > u32::from(high) { 0 } else { count as u16 },
            stride: u16::try_from(of).unwrap_or(1),
            next: 0,
        }
    }

    /// Returns a port for the next connection of a worker with `open` connections; `None`: let the system choose.
    pub(crate) fn pick(&mut self, open: u64) -> Option<u16> {
        if open < MANY || self.count == 0 {
            return None;
        }
        let port = self.first + self.next * self.stride;
        self.next = (self.next + 1) % self.count;
        Some(port)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_parts_of_all_workers_are_the_range_and_nobody_shares() {
        for (low, high) in [(32_768, 60_999), (1_024, 65_535), (50_000, 50_002)] {
            for of in [1, 2, 3, 7] {
                let mut all = Vec::new();
                for number in 0..of {
                    let mut ports = LocalPorts::for_worker(low, high, number, of);
                    all.extend((0..ports.count).map(|_| ports.pick(MANY).unwrap()));
                }
                let set: BTreeSet<u16> = all.iter().copied().collect();
                assert_eq!(set.len(), all.len(), "{low}..{high} of {of}");
                assert!(set.iter().copied().eq(low..=high), "{low}..{high} of {of}");
            }
        }
        assert_eq!(LocalPorts::for_worker(50_000, 50_002, 1, 2).pick(MANY - 1), None);
    }
}
