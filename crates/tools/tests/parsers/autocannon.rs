//! The parser of autocannon.

use crate::support::{Case, PLAIN, check};

#[test]
fn what_autocannon_says() {
    check("autocannon", &CASES);
}

pub(crate) const CASES: [Case; 17] = [
    Case {
        folder: "9.0.0/healthy",
        stdout: "closed.json",
        says: "measured 2730 requests 2735 failed 0 dropped - rate 455 mean 10.44 max 44 | \
               single 0 errors 0 histogram - | \
               p0.001=10 p0.01=10 p0.1=10 p1=10 p2.5=10 p10=10 p25=10 p50=10 p75=11 p90=11 p97.5=12 p99=13 \
               p99.9=42 p99.99=44 p99.999=44",
        ..PLAIN
    },
    Case {
        folder: "9.0.0/healthy",
        stdout: "uncorrected.json",
        says: "measured 600 requests 700 failed 0 dropped - rate 100 mean 10.63 max 25 | \
               single 0 errors 0 histogram - | \
               p0.001=10 p0.01=10 p0.1=10 p1=10 p2.5=10 p10=10 p25=10 p50=10 p75=11 p90=11 p97.5=15 p99=20 \
               p99.9=25 p99.99=25 p99.999=25",
        ..PLAIN
    },
    Case {
        folder: "9.0.0/healthy",
        stdout: "result.json",
        says: "error: stdout, line 1: 6528 latencies for 600 answers: autocannon added some with a wrong \
               interval, as it does with -R; add --ignoreCoordinatedOmission",
        ..PLAIN
    },
    Case {
        folder: "9.0.0/stall",
        stdout: "closed.json",
        says: "measured 2253 requests 2258 failed 0 dropped - rate 375.5 mean 12.74 max 1011 | \
               single 0 errors 0 histogram - | \
               p0.001=10 p0.01=10 p0.1=10 p1=10 p2.5=10 p10=10 p25=10 p50=10 p75=11 p90=11 p97.5=13 p99=14 \
               p99.9=1001 p99.99=1011 p99.999=1011",
        ..PLAIN
    },
    Case {
        folder: "9.0.0/stall",
        stdout: "uncorrected.json",
        says: "measured 505 requests 605 failed 0 dropped - rate 84.17 mean 20.61 max 1009 | \
               single 0 errors 0 histogram - | \
               p0.001=10 p0.01=10 p0.1=10 p1=10 p2.5=10 p10=10 p25=10 p50=10 p75=11 p90=12 p97.5=18 p99=24 \
               p99.9=1009 p99.99=1009 p99.999=1009",
        ..PLAIN
    },
    Case {
        folder: "9.0.0/stall",
        stdout: "result.json",
        says: "error: stdout, line 1: 10467 latencies for 505 answers: autocannon added some with a wrong \
               interval, as it does with -R; add --ignoreCoordinatedOmission",
        ..PLAIN
    },
    Case {
        folder: "9.0.0/errors",
        stdout: "closed.json",
        says: "measured 2929 requests 3143 failed 419 dropped - rate 488.17 mean - max - | \
               single 0 errors 0 histogram - |",
        notes: &["209 errors that"],
        ..PLAIN
    },
    Case {
        folder: "9.0.0/errors",
        stdout: "uncorrected.json",
        says: "measured 560 requests 700 failed 80 dropped - rate 93.34 mean - max - | \
               single 0 errors 0 histogram - |",
        notes: &["40 errors that"],
        ..PLAIN
    },
    Case {
        folder: "9.0.0/errors",
        stdout: "result.json",
        says: "error: stdout, line 1: 105898 latencies for 560 answers: autocannon added some with a wrong \
               interval, as it does with -R; add --ignoreCoordinatedOmission",
        ..PLAIN
    },
    Case {
        folder: "9.0.0/timeouts",
        stdout: "closed.json",
        says: "measured 504 requests 531 failed 22 dropped - rate 84 mean 10.69 max 26 | \
               single 0 errors 0 histogram - | \
               p0.001=10 p0.01=10 p0.1=10 p1=10 p2.5=10 p10=10 p25=10 p50=10 p75=10 p90=11 p97.5=18 p99=21 \
               p99.9=26 p99.99=26 p99.999=26",
        ..PLAIN
    },
    Case {
        folder: "9.0.0/timeouts",
        stdout: "uncorrected.json",
        says: "measured 399 requests 516 failed 17 dropped - rate 66.5 mean 10.83 max 33 | \
               single 0 errors 0 histogram - | \
               p0.001=10 p0.01=10 p0.1=10 p1=10 p2.5=10 p10=10 p25=10 p50=10 p75=10 p90=13 p97.5=21 p99=32 \
               p99.9=33 p99.99=33 p99.999=33",
        ..PLAIN
    },
    Case {
        folder: "9.0.0/timeouts",
        stdout: "result.json",
        says: "error: stdout, line 1: 3957 latencies for 361 answers: autocannon added some with a wrong \
               interval, as it does with -R; add --ignoreCoordinatedOmission",
        ..PLAIN
    },
    Case {
        folder: "9.0.0/refused",
        stdout: "closed.json",
        says: "measured 0 requests 161130 failed 161125 dropped - rate 0 mean - max - | \
               single 0 errors 0 histogram - |",
        ..PLAIN
    },
    Case {
        folder: "9.0.0/refused",
        stdout: "uncorrected.json",
        says: "measured 0 requests 738 failed 215125 dropped - rate 0 mean - max - | \
               single 0 errors 0 histogram - |",
        ..PLAIN
    },
    Case {
        folder: "9.0.0/refused",
        stdout: "result.json",
        says: "measured 0 requests 750 failed 175195 dropped - rate 0 mean - max - | \
               single 0 errors 0 histogram - |",
        ..PLAIN
    },
    Case {
        folder: "9.0.0/cut-off",
        stdout: "closed.json",
        says: "error: stdout, line 1: EOF while parsing a string at line 1 column 600",
        ..PLAIN
    },
    Case {
        folder: "9.0.0/unanswered",
        stdout: "closed.json",
        says: "measured 0 requests 8 failed 4 dropped - rate 0 mean - max - | \
               single 0 errors 0 histogram - |",
        ..PLAIN
    },
];
