//! The sender's time in pushes (`--stamp`).

use std::fmt;

use serde::{Deserialize, Serialize};

/// Unit of a sender's time since 1970.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StampUnit {
    /// Nanoseconds.
    Ns,
    /// Microseconds.
    Us,
    /// Milliseconds.
    Ms,
    /// Seconds.
    S,
}

impl StampUnit {
    /// Returns the unit in nanoseconds.
    pub const fn ns(self) -> u64 {
        match self {
            StampUnit::Ns => 1,
            StampUnit::Us => 1_000,
            StampUnit::Ms => 1_000_000,
            StampUnit::S => 1_000_000_000,
        }
    }
}

impl fmt::Display for StampUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            StampUnit::Ns => "ns",
            StampUnit::Us => "us",
            StampUnit::Ms => "ms",
            StampUnit::S => "s",
        })
    }
}

/// Books of the sender's times: each measured push is in one of the counts.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct StampBooks {
    /// Pointer to the sender's time in a push that is JSON (RFC 6901).
    pub pointer: String,
    /// Its unit.
    pub unit: StampUnit,
    /// Largest difference between the sender's clock and that of this machine; 0 for the same clock.
    pub clock_bound_ns: u64,
    /// The finest step of the times that were read: the unit, or less if they have decimals.
    pub step_ns: u64,
    /// Pushes with a delay.
    pub read: u64,
    /// Pushes without a time that could be read.
    pub unread: u64,
    /// Pushes that arrived before their time by more than bound and step: the clocks differ more than was said.
    pub contradictory: u64,
}

impl StampBooks {
    /// Creates empty books.
    pub fn new(pointer: String, unit: StampUnit, clock_bound_ns: u64) -> StampBooks {
        StampBooks { pointer, unit, clock_bound_ns, step_ns: unit.ns(), read: 0, unread: 0, contradictory: 0 }
    }

    /// Returns the most that a delay may differ from the true one, to either side.
    pub fn bound_ns(&self) -> u64 {
        self.clock_bound_ns.saturating_add(self.step_ns)
    }

    /// Adds the books of another part of the run, with the same settings.
    pub fn merge(&mut self, other: &StampBooks) {
        self.step_ns = self.step_ns.min(other.step_ns);
        self.read = self.read.saturating_add(other.read);
        self.unread = self.unread.saturating_add(other.unread);
        self.contradictory = self.contradictory.saturating_add(other.contradictory);
    }

    /// Returns true if both were read with the same settings.
    pub fn is_alike(&self, other: &StampBooks) -> bool {
        let settings = |books: &StampBooks| (books.pointer.clone(), books.unit, books.clock_bound_ns);
        settings(self) == settings(other)
    }

    /// Returns the number of pushes in these books.
    pub fn pushes(&self) -> u64 {
        [self.unread, self.contradictory].into_iter().fold(self.read, u64::saturating_add)
    }
}
