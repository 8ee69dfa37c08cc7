//! The parser of ab.

use crate::support::{Case, PLAIN, check};

#[test]
fn what_ab_says() {
    check("ab", &CASES);
}

pub(crate) const CASES: [Case; 15] = [
    Case {
        folder: "2.3/healthy",
        files: &[("samples", "samples.tsv"), ("percentiles", "percentiles.csv")],
        says: "measured 600 requests 600 failed 0 dropped - rate 97.38 mean 51.346 max 52.707 | \
               single 600 errors 0 histogram - | \
               p50=50.84 p66=50.938 p75=51.025 p80=51.084 p90=51.32 p95=51.52 p98=51.805 p99=52.053 p99.9=53* \
               p99.99=53*",
        ..PLAIN
    },
    Case {
        folder: "2.3/healthy",
        stdout: "timed-keepalive.txt",
        says: "measured 589 requests 589 failed 0 dropped - rate 98.07 mean 50.985 max 51 | \
               single 0 errors 0 histogram - | \
               p50=50 p66=50 p75=51 p80=51 p90=51 p95=51 p98=51 p99=51",
        ..PLAIN
    },
    Case {
        folder: "2.3/stall",
        files: &[("samples", "samples.tsv"), ("percentiles", "percentiles.csv")],
        says: "measured 600 requests 600 failed 0 dropped - rate 83.97 mean 59.546 max 1048.387 | \
               single 600 errors 0 histogram - | \
               p50=50.731 p66=50.842 p75=50.925 p80=50.988 p90=51.162 p95=51.382 p98=51.619 p99=51.728 \
               p99.9=1048* p99.99=1048*",
        ..PLAIN
    },
    Case {
        folder: "2.3/stall",
        stdout: "timed-keepalive.txt",
        says: "measured 493 requests 493 failed 0 dropped - rate 81.93 mean 61.029 max 1026 | \
               single 0 errors 0 histogram - | \
               p50=50 p66=50 p75=50 p80=50 p90=51 p95=51 p98=51 p99=1026",
        ..PLAIN
    },
    Case {
        folder: "2.3/errors",
        stderr: Some("stderr.txt"),
        exit: 104,
        says: "error: stdout: no report of ab; exit code 104; it printed: apr_socket_recv: Connection reset by peer \
               (104)",
        ..PLAIN
    },
    Case {
        folder: "2.3/errors",
        stdout: "stdout-r.txt",
        files: &[("samples", "samples-r.tsv"), ("percentiles", "percentiles-r.csv")],
        says: "measured 600 requests 600 failed 80 dropped - rate 112.3 mean 44.525 max 52.074 | \
               single 0 errors 0 histogram - | \
               p50=50.73 p66=50.853 p75=50.939 p80=51.006 p90=51.181 p95=51.316 p98=51.516 p99=51.709 p99.9=52* \
               p99.99=52*",
        notes: &["counts a reset up to three times", "cannot be told from the others"],
        ..PLAIN
    },
    Case {
        folder: "2.3/timeouts",
        stderr: Some("stderr.txt"),
        exit: 119,
        says: "error: stdout: no report of ab; exit code 119; it printed: apr_pollset_poll: The timeout specified \
               has expired (70007)",
        ..PLAIN
    },
    Case {
        folder: "2.3/timeouts",
        stdout: "stdout-r.txt",
        stderr: Some("stderr-r.txt"),
        exit: 119,
        says: "error: stdout: no report of ab; exit code 119; it printed: apr_pollset_poll: The timeout specified \
               has expired (70007)",
        ..PLAIN
    },
    Case {
        folder: "2.3/refused",
        stderr: Some("stderr.txt"),
        exit: 111,
        says: "error: stdout: no report of ab; exit code 111; it printed: apr_socket_recv: Connection refused (111)",
        ..PLAIN
    },
    Case {
        folder: "2.3/refused",
        stdout: "stdout-r.txt",
        files: &[("samples", "samples-r.tsv"), ("percentiles", "percentiles-r.csv")],
        says: "measured 600 requests 600 failed 600 dropped - rate 70621.47 mean 0.071 max 0.08 | \
               single 0 errors 0 histogram - | \
               p50=0.008 p66=0.009 p75=0.009 p80=0.009 p90=0.009 p95=0.009 p98=0.01 p99=0.01 p99.9=0* p99.99=0*",
        notes: &["counts a reset up to three times", "cannot be told from the others"],
        ..PLAIN
    },
    Case {
        folder: "2.3/cut-off",
        files: &[("samples", "samples.tsv"), ("percentiles", "percentiles.csv")],
        says: "error: stdout: the report stops before its last line; it was cut off",
        ..PLAIN
    },
    Case {
        folder: "2.3/cut-off",
        stdout: "../healthy/stdout.txt",
        files: &[("samples", "samples.tsv")],
        says: "error: samples, line 298: 297 rows for 600 complete requests; it was cut off",
        ..PLAIN
    },
    Case {
        folder: "2.3/cut-off",
        stdout: "../healthy/stdout.txt",
        files: &[("percentiles", "percentiles.csv")],
        says: "error: percentiles, line 51: the file ends within this line; it was cut off",
        ..PLAIN
    },
    Case {
        folder: "2.3/unanswered",
        stderr: Some("stderr.txt"),
        exit: 119,
        says: "error: stdout: no report of ab; exit code 119; it printed: apr_pollset_poll: The timeout specified \
               has expired (70007)",
        ..PLAIN
    },
    Case {
        folder: "2.3/interrupted",
        exit: 1,
        says: "measured 0 requests 0 failed 0 dropped - rate - mean - max - | \
               single 0 errors 0 histogram - |",
        ..PLAIN
    },
];
