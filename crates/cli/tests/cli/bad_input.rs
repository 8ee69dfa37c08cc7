//! Bad input gets one line, the right exit code, and no load.

use std::net::TcpListener;

use super::raw_server::{ClosedPort, RawServer};
use super::support::{CommandOutput, ServeProcess, TestDir, TestProcess};

/// Needs no server, because these commands are refused before anything is sent.
const URL: &str = "http://127.0.0.1:9/api";

fn assert_refused(output: &CommandOutput, code: i32, parts: &[&str], what: &str) {
    assert_eq!(output.code, Some(code), "{what}: {output:?}");
    assert_eq!(output.stdout, "", "{what}");
    assert_eq!(output.stderr.lines().count(), 1, "{what}: {output:?}");
    assert!(output.stderr.starts_with("truetail: "), "{what}: {output:?}");
    for part in parts {
        assert!(output.stderr.contains(part), "{what}: no '{part}' in {:?}", output.stderr);
    }
}

/// Checks rows of (arguments, exit code, parts of the line).
fn check(dir: &TestDir, rows: &[(&[&str], i32, &[&str])]) {
    for (arguments, code, parts) in rows {
        assert_refused(&dir.truetail(arguments), *code, parts, &arguments.join(" "));
        assert!(dir.runs().is_empty(), "{arguments:?} left a folder");
    }
}

#[test]
fn verbs_and_flags() {
    check(
        &TestDir::new(),
        &[
            (&[], 2, &["--help", "demo"]),
            (&["nonsense"], 2, &["nonsense"]),
            (&["run"], 2, &["no URL given", "truetail.toml"]),
            (&["run", URL, "-r", "1", "--rat", "3"], 2, &["'--rat'", "'--rate'"]),
            (&["run", URL, "-r", "1", "--http3"], 2, &["'--http3'"]),
            (&["run", URL, "-r", "1", "--http2", "--no-keepalive"], 2, &["--http2 and --no-keepalive contradict"]),
            (
                &["run", URL, "-r", "1", "--connection-per-session"],
                2,
                &["--connection-per-session has no meaning in the open model", "--model partly-open"],
            ),
            (
                &["run", URL, "-r", "1", "--no-keepalive", "--connection-per-session"],
                2,
                &["'--no-keepalive'", "'--connection-per-session'"],
            ),
            (&["run", URL, "-r", "1", "--max-streams", "5"], 2, &["--max-streams", "add --http2"]),
            (&["run", URL, "-r", "1", "--http2", "-H", "TE: gzip"], 2, &["'TE: gzip'", "does not allow"]),
            (&["run", URL, "-r", "1", "--model", "opne"], 2, &["opne", "open, closed, partly-open"]),
            (&["merge", "a", "b"], 2, &["--out"]),
            (&["run", URL, "-r", "1", "--stripe", "0/8"], 2, &["no stripe 0 of 8", "from 1 to 8"]),
            (&["run", URL, "-r", "1", "--stripe", "9/8"], 2, &["no stripe 9 of 8"]),
            (&["simulate", "02", "--stripe", "9/8"], 2, &["no stripe 9 of 8"]),
            (&["simulate", "freeze", "--stripe", "1/2"], 2, &["--stripe", "freeze is a lab"]),
            (&["run", URL, "-r", "1", "--stripe", "2"], 2, &["'2' is not a stripe", "2/8"]),
            (&["run", URL, "-r", "1", "--stripe", "1/2", "--until", "p99 ±5%"], 2, &["--until", "--stripe 1/2"]),
            (&["run", URL, "-r", "1", "--stripe", "1/2", "--fail-if", "p99 > 1s"], 2, &["--fail-if", "merged"]),
            (&["run", URL, "-r", "1", "--stripe", "1/2", "--slo", "p99 < 1s"], 2, &["--slo", "merged"]),
            (&["run", URL, "-r", "1", "--stripe", "1/8", "-c", "7"], 2, &["--connections 7", "8 machines"]),
            (&["run", URL, "--model", "closed", "--users", "3", "--stripe", "1/4"], 2, &["--users 3", "4 machines"]),
            (&["run", URL, "-r", "1", "--start-at", "10s"], 2, &["'10s' is no instant", "+10s"]),
            (&["run", URL, "-r", "1", "--start-at", "2020-01-01T00:00:00Z"], 2, &["--start-at was", "ago"]),
            (
                &["run", URL, "-r", "1", "--stripe", "1/2", "--start-at", "2020-01-01T00:00:00Z"],
                2,
                &["nothing of the schedule is left"],
            ),
        ],
    );
}

#[test]
fn urls_methods_and_headers() {
    check(
        &TestDir::new(),
        &[
            (&["run", "127.0.0.1:80", "-r", "1"], 2, &["no scheme"]),
            (&["run", "http://", "-r", "1"], 2, &["'http://'"]),
            (&["run", "http://127.0.0.1:99999/", "-r", "1"], 2, &["99999"]),
            (&["run", "ftp://127.0.0.1/", "-r", "1"], 2, &["unknown scheme 'ftp'"]),
            (&["run", "http://no-such-host.invalid/", "-r", "1"], 1, &["no-such-host.invalid", "cannot resolve host"]),
            (&["run", URL, "-r", "1", "-X", "G ET"], 2, &["'G ET'"]),
            (&["run", URL, "-r", "1", "-H", "nocolon"], 2, &["'nocolon'", "Name: value"]),
        ],
    );
}

/// On the command line, in a curl command, in a file of targets, with rows, and in a flow.
#[test]
fn headers_that_contradict_the_body() {
    let dir = TestDir::new();
    let targets = dir.file("t.txt", &format!("POST {URL}\nTransfer-Encoding: chunked\n@body\n"));
    dir.file("body", "hello");
    let rows = dir.file("rows.csv", "id\n1\n22\n");
    let flow = dir.file("f.hurl", &format!("GET {URL}\nConnection: keep-alive, Upgrade\nHTTP 200\n"));
    let curl = format!("curl -H 'Content-Length: 7' -d hello {URL}");
    let length = ["'Content-Length: 5' contradicts the body, which has 0 bytes"];
    check(
        &dir,
        &[
            (&["run", URL, "-r", "1", "-H", "Content-Length: 5"], 2, &length),
            (&["run", URL, "-r", "1", "--http2", "-H", "Content-Length: 5"], 2, &length),
            (&["run", URL, "-r", "1", "--data", "x", "-H", "Transfer-Encoding: chunked"], 2, &["Transfer-Encoding"]),
            (&["run", URL, "-r", "1", "-H", "HTTP2-Settings: AAMAAABk"], 2, &["another protocol", "--http2"]),
            (&["run", "--curl", &curl, "-r", "1"], 2, &["'Content-Length: 7'", "which has 5 bytes"]),
            (&["run", "--targets", targets, "-r", "1"], 2, &["t.txt:1", "'Transfer-Encoding: chunked'"]),
            (
                &["run", URL, "-r", "1", "--data-from", rows, "--data", "{{id}}", "-H", "Content-Length: 1"],
                2,
                &["'Content-Length' cannot be set"],
            ),
            (&["run", "--flow", flow, "-r", "1"], 2, &["f.hurl:1", "'Connection: keep-alive, Upgrade'"]),
        ],
    );
}

#[test]
fn numbers_that_are_none() {
    for (flag, values) in [
        ("--rate", vec!["0", "-5", "NaN", "inf", "1e999", "fast", "10/fortnight", "1kk", "k"]),
        ("--duration", vec!["0s", "-1s", "10", "NaNs", "infs", "soon", "30s1m", "1m30"]),
        ("--requests", vec!["0", "-4", "1.5", "many"]),
        ("--connections", vec!["0", "-1", "x", "5000000000"]),
        ("--users", vec!["0", "-1"]),
        ("--threads", vec!["0", "-1"]),
        ("--session-length", vec!["0"]),
        ("--timeout", vec!["0s", "-1s", "never", "5"]),
        ("--max-time", vec!["0", "-1", "soon"]),
        ("--user", vec!["me", ""]),
        ("--drain", vec!["-1s", "5"]),
        ("--warmup", vec!["-1s", "soon"]),
        ("--think-time", vec!["-1s"]),
        ("--seed", vec!["x"]),
        ("--fail-if", vec!["p99", "p100 > 1ms", "p99 > 1", "error-rate > 2", "median > 1ms", "p99 < 1ms"]),
        ("--slo", vec!["p99", "p100 < 1ms", "p99 < 1", "error-rate < 2", "median < 1ms", "p99 > 1ms", "ttft > 1s"]),
    ] {
        for value in values {
            let output = TestDir::new().truetail(&["run", URL, flag, value]);
            assert_refused(&output, 2, &[flag], &format!("{flag} {value}"));
        }
    }
}

#[test]
fn contradictions() {
    check(
        &TestDir::new(),
        &[
            (&["run", URL], 2, &["no rate", "-r 100"]),
            (&["run", URL, "-r", "1", "--profile", "ramp:1..2/3s"], 2, &["--rate", "--profile"]),
            (&["run", URL, "-r", "1", "--users", "3"], 2, &["--users", "--model closed"]),
            (&["run", URL, "-r", "1", "--think-time", "1s"], 2, &["--think-time"]),
            (&["run", URL, "-r", "1", "--session-length", "2"], 2, &["--session-length"]),
            (&["run", URL, "--model", "closed"], 2, &["--users"]),
            (&["run", URL, "--model", "closed", "--users", "1..x/5s"], 2, &["--users", "'x' is not a number"]),
            (
                &["run", URL, "--model", "closed", "--users", "50/30s"],
                2,
                &["'50/30s' is not a number of users", "10..200/60s"],
            ),
            (
                &["run", URL, "--model", "closed", "--users", "sine:1..5/9s"],
                2,
                &["'sine:1..5/9s' is not a number of users"],
            ),
            (
                &["run", URL, "--model", "closed", "--users", "0..5/9s", "-n", "9"],
                2,
                &["--requests and --users 0..5/9s", "-d"],
            ),
            (&["run", URL, "-r", "1", "--users", "0..5/9s"], 2, &["--users", "--model closed"]),
            (&["run", URL, "--model", "closed", "--users", "2", "-r", "1"], 2, &["--rate"]),
            (&["run", URL, "--model", "closed", "--users", "2", "--spacing", "poisson"], 2, &["--spacing"]),
            (&["run", URL, "--model", "partly-open", "-r", "1"], 2, &["--session-length"]),
            (&["run", URL, "-r", "1", "--data", "a", "--data-file", "b"], 2, &["--data-file"]),
            (&["run", URL, "-r", "1", "--body-type", "text/plain"], 2, &["--body-type"]),
            (&["run", URL, "-r", "1", "--out", "a", "--no-save"], 2, &["--out", "--no-save"]),
            (&["run", URL, "-r", "1", "--warmup", "10s"], 2, &["--warmup 10s", "10s"]),
            (&["run", URL, "-r", "1", "-n", "3", "--warmup", "10s"], 2, &["--warmup 10s", "2.000s"]),
        ],
    );
}

#[test]
fn one_place_says_what_is_asked_for() {
    let rate = |rest: &[&'static str]| [&["run", "-r", "1"], rest].concat();
    let dir = TestDir::new();
    dir.file("t", "GET http://127.0.0.1:9/");
    for (arguments, parts) in [
        (rate(&[URL, "--targets", "t"]), &["a URL and --targets contradict"][..]),
        (rate(&["--targets", "t", "--curl", "curl a"]), &["--targets and --curl contradict"]),
        (rate(&["--curl", "curl a", "--", "curl", "b"]), &["--curl and a command after -- contradict"]),
        (rate(&["--targets", "t", "-X", "POST"]), &["--method and --targets contradict"]),
        (rate(&["--targets", "t", "--data", "x"]), &["--data and --targets contradict"]),
        (rate(&["--curl", "curl a", "--body-type", "x/y"]), &["--body-type and --curl contradict"]),
        (rate(&["--curl", "wget a"]), &["--curl: 'wget'", "curl http://"]),
        (rate(&["--curl", "curl 'a"]), &["--curl: a quote is not closed"]),
        (rate(&["--curl", "curl -L a"]), &["--curl: curl: option -L", "follows no redirects"]),
        (rate(&["curl http://a/"]), &["after --", "--curl"]),
        (rate(&["--", "http://a/"]), &["--: 'http://a/' is not a curl command"]),
        (rate(&[URL, "--feed", "random"]), &["--feed", "--data-from"]),
        (rate(&[URL, "--feed", "sideways"]), &["sideways", "in-order, random"]),
        (rate(&[URL, "--resolve", "a:80"]), &["--resolve", "HOST:PORT:ADDRESS"]),
        (rate(&[URL, "--resolve", "a:80:127.0.0.1"]), &["--resolve: it names a:80, but the URL leads to 127.0.0.1:9"]),
        (rate(&[URL, "--resolve", "a:80:127.0.0.1", "--unix-socket", "s"]), &["--unix-socket and --resolve"]),
        (rate(&[URL, "--unix-socket", "s", "--timing", "cheap"]), &["--timing cheap and --unix-socket"]),
        (rate(&["http://127.0.0.1:9/{{id}}"]), &["{{id}}", "--data-from"]),
        (rate(&["http://{{host}}/", "--data-from", "rows.csv"]), &["rows.csv"]),
    ] {
        let code = if arguments.contains(&"rows.csv") { 1 } else { 2 };
        check(&dir, &[(&arguments, code, parts)]);
    }
}

#[test]
fn targets_and_rows() {
    let dir = TestDir::new();
    let url = "http://127.0.0.1:9/{{id}}";
    dir.file("other", "GET http://127.0.0.1:9/\n\n# second\nGET https://127.0.0.1:8/\n");
    dir.file("curl", "# weight: 2\ncurl http://127.0.0.1:9/ \\\n  --location\n");
    dir.file("body", "POST http://127.0.0.1:9/\n@missing\n");
    dir.file("weight", "# weight: lots\nGET http://127.0.0.1:9/\n");
    dir.file("empty", "# nothing\n");
    dir.file("rows.csv", "id,name\n1,a\n2\n");
    dir.file("names.csv", "name\na\n");
    dir.file("line.csv", "id\n1\n\"2\n3\"\n");
    dir.file("rows.jsonl", "{\"id\": 1}\n{\"id\":\n");
    dir.file("rows.txt", "id\n");
    check(
        &dir,
        &[
            (&["run", "-r", "1", "--targets", "missing"], 1, &["cannot read missing"]),
            (
                &["run", "-r", "1", "--targets", "other", "--http2"],
                2,
                &["HTTP/2", "http://127.0.0.1:9 and https://127.0.0.1:8"],
            ),
            (
                &["run", "-r", "1", "--targets", "other", "--resolve", "a:9:127.0.0.1"],
                2,
                &["127.0.0.1:9 and 127.0.0.1:8"],
            ),
            (
                &["run", "-r", "1", "--targets", "other", "--user", "me:pw"],
                2,
                &["--user would go to http://127.0.0.1:9"],
            ),
            (&["run", "-r", "1", "--targets", "curl"], 2, &["curl:2: curl: option --location"]),
            (&["run", "-r", "1", "--targets", "body"], 1, &["body:2: cannot read missing"]),
            (&["run", "-r", "1", "--targets", "weight"], 2, &["weight:1: 'lots' is not a weight"]),
            (&["run", "-r", "1", "--targets", "empty"], 2, &["empty: the file has no target"]),
            (&["run", url, "-r", "1", "--data-from", "missing.csv"], 1, &["missing.csv"]),
            (&["run", url, "-r", "1", "--data-from", "rows.txt"], 2, &["rows.txt", ".csv"]),
            (
                &["run", url, "-r", "1", "--data-from", "rows.csv"],
                2,
                &["rows.csv:3: wrong number of fields: 1 here", "2"],
            ),
            (&["run", url, "-r", "1", "--data-from", "names.csv"], 2, &["names.csv:1: no field 'id'", "name"]),
            (&["run", URL, "-r", "1", "--data-from", "names.csv"], 2, &["names.csv: no target uses its fields"]),
            (
                &["run", URL, "-r", "1", "-H", "X: {{id}}", "--data-from", "line.csv"],
                2,
                &["line.csv:3: field 'id' has a line break"],
            ),
            (&["run", url, "-r", "1", "--data-from", "rows.jsonl"], 2, &["rows.jsonl:2: not a JSON object"]),
            (&["run", URL, "-r", "1", "--unix-socket", "nowhere"], 1, &["--unix-socket", "nowhere"]),
        ],
    );
}

#[test]
fn profiles_and_files() {
    let dir = TestDir::new();
    dir.file("words", "0.1\n0.2\nabc\n");
    dir.file("back", "0.3\n0.2\n");
    dir.file("empty", "");
    check(
        &dir,
        &[
            (&["run", URL, "--profile", "nope:3"], 2, &["unknown profile 'nope:3'"]),
            (&["run", URL, "--profile", "steps:3"], 2, &["steps:3"]),
            (&["run", URL, "--profile", "ramp:0..0/3s"], 2, &["zero"]),
            (&["run", URL, "--profile", "trace:missing"], 1, &["missing"]),
            (&["run", URL, "--profile", "trace:words"], 2, &["words:3:"]),
            (&["run", URL, "--profile", "trace:back"], 2, &["back:2:"]),
            (&["run", URL, "--profile", "trace:empty"], 2, &["empty: no arrivals"]),
            (&["run", URL, "-r", "1", "--data-file", "missing"], 1, &["missing"]),
            (&["report", "missing"], 1, &["missing", "run.json"]),
            (&["merge", "missing", "--out", "x"], 1, &["missing"]),
        ],
    );
}

#[test]
fn scenarios() {
    let dir = TestDir::new();
    let workload = "[workload]\nrate = 1\nduration = \"1s\"\n[service]\nbaseline = \"1ms\"\n";
    dir.file("key.toml", &format!("{workload}baselne = 3\n"));
    dir.file("late.toml", &format!("{workload}[[service.fault]]\nkind = \"stall\"\nat = \"2s\"\nfor = \"1s\"\n"));
    check(
        &dir,
        &[
            (&["serve", "--scenario", "nope"], 2, &["'nope'", "02-single-hiccup"]),
            (&["serve", "--scenario", "nope.toml"], 1, &["nope.toml"]),
            (&["serve", "--scenario", "key.toml"], 2, &["key.toml:6:", "baselne", "baseline"]),
            (&["simulate", "late.toml"], 2, &["late.toml:8:", "at"]),
            (&["serve", "--listen", "foo"], 2, &["'foo'", "127.0.0.1:8080"]),
            (&["serve", "--listen", "127.0.0.1:0", "--truth", "no/such/folder"], 1, &["no/such/folder"]),
        ],
    );
}

#[test]
fn servers_that_cannot_be_asked() {
    let dir = TestDir::new();
    let closed = ClosedPort::take(0);
    let refused = closed.url();
    let silent = RawServer::start(None, "\r\n\r\n");
    let garbage = RawServer::start(Some("what?\r\n"), "\r\n\r\n");
    check(
        &dir,
        &[
            (&["run", &refused, "-r", "1"], 1, &[&refused, "refused", "--no-preflight"]),
            (&["run", &silent.url, "-r", "1", "--timeout", "200ms"], 1, &[&silent.url, "200ms"]),
            (&["run", &garbage.url, "-r", "1"], 1, &[&garbage.url, "HTTP"]),
        ],
    );
}

#[test]
fn a_refused_run_sends_nothing() {
    let dir = TestDir::new();
    let served = ServeProcess::start(&dir, "01-healthy");
    dir.file("occupied", "");
    std::fs::create_dir(dir.path().join("folder")).expect("a folder");
    dir.file("folder/thesis.tex", "years of work");
    // The listener would also see the preflight, which the server's log leaves out.
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.set_nonblocking(true).expect("a listener");
    let unasked = format!("http://{}/", listener.local_addr().expect("an address"));
    check(
        &dir,
        &[
            (&["run", &unasked, "-r", "100", "-X", "POST", "--out", "occupied"], 1, &["occupied"]),
            (&["run", &unasked, "-r", "100", "-X", "POST", "--out", "folder"], 1, &["folder", "thesis.tex"]),
            (&["run", &served.api(), "-r", "100", "--out", "/proc/no/such"], 1, &["/proc/no/such"]),
            (&["run", &served.api(), "-r", "100", "-c", "100000000"], 1, &["100000000"]),
        ],
    );
    assert_eq!(served.stop(), (Some(0), Vec::new()));
    assert!(listener.accept().is_err(), "nobody was asked where the run could not be saved");
}

#[test]
fn a_limit_on_open_files_is_raised_and_else_told() {
    let dir = TestDir::new();
    let served = ServeProcess::start(&dir, "01-healthy");
    let url = served.api();
    let under = |limit: &str| {
        let arguments = ["run", &url, "-r", "100", "-n", "10", "-c", "100", "--quiet", "--json", "--no-save"];
        TestProcess::start(dir.command_after(limit, &arguments)).end()
    };
    let output = under("ulimit -n 64");
    assert_refused(&output, 1, &["100", "64", "ulimit"], "100 connections under a limit of 64 files");
    let raised = under("ulimit -S -n 64").json();
    assert_eq!(raised["tally"]["responses"], 10);
    assert!(raised["generator"]["open_files_limit"].as_u64() > Some(64), "{}", raised["generator"]);
}
