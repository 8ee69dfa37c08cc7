//! `truetail doctor`: reads facts about this machine and shows what they mean.

use serde_json::json;
use truetail_analysis::machine::{self, ClockFacts, MachineFacts, MachineFinding, MachineState};
use truetail_engine::host;
use truetail_report::machine_findings;

use crate::args::doctor::DoctorArgs;
use crate::error::{ExitCode, Result, runtime_error};
use crate::output;

/// Version of the JSON.
const SCHEMA: &str = "truetail.doctor/1";

pub fn doctor(args: DoctorArgs) -> Result<ExitCode> {
    let findings = machine::findings(&facts()?);
    let text = if args.json { as_json(&findings) } else { machine_findings(&findings, output::stdout_style()) };
    output::print(&text).map(|()| ExitCode::Success)
}

fn facts() -> Result<MachineFacts> {
    let look = host::look().map_err(|error| runtime_error(format!("the timer cannot be tried: {error}")))?;
    let clock = host::clock();
    Ok(MachineFacts {
        cpus: host::cpus(),
        quota: host::cpu_quota(),
        open_files: host::open_file_limits().map(|limits| limits.hard),
        local_ports: host::local_ports(),
        clock: ClockFacts { source: clock.source, available: clock.available, reading_ns: clock.reading_ns },
        governor: host::governor(),
        has_stamps: host::has_stamps(),
        may_run_at_real_time: host::may_run_at_real_time(),
        look: machine::MachineLook {
            length_ns: look.length.0,
            late_ns: look.late_ns,
            steal_ns: look.steal_ns,
            throttled_ns: look.throttled_ns,
            pressure_ns: look.pressure_ns,
        },
    })
}

fn as_json(findings: &[MachineFinding]) -> String {
    let worst = findings.iter().map(|finding| finding.state).max().unwrap_or(MachineState::Fine);
    let all = json!({"schema": SCHEMA, "state": worst, "host": host::describe(), "findings": findings});
    format!("{all:#}\n")
}
