//! The parser of JMeter, in both modes.

use crate::support::{Case, PLAIN, check};

#[test]
fn what_jmeter_precise_throughput_says() {
    check("jmeter-precise-throughput", &PRECISE_THROUGHPUT);
}

pub(crate) const PRECISE_THROUGHPUT: [Case; 8] = [
    Case {
        folder: "5.6.3/healthy",
        stdout: "stdout.txt",
        files: &[("samples.csv", "samples.csv")],
        says: "measured 617 requests 617 failed 0 dropped - rate 101.8 mean 13 max 87 | single 617 errors 0 \
               histogram - | p50=11* p90=14* p99=80* p99.9=87* p99.99=87*",
        ..PLAIN
    },
    Case {
        folder: "5.6.3/stall",
        stdout: "stdout.txt",
        files: &[("samples.csv", "samples.csv")],
        says: "measured 620 requests 620 failed 0 dropped - rate 101.5 mean 41 max 991 | single 620 errors 0 \
               histogram - | p50=11* p90=17* p99=932* p99.9=991* p99.99=991*",
        ..PLAIN
    },
    Case {
        folder: "5.6.3/errors",
        stdout: "stdout.txt",
        files: &[("samples.csv", "samples.csv")],
        says: "measured 617 requests 617 failed 82 dropped - rate 101.6 mean 11 max 71 | single 617 errors 41 \
               histogram - | p50=11* p90=13* p99=67* p99.9=71* p99.99=71*",
        ..PLAIN
    },
    Case {
        folder: "5.6.3/timeouts",
        stdout: "stdout.txt",
        files: &[("samples.csv", "samples.csv")],
        says: "measured 615 requests 615 failed 30 dropped - rate 89 mean 61 max 1034 | single 615 errors 0 \
               histogram - | p50=11* p90=15* p99=1002* p99.9=1034* p99.99=1034*",
        ..PLAIN
    },
    Case {
        folder: "5.6.3/refused",
        stdout: "stdout.txt",
        files: &[("samples.csv", "samples.csv")],
        says: "measured 120 requests 120 failed 120 dropped - rate 20.3 mean 1 max 18 | single 120 errors 0 \
               histogram - | p50=1* p90=4* p99=17* p99.9=18* p99.99=18*",
        ..PLAIN
    },
    Case {
        folder: "5.6.3/stall",
        stdout: "",
        files: &[("samples.csv", "samples.csv")],
        says: "measured 620 requests 620 failed 0 dropped - rate - mean - max - | single 620 errors 0 histogram - | \
               p50=11* p90=17* p99=932* p99.9=991* p99.99=991*",
        ..PLAIN
    },
    Case {
        folder: "5.6.3/cut-off",
        stdout: "",
        files: &[("samples.csv", "samples.csv")],
        says: "error: samples.csv, line 205: the file ends within this line; it was cut off",
        ..PLAIN
    },
    Case {
        folder: "5.6.3/healthy",
        stdout: "stdout.txt",
        says: "error: stdout: no samples of JMeter; exit code 0",
        ..PLAIN
    },
];

#[test]
fn what_jmeter_thread_group_says() {
    check("jmeter-thread-group", &THREAD_GROUP);
}

pub(crate) const THREAD_GROUP: [Case; 5] = [
    Case {
        folder: "5.6.3/healthy",
        stdout: "stdout.txt",
        files: &[("samples.csv", "samples.csv")],
        says: "measured 565 requests 565 failed 0 dropped - rate 92.9 mean 52 max 76 | single 565 errors 0 \
               histogram - | p50=52* p90=54* p99=57* p99.9=76* p99.99=76*",
        ..PLAIN
    },
    Case {
        folder: "5.6.3/stall",
        stdout: "stdout.txt",
        files: &[("samples.csv", "samples.csv")],
        says: "measured 457 requests 457 failed 0 dropped - rate 74.2 mean 63 max 1031 | single 457 errors 0 \
               histogram - | p50=52* p90=54* p99=1028* p99.9=1031* p99.99=1031*",
        ..PLAIN
    },
    Case {
        folder: "5.6.3/errors",
        stdout: "stdout.txt",
        files: &[("samples.csv", "samples.csv")],
        says: "measured 635 requests 635 failed 84 dropped - rate 104 mean 46 max 103 | single 635 errors 42 \
               histogram - | p50=51* p90=55* p99=65* p99.9=103* p99.99=103*",
        ..PLAIN
    },
    Case {
        folder: "5.6.3/timeouts",
        stdout: "stdout.txt",
        files: &[("samples.csv", "samples.csv")],
        says: "measured 307 requests 307 failed 15 dropped - rate 44.9 mean 99 max 1004 | single 307 errors 0 \
               histogram - | p50=52* p90=57* p99=1002* p99.9=1004* p99.99=1004*",
        ..PLAIN
    },
    Case {
        folder: "5.6.3/cut-off",
        stdout: "",
        files: &[("samples.csv", "samples.csv")],
        says: "error: samples.csv, line 210: the file ends within this line; it was cut off",
        ..PLAIN
    },
];
