//! What a test does where it lacks a program: it says SKIPPED and passes, or fails if `TRUETAIL_STRICT=1`. Test
//! programs of several crates include this file.
#![allow(dead_code, reason = "each test program uses its part")]

use std::io::Write;

/// The program `what`, which `install` would install, is not on this machine. Returns only where that is no failure.
///
/// # Panics
/// With `TRUETAIL_STRICT=1`. `.ci/run` sets it, because it installs what these tests need.
pub fn missing(what: &str, install: &str) {
    let strict = std::env::var_os("TRUETAIL_STRICT").is_some_and(|value| value == "1");
    assert!(!strict, "{what} is missing, and TRUETAIL_STRICT=1 allows no SKIPPED; to install it: {install}");
    skipped(what, install);
}

/// The program `what` is not on this machine, and no package registry offers it: never a failure.
pub fn missing_everywhere(what: &str, install: &str) {
    skipped(what, install);
}

/// Not by `eprintln!`, whose text the test harness hides when the test passes.
fn skipped(what: &str, install: &str) {
    let _ = writeln!(std::io::stderr(), "SKIPPED: {what} is missing; to install it: {install}");
}
