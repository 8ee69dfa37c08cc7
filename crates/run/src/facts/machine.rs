//! Facts about a machine on which a load may be sent.

/// Facts about a machine. A fact is `None` if the system does not tell it.
#[derive(Clone, PartialEq, Debug)]
pub struct MachineFacts {
    /// Processors that this process may use.
    pub cpus: u32,
    /// Processors that the control group may use at a time on average; infinite without a quota.
    pub quota: Option<f64>,
    /// Highest limit on open files that the process may set itself.
    pub open_files: Option<u64>,
    /// Local ports for one destination.
    pub local_ports: Option<u32>,
    /// Clock.
    pub clock: ClockFacts,
    /// Governor of the processors' frequency.
    pub governor: Option<String>,
    /// The kernel stamps the arrival of answers.
    pub has_stamps: bool,
    /// The process may give its threads real-time priority.
    pub may_run_at_real_time: bool,
    /// A look at the machine while it should have been idle.
    pub look: MachineLook,
}

/// The clock of a machine.
#[derive(Clone, PartialEq, Debug)]
pub struct ClockFacts {
    /// Source of the system's time.
    pub source: Option<String>,
    /// Sources that could be chosen.
    pub available: Vec<String>,
    /// Time that a reading takes, in nanoseconds.
    pub reading_ns: u64,
}

/// A look at a machine for a while.
#[derive(Clone, PartialEq, Debug)]
pub struct MachineLook {
    /// Length of the look.
    pub length_ns: u64,
    /// Lateness of wake-ups by a timer, in ascending order; at least one.
    pub late_ns: Vec<u64>,
    /// Time that the hypervisor took, over all processors.
    pub steal_ns: Option<u64>,
    /// Time that a quota took.
    pub throttled_ns: Option<u64>,
    /// Time while a task waited for a processor.
    pub pressure_ns: Option<u64>,
}
