//! A generator that must share its one processor with two others who never sleep.

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

/// From the arrival of a request at the server to its answer, at p99, by the server's own log.
fn servers_p99_ms(rows: &[String]) -> f64 {
    let number = |row: &str, column| row.split(',').nth(column).and_then(|text| text.parse::<f64>().ok());
    let time = |row: &String| Some(number(row, 4)? - number(row, 2)?);
    let mut times: Vec<f64> = rows.iter().filter_map(time).collect();
    times.sort_unstable_by(f64::total_cmp);
    times[(times.len() * 99).div_ceil(100) - 1] / 1e6
}

/// Whatever the scheduler makes of it: either p99 is right, or the run does not call itself VALID, and what came between
/// is named. Right is what the server's own log says and a fifth, which is twice what [`generator_lag`] lets pass as VALID.
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
        let (response, truth) = (p99_ms(&run, "response_time"), servers_p99_ms(&rows));
        let lag = p99_ms(&run, "generator_lag");
        let right = (response - truth).abs() <= truth * 0.2;
        assert!(
            right || run["verdict"]["state"] != "VALID",
            "{mode:?} p99 {response} ms, truth {truth} ms, lag {lag} ms"
        );
        // Two spinners and no lag would mean that the test starves nobody.
        assert!(lag > 0.1, "{mode:?} lag {lag} ms at p99: was it starved?");
    }
}
