//! k6 against a language model, without an extension: it reads each answer as a whole.

use serde::Deserialize;
use truetail_model::workload::LoadModelKind;
use truetail_run::{GapMeaning, StreamClaims};

use super::parse::{SAMPLES, TESTED, parse};
use super::{INSTALL, invocation, locate, script};
use crate::known_tool::KnownTool;
use crate::model::computed;
use crate::output_reader::OutputReader;
use crate::{ParseError, ToolInfo, ToolReport, units};

const NAME: &str = "k6-llm";

/// k6 with arrivals at a constant rate that post a request for a stream.
pub(crate) static MODEL: KnownTool = KnownTool::new(
    ToolInfo {
        name: NAME,
        label_model: LoadModelKind::Open,
        clock: "time to the first byte (http_req_waiting) from sending the request, which is when the head of the answer comes and \
                not a token; it reads answers whole and sees no gaps; drops iterations that find no free virtual user",
        install: INSTALL,
        tested_version: TESTED,
    },
    locate,
    |found, load, _| Ok(invocation(found, script::model(load, NAME)?)),
    |output, _| {
        let waits = output.file(SAMPLES).map(waits).transpose()?;
        Ok(ToolReport { streams: waits.map(claims), ..parse(NAME, output)? })
    },
)
.measuring_streams();

fn claims(waits: Vec<u64>) -> StreamClaims {
    let measured = Some(waits.len() as u64);
    let (first, first_max_ns) = computed(waits);
    StreamClaims { first, first_max_ns, measured, gaps: Vec::new(), gap_max_ns: None, gap_of: GapMeaning::Event }
}

#[derive(Deserialize)]
struct Sample {
    metric_name: String,
    metric_value: f64,
}

/// Returns the times to the first byte in nanoseconds.
fn waits(bytes: &[u8]) -> Result<Vec<u64>, ParseError> {
    let file = OutputReader::stdout(NAME, TESTED).file(SAMPLES);
    let mut waits = Vec::new();
    file.each_csv_row(bytes, |line, sample: Sample| {
        if sample.metric_name == "http_req_waiting" {
            let wait = file.require(line, "time in milliseconds", units::nanos(sample.metric_value, 1e6))?;
            waits.push(wait.0);
        }
        Ok(())
    })?;
    Ok(waits)
}
