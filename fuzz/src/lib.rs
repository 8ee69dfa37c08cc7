//! An input of the fuzz target is all that a tool leaves: its exit code as a byte, then what it printed and each of its
//! files, with [`SEPARATOR`] between them. An empty part is a file that is not there.

use std::path::{Path, PathBuf};

use truetail_model::time::{Nanos, Rate};
use truetail_tools::{Found, Load, Output, Tool};

/// Between what was printed and the files.
pub const SEPARATOR: &[u8] = b"\x1e\x1e\x1e\x1e";

/// What the parsers are told had been asked for.
pub fn load() -> Load {
    Load {
        url: "http://127.0.0.1:8080/api".to_owned(),
        rate: Rate::per_second(100.0).expect("a rate"),
        duration: Nanos::from_secs(6),
        users: 5,
        connections: 5,
        timeout: None,
    }
}

/// The keys of the files that a tool leaves, in their order in an input.
pub fn keys(tool: &dyn Tool) -> Vec<&'static str> {
    let found = Found { path: PathBuf::from("tool"), version: tool.about().tested_version.to_owned() };
    let invocation = tool.command(&found, &load(), Path::new(".")).unwrap_or_default();
    invocation.outputs.iter().map(|(key, _)| *key).collect()
}

/// The output that an input stands for; 255 is a tool that a signal ended.
pub fn output(input: &[u8], keys: &[&'static str]) -> Output {
    let Some((exit, rest)) = input.split_first() else { return Output::default() };
    let mut parts = split(rest);
    let stdout = parts.next().unwrap_or_default().to_vec();
    let there = keys.iter().zip(parts).filter(|(_, bytes)| !bytes.is_empty());
    let files = there.map(|(key, bytes)| ((*key).to_owned(), bytes.to_vec())).collect();
    let exit_code = (*exit != 255).then_some(i32::from(*exit));
    Output { stdout, stderr: Vec::new(), exit_code, files }
}

fn split(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(bytes);
    std::iter::from_fn(move || {
        let bytes = rest?;
        let at = bytes.windows(SEPARATOR.len()).position(|window| window == SEPARATOR);
        rest = at.map(|at| &bytes[at + SEPARATOR.len()..]);
        Some(&bytes[..at.unwrap_or(bytes.len())])
    })
}

/// The input that stands for these parts.
pub fn input(exit: u8, parts: &[Vec<u8>]) -> Vec<u8> {
    [&[exit][..], &parts.join(SEPARATOR)].concat()
}
