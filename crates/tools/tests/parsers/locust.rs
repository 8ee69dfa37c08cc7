//! The parser of Locust.

use crate::support::{Case, PLAIN, check};

#[test]
fn what_locust_says() {
    check("locust", &CASES);
}

pub(crate) const CASES: [Case; 10] = [
    Case {
        folder: "2.47.0/healthy",
        stdout: "",
        stderr: Some("stderr.txt"),
        files: &[("samples.csv", "samples.csv"), ("result.json", "result.json")],
        says: "measured 1366 requests 1366 failed 0 dropped - rate - mean 12.266313 max 71.014051 | single 1366 \
               errors 0 histogram - | p50=12* p90=15* p99=22* p99.9=70* p99.99=71*",
        ..PLAIN
    },
    Case {
        folder: "2.47.0/stall",
        stdout: "",
        stderr: Some("stderr.txt"),
        files: &[("samples.csv", "samples.csv"), ("result.json", "result.json")],
        says: "measured 1199 requests 1199 failed 0 dropped - rate - mean 14.340582 max 1004.14092 | single 1199 \
               errors 0 histogram - | p50=11* p90=13* p99=19* p99.9=1000* p99.99=1000*",
        ..PLAIN
    },
    Case {
        folder: "2.47.0/errors",
        stdout: "",
        stderr: Some("stderr.txt"),
        files: &[("samples.csv", "samples.csv"), ("result.json", "result.json")],
        says: "measured 1546 requests 1546 failed 206 dropped - rate - mean 11.034951 max 63.468512 | single 1546 \
               errors 103 histogram - | p50=11* p90=13* p99=16* p99.9=60* p99.99=63*",
        ..PLAIN
    },
    Case {
        folder: "2.47.0/timeouts",
        stdout: "",
        stderr: Some("stderr.txt"),
        files: &[("samples.csv", "samples.csv"), ("result.json", "result.json")],
        says: "measured 297 requests 297 failed 12 dropped - rate - mean 52.312332 max 1017.429876 | single 297 \
               errors 0 histogram - | p50=12* p90=14* p99=1000* p99.9=1000* p99.99=1000*",
        ..PLAIN
    },
    Case {
        folder: "2.47.0/refused",
        stdout: "",
        stderr: Some("stderr.txt"),
        files: &[("samples.csv", "samples.csv"), ("result.json", "result.json")],
        says: "measured 570 requests 570 failed 570 dropped - rate - mean 3.15337 max 91.095968 | single 570 errors \
               0 histogram - | p50=2* p90=6* p99=17* p99.9=91* p99.99=91*",
        ..PLAIN
    },
    Case {
        folder: "2.47.0/cut-off",
        stdout: "",
        files: &[("samples.csv", "samples.csv"), ("result.json", "result.json")],
        says: "error: samples.csv, line 645: the file ends within this line; it was cut off",
        ..PLAIN
    },
    Case {
        folder: "2.47.0/healthy",
        stdout: "",
        files: &[("result.json", "result.json")],
        says: "measured 1366 requests 1366 failed 0 dropped - rate - mean 12.266313 max 71.014051 | single 0 errors \
               0 histogram - | p50=12* p90=15* p99=22* p99.9=70* p99.99=71*",
        ..PLAIN
    },
    Case {
        folder: "2.47.0/healthy",
        stdout: "",
        stderr: Some("stderr.txt"),
        files: &[("samples.csv", "samples.csv")],
        says: "error: result.json: no statistics of Locust; exit code 0; it printed: [2026-11-20 11:08:04,018] \
               vm/INFO/locust.main: Starting Locust 2.47.0",
        ..PLAIN
    },
    Case {
        folder: "2.47.0/errors-fast",
        stdout: "",
        files: &[("samples.csv", "samples.csv"), ("result.json", "result.json")],
        says: "measured 2579 requests 2579 failed 184 dropped - rate - mean 10.658251 max 45.038831 | \
               single 2579 errors 184 histogram - | p50=11* p90=12* p99=16* p99.9=41* p99.99=45*",
        ..PLAIN
    },
    Case {
        folder: "2.47.0/timeouts-fast",
        stdout: "",
        files: &[("samples.csv", "samples.csv"), ("result.json", "result.json")],
        says: "measured 510 requests 510 failed 21 dropped - rate - mean 52.336268 max 1044.179957 | \
               single 510 errors 0 histogram - | p50=11* p90=14* p99=1000* p99.9=1000* p99.99=1000*",
        ..PLAIN
    },
];
