//! A real Prometheus reads `/metrics`, and promtool finds nothing wrong with it.

use std::io::Write;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::Value;
use truetail_tools::SearchPath;

use crate::LiveRun;
use crate::client::get;
use crate::missing::missing;
use crate::support::TestDir;

/// Prometheus takes some seconds to start and to scrape twice, and many on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(120);
/// The server of [`LiveRun`] takes 10 ms, so no request is faster. Native buckets are precise to 2.2 %.
const FASTEST_S: f64 = 0.010 * 0.97;

fn find(program: &str) -> Option<PathBuf> {
    let found = SearchPath::from_env().program(program).ok();
    if found.is_none() {
        missing(program, "tools/install.sh prometheus");
    }
    found
}

#[test]
#[ignore = "needs Prometheus: make test-tools"]
fn promtool_accepts_the_metrics() {
    let Some(promtool) = find("promtool") else { return };
    let live = LiveRun::start("120s", &["--fail-if", "p99 > 10s", "--quiet"]);
    let since = Instant::now();
    let metrics = loop {
        let answer = get(live.address, "/metrics", "").expect("metrics");
        if answer.text().contains("truetail_response_time_seconds_bucket") {
            break answer;
        }
        assert!(since.elapsed() < TIMEOUT, "{answer:?}");
        sleep(Duration::from_millis(100));
    };
    let mut check = Command::new(promtool);
    check.args(["check", "metrics"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut check = check.spawn().expect("promtool starts");
    check.stdin.take().expect("piped").write_all(&metrics.body).expect("it reads");
    let output = check.wait_with_output().expect("it ends");
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && said.is_empty(), "{said}\nof\n{}", metrics.text());
    live.process.signal(Signal::SIGINT);
    live.process.end();
}

/// A running Prometheus, killed on drop.
struct Prometheus {
    child: Child,
    address: SocketAddr,
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Prometheus {
    fn start(program: &PathBuf, dir: &TestDir, name: &str, target: SocketAddr, more: &[&str]) -> Prometheus {
        // A port that is free now. If another program takes it, Prometheus ends at once and the test fails.
        let held = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = held.local_addr().expect("an address");
        drop(held);
        let config = format!(
            "global: {{scrape_interval: 1s}}\nscrape_configs:\n- job_name: truetail\n  static_configs: [{{targets: ['{target}']}}]\n"
        );
        let config_name = format!("{name}.yml");
        dir.file(&config_name, &config);
        let mut command = Command::new(program);
        command.current_dir(dir.path()).arg(format!("--config.file={config_name}"));
        command.arg(format!("--storage.tsdb.path={name}")).arg(format!("--web.listen-address={address}"));
        let log = std::fs::File::create(dir.path().join(format!("{name}.log"))).expect("a log");
        let child = command.args(more).stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn();
        Prometheus { child: child.expect("Prometheus starts"), address }
    }

    /// Waits until a query has a value, and returns it.
    fn wait_for(&mut self, query: &str) -> f64 {
        let since = Instant::now();
        loop {
            assert!(self.child.try_wait().expect("a child").is_none(), "Prometheus has ended");
            let path = format!("/api/v1/query?query={query}");
            if let Ok(answer) = get(self.address, &path, "")
                && answer.status() == "200"
            {
                let found: Value = serde_json::from_slice(&answer.body).expect("JSON");
                if let Some(value) = found["data"]["result"][0]["value"][1].as_str() {
                    return value.parse().expect("a number");
                }
            }
            assert!(since.elapsed() < TIMEOUT, "no value of {query}");
            sleep(Duration::from_millis(100));
        }
    }
}

#[test]
#[ignore = "needs Prometheus: make test-tools"]
fn prometheus_scrapes_a_run() {
    let Some(program) = find("prometheus") else { return };
    let live = LiveRun::start("600s", &["--quiet"]);
    let dir = TestDir::new();
    let mut classic = Prometheus::start(&program, &dir, "classic", live.address, &[]);
    let mut native = Prometheus::start(&program, &dir, "native", live.address, &["--enable-feature=native-histograms"]);
    for prometheus in [&mut classic, &mut native] {
        assert!(prometheus.wait_for("rate(truetail_requests_completed_total[1m])%3E0") > 0.0);
        assert_eq!(prometheus.wait_for("up"), 1.0);
        assert_eq!(prometheus.wait_for("sum(truetail_verdict)"), 1.0);
    }
    let median = classic.wait_for("histogram_quantile(0.5,truetail_response_time_seconds_bucket)");
    assert!(median > 0.005, "classic buckets: {median}");
    let median = native.wait_for("histogram_quantile(0.5,truetail_response_time_seconds)");
    assert!(median >= FASTEST_S, "native buckets: {median}");
    let count = native.wait_for("histogram_count(truetail_response_time_seconds)");
    let planned = native.wait_for("truetail_arrivals_planned_total");
    // From the same scrape or the next.
    assert!(count > 0.0 && count <= planned, "{count} {planned}");
    live.process.signal(Signal::SIGINT);
    let output = live.process.end();
    assert_eq!(output.code, Some(130), "{output:?}");
}
