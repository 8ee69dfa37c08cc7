//! Traces as Mooncake published them: `{"timestamp": 3000, "input_length": 915, "output_length": 355,
//! "hash_ids": [0, 462]}`, with milliseconds. Equal hashes mean blocks with equal texts.

use serde::Deserialize;
use truetail_model::time::Timestamp;

use super::left_out::LeftOut;
use super::lengths::RecordedLengths;
use super::requests::{FilePrompts, FileRequests};
use super::values::{MAX_LINE, instant, length, lines, without_place};
use crate::{AskedLengths, InputError};

const NANOS_PER_MILLISECOND: f64 = 1e6;

/// One line. Other members are ignored.
#[derive(Deserialize)]
struct Line {
    timestamp: f64,
    input_length: f64,
    output_length: f64,
    #[serde(default)]
    hash_ids: Vec<u64>,
}

pub(super) fn read(text: &str, file: &str, block: u32) -> Result<FilePrompts, InputError> {
    let mut requests = RecordedLengths::new(block);
    let mut left_out = LeftOut::default();
    let mut instants: Vec<Timestamp> = Vec::new();
    for line in lines(text, file, MAX_LINE) {
        let (location, line) = line?;
        let help = "write {\"timestamp\": MS, \"input_length\": N, \"output_length\": N, \"hash_ids\": […]}";
        let line: Line = serde_json::from_str(line)
            .map_err(|error| location.invalid(format!("no request of Mooncake: {}; {help}", without_place(&error))))?;
        let wrong = |problem: String| location.invalid(problem);
        let at = instant(line.timestamp, NANOS_PER_MILLISECOND, instants.last(), "timestamp").map_err(wrong)?;
        let input = length(line.input_length, "input_length").map_err(wrong)?;
        let output = length(line.output_length, "output_length").map_err(wrong)?;
        match (input, output) {
            (0, _) => left_out.in_line("without a prompt", location.line),
            (_, 0) => left_out.in_line("without an answer", location.line),
            (input, output) => {
                requests.push(AskedLengths { input, output }, &line.hash_ids).map_err(wrong)?;
                instants.push(at);
            }
        }
    }
    Ok(FilePrompts::new(FileRequests::Lengths(requests), left_out).at(instants))
}
