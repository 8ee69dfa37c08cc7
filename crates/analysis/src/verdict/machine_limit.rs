//! The limit of the generator's machine that its requests waited for, or failed at.

use serde::Serialize;
use truetail_model::record::Metric;
use truetail_run::{Findings, MachineLimit, Run};

use super::figures::mean_or_zero;

/// The limit of a run that used every connection that this machine allows. Its fields are numbers in `run.json`.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct LimitReached {
    /// Number of connections that this machine allows.
    pub connections: u64,
    /// Cause of the limit; `None` in runs of earlier versions.
    #[serde(rename = "limited_by", skip_serializing_if = "Option::is_none")]
    pub limit: Option<MachineLimit>,
    /// About as many connections as the load wanted at once: its rate times the mean service time (Little's law).
    #[serde(rename = "connections_wanted", skip_serializing_if = "Option::is_none")]
    pub wanted: Option<u64>,
    /// The limit on open files of the process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_files_limit: Option<u64>,
}

impl LimitReached {
    /// Returns the limit that a run of `planned_per_second` requests per second reached, if it did.
    pub(super) fn detect(run: &Run, findings: &Findings, planned_per_second: Option<f64>) -> Option<LimitReached> {
        let generator = run.facts.generator.as_ref()?;
        let connections = generator.connections_available?;
        let wanted = planned_per_second.and_then(|rate| wanted(findings, rate)).filter(|wanted| *wanted > connections);
        (generator.connections_peak >= connections).then_some(LimitReached {
            connections,
            limit: generator.connections_limited_by,
            wanted,
            open_files_limit: generator.open_files_limit,
        })
    }

    /// Returns sentences: the number of connections allowed, the number wanted, and how to raise the limit.
    pub(super) fn advice(&self) -> String {
        let wanted = self.wanted.map_or(String::new(), |wanted| format!(", and wanted about {wanted}"));
        let connections = self.connections;
        let (limit, raise) = match self.limit {
            None => ("this machine".to_owned(), format!("{} or {}", raise_open_files(None), raise_local_ports())),
            Some(MachineLimit::OpenFiles) => {
                let limit = self.open_files_limit;
                let named = limit.map_or(String::new(), |limit| format!(" of {limit}"));
                (format!("the limit on open files{named}"), raise_open_files(self.open_files_wanted()))
            }
            Some(MachineLimit::LocalPorts) => ("the range of local ports".to_owned(), raise_local_ports()),
        };
        format!(
            "truetail had no connection left of the {connections} that {limit} allows{wanted}: {raise}, or set your own limit \
             with -c"
        )
    }

    /// Returns the limit on open files that the wanted connections need, with some reserve.
    fn open_files_wanted(&self) -> Option<u64> {
        let beside = self.open_files_limit?.checked_sub(self.connections)?;
        let wanted = self.wanted?.checked_add(beside)?;
        wanted.checked_add(wanted / 4)?.checked_next_multiple_of(100)
    }
}

/// Returns about how many requests would be in flight at once at this rate if none were held back.
fn wanted(findings: &Findings, per_second: f64) -> Option<u64> {
    let in_flight = per_second * mean_or_zero(&findings.metrics[Metric::ServiceTime]) / 1e9;
    (in_flight >= 1.0).then(|| in_flight.ceil() as u64)
}

pub(super) fn raise_open_files(wanted: Option<u64>) -> String {
    let wanted = wanted.map_or("N".to_owned(), |wanted| wanted.to_string());
    format!("raise it with ulimit -n {wanted} before the run")
}

pub(super) fn raise_local_ports() -> String {
    "widen it with sysctl -w net.ipv4.ip_local_port_range='1024 65535'".to_owned()
}
