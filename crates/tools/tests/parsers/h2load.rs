//! The parser of h2load.

use crate::support::{Case, PLAIN, check};

#[test]
fn what_h2load_says() {
    check("h2load", &CASES);
}

pub(crate) const CASES: [Case; 15] = [
    Case {
        folder: "1.52.0/healthy",
        files: &[("samples", "samples.tsv")],
        says: "measured 585 requests 590 failed 0 dropped - rate 97.5 mean 51.02 max 57.19 | \
               single 585 errors 0 histogram - | \
               p50=50.681* p90=52.185* p99=54.989* p99.9=57.193* p99.99=57.193*",
        notes: &["happened to 5 requests"],
        ..PLAIN
    },
    Case {
        folder: "1.52.0/healthy",
        stdout: "rps-stdout.txt",
        files: &[("samples", "rps-samples.tsv")],
        says: "measured 300 requests 300 failed 0 dropped - rate 98.69 mean 50.62 max 51.81 | \
               single 300 errors 0 histogram - | \
               p50=50.602* p90=50.817* p99=51.782* p99.9=51.805* p99.99=51.805*",
        ..PLAIN
    },
    Case {
        folder: "1.52.0/stall",
        files: &[("samples", "samples.tsv")],
        says: "measured 490 requests 495 failed 0 dropped - rate 81.67 mean 61.01 max 1020 | \
               single 490 errors 0 histogram - | \
               p50=50.625* p90=52.358* p99=1024.771* p99.9=1024.908* p99.99=1024.908*",
        notes: &["happened to 5 requests"],
        ..PLAIN
    },
    Case {
        folder: "1.52.0/stall",
        stdout: "rps-stdout.txt",
        files: &[("samples", "rps-samples.tsv")],
        says: "measured 300 requests 300 failed 0 dropped - rate 74.87 mean 66.77 max 1030 | \
               single 300 errors 0 histogram - | \
               p50=50.432* p90=50.931* p99=1025.541* p99.9=1025.567* p99.99=1025.567*",
        ..PLAIN
    },
    Case {
        folder: "1.52.0/errors",
        files: &[("samples", "samples.tsv")],
        says: "measured 70 requests 75 failed 5 dropped - rate 11.67 mean 47.8 max 55 | \
               single 70 errors 5 histogram - | \
               p50=50.644* p90=53.304* p99=54.995* p99.9=54.995* p99.99=54.995*",
        notes: &["happened to 5 requests"],
        ..PLAIN
    },
    Case {
        folder: "1.52.0/errors",
        stdout: "rps-stdout.txt",
        files: &[("samples", "rps-samples.tsv")],
        says: "measured 70 requests 75 failed 10 dropped 225 rate 42.36 mean 47.01 max 52.08 | \
               single 70 errors 5 histogram - | \
               p50=50.473* p90=50.888* p99=52.077* p99.9=52.077* p99.99=52.077*",
        ..PLAIN
    },
    Case {
        folder: "1.52.0/timeouts",
        stderr: Some("stderr.txt"),
        files: &[("samples", "samples.tsv")],
        exit: 134,
        says: "measured 95 requests - failed - dropped - rate - mean - max - | \
               single 95 errors 0 histogram - | \
               p50=50.738* p90=54.154* p99=60.733* p99.9=60.733* p99.99=60.733*",
        notes: &["ended before its summary"],
        ..PLAIN
    },
    Case {
        folder: "1.52.0/timeouts",
        stdout: "rps-stdout.txt",
        files: &[("samples", "rps-samples.tsv")],
        says: "measured 95 requests 100 failed 5 dropped 200 rate 29.47 mean 50.54 max 52.1 | \
               single 95 errors 0 histogram - | \
               p50=50.475* p90=50.686* p99=52.098* p99.9=52.098* p99.99=52.098*",
        ..PLAIN
    },
    Case {
        folder: "1.52.0/refused",
        says: "measured - requests 0 failed 0 dropped - rate 0 mean - max - | \
               single 0 errors 0 histogram - |",
        ..PLAIN
    },
    Case {
        folder: "1.52.0/refused",
        stdout: "rps-stdout.txt",
        says: "measured - requests 0 failed 0 dropped 300 rate 0 mean - max - | \
               single 0 errors 0 histogram - |",
        ..PLAIN
    },
    Case {
        folder: "1.52.0/cut-off",
        files: &[("samples", "samples.tsv")],
        says: "error: samples, line 297: the file ends within this line; it was cut off",
        ..PLAIN
    },
    Case {
        folder: "1.52.0/cut-off",
        says: "error: stdout, line 15: the summary stops before its last line; it was cut off",
        ..PLAIN
    },
    Case {
        folder: "1.52.0/cut-off",
        stdout: "../healthy/stdout.txt",
        files: &[("samples", "samples.tsv")],
        says: "error: samples, line 297: the file ends within this line; it was cut off",
        ..PLAIN
    },
    Case {
        folder: "1.52.0/cut-off",
        stdout: "../healthy/stdout.txt",
        files: &[("samples", "../stall/samples.tsv")],
        says: "error: samples, line 490: 490 rows for 585 requests done",
        ..PLAIN
    },
    Case {
        folder: "1.52.0/unanswered",
        stderr: Some("stderr.txt"),
        files: &[("samples", "samples.tsv")],
        exit: 134,
        says: "error: stdout: no summary of h2load; exit code 134; it printed: h2load: ev_epoll.c:134: epoll_modify: \
               Assertion `(\"libev: I/O watcher with invalid fd found in epoll_ctl\", errno != EBAD…",
        ..PLAIN
    },
];
