//! `truetail --version --json`: facts of this build, for bug reports and scripts.

use std::ffi::OsString;

use serde_json::json;
use truetail_engine::host::LINUX_SERVICES;

/// Cargo features that are off by default, and whether this build has them.
const FEATURES: [(&str, bool); 6] = [
    ("otlp", cfg!(feature = "otlp")),
    ("parquet", cfg!(feature = "parquet")),
    ("script", cfg!(feature = "script")),
    ("serve-http2", cfg!(feature = "serve-http2")),
    ("sqlite", cfg!(feature = "sqlite")),
    ("tokenizer", cfg!(feature = "tokenizer")),
];

/// Returns true for a command line, with the program's name first, that is `--version` and `--json` in either order.
pub(super) fn is_asked_as_json(arguments: &[OsString]) -> bool {
    let words: Vec<&str> = arguments.iter().skip(1).filter_map(|word| word.to_str()).collect();
    matches!(words[..], ["--version" | "-V", "--json"] | ["--json", "--version" | "-V"]) && arguments.len() == 3
}

/// Returns one JSON object and a line break.
pub(super) fn as_json() -> String {
    let features: Vec<&str> = FEATURES.iter().filter(|(_, has_it)| *has_it).map(|(name, _)| *name).collect();
    let build = json!({
        "name": "truetail",
        "version": env!("CARGO_PKG_VERSION"),
        "os": std::env::consts::OS,
        "arch": std::env::consts::ARCH,
        "profile": if cfg!(debug_assertions) { "debug" } else { "release" },
        "features": features,
        "linux": LINUX_SERVICES,
    });
    format!("{build:#}\n")
}
