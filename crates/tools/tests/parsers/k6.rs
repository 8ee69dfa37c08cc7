//! The parser of k6, in both modes.

use crate::support::{Case, PLAIN, check};

#[test]
fn what_k6_constant_arrival_rate_says() {
    check("k6-constant-arrival-rate", &CONSTANT_ARRIVAL_RATE);
}

pub(crate) const CONSTANT_ARRIVAL_RATE: [Case; 9] = [
    Case {
        folder: "1.8.1/healthy",
        stdout: "",
        files: &[("samples.csv", "samples.csv"), ("summary.json", "summary.json")],
        says: "measured 121 requests 121 failed 0 dropped - rate 20.11296685198672 mean 10.649846 max 14.049947 | \
               single 121 errors 0 histogram - | p50=10.5275 p90=10.600529 p99=13.68126 p99.9=14.032621 \
               p99.99=14.048214",
        ..PLAIN
    },
    Case {
        folder: "1.8.1/stall",
        stdout: "",
        files: &[("samples.csv", "samples.csv"), ("summary.json", "summary.json")],
        says: "measured 121 requests 121 failed 0 dropped - rate 20.11866822868827 mean 93.239631 max 985.28735 | \
               single 121 errors 0 histogram - | p50=10.478627 p90=385.5723 p99=925.192517 p99.9=979.254146 \
               p99.99=984.68403",
        ..PLAIN
    },
    Case {
        folder: "1.8.1/errors",
        stdout: "",
        files: &[("samples.csv", "samples.csv"), ("summary.json", "summary.json")],
        says: "measured 120 requests 120 failed 16 dropped - rate 19.98775514807928 mean 9.842925 max 13.838671 | \
               single 120 errors 8 histogram - | p50=10.406226 p90=10.612025 p99=13.325058 p99.9=13.809644 \
               p99.99=13.835768",
        ..PLAIN
    },
    Case {
        folder: "1.8.1/timeouts",
        stdout: "",
        files: &[("samples.csv", "samples.csv"), ("summary.json", "summary.json")],
        says: "measured 120 requests 120 failed 6 dropped - rate 17.25031713090828 mean 60.046616 max 1000.462 | \
               single 120 errors 0 histogram - | p50=10.381658 p90=11.15127 p99=1000.240805 p99.9=1000.440194 \
               p99.99=1000.459819",
        ..PLAIN
    },
    Case {
        folder: "1.8.1/refused",
        stdout: "",
        files: &[("samples.csv", "samples.csv"), ("summary.json", "summary.json")],
        says: "measured 121 requests 121 failed 121 dropped - rate 20.154716166213383 mean 0 max 0 | single 121 \
               errors 0 histogram - | p50=0 p90=0 p99=0 p99.9=0 p99.99=0",
        ..PLAIN
    },
    Case {
        folder: "1.8.1/stall",
        stdout: "",
        files: &[("samples.csv", "samples.csv")],
        says: "measured 121 requests 121 failed - dropped - rate - mean - max - | single 121 errors 0 histogram - | \
               p50=10.478627* p90=385.5723* p99=935.01065* p99.9=985.28735* p99.99=985.28735*",
        ..PLAIN
    },
    Case {
        folder: "1.8.1/dropped",
        stdout: "",
        files: &[("summary.json", "summary.json")],
        says: "measured 560 requests 560 failed 0 dropped 41 rate 93.15998950058305 mean 71.933541 max 1011.523306 \
               | single 0 errors 0 histogram - | p50=10.92862 p90=84.02516 p95=642.80149 p99=956.155901 \
               p99.9=1005.918098",
        ..PLAIN
    },
    Case {
        folder: "1.8.1/whole-seconds",
        stdout: "",
        files: &[("samples.csv", "samples.csv")],
        says: "measured 61 requests 61 failed - dropped - rate - mean - max - | single 61 errors 4 histogram - | \
               p50=10.488263* p90=10.905625* p99=11.50553* p99.9=11.50553* p99.99=11.50553*",
        ..PLAIN
    },
    Case {
        folder: "1.8.1/cut-off",
        stdout: "",
        files: &[("samples.csv", "samples.csv")],
        says: "error: samples.csv, line 386: the file ends within this line; it was cut off",
        ..PLAIN
    },
];

#[test]
fn what_k6_constant_vus_says() {
    check("k6-constant-vus", &CONSTANT_VUS);
}

pub(crate) const CONSTANT_VUS: [Case; 8] = [
    Case {
        folder: "1.8.1/healthy",
        stdout: "",
        files: &[("summary.json", "summary.json")],
        says: "measured 569 requests 569 failed 0 dropped - rate 94.71619374373412 mean 10.372473 max 13.353206 | \
               single 0 errors 0 histogram - | p50=10.351977 p90=10.414417 p99=10.801439 p99.9=12.763281 \
               p99.99=13.294214",
        ..PLAIN
    },
    Case {
        folder: "1.8.1/stall",
        stdout: "",
        files: &[("summary.json", "summary.json")],
        says: "measured 468 requests 468 failed 0 dropped - rate 77.8676173027574 mean 12.635902 max 1011.191722 | \
               single 0 errors 0 histogram - | p50=10.374206 p90=10.466372 p99=13.68542 p99.9=546.319728 \
               p99.99=964.704523",
        ..PLAIN
    },
    Case {
        folder: "1.8.1/errors",
        stdout: "",
        files: &[("summary.json", "summary.json")],
        says: "measured 568 requests 568 failed 40 dropped - rate 94.51995432164121 mean 10.41541 max 21.468101 | \
               single 0 errors 0 histogram - | p50=10.364414 p90=10.55405 p99=21.260373 p99.9=21.450561 \
               p99.99=21.466347",
        ..PLAIN
    },
    Case {
        folder: "1.8.1/healthy",
        stdout: "",
        files: &[("samples.csv", "samples-first.csv")],
        says: "measured 100 requests 100 failed - dropped - rate - mean - max - | single 100 errors 0 histogram - | \
               p50=10.358668* p90=10.405938* p99=10.562643* p99.9=10.580239* p99.99=10.580239*",
        ..PLAIN
    },
    Case {
        folder: "1.8.1/stall",
        stdout: "",
        files: &[("samples.csv", "samples-first.csv")],
        says: "measured 100 requests 100 failed - dropped - rate - mean - max - | single 100 errors 0 histogram - | \
               p50=10.383034* p90=10.47376* p99=12.551781* p99.9=13.371523* p99.99=13.371523*",
        ..PLAIN
    },
    Case {
        folder: "1.8.1/errors",
        stdout: "",
        files: &[("samples.csv", "samples-first.csv")],
        says: "measured 100 requests 100 failed - dropped - rate - mean - max - | single 100 errors 7 histogram - | \
               p50=10.325633* p90=10.577339* p99=21.152234* p99.9=21.437166* p99.99=21.437166*",
        ..PLAIN
    },
    Case {
        folder: "1.8.1/timeouts",
        stdout: "",
        files: &[("samples.csv", "samples.csv"), ("summary.json", "summary.json")],
        says: "measured 101 requests 101 failed 5 dropped - rate 16.817175144802306 mean 59.356797 max 1001.133201 \
               | single 101 errors 0 histogram - | p50=10.258899 p90=10.43383 p99=1001.059943 p99.9=1001.125875 \
               p99.99=1001.132468",
        ..PLAIN
    },
    Case {
        folder: "1.8.1/errors",
        stdout: "",
        files: &[("samples.csv", "samples-first.csv"), ("summary.json", "summary.json")],
        says: "error: samples.csv: samples of 100 requests, but the summary counts 568",
        ..PLAIN
    },
];
