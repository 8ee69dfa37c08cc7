//! `truetail doctor`: shows what facts about this machine mean for a measurement.

use serde_json::json;
use truetail_analysis::machine::{self, MachineFinding, MachineState};
use truetail_engine::host;
use truetail_report::machine_findings;

use crate::args::doctor::DoctorArgs;
use crate::error::{ExitCode, Result, runtime_error};
use crate::output;

/// Version of the JSON.
const SCHEMA: &str = "truetail.doctor/1";

pub(super) fn doctor(args: DoctorArgs) -> Result<ExitCode> {
    let facts = host::examine().map_err(|error| runtime_error(format!("the timer cannot be tried: {error}")))?;
    let findings = machine::findings(&facts);
    let text = if args.json { as_json(&findings) } else { machine_findings(&findings, output::stdout_style()) };
    output::print(&text).map(|()| ExitCode::Success)
}

fn as_json(findings: &[MachineFinding]) -> String {
    let worst = findings.iter().map(|finding| finding.state).max().unwrap_or(MachineState::Fine);
    let all = json!({"schema": SCHEMA, "state": worst, "host": host::describe(), "findings": findings});
    format!("{all:#}\n")
}
