//! Causes of lost processor time are unknown.

/// Returns `None`.
pub fn steal_ns() -> Option<u64> {
    None
}

/// Returns `None`.
pub fn throttled_ns() -> Option<u64> {
    None
}

/// Returns `None`.
pub fn cpu_quota() -> Option<f64> {
    None
}

/// Returns `None`.
pub fn cpu_pressure_ns() -> Option<u64> {
    None
}
