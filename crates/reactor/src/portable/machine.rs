//! Facts about the machine are unknown, and a signal counts as not ignored.

/// Returns `None`.
pub fn open_files() -> Option<u64> {
    None
}

/// Returns `None`.
pub fn local_port_range() -> Option<(u16, u16)> {
    None
}

/// Returns `None`.
pub fn kernel() -> Option<String> {
    None
}

/// Returns `None`.
pub fn cpu_model() -> Option<String> {
    None
}

/// Returns `None`.
pub fn clock_source() -> Option<String> {
    None
}

/// Returns no source.
pub fn clock_sources() -> Vec<String> {
    Vec::new()
}

/// Returns `None`.
pub fn governor() -> Option<String> {
    None
}

/// Returns `None`.
pub fn online_cpus() -> Option<u32> {
    None
}

/// Returns `None`.
pub fn memory_bytes() -> Option<u64> {
    None
}

/// Returns `None`.
pub fn peak_memory_bytes(_pid: Option<u32>) -> Option<u64> {
    None
}

/// Returns no process.
pub fn members_of(_group: u32) -> Vec<u32> {
    Vec::new()
}

/// Returns false.
pub fn ignores(_signal: i32) -> bool {
    false
}
