//! The stored files of each tool.

use crate::support::{Case, check};

#[test]
fn wrk_and_wrk2() {
    check(&[
        Case {
            file: "tools/wrk/4.1.0/stall/stdout.txt",
            format: "wrk",
            says: "BackFilled, 594 made, 0 failed, 98.91/s, p50 50.540, p90 356.190, p99 962.790, mean 123.230, max 1020.000, 6 users, closed, resolution 1000",
            notes: &["wrk adds requests to its histogram that it never sent, and d"],
        },
        Case {
            file: "tools/wrk/4.1.0/stall-over-timeout/stdout.txt",
            format: "wrk",
            says: "BackFilled, 2609 made, 6 failed, 434.24/s, p50 10.360, p90 10.490, p99 10.680, mean 10.370, max 11.630, 6 users, closed, resolution 1000",
            notes: &["wrk adds requests to its histogram that it never sent, and d"],
        },
        Case {
            file: "tools/wrk/4.1.0/errors/stdout.txt",
            format: "wrk",
            says: "BackFilled, 763 made, 109 failed, 127.06/s, p50 50.690, p90 50.980, p99 51.190, mean 47.060, max 52.260, 6 users, closed, resolution 1000",
            notes: &["wrk adds requests to its histogram that it never sent, and d"],
        },
        Case {
            file: "tools/wrk2/4.0.0/stall/stdout.txt",
            format: "wrk2",
            says: "Intended, 600 measured, 602 made, 0 failed, 100.16/s, p50 11.490, p90 505.090, p99 952.320, p99.9 1000.000, mean 113.962, max 1001.472, histogram of 600 p50 11.493 p99 952.631, 6 users, open, resolution 1000",
            notes: &[],
        },
        Case {
            file: "tools/wrk2/4.0.0/stall-late/stdout.txt",
            format: "wrk2",
            says: "Intended, 498 measured, 1502 made, 0 failed, 100.06/s, p50 11.490, p90 599.040, p99 991.230, p99.9 1000.000, mean 135.029, max 1000.960, histogram of 498 p50 11.493 p99 991.429, 6 users, open, resolution 1000",
            notes: &["its first 10 s are calibration and are not in its latencies"],
        },
        Case {
            file: "tools/wrk2/4.0.0/timeouts/stdout.txt",
            format: "wrk2",
            says: "Intended, 114 measured, 114 made, 0 failed, 18.94/s, p50 11.030, p90 11.470, p99 11.680, p99.9 11.730, mean 11.012, max 11.728, histogram of 114 p50 11.035 p99 11.682, 6 users, open, resolution 1000",
            notes: &["15 timeouts by wrk2's count, which counts a hung connection "],
        },
    ]);
}

#[test]
fn ab() {
    check(&[
        Case {
            file: "tools/ab/2.3/stall/stdout.txt",
            format: "ab-report",
            says: "Send, 600 measured, 600 made, 0 failed, 83.97/s, p50 51.000, p90 51.000, p99 52.000, mean 59.546, max 1048.000, 5 users, closed, resolution 1000000",
            notes: &[],
        },
        Case {
            file: "tools/ab/2.3/errors/stdout-r.txt",
            format: "ab-report",
            says: "Send, 600 measured, 600 made, 80 failed, 112.30/s, p50 51.000, p90 51.000, p99 52.000, mean 44.525, max 52.000, 5 users, closed, resolution 1000000",
            notes: &[
                "ab's 'Failed requests: 160' counts a reset up to three times",
                "ab's latencies include requests without an answer, which can",
            ],
        },
        Case {
            file: "tools/ab/2.3/stall/percentiles.csv",
            format: "ab-percentiles",
            says: "Send, p50 50.731, p90 51.162, p99 51.728, max 1048.387, closed, resolution 1000",
            notes: &[],
        },
    ]);
}

#[test]
fn hey_of_two_versions() {
    check(&[
        Case {
            file: "tools/hey/0.1.4/stall/stdout.txt",
            format: "hey-summary",
            says: "Send, 505 measured, 505 made, 0 failed, 83.97/s, p50 10.500, p90 10.700, p99 1000.300, mean 20.300, max 1000.600, closed, resolution 100000",
            notes: &[],
        },
        Case {
            file: "tools/hey/0.1.5/stall/stdout.txt",
            format: "hey-summary",
            says: "Send, 505 measured, 505 made, 0 failed, 83.86/s, p50 10.500, p90 10.700, p99 1001.700, mean 20.300, max 1001.900, closed, resolution 100000",
            notes: &[],
        },
        Case {
            file: "tools/hey/0.1.5/timeouts/stdout.txt",
            format: "hey-summary",
            says: "Send, 308 measured, 324 made, 16 failed, 46.86/s, p50 10.500, p90 10.800, p99 11.300, mean 10.600, max 11.500, closed, resolution 100000",
            notes: &[],
        },
    ]);
}

#[test]
fn oha() {
    check(&[
        Case {
            file: "tools/oha/1.16.0/errors/corrected.json",
            format: "oha-json",
            says: "Send, 560 measured, 600 made, 40 failed, 99.98/s, p50 10.563, p90 11.417, p99 15.223, p99.9 22.351, mean 10.108, max 22.351, resolution 1",
            notes: &["oha's output does not say whether --latency-correction was o"],
        },
        Case {
            file: "tools/oha/1.16.0/errors/stdout.txt",
            format: "oha-text",
            says: "Send, 560 measured, 601 made, 40 failed, 100.14/s, p50 10.454, p90 11.005, p99 12.262, p99.9 17.267, mean 9.889, max 17.267, resolution 100000",
            notes: &[
                "1 requests were in flight at the end and were aborted; its s",
                "oha's output does not say whether --latency-correction was o",
            ],
        },
        Case {
            file: "tools/oha/1.16.0/errors/samples.csv",
            format: "oha-csv",
            says: "Send, 560 measured, 560 rows, 560 answers, slowest 18.287, Run 307678 to 5981523617, resolution 1",
            notes: &[
                "oha's CSV has no rows for failed and aborted requests",
                "oha's output does not say whether --latency-correction was o",
            ],
        },
        Case {
            file: "tools/oha/1.16.0/refused/result.json",
            format: "oha-json",
            says: "Send, 0 measured, 602 made, 600 failed, 100.32/s, resolution 1",
            notes: &[
                "2 requests were in flight at the end and were aborted; its s",
                "oha's output does not say whether --latency-correction was o",
            ],
        },
    ]);
}

#[test]
fn k6() {
    check(&[
        Case {
            file: "tools/k6-constant-arrival-rate/1.8.1/dropped/summary.json",
            format: "k6-summary",
            says: "Send, 560 measured, 560 made, 0 failed, 41 dropped, 93.16/s, p50 10.929, p90 84.025, p99 956.156, p99.9 1005.918, mean 71.934, max 1011.523, 61 users, resolution 1",
            notes: &[],
        },
        Case {
            file: "tools/k6-constant-vus/1.8.1/errors/summary.json",
            format: "k6-summary",
            says: "Send, 568 measured, 568 made, 40 failed, 94.52/s, p50 10.364, p90 10.554, p99 21.260, p99.9 21.451, mean 10.415, max 21.468, 1 users, resolution 1",
            notes: &[],
        },
    ]);
}

#[test]
fn vegeta() {
    check(&[
        Case {
            file: "import/vegeta/12.13.0/stall.json",
            format: "vegeta-report",
            says: "Send, 600 measured, 600 made, 0 failed, 100.15/s, p50 10.619, p90 409.564, p99 947.562, mean 93.599, max 1002.367, open, resolution 1",
            notes: &[],
        },
        Case {
            file: "import/vegeta/12.13.0/errors.json",
            format: "vegeta-report",
            says: "Send, 600 measured, 600 made, 43 failed, 100.16/s, p50 10.506, p90 10.993, p99 11.637, mean 9.867, max 12.405, open, resolution 1",
            notes: &[],
        },
        Case {
            file: "import/vegeta/12.13.0/stall.hdrplot",
            format: "hgrm",
            says: "Send, 600 measured, p50 10.619, p90 409.564, histogram of 600 p50 10.625 p99 951.583, resolution 1",
            notes: &["the file does not say where its latencies start, or whether "],
        },
    ]);
}

#[test]
fn jmeter_xml() {
    check(&[
        Case {
            file: "import/jmeter/5.6.3/errors.xml",
            format: "jmeter-xml",
            says: "Send, 90 measured, 90 made, 12 failed, 90 rows, 84 answers, slowest 42.000, Unix 1795157941899000000 to 1795157943288000000, 20 users, resolution 1000000",
            notes: &[],
        },
        Case {
            file: "import/jmeter/5.6.3/timeouts.xml",
            format: "jmeter-xml",
            says: "Send, 60 measured, 60 made, 3 failed, 60 rows, 57 answers, slowest 1009.000, Unix 1795157945486000000 to 1795157946684000000, 20 users, resolution 1000000",
            notes: &[],
        },
        Case {
            file: "import/jmeter/5.6.3/refused.xml",
            format: "jmeter-xml",
            says: "Send, 30 measured, 30 made, 30 failed, 30 rows, 0 answers, slowest 16.000, Unix 1795157969018000000 to 1795157970056000000, 20 users, resolution 1000000",
            notes: &[],
        },
    ]);
}

#[test]
fn gatling_of_two_versions() {
    check(&[
        Case {
            file: "tools/gatling/3.11.5/stall/simulation.log",
            format: "gatling-log",
            says: "Send, v3.11.5, 600 measured, 600 made, 0 failed, 600 rows, 600 answers, slowest 1013.000, Unix 1795158023412000000 to 1795158029369000000, resolution 1000000",
            notes: &[],
        },
        Case {
            file: "tools/gatling/3.11.5/errors/simulation.log",
            format: "gatling-log",
            says: "Send, v3.11.5, 600 measured, 600 made, 43 failed, 600 rows, 600 answers, slowest 153.000, Unix 1795158042250000000 to 1795158048117000000, resolution 1000000",
            notes: &[],
        },
        Case {
            file: "tools/gatling/3.15.1/stall/simulation.log",
            format: "gatling-log",
            says: "Send, v3.15.1, 600 measured, 600 made, 0 failed, 600 rows, 600 answers, slowest 1012.000, Unix 1795157984785000000 to 1795157990662000000, resolution 1000000",
            notes: &[],
        },
        Case {
            file: "tools/gatling/3.15.1/errors/simulation.log",
            format: "gatling-log",
            says: "Send, v3.15.1, 600 measured, 600 made, 44 failed, 600 rows, 599 answers, slowest 141.000, Unix 1795157986100000000 to 1795157992013000000, resolution 1000000",
            notes: &[],
        },
    ]);
}

#[test]
fn locust() {
    check(&[
        Case {
            file: "import/locust/2.47.0/stall/stats.csv",
            format: "locust-stats",
            says: "Send, 410 measured, 410 made, 0 failed, 82.13/s, p50 14.000, p90 20.000, p99 970.000, p99.9 970.000, mean 26.952, max 972.577, closed, resolution 1000000",
            notes: &[],
        },
        Case {
            file: "import/locust/2.47.0/errors/stats.csv",
            format: "locust-stats",
            says: "Send, 495 measured, 495 made, 66 failed, 99.19/s, p50 15.000, p90 21.000, p99 30.000, p99.9 120.000, mean 15.485, max 119.703, closed, resolution 1000000",
            notes: &[],
        },
        Case {
            file: "import/locust/2.47.0/stall/stats_history.csv",
            format: "locust-history",
            says: "Send, 410 measured, 410 made, 0 failed, p50 14.000, mean 26.952, max 972.577, 5 users, closed, resolution 1000000",
            notes: &["the percentiles of its rows are those of the 10 s before, an"],
        },
        Case {
            file: "import/locust/2.47.0/errors/stats_history.csv",
            format: "locust-history",
            says: "Send, 495 measured, 495 made, 66 failed, p50 15.000, mean 15.485, max 119.703, 5 users, closed, resolution 1000000",
            notes: &["the percentiles of its rows are those of the 10 s before, an"],
        },
        Case {
            file: "tools/locust/2.47.0/stall/result.json",
            format: "locust-json",
            says: "Send, 1199 measured, 1199 made, 0 failed, p50 11.000, p90 13.000, p99 19.000, p99.9 1000.000, mean 14.341, max 1004.141, histogram of 1199 p50 11.002 p99 19.005, closed, resolution 1000000",
            notes: &[],
        },
        Case {
            file: "tools/locust/2.47.0/errors/result.json",
            format: "locust-json",
            says: "Send, 1546 measured, 1546 made, 206 failed, p50 11.000, p90 13.000, p99 16.000, p99.9 60.000, mean 11.035, max 63.469, histogram of 1546 p50 11.002 p99 16.007, closed, resolution 1000000",
            notes: &[],
        },
    ]);
}

#[test]
fn hyperfoil_of_two_versions() {
    check(&[
        Case {
            file: "tools/hyperfoil/0.25.2/stall/result.json",
            format: "hyperfoil-lab",
            says: "Send, v0.25.2, 601 measured, 601 made, 0 failed, p50 10.682, p90 411.042, p99 947.913, p99.9 1006.633, mean 94.461, max 1006.633, histogram of 601 p50 10.682 p99 947.913, resolution 1",
            notes: &[],
        },
        Case {
            file: "import/hyperfoil/0.25.2/stall.hgrm",
            format: "hgrm",
            says: "Send, 626 measured, p50 11.080, p90 267.390, mean 81.080, max 973.080, histogram of 626 p50 11.084 p99 885.522, resolution 10000",
            notes: &[
                "the file does not say where its latencies start, or whether ",
                "the file does not say its unit; its values are read as milliseconds",
            ],
        },
        Case {
            file: "import/hyperfoil/0.27.1/stall.json",
            format: "hyperfoil",
            says: "Send, v0.27.1, 612 measured, 612 made, 0 failed, p50 11.665, p90 541.065, p99 918.553, p99.9 1015.022, mean 113.936, max 1015.022, histogram of 612 p50 11.665 p99 918.553, resolution 1",
            notes: &["requests waited 23.919 s in total for a connection; its late"],
        },
        Case {
            file: "import/hyperfoil/0.27.1/errors.json",
            format: "hyperfoil",
            says: "Send, v0.27.1, 549 measured, 588 made, 78 failed, p50 11.010, p90 12.780, p99 16.056, p99.9 27.394, mean 10.738, max 27.394, histogram of 549 p50 11.010 p99 16.056, resolution 1",
            notes: &[],
        },
        Case {
            file: "import/hyperfoil/0.27.1/refused.json",
            format: "hyperfoil",
            says: "error: line 1: no statistics: nothing was sent, or only in warm-up",
            notes: &[],
        },
    ]);
}

#[test]
fn fortio() {
    check(&[
        Case {
            file: "import/fortio/1.68.2/stall.json",
            format: "fortio-json",
            says: "Send, v1.68.2, 600 measured, 600 made, 0 failed, 99.80/s, p50 10.737, p90 12.000, p99 17.600, p99.9 956.748, mean 18.955, max 964.486, histogram of 600 p50 11.002 p99 18.006, 5 users, planned 100/s, closed, resolution 1000000",
            notes: &[],
        },
        Case {
            file: "import/fortio/1.68.2/stall-nocatchup.json",
            format: "fortio-json",
            says: "Send, v1.68.2, 505 measured, 505 made, 0 failed, 83.45/s, p50 10.625, p90 11.233, p99 13.991, p99.9 1002.295, mean 20.181, max 1004.636, histogram of 505 p50 11.002 p99 14.000, 5 users, planned 100/s, closed, resolution 1000000",
            notes: &[],
        },
        Case {
            file: "import/fortio/1.68.2/errors.json",
            format: "fortio-json",
            says: "Send, v1.68.2, 600 measured, 600 made, 46 failed, 99.80/s, p50 10.630, p90 11.919, p99 17.500, p99.9 19.178, mean 10.294, max 19.386, histogram of 600 p50 11.002 p99 18.006, 5 users, planned 100/s, closed, resolution 1000000",
            notes: &[],
        },
        Case {
            file: "import/fortio/1.68.2/refused.json",
            format: "fortio-json",
            says: "Send, v1.68.2, 600 measured, 600 made, 600 failed, 99.98/s, p50 0.516, p90 0.906, p99 0.993, p99.9 1.261, mean 0.180, max 1.373, histogram of 600 p50 1.000 p99 1.000, 5 users, planned 100/s, closed, resolution 1000000",
            notes: &[],
        },
        Case {
            file: "import/fortio/1.68.2/errors.jsonl",
            format: "fortio-log",
            says: "Send, 250 measured, 250 made, 20 failed, 250 rows, 248 answers, slowest 19.386, Unix 1795157964935123930 to 1795157967405731448, 5 users, closed, resolution 1000",
            notes: &["2 requests failed in a way that is not known here, the first"],
        },
    ]);
}

#[test]
fn autocannon() {
    check(&[
        Case {
            file: "tools/autocannon/9.0.0/stall/closed.json",
            format: "autocannon",
            says: "Send, 2253 measured, 2258 made, 0 failed, 375.50/s, p50 10.000, p90 11.000, p99 14.000, p99.9 1001.000, mean 12.740, max 1011.000, 5 users, closed, resolution 1000000",
            notes: &[],
        },
        Case {
            file: "tools/autocannon/9.0.0/stall/uncorrected.json",
            format: "autocannon",
            says: "Send, 505 measured, 605 made, 0 failed, 84.17/s, p50 10.000, p90 12.000, p99 24.000, p99.9 1009.000, mean 20.610, max 1009.000, 5 users, closed, resolution 1000000",
            notes: &[],
        },
        Case {
            file: "tools/autocannon/9.0.0/stall/result.json",
            format: "autocannon",
            says: "BackFilled, 10467 measured, 605 made, 0 failed, 84.17/s, p50 11.000, p90 799.000, p99 987.000, p99.9 1006.000, mean 245.930, max 1008.000, 5 users, closed, resolution 1000000",
            notes: &["10467 latencies for 505 answers: autocannon added the rest"],
        },
        Case {
            file: "tools/autocannon/9.0.0/errors/closed.json",
            format: "autocannon",
            says: "Send, 2929 measured, 3143 made, 419 failed, 488.17/s, 5 users, closed, resolution 1000000",
            notes: &["209 errors that are not timeouts: after a reset, autocannon "],
        },
    ]);
}

#[test]
fn h2load() {
    check(&[
        Case {
            file: "tools/h2load/1.52.0/stall/samples.tsv",
            format: "h2load-log",
            says: "Send, 490 measured, 490 made, 0 failed, 490 rows, 490 answers, slowest 1024.908, Unix 1795157902644294000 to 1795157908573268000, resolution 1000",
            notes: &[],
        },
        Case {
            file: "tools/h2load/1.52.0/errors/samples.tsv",
            format: "h2load-log",
            says: "Send, 70 measured, 70 made, 5 failed, 70 rows, 70 answers, slowest 54.995, Unix 1795157902643386000 to 1795157904132357000, resolution 1000",
            notes: &[],
        },
    ]);
}

/// One request was cancelled, which is in no total of the file.
#[test]
fn guidellm() {
    check(&[Case {
        file: "tools/guidellm/0.8.1/stall/benchmarks.json",
        format: "guidellm",
        says: "Send, v0.8.1, 12 measured, 13 made, 0 failed, 4.00/s, p50 127.357, p90 415.669, p99 664.075, p99.9 664.075, mean 199.902, max 664.075, 13 rows, 12 answers, slowest 664.075, Unix 1795399280460014343 to 1795399283468917131, 10240 users, planned 4/s, open, resolution 1000",
        notes: &["the latest request began 0.038 s after it was due"],
    }]);
}

/// The figures are times of single requests, without their starts.
#[test]
fn sglang() {
    check(&[Case {
        file: "tools/sglang/0.5.9/stall/results.jsonl",
        format: "sglang",
        says: "Send, 80 measured, 18.02/s, p50 1281.045, p90 1683.726, p99 1971.248, mean 1307.560, 80 rows, 80 answers, slowest 1975.812, None 0 to 0, planned 20/s, open, resolution 1000",
        notes: &[],
    }]);
}

#[test]
fn vllm() {
    check(&[Case {
        file: "tools/vllm-max-concurrency/0.32.0/stall/results.json",
        format: "vllm",
        says: "Send, 80 measured, 80 made, 0 failed, 18.24/s, p50 241.486, p90 247.856, p99 593.626, mean 255.724, 80 rows, 80 answers, slowest 633.044, Run 0 to 4093981882, 80 waited, longest 384.114, 5 users, planned 20/s, resolution 1000",
        notes: &[],
    }]);
}

#[test]
fn files_made_by_hand() {
    check(&[
        Case {
            file: "import/by-hand/vllm-detailed.json",
            format: "vllm",
            says: "Send, 7 measured, 8 made, 1 failed, 2.80/s, p50 95.000, p90 918.000, p99 945.000, mean 330.430, 7 rows, 7 answers, slowest 948.000, Run 0 to 1900000000, 2 users, planned 4/s, resolution 1000",
            notes: &["requests without a time in the file: 1, which failed or had no token"],
        },
        Case {
            file: "import/by-hand/vllm.json",
            format: "vllm",
            says: "Send, 7 measured, 8 made, 1 failed, 2.80/s, resolution 1000",
            notes: &["the file has no figures of whole requests, only of tokens"],
        },
        Case {
            file: "import/by-hand/sglang.jsonl",
            format: "sglang",
            says: "Send, 100 measured, 3.28/s, p50 2050.250, p90 2720.400, p99 3400.500, mean 2100.500, 8 users, closed, resolution 1000",
            notes: &["the file holds 2 results; only the last was read"],
        },
        Case {
            file: "import/by-hand/guidellm.json",
            format: "guidellm",
            says: "Send, v0.5.0, 4 measured, 5 made, 1 failed, 2.00/s, p50 125.000, p90 1000.000, p99 1000.000, p99.9 1000.000, mean 340.000, max 1000.000, 5 rows, 4 answers, slowest 1000.000, Unix 1795176000000000000 to 1795176002000000000, planned 2/s, open, resolution 1000",
            notes: &[
                "the latest request began 0.500 s after it was due, which is ",
                "the file holds 2 benchmarks; only the last was read",
            ],
        },
        Case {
            file: "import/by-hand/browser.har",
            format: "har",
            says: "Send, 4 measured, 4 made, 2 failed, 4 rows, 3 answers, slowest 250.500, Unix 1795176000000000000 to 1795176000500000000, resolution 1000, damage Damage { rows_left_out: 1, first: Some((FilePlace { byte: 2251, line: 115 }, \"a time of -1 ms\")), truncated_at: None }",
            notes: &[],
        },
        Case {
            file: "import/by-hand/k6-handle-summary.json",
            format: "k6-summary",
            says: "Send, 560 measured, 560 made, 7 failed, 41 dropped, 93.16/s, p50 10.900, p90 84.000, p99 956.100, mean 71.900, max 1011.500, 61 users, resolution 1",
            notes: &[],
        },
    ]);
}
