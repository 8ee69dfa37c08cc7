//! The parser of hey.

use crate::support::{Case, PLAIN, check};

#[test]
fn what_hey_says() {
    check("hey", &CASES);
}

pub(crate) const CASES: [Case; 23] = [
    Case {
        folder: "0.1.4/healthy",
        stdout: "samples.csv",
        says: "measured 600 requests - failed - dropped - rate - mean - max - | \
               single 600 errors 0 histogram - | \
               p50=10.5* p90=10.7* p99=11.4* p99.9=13.6* p99.99=13.6*",
        notes: &["hey's CSV has no rows"],
        ..PLAIN
    },
    Case {
        folder: "0.1.4/healthy",
        says: "measured 600 requests 600 failed 0 dropped - rate 99.7545 mean 10.6 max 11.8 | \
               single 0 errors 0 histogram - | \
               p10=10.4 p25=10.5 p50=10.6 p75=10.7 p90=10.8 p95=11 p99=11.5",
        ..PLAIN
    },
    Case {
        folder: "0.1.4/healthy",
        stdout: "closed-n.txt",
        says: "measured 300 requests 300 failed 0 dropped - rate 479.6309 mean 10.4 max 11.2 | \
               single 0 errors 0 histogram - | \
               p10=10.3 p25=10.3 p50=10.4 p75=10.5 p90=10.5 p95=10.6 p99=10.8",
        ..PLAIN
    },
    Case {
        folder: "0.1.5/healthy",
        says: "measured 600 requests 600 failed 0 dropped - rate 99.785 mean 10.6 max 11.9 | \
               single 0 errors 0 histogram - | \
               p10=10.4 p25=10.4 p50=10.5 p75=10.6 p90=10.8 p95=11.1 p99=11.5",
        ..PLAIN
    },
    Case {
        folder: "0.1.4/stall",
        stdout: "samples.csv",
        says: "measured 505 requests - failed - dropped - rate - mean - max - | \
               single 505 errors 0 histogram - | \
               p50=10.5* p90=10.6* p99=11.4* p99.9=1001.8* p99.99=1001.8*",
        notes: &["hey's CSV has no rows"],
        ..PLAIN
    },
    Case {
        folder: "0.1.4/stall",
        says: "measured 505 requests 505 failed 0 dropped - rate 83.9748 mean 20.3 max 1000.6 | \
               single 0 errors 0 histogram - | \
               p10=10.4 p25=10.4 p50=10.5 p75=10.6 p90=10.7 p95=10.8 p99=1000.3",
        ..PLAIN
    },
    Case {
        folder: "0.1.4/stall",
        stdout: "closed-n.txt",
        says: "measured 300 requests 300 failed 0 dropped - rate 471.7559 mean 10.6 max 11.6 | \
               single 0 errors 0 histogram - | \
               p10=10.4 p25=10.5 p50=10.6 p75=10.7 p90=10.8 p95=10.9 p99=11.3",
        ..PLAIN
    },
    Case {
        folder: "0.1.5/stall",
        says: "measured 505 requests 505 failed 0 dropped - rate 83.8551 mean 20.3 max 1001.9 | \
               single 0 errors 0 histogram - | \
               p10=10.3 p25=10.4 p50=10.5 p75=10.6 p90=10.7 p95=10.8 p99=1001.7",
        ..PLAIN
    },
    Case {
        folder: "0.1.4/errors",
        stdout: "samples.csv",
        says: "measured 600 requests - failed - dropped - rate - mean - max - | \
               single 600 errors 43 histogram - | \
               p50=10.7* p90=11.1* p99=11.5* p99.9=12* p99.99=12*",
        notes: &["hey's CSV has no rows"],
        ..PLAIN
    },
    Case {
        folder: "0.1.4/errors",
        says: "measured 600 requests 600 failed 0 dropped - rate 99.7777 mean 9.9 max 11.7 | \
               single 0 errors 0 histogram - | \
               p10=10.3 p25=10.4 p50=10.5 p75=10.8 p90=10.9 p95=11.1 p99=11.3",
        ..PLAIN
    },
    Case {
        folder: "0.1.4/errors",
        stdout: "closed-n.txt",
        says: "measured 300 requests 300 failed 0 dropped - rate 483.9756 mean 9.9 max 11.6 | \
               single 0 errors 0 histogram - | \
               p10=10.3 p25=10.5 p50=10.6 p75=10.8 p90=11 p95=11.1 p99=11.5",
        ..PLAIN
    },
    Case {
        folder: "0.1.5/errors",
        says: "measured 600 requests 600 failed 0 dropped - rate 99.7798 mean 10 max 12.2 | \
               single 0 errors 0 histogram - | \
               p10=10.4 p25=10.4 p50=10.6 p75=10.9 p90=11.1 p95=11.2 p99=11.7",
        ..PLAIN
    },
    Case {
        folder: "0.1.4/timeouts",
        stdout: "samples.csv",
        says: "measured 308 requests - failed - dropped - rate - mean - max - | \
               single 308 errors 0 histogram - | \
               p50=10.6* p90=10.9* p99=12.1* p99.9=12.8* p99.99=12.8*",
        notes: &["hey's CSV has no rows"],
        ..PLAIN
    },
    Case {
        folder: "0.1.4/timeouts",
        says: "measured 308 requests 324 failed 16 dropped - rate 46.8368 mean 10.5 max 11.4 | \
               single 0 errors 0 histogram - | \
               p10=10.4 p25=10.4 p50=10.5 p75=10.6 p90=10.8 p95=10.9 p99=11.1",
        ..PLAIN
    },
    Case {
        folder: "0.1.4/timeouts",
        stdout: "closed-n.txt",
        says: "measured 285 requests 300 failed 15 dropped - rate 53.6926 mean 10.6 max 11.6 | \
               single 0 errors 0 histogram - | \
               p10=10.4 p25=10.4 p50=10.5 p75=10.7 p90=10.9 p95=11 p99=11.3",
        ..PLAIN
    },
    Case {
        folder: "0.1.5/timeouts",
        says: "measured 308 requests 324 failed 16 dropped - rate 46.86 mean 10.6 max 11.5 | \
               single 0 errors 0 histogram - | \
               p10=10.4 p25=10.4 p50=10.5 p75=10.6 p90=10.8 p95=11 p99=11.3",
        ..PLAIN
    },
    Case {
        folder: "0.1.4/refused",
        stdout: "samples.csv",
        says: "measured 0 requests - failed - dropped - rate - mean - max - | \
               single 0 errors 0 histogram - |",
        notes: &["hey's CSV has no rows"],
        ..PLAIN
    },
    Case {
        folder: "0.1.4/refused",
        says: "measured 0 requests 600 failed 600 dropped - rate 99.941 mean - max - | \
               single 0 errors 0 histogram - |",
        ..PLAIN
    },
    Case {
        folder: "0.1.4/refused",
        stdout: "closed-n.txt",
        says: "measured 0 requests 300 failed 300 dropped - rate 35588.9744 mean - max - | \
               single 0 errors 0 histogram - |",
        ..PLAIN
    },
    Case {
        folder: "0.1.5/refused",
        says: "measured 0 requests 600 failed 600 dropped - rate 99.9081 mean - max - | \
               single 0 errors 0 histogram - |",
        ..PLAIN
    },
    Case {
        folder: "0.1.4/cut-off",
        stdout: "samples.csv",
        says: "error: stdout, line 302: the file ends within this line; it was cut off",
        ..PLAIN
    },
    Case {
        folder: "0.1.4/cut-off",
        says: "error: stdout: the summary stops before the end of its last section; it was cut off",
        ..PLAIN
    },
    Case {
        folder: "0.1.4/unanswered",
        stdout: "samples.csv",
        says: "measured 0 requests - failed - dropped - rate - mean - max - | \
               single 0 errors 0 histogram - |",
        notes: &["hey's CSV has no rows"],
        ..PLAIN
    },
];
