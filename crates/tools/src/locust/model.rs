//! Locust against a language model, with the usual script: users read the lines of a stream and fire custom events.

use serde::Deserialize;
use truetail_model::record::Outcome;
use truetail_model::workload::LoadModelKind;
use truetail_run::{GapMeaning, LatencyFrom, StreamClaims};

use super::locate;
use super::parse::{TESTED, version};
use crate::known_tool::KnownTool;
use crate::model::{HALF_RATE, body, computed, half_rate_users};
use crate::output_reader::OutputReader;
use crate::{
    InstallHint, InstalledTool, Invocation, LoadSpec, ParseError, ReportedRequest, ToolInfo, ToolOutput, ToolReport,
    units,
};

const NAME: &str = "locust-llm";
const SAMPLES: &str = "samples.csv";
const GAPS: &str = "gaps.csv";

/// Locust with users at a constant throughput each. They are enough for the rate while no request stalls.
pub(crate) static MODEL: KnownTool = KnownTool::new(
    ToolInfo {
        name: NAME,
        label_model: LoadModelKind::Closed,
        clock: "from the call of the HTTP client by a user who waited for the answer before; a user who is late sends at once and \
                does not catch up; gaps are between lines as Python reads them; leaves out requests in flight at the end",
        install: InstallHint::anywhere("PyPI", "tools/install.sh locust"),
        tested_version: TESTED,
    },
    locate,
    |found, load, _| Ok(command(found, load)),
    |output, _| parse(output),
)
.measuring_streams()
.with_users(half_rate_users);

fn command(found: &InstalledTool, load: &LoadSpec) -> Invocation {
    let users = half_rate_users(load);
    let seconds = load.whole_seconds();
    let timed = format!("-f locustfile.py --headless -u {users} -r {users} -t {seconds}s --exit-code-on-error 0");
    Invocation {
        inputs: vec![("locustfile.py".to_owned(), locustfile(load, users))],
        outputs: vec![(SAMPLES, SAMPLES.to_owned()), (GAPS, GAPS.to_owned())],
        ..Invocation::new(found, &timed)
    }
}

fn parse(output: &ToolOutput) -> Result<ToolReport, ParseError> {
    let file = |name| OutputReader::stdout(NAME, TESTED).file(name);
    let bytes = output.file(SAMPLES).ok_or_else(|| file(SAMPLES).no_result(output, "samples of Locust"))?;
    let mut requests = Vec::new();
    let mut firsts = Vec::new();
    let mut failed = 0;
    file(SAMPLES).each_csv_row(bytes, |line, row: Row| {
        let nanos = |ms: f64| file(SAMPLES).require(line, "time in milliseconds", units::nanos(ms, 1e6));
        firsts.extend(row.first_ms.map(nanos).transpose()?.map(|first| first.0));
        let start = file(SAMPLES).require(line, "start in seconds", units::nanos(row.start_time, 1e9))?;
        failed += u64::from(row.status != 200);
        let outcome = Outcome::response(row.status);
        requests.push(ReportedRequest { start_ns: Some(start.0), latency: nanos(row.whole_ms)?, outcome });
        Ok(())
    })?;
    let mut gaps = Vec::new();
    file(GAPS).each_csv_row(output.file(GAPS).unwrap_or_default(), |line, row: Gap| {
        gaps.push(file(GAPS).require(line, "time in milliseconds", units::nanos(row.gap_ms, 1e6))?.0);
        Ok(())
    })?;
    let report = ToolReport::from_requests(LatencyFrom::Send, requests, failed).with_computed_quantiles();
    Ok(ToolReport { version: version(&output.stderr), streams: Some(streams(firsts, gaps)), ..report })
}

fn streams(firsts: Vec<u64>, gaps: Vec<u64>) -> StreamClaims {
    let measured = Some(firsts.len() as u64);
    let (first, first_max_ns) = computed(firsts);
    let (gaps, gap_max_ns) = computed(gaps);
    StreamClaims { first, first_max_ns, measured, gaps, gap_max_ns, gap_of: GapMeaning::Event }
}

#[derive(Deserialize)]
struct Row {
    start_time: f64,
    first_ms: Option<f64>,
    whole_ms: f64,
    status: u16,
}

#[derive(Deserialize)]
struct Gap {
    gap_ms: f64,
}

/// Returns the script. Users start staggered, like the arrivals of a schedule.
fn locustfile(load: &LoadSpec, users: u32) -> String {
    let url = serde_json::json!(load.url);
    let body = body(load);
    let timeout = load.timeout.map_or_else(|| "None".to_owned(), |timeout| timeout.as_secs_f64().to_string());
    let body = serde_json::json!(body.to_string());
    format!(
        r#"import csv
import itertools
import time

import gevent
from locust import HttpUser, constant_throughput, events, task

samples_file, gaps_file = open("{SAMPLES}", "w", newline=""), open("{GAPS}", "w", newline="")
samples, gaps = csv.writer(samples_file), csv.writer(gaps_file)
samples.writerow(["start_time", "first_ms", "whole_ms", "status"])
gaps.writerow(["gap_ms"])
numbers = itertools.count()

@events.quit.add_listener
def close_files(**_):
    samples_file.close()
    gaps_file.close()

class User(HttpUser):
    host = {url}
    wait_time = constant_throughput({HALF_RATE})

    def on_start(self):
        gevent.sleep(next(numbers) / ({users} * {HALF_RATE}))

    @task
    def complete(self):
        start, epoch, first, last = time.perf_counter(), time.time(), None, None
        headers = {{"Content-Type": "application/json"}}
        with self.client.post({url}, data={body}, headers=headers, stream=True, catch_response=True,
                              timeout={timeout}) as response:
            for line in response.iter_lines():
                if not line.startswith(b"data: ") or b'"text":""' in line or b"[DONE]" in line:
                    continue
                now = time.perf_counter()
                if first is None:
                    first = now
                else:
                    gaps.writerow([f"{{(now - last) * 1e3:.3f}}"])
                last = now
            status = response.status_code
            response.success() if status == 200 else response.failure(str(status))
        first_ms = "" if first is None else f"{{(first - start) * 1e3:.3f}}"
        samples.writerow([f"{{epoch:.6f}}", first_ms, f"{{(time.perf_counter() - start) * 1e3:.3f}}", status])
"#
    )
}
