//! Locust: simulated users in a closed loop.

mod model;
mod parse;

use truetail_model::workload::LoadModelKind;

use self::parse::{NAME, RESULT, SAMPLES, TESTED};
use crate::known_tool::KnownTool;
use crate::locate::locate_program;
use crate::{InstallHint, InstalledTool, Invocation, LoadSpec, SearchPath, ToolInfo, ToolNotFound};

pub(crate) use model::MODEL;
pub(crate) use parse::statistics;

/// Locust with `users` users that do not wait between requests. A limit on the rate of each user would, by its
/// documentation, still be a closed loop that never catches up.
pub(crate) static TOOL: KnownTool = KnownTool::new(
    ToolInfo {
        name: NAME,
        label_model: LoadModelKind::Closed,
        clock: "from the call of its HTTP client, including the client's own time; failures count with the time until \
                they failed; rounds percentiles to two digits; silently retries after a reset on a kept connection; \
                leaves out requests in flight at the end",
        install: InstallHint::anywhere("PyPI", "tools/install.sh locust"),
        tested_version: TESTED,
    },
    locate,
    |found, load, _| Ok(command(found, load)),
    |output, _| parse::parse(output),
);

fn locate(search_path: &SearchPath) -> Result<InstalledTool, ToolNotFound> {
    locate_program(search_path, NAME, &["--version"])
}

/// Without `--exit-code-on-error 0`, a single failed request would change the exit code to 1.
fn command(found: &InstalledTool, load: &LoadSpec) -> Invocation {
    let users = load.users;
    let seconds = load.whole_seconds();
    let timed = format!("-f locustfile.py --headless -u {users} -r {users} -t {seconds}s");
    Invocation {
        inputs: vec![("locustfile.py".to_owned(), locustfile(load))],
        outputs: vec![(SAMPLES, SAMPLES.to_owned()), (RESULT, RESULT.to_owned())],
        ..Invocation::new(found, &timed).words("--exit-code-on-error 0 --json-file result")
    }
}

/// Returns a user, and a listener that writes each request, because Locust keeps only sums. The user has the faster of
/// Locust's two clients. With the slower one, ten users of a 10 ms service would keep a core busy and delay each other.
fn locustfile(load: &LoadSpec) -> String {
    let url = serde_json::json!(load.url);
    let timeouts = load.timeout.map_or_else(String::new, |timeout| {
        let seconds = timeout.as_secs_f64();
        format!("    connection_timeout = {seconds}\n    network_timeout = {seconds}\n")
    });
    format!(
        r#"import csv
from locust import FastHttpUser, constant, events, task

samples_file = open("{SAMPLES}", "w", newline="")
samples = csv.writer(samples_file)
samples.writerow(["start_time", "response_time_ms", "status", "exception"])

@events.request.add_listener
def write_sample(response_time, start_time, response=None, exception=None, **_):
    status = response.status_code if response is not None else 0
    samples.writerow([f"{{start_time:.6f}}", f"{{response_time:.3f}}", status, repr(exception) if exception else ""])

@events.quit.add_listener
def close_samples(**_):
    samples_file.close()

class User(FastHttpUser):
    host = {url}
    wait_time = constant(0)
{timeouts}
    @task
    def request(self):
        self.client.get({url}, allow_redirects=False)
"#
    )
}
