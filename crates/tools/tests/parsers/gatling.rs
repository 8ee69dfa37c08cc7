//! The parser of Gatling, with binary and text logs.

use crate::support::{Case, PLAIN, check};

#[test]
fn what_gatling_says() {
    check("gatling", &CASES);
}

pub(crate) const CASES: [Case; 14] = [
    Case {
        folder: "3.15.1/healthy",
        stdout: "stdout.txt",
        files: &[("simulation.log", "simulation.log")],
        says: "measured 600 requests 600 failed 0 dropped - rate 100 mean 13 max 145 | single 600 errors 0 \
               histogram - | p50=11 p75=12 p90=13* p95=15 p99=75 p99.9=145* p99.99=145*",
        ..PLAIN
    },
    Case {
        folder: "3.15.1/stall",
        stdout: "stdout.txt",
        files: &[("simulation.log", "simulation.log")],
        says: "measured 600 requests 600 failed 0 dropped - rate 100 mean 100 max 1012 | single 600 errors 0 \
               histogram - | p50=12 p75=17 p90=417* p95=752 p99=897 p99.9=1012* p99.99=1012*",
        ..PLAIN
    },
    Case {
        folder: "3.15.1/errors",
        stdout: "stdout.txt",
        files: &[("simulation.log", "simulation.log")],
        says: "measured 600 requests 600 failed 44 dropped - rate 100 mean 13 max 141 | single 600 errors 43 \
               histogram - | p50=11 p75=12 p90=13* p95=16 p99=78 p99.9=141* p99.99=141*",
        ..PLAIN
    },
    Case {
        folder: "3.15.1/timeouts",
        stdout: "stdout.txt",
        files: &[("simulation.log", "simulation.log")],
        says: "measured 600 requests 600 failed 30 dropped - rate 85.71 mean 62 max 1001 | single 600 errors 0 \
               histogram - | p50=11 p75=12 p90=15* p95=185 p99=991 p99.9=1001* p99.99=1001*",
        ..PLAIN
    },
    Case {
        folder: "3.15.1/refused",
        stdout: "stdout.txt",
        files: &[("simulation.log", "simulation.log")],
        says: "measured 600 requests 600 failed 600 dropped - rate 100 mean 1 max 47 | single 600 errors 0 \
               histogram - | p50=0 p75=1 p90=1* p95=1 p99=12 p99.9=47* p99.99=47*",
        ..PLAIN
    },
    Case {
        folder: "3.11.5/healthy",
        stdout: "stdout.txt",
        files: &[("simulation.log", "simulation.log")],
        says: "measured 600 requests 600 failed 0 dropped - rate 100 mean 13 max 126 | single 600 errors 0 \
               histogram - | p50=11 p75=12 p90=13* p95=15 p99=58 p99.9=126* p99.99=126*",
        ..PLAIN
    },
    Case {
        folder: "3.11.5/stall",
        stdout: "stdout.txt",
        files: &[("simulation.log", "simulation.log")],
        says: "measured 600 requests 600 failed 0 dropped - rate 100 mean 97 max 1013 | single 600 errors 0 \
               histogram - | p50=11 p75=13 p90=416* p95=709 p99=950 p99.9=1013* p99.99=1013*",
        ..PLAIN
    },
    Case {
        folder: "3.11.5/errors",
        stdout: "stdout.txt",
        files: &[("simulation.log", "simulation.log")],
        says: "measured 600 requests 600 failed 43 dropped - rate 100 mean 13 max 153 | single 600 errors 43 \
               histogram - | p50=11 p75=12 p90=13* p95=15 p99=67 p99.9=153* p99.99=153*",
        ..PLAIN
    },
    Case {
        folder: "3.11.5/timeouts",
        stdout: "stdout.txt",
        files: &[("simulation.log", "simulation.log")],
        says: "measured 600 requests 600 failed 30 dropped - rate 85.71 mean 62 max 1004 | single 600 errors 0 \
               histogram - | p50=11 p75=12 p90=13* p95=169 p99=1000 p99.9=1004* p99.99=1004*",
        ..PLAIN
    },
    Case {
        folder: "3.11.5/refused",
        stdout: "stdout.txt",
        files: &[("simulation.log", "simulation.log")],
        says: "measured 600 requests 600 failed 600 dropped - rate 100 mean 1 max 58 | single 600 errors 0 \
               histogram - | p50=1 p75=1 p90=1* p95=2 p99=5 p99.9=58* p99.99=58*",
        ..PLAIN
    },
    Case {
        folder: "3.15.1/stall",
        stdout: "",
        files: &[("simulation.log", "simulation.log")],
        says: "measured 600 requests 600 failed 0 dropped - rate - mean - max - | single 600 errors 0 histogram - | \
               p50=12* p90=417* p99=948* p99.9=1012* p99.99=1012*",
        ..PLAIN
    },
    Case {
        folder: "3.15.1/cut-off",
        stdout: "",
        files: &[("simulation.log", "simulation.log")],
        says: "error: simulation.log: at byte 9998: the log ends within a record; it was cut off",
        ..PLAIN
    },
    Case {
        folder: "3.11.5/cut-off",
        stdout: "",
        files: &[("simulation.log", "simulation.log")],
        says: "error: simulation.log, line 289: the file ends within this line; it was cut off",
        ..PLAIN
    },
    Case {
        folder: "3.15.1/healthy",
        stdout: "stdout.txt",
        says: "error: simulation.log: no log of Gatling; exit code 0",
        ..PLAIN
    },
];
