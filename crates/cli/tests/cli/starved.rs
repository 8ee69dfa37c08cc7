//! A generator that shares its only processor with two busy loops.

use std::process::{Child, Command, Stdio};

use serde_json::Value;

use super::support::{ServeProcess, TestDir, TestProcess, assert_balanced};

/// Keeps the first processor busy until it is dropped.
struct Spinner(Child);

impl Spinner {
    fn start() -> Spinner {
        let mut command = Command::new("taskset");
        command.args(["-c", "0", "sh", "-c", "while :; do :; done"]).stdout(Stdio::null());
        Spinner(command.spawn().expect("taskset, of util-linux"))
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn p99_ms(run: &Value, metric: &str) -> f64 {
    let quantiles = run[metric]["quantiles"].as_array().expect("quantiles");
    let p99 = quantiles.iter().find(|quantile| quantile["q"] == 0.99).expect("p99");
    p99["value_ns"].as_f64().unwrap_or(0.0) / 1e6
}

/// Returns p99 of the time from the arrival of a request at the server to its answer, in ms, from the server's log.
fn servers_p99_ms(rows: &[String]) -> f64 {
    let number = |row: &str, column| row.split(',').nth(column).and_then(|text| text.parse::<f64>().ok());
    let time = |row: &String| Some(number(row, 4)? - number(row, 2)?);
    let mut times: Vec<f64> = rows.iter().filter_map(time).collect();
    times.sort_unstable_by(f64::total_cmp);
    times[(times.len() * 99).div_ceil(100) - 1] / 1e6
}

/// p99 is always right, or the run is not VALID and gives a reason. Right means within a fifth of the server's log,
/// twice what [`generator_lag`] lets pass as VALID.
///
/// [`generator_lag`]: ../../../docs/honesty.md
#[test]
fn is_never_valid_with_a_wrong_p99() {
    for mode in [&[][..], &["--user-timestamps"]] {
        let dir = TestDir::new();
        let served = ServeProcess::start(&dir, "01-healthy");
        let url = served.api();
        let arguments =
            [&["run", &url, "-r", "1000", "-d", "3s", "--threads", "1", "--json", "--no-save"], mode].concat();
        let spinners = [Spinner::start(), Spinner::start()];
        let output = TestProcess::start(dir.command_after("taskset -cp 0 $$ >&2", &arguments)).end();
        drop(spinners);
        let run = output.json();
        assert_balanced(&run);
        let (_, rows) = served.stop();
        let response = p99_ms(&run, "response_time");
        let truth = servers_p99_ms(&rows);
        let lag = p99_ms(&run, "generator_lag");
        let right = (response - truth).abs() <= truth * 0.2;
        assert!(
            right || run["verdict"]["state"] != "VALID",
            "{mode:?} p99 {response} ms, truth {truth} ms, lag {lag} ms"
        );
        // Two spinners without any lag would mean that the generator was not starved.
        assert!(lag > 0.1, "{mode:?} lag {lag} ms at p99: was it starved?");
    }
}
