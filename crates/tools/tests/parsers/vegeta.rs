//! The parser of Vegeta.

use crate::support::{Case, PLAIN, check};

#[test]
fn what_vegeta_says() {
    check("vegeta", &CASES);
}

pub(crate) const CASES: [Case; 8] = [
    Case {
        folder: "12.13.0/healthy",
        stdout: "",
        files: &[("results.csv", "results.csv"), ("report.json", "report.json")],
        says: "measured 600 requests 600 failed 0 dropped - rate 100.1692658083295 mean 10.573631 max 12.5982 | \
               single 600 errors 0 histogram - | p50=10.522373 p90=10.8463 p95=10.970587 p99=11.405423 \
               p99.9=12.5982* p99.99=12.5982*",
        ..PLAIN
    },
    Case {
        folder: "12.13.0/stall",
        stdout: "",
        files: &[("results.csv", "results.csv"), ("report.json", "report.json")],
        says: "measured 600 requests 600 failed 0 dropped - rate 100.15355200401955 mean 93.599283 max 1002.366653 \
               | single 600 errors 0 histogram - | p50=10.619338 p90=409.563808 p95=708.045302 p99=947.562308 \
               p99.9=1002.366653* p99.99=1002.366653*",
        ..PLAIN
    },
    Case {
        folder: "12.13.0/errors",
        stdout: "",
        files: &[("results.csv", "results.csv"), ("report.json", "report.json")],
        says: "measured 600 requests 600 failed 43 dropped - rate 100.15563033163788 mean 9.867001 max 12.404841 | \
               single 600 errors 43 histogram - | p50=10.506408 p90=10.993324 p95=11.15141 p99=11.636907 \
               p99.9=12.404841* p99.99=12.404841*",
        ..PLAIN
    },
    Case {
        folder: "12.13.0/timeouts",
        stdout: "",
        files: &[("results.csv", "results.csv"), ("report.json", "report.json")],
        says: "measured 600 requests 600 failed 30 dropped - rate 100.15422296431034 mean 60.076001 max 1004.377672 \
               | single 600 errors 0 histogram - | p50=10.538893 p90=10.966081 p95=576.575832 p99=1000.7937 \
               p99.9=1004.377672* p99.99=1004.377672*",
        ..PLAIN
    },
    Case {
        folder: "12.13.0/refused",
        stdout: "",
        files: &[("results.csv", "results.csv"), ("report.json", "report.json")],
        says: "measured 600 requests 600 failed 600 dropped - rate 100.16176597634843 mean 0.171623 max 2.14528 | \
               single 600 errors 0 histogram - | p50=0.155633 p90=0.243092 p95=0.268431 p99=0.391792 p99.9=2.14528* \
               p99.99=2.14528*",
        ..PLAIN
    },
    Case {
        folder: "12.13.0/stall",
        stdout: "",
        files: &[("results.csv", "results.csv")],
        says: "measured 600 requests 600 failed 0 dropped - rate - mean - max - | single 600 errors 0 histogram - | \
               p50=10.619539* p90=404.29405* p99=942.808093* p99.9=1002.366653* p99.99=1002.366653*",
        ..PLAIN
    },
    Case {
        folder: "12.13.0/cut-off",
        stdout: "",
        files: &[("results.csv", "results.csv")],
        says: "error: results.csv, line 143: the file ends within this line; it was cut off",
        ..PLAIN
    },
    Case {
        folder: "12.13.0/healthy",
        stdout: "",
        files: &[("report.json", "report.json")],
        says: "error: results.csv: no results of vegeta; exit code 0",
        ..PLAIN
    },
];
