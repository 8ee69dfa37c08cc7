//! The parser of oha.

use crate::support::{Case, PLAIN, check};

#[test]
fn what_oha_says() {
    check("oha", &CASES);
}

pub(crate) const CASES: [Case; 27] = [
    Case {
        folder: "1.16.0/healthy",
        stdout: "samples.csv",
        says: "measured 600 requests - failed - dropped - rate - mean - max - | \
               single 600 errors 0 histogram - | \
               p50=10.470908* p90=11.072344* p99=13.243062* p99.9=17.985981* p99.99=17.985981*",
        notes: &["oha's CSV has no rows", "read as corrected"],
        ..PLAIN
    },
    Case {
        folder: "1.16.0/healthy",
        stdout: "result.json",
        says: "measured 599 requests 602 failed 0 dropped - rate 100.30663249349885 mean 10.963906 max 21.623742 \
               | \
               single 0 errors 0 histogram - | \
               p10=10.328996 p25=10.401113 p50=10.537145 p75=10.912536 p90=12.422959 p95=13.179788 p99=15.65512 \
               p99.9=21.623742 p99.99=21.623742",
        notes: &["3 requests were", "not corrected, the default"],
        ..PLAIN
    },
    Case {
        folder: "1.16.0/healthy",
        stdout: "corrected.json",
        says: "measured 599 requests 602 failed 0 dropped - rate 100.29851542251043 mean 10.686947 max 15.8103 | \
               single 0 errors 0 histogram - | \
               p10=10.293562 p25=10.366321 p50=10.46623 p75=10.71439 p90=11.282107 p95=11.884506 p99=13.727665 \
               p99.9=15.8103 p99.99=15.8103",
        notes: &["3 requests were", "not corrected, the default"],
        ..PLAIN
    },
    Case {
        folder: "1.16.0/healthy",
        stdout: "closed.json",
        says: "measured 300 requests 300 failed 0 dropped - rate 468.6880679980898 mean 10.643442 max 12.728365 | \
               single 0 errors 0 histogram - | \
               p10=10.370828 p25=10.414543 p50=10.49341 p75=10.617566 p90=11.009661 p95=11.506081 p99=12.602747 \
               p99.9=12.728365 p99.99=12.728365",
        notes: &["not corrected, the default"],
        ..PLAIN
    },
    Case {
        folder: "1.16.0/healthy",
        says: "measured 600 requests 601 failed 0 dropped - rate 100.1261 mean 10.7964 max 15.5653 | \
               single 0 errors 0 histogram - | \
               p10=10.3251 p25=10.398 p50=10.5236 p75=10.8303 p90=11.6975 p95=12.5165 p99=13.4246 p99.9=15.5653 \
               p99.99=15.5653",
        notes: &["1 requests were", "not corrected, the default"],
        ..PLAIN
    },
    Case {
        folder: "1.16.0/stall",
        stdout: "samples.csv",
        says: "measured 600 requests - failed - dropped - rate - mean - max - | \
               single 600 errors 0 histogram - | \
               p50=10.520782* p90=11.521294* p99=17.762723* p99.9=1002.059185* p99.99=1002.059185*",
        notes: &["oha's CSV has no rows", "read as corrected"],
        ..PLAIN
    },
    Case {
        folder: "1.16.0/stall",
        stdout: "corrected-samples.csv",
        says: "measured 600 requests - failed - dropped - rate - mean - max - | \
               single 600 errors 0 histogram - | \
               p50=10.569639* p90=525.907144* p99=951.698963* p99.9=1001.558052* p99.99=1001.558052*",
        notes: &["oha's CSV has no rows", "read as corrected"],
        ..PLAIN
    },
    Case {
        folder: "1.16.0/stall",
        stdout: "result.json",
        says: "measured 600 requests 601 failed 0 dropped - rate 100.14452372771598 mean 18.772192 max \
               1002.345377 | \
               single 0 errors 0 histogram - | \
               p10=10.294254 p25=10.363678 p50=10.484668 p75=10.70675 p90=11.198513 p95=11.999528 p99=16.880868 \
               p99.9=1002.345377 p99.99=1002.345377",
        notes: &["1 requests were", "not corrected, the default"],
        ..PLAIN
    },
    Case {
        folder: "1.16.0/stall",
        stdout: "corrected.json",
        says: "measured 599 requests 600 failed 0 dropped - rate 99.9761464412802 mean 114.308461 max 1001.485373 \
               | \
               single 0 errors 0 histogram - | \
               p10=10.336087 p25=10.428268 p50=10.634311 p75=12.164714 p90=527.135497 p95=763.081177 \
               p99=960.766332 p99.9=1001.485373 p99.99=1001.485373",
        notes: &["1 requests were", "not corrected, the default"],
        ..PLAIN
    },
    Case {
        folder: "1.16.0/stall",
        says: "measured 599 requests 602 failed 0 dropped - rate 100.2997 mean 18.8 max 1007.5 | \
               single 0 errors 0 histogram - | \
               p10=10.3 p25=10.4 p50=10.5 p75=10.8 p90=11.3 p95=11.8 p99=16.6 p99.9=1007.5 p99.99=1007.5",
        notes: &["3 requests were", "not corrected, the default"],
        ..PLAIN
    },
    Case {
        folder: "1.16.0/errors",
        stdout: "samples.csv",
        says: "measured 560 requests - failed - dropped - rate - mean - max - | \
               single 560 errors 40 histogram - | \
               p50=10.47272* p90=11.295237* p99=14.418615* p99.9=18.286774* p99.99=18.286774*",
        notes: &["oha's CSV has no rows", "read as corrected"],
        ..PLAIN
    },
    Case {
        folder: "1.16.0/errors",
        stdout: "result.json",
        says: "measured 560 requests 602 failed 40 dropped - rate 100.29863191236566 mean 10.016762 max 18.065384 \
               | \
               single 0 errors 0 histogram - | \
               p10=10.280923 p25=10.389446 p50=10.532929 p75=10.74807 p90=11.310215 p95=11.886728 p99=13.799662 \
               p99.9=18.065384 p99.99=18.065384",
        notes: &["2 requests were", "not corrected, the default"],
        ..PLAIN
    },
    Case {
        folder: "1.16.0/errors",
        stdout: "corrected.json",
        says: "measured 560 requests 600 failed 40 dropped - rate 99.9788981204997 mean 10.108448 max 22.350986 | \
               single 0 errors 0 histogram - | \
               p10=10.274434 p25=10.403598 p50=10.563205 p75=10.890473 p90=11.417319 p95=12.387155 p99=15.222635 \
               p99.9=22.350986 p99.99=22.350986",
        notes: &["not corrected, the default"],
        ..PLAIN
    },
    Case {
        folder: "1.16.0/errors",
        says: "measured 560 requests 601 failed 40 dropped - rate 100.143 mean 9.889 max 17.2673 | \
               single 0 errors 0 histogram - | \
               p10=10.2403 p25=10.3233 p50=10.4539 p75=10.6916 p90=11.0053 p95=11.3501 p99=12.2618 p99.9=17.2673 \
               p99.99=17.2673",
        notes: &["1 requests were", "not corrected, the default"],
        ..PLAIN
    },
    Case {
        folder: "1.16.0/timeouts",
        stdout: "samples.csv",
        says: "measured 475 requests - failed - dropped - rate - mean - max - | \
               single 475 errors 0 histogram - | \
               p50=10.354128* p90=11.132364* p99=14.182963* p99.9=15.441031* p99.99=15.441031*",
        notes: &["oha's CSV has no rows", "read as corrected"],
        ..PLAIN
    },
    Case {
        folder: "1.16.0/timeouts",
        stdout: "result.json",
        says: "measured 475 requests 501 failed 21 dropped - rate 83.46903611768919 mean 10.674566 max 21.9784 | \
               single 0 errors 0 histogram - | \
               p10=10.272998 p25=10.306651 p50=10.366972 p75=10.601472 p90=11.201627 p95=11.967209 p99=15.180641 \
               p99.9=21.9784 p99.99=21.9784",
        notes: &["5 requests were", "not corrected, the default"],
        ..PLAIN
    },
    Case {
        folder: "1.16.0/timeouts",
        stdout: "corrected.json",
        says: "measured 475 requests 501 failed 21 dropped - rate 83.48085914686442 mean 419.171661 max 859.75899 \
               | \
               single 0 errors 0 histogram - | \
               p10=10.746859 p25=212.271491 p50=413.498158 p75=622.292652 p90=813.698221 p95=819.653995 \
               p99=857.912446 p99.9=859.75899 p99.99=859.75899",
        notes: &["5 requests were", "not corrected, the default"],
        ..PLAIN
    },
    Case {
        folder: "1.16.0/timeouts",
        says: "measured 476 requests 502 failed 21 dropped - rate 83.6367 mean 10.4746 max 13.0183 | \
               single 0 errors 0 histogram - | \
               p10=10.2522 p25=10.2833 p50=10.354 p75=10.4845 p90=10.8491 p95=11.1496 p99=12.2183 p99.9=13.0183 \
               p99.99=13.0183",
        notes: &["5 requests were", "not corrected, the default"],
        ..PLAIN
    },
    Case {
        folder: "1.16.0/refused",
        stdout: "samples.csv",
        says: "measured 0 requests - failed - dropped - rate - mean - max - | \
               single 0 errors 0 histogram - |",
        notes: &["oha's CSV has no rows", "read as corrected"],
        ..PLAIN
    },
    Case {
        folder: "1.16.0/refused",
        stdout: "result.json",
        says: "measured 0 requests 602 failed 600 dropped - rate 100.32310694758819 mean - max - | \
               single 0 errors 0 histogram - |",
        notes: &["2 requests were", "not corrected, the default"],
        ..PLAIN
    },
    Case {
        folder: "1.16.0/refused",
        stdout: "corrected.json",
        says: "measured 0 requests 600 failed 600 dropped - rate 99.98788490126735 mean - max - | \
               single 0 errors 0 histogram - |",
        notes: &["not corrected, the default"],
        ..PLAIN
    },
    Case {
        folder: "1.16.0/refused",
        says: "measured 0 requests 601 failed 601 dropped - rate 100.1416 mean - max - | \
               single 0 errors 0 histogram - |",
        notes: &["not corrected, the default"],
        ..PLAIN
    },
    Case {
        folder: "1.16.0/cut-off",
        stdout: "samples.csv",
        says: "error: stdout, line 301: the file ends within this line; it was cut off",
        ..PLAIN
    },
    Case {
        folder: "1.16.0/cut-off",
        stdout: "result.json",
        says: "error: stdout, line 56: EOF while parsing a string at line 56 column 10",
        ..PLAIN
    },
    Case {
        folder: "1.16.0/cut-off",
        says: "error: stdout, line 30: the file ends within this line; it was cut off",
        ..PLAIN
    },
    Case {
        folder: "1.16.0/unanswered",
        stdout: "samples.csv",
        says: "measured 0 requests - failed - dropped - rate - mean - max - | \
               single 0 errors 0 histogram - |",
        notes: &["oha's CSV has no rows", "read as corrected"],
        ..PLAIN
    },
    Case {
        folder: "1.16.0/unanswered",
        stdout: "result.json",
        says: "measured 0 requests 20 failed 20 dropped - rate 9.55351808535166 mean - max - | \
               single 0 errors 0 histogram - |",
        notes: &["not corrected, the default"],
        ..PLAIN
    },
];
