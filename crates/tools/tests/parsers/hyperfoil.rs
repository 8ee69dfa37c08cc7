//! The parser of Hyperfoil.

use crate::support::{Case, PLAIN, check};

#[test]
fn what_hyperfoil_says() {
    check("hyperfoil", &CASES);
}

pub(crate) const CASES: [Case; 7] = [
    Case {
        folder: "0.25.2/healthy",
        stdout: "",
        files: &[("result.json", "result.json")],
        says: "measured 600 requests 600 failed 0 dropped - rate - mean 10.862319 max 30.408703 | single 0 errors 0 \
               histogram 600 | p50=10.616831* p90=11.403263* p99=15.204351* p99.9=30.408703* p99.99=30.408703*",
        ..PLAIN
    },
    Case {
        folder: "0.25.2/stall",
        stdout: "",
        files: &[("result.json", "result.json")],
        says: "measured 601 requests 601 failed 0 dropped - rate - mean 94.46142 max 1006.632959 | single 0 errors \
               0 histogram 601 | p50=10.682367* p90=411.041791* p99=947.912703* p99.9=1006.632959* \
               p99.99=1006.632959*",
        ..PLAIN
    },
    Case {
        folder: "0.25.2/errors",
        stdout: "",
        files: &[("result.json", "result.json")],
        says: "measured 560 requests 600 failed 80 dropped - rate - mean 10.314719 max 28.573695 | single 0 errors \
               0 histogram 560 | p50=10.551295* p90=11.862015* p99=16.515071* p99.9=28.573695* p99.99=28.573695*",
        notes: &[
            "560 answers to 600 requests (40 connection errors, including 0 timeouts, and 0 internal errors); its \
             latencies leave out the rest",
        ],
        ..PLAIN
    },
    Case {
        folder: "0.25.2/timeouts",
        stdout: "",
        files: &[("result.json", "result.json")],
        says: "measured 571 requests 601 failed 30 dropped - rate - mean 11.159656 max 32.374783 | single 0 errors \
               0 histogram 571 | p50=10.616831* p90=12.320767* p99=18.874367* p99.9=32.374783* p99.99=32.374783*",
        notes: &[
            "571 answers to 601 requests (30 connection errors, including 30 timeouts, and 0 internal errors); its \
             latencies leave out the rest",
        ],
        ..PLAIN
    },
    Case {
        folder: "0.25.2/refused",
        stdout: "",
        files: &[("result.json", "result.json")],
        says: "measured 0 requests 0 failed 0 dropped - rate - mean - max - | single 0 errors 0 histogram 0 |",
        notes: &["600 requests were due but only 0 were sent, which Hyperfoil does not report"],
        ..PLAIN
    },
    Case {
        folder: "0.25.2/cut-off",
        stdout: "",
        files: &[("result.json", "result.json")],
        says: "error: result.json, line 31: EOF while parsing a value at line 31 column 0",
        ..PLAIN
    },
    Case {
        folder: "0.25.2/healthy",
        stdout: "",
        says: "error: result.json: no result of Hyperfoil; exit code 0",
        ..PLAIN
    },
];
