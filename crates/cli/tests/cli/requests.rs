//! Requests as users write them: targets, curl commands, rows of data, addresses.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::os::unix::net::UnixListener;

use truetail_engine::{FeedOrder, RequestSet};
use truetail_requests::{Feed, RowFormat, Rows, parse_targets, prepare};

use super::raw_server::RawServer;
use super::support::{TestDir, assert_balanced};

const ANSWER: &str = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

/// A load of one request, without preflight.
const ONE: [&str; 8] = ["-r", "1", "-n", "1", "--no-preflight", "--quiet", "--json", "--no-save"];

/// Returns the request that `truetail run ARGUMENTS` sends to `server`.
fn asked(server: &RawServer, dir: &TestDir, arguments: &[&str]) -> String {
    let output = dir.truetail(&[&["run"], &ONE[..], arguments].concat());
    assert_eq!(output.stderr, "", "{arguments:?}");
    assert_eq!(output.json()["tally"]["responses"], 1, "{output:?}");
    server.asked.recv().expect("it was asked")
}

fn origin(server: &RawServer) -> &str {
    server.url.strip_suffix("/api").expect("its path")
}

const TARGETS: &str = "\
# The front page is asked for most.
# weight: 3
GET {origin}/items/{{id}}?q={{name}}
X-Name: {{name}}

# weight: 2
curl '{origin}/search' -H 'Accept: text/html' --data-raw 'q={{name}}'

HEAD {origin}/health
";

const ROWS: &str = "id,name\n1,one\n2,\"two & a half\"\n3,drei\n4,vier\n";

/// Returns the count of each request that the library chooses for the targets and rows.
fn as_the_choice_says(text: &str, order: FeedOrder, seed: u64, arrivals: u64) -> BTreeMap<String, u64> {
    let specs = parse_targets(text, "targets", &|_| Err("no file".to_owned())).expect("targets");
    let rows = Rows { format: RowFormat::Csv, file: "rows.csv", bytes: ROWS.as_bytes() };
    let requests: RequestSet = prepare(&specs, Some(Feed { rows, order }), seed).expect("requests").requests;
    (0..arrivals).fold(BTreeMap::new(), |mut counts, index| {
        let request = String::from_utf8(requests.bytes(requests.choose(index)).to_vec()).expect("UTF-8");
        *counts.entry(request).or_default() += 1;
        counts
    })
}

#[test]
fn the_server_sees_weighted_targets_filled_in_exactly_as_the_choice_says() {
    const ARRIVALS: u64 = 90;
    for (order, flags, seed) in
        [(FeedOrder::InOrder, &[][..], 1), (FeedOrder::Random, &["--feed", "random", "--seed", "9"], 9)]
    {
        let server = RawServer::start_whole(ANSWER);
        let dir = TestDir::new();
        let text = TARGETS.replace("{origin}", origin(&server));
        dir.file("targets.txt", &text);
        dir.file("rows.csv", ROWS);
        let arguments = ["run", "--targets", "targets.txt", "--data-from", "rows.csv", "-r", "300", "-n", "90"];
        let rest = ["--no-preflight", "--threads", "2", "--quiet", "--json", "--no-save"];
        let output = dir.truetail(&[&arguments[..], &rest, flags].concat());
        assert_eq!(output.stderr, "");
        let run = output.json();
        assert_balanced(&run);
        assert_eq!(run["tally"]["responses"], ARRIVALS, "{}", run["tally"]);
        let mut seen = BTreeMap::new();
        (0..ARRIVALS).for_each(|_| *seen.entry(server.asked.recv().expect("a request")).or_default() += 1);
        assert_eq!(seen, as_the_choice_says(&text, order, seed, ARRIVALS), "seed {seed}");
        let mix = &run["scenario"]["mix"];
        assert_eq!(
            (mix["rows"].as_u64(), mix["order"].as_str(), mix["seed"].as_u64()),
            (Some(4), Some(order.name()), Some(seed))
        );
        assert_eq!(mix["targets"][0]["url"], format!("{}/items/{{{{id}}}}?q={{{{name}}}}", origin(&server)));
        let heads = seen.iter().filter(|(request, _)| request.starts_with("HEAD")).map(|(_, n)| n).sum::<u64>();
        assert_eq!(run["by_target"][2]["statuses"]["200"], heads, "{}", run["by_target"]);
        let sum: u64 = (0..3).filter_map(|target| run["by_target"][target]["tally"]["planned"].as_u64()).sum();
        assert_eq!(sum, ARRIVALS);
    }
}

#[test]
fn a_url_with_placeholders_needs_no_file_of_targets() {
    let server = RawServer::start_whole(ANSWER);
    let dir = TestDir::new();
    dir.file("rows.jsonl", "{\"id\": 7, \"name\": \"a\\\"b/c\"}\n");
    let url = format!("{}/items/{{{{name}}}}", origin(&server));
    let body = ["-X", "PUT", "--data", "<{{id}}|{{name}}>", "-H", "X-Id: {{id}}", "--data-from", "rows.jsonl"];
    let request = asked(&server, &dir, &[&[url.as_str()], &body[..]].concat());
    assert!(request.starts_with("PUT /items/a%22b%2Fc HTTP/1.1\r\n"), "{request}");
    assert!(request.contains("X-Id: 7\r\n") && request.contains("Content-Length: 9\r\n"), "{request}");
    assert!(request.ends_with("\r\n\r\n<7|a\"b/c>"), "{request}");
}

/// Each arrival has other values, and they are the same ones with the same seed.
#[test]
fn each_request_has_its_built_in_values() {
    const ARRIVALS: u64 = 40;
    let values = |seed: &str| {
        let server = RawServer::start_whole(ANSWER);
        let dir = TestDir::new();
        let url = format!("{}/items/{{{{seq}}}}?n={{{{randomInt 1 1000000}}}}", origin(&server));
        let body = ["--data", "{{newUuid}} {{now}}", "-H", "X-Color: {{randomChoice red green}}", "--seed", seed];
        let load = ["run", &url, "-r", "200", "-n", "40", "--threads", "2", "--no-preflight", "--quiet", "--json"];
        let output = dir.truetail(&[&load[..], &body, &["--no-save"]].concat());
        assert_eq!(output.stderr, "");
        assert_balanced(&output.json());
        assert_eq!(output.json()["tally"]["responses"], ARRIVALS);
        let mut seen = BTreeMap::new();
        for _ in 0..ARRIVALS {
            let request = server.asked.recv().expect("a request");
            let (head, body) = request.split_once("\r\n\r\n").expect("a head");
            let rest = head.strip_prefix("POST /items/").expect("the path");
            let (seq, rest) = rest.split_once("?n=").expect("a number");
            let (number, _) = rest.split_once(' ').expect("an end");
            let color = head.lines().find_map(|line| line.strip_prefix("X-Color: ")).expect("a color");
            let (uuid, now) = body.split_once(' ').expect("a time");
            assert!(head.contains(&format!("Content-Length: {}", body.len())), "{head}");
            assert!(uuid.len() == 36 && now.len() == 13, "{body}");
            let value = format!("{number} {color} {uuid}");
            assert_eq!(seen.insert(seq.parse::<u64>().expect("a number"), value), None, "twice: {seq}");
        }
        assert!(seen.keys().copied().eq(0..ARRIVALS));
        seen
    };
    let first = values("7");
    assert_eq!(first, values("7"), "the same seed");
    assert!(values("8").iter().all(|(seq, value)| first[seq] != *value), "another seed");
    let numbers = first.values().collect::<std::collections::BTreeSet<_>>();
    assert_eq!(numbers.len() as u64, ARRIVALS);
}

#[test]
fn a_curl_command_is_sent_as_it_stands() {
    let server = RawServer::start_whole(ANSWER);
    let dir = TestDir::new();
    dir.file("body.txt", "from\na file");
    let url = &server.url;
    let wanted = |rest: &str| {
        let host = origin(&server).trim_start_matches("http://").to_owned();
        format!("POST /api HTTP/1.1\r\nHost: {host}\r\n{rest}")
    };
    let agent = "User-Agent: me\r\n";
    let quoted = format!("curl -sS '{url}' -H 'User-Agent: me' -H 'Accept:' --json $'{{\"a\": \"it\\'s\"}}'");
    let json = "Content-Type: application/json\r\n\r\n{\"a\": \"it's\"}";
    let request = asked(&server, &dir, &["--curl", &quoted]);
    assert_eq!(request, wanted(&format!("Content-Length: 13\r\n{agent}{json}")));
    let form = "Content-Type: application/x-www-form-urlencoded\r\n\r\nfroma file";
    let words = ["--", "curl", url, "-A", "me", "-H", "Accept:", "-d", "@body.txt"];
    let request = asked(&server, &dir, &words);
    assert_eq!(
        request,
        wanted(&format!("Content-Length: 10\r\n{}", form.replacen("\r\n\r\n", &format!("\r\n{agent}\r\n"), 1)))
    );
    // A header for all targets is not added to a target that sets it.
    let request = asked(&server, &dir, &["-H", "X-All: 1", "-H", "x-one: 2", "--", "curl", "-HX-One: 1", url]);
    assert!(request.contains("X-One: 1\r\nX-All: 1\r\n\r\n") && !request.contains("x-one"), "{request}");
}

#[test]
fn resolve_sets_the_address_and_the_header_sets_host() {
    let server = RawServer::start_whole(ANSWER);
    let dir = TestDir::new();
    let port = origin(&server).rsplit_once(':').expect("a port").1;
    let url = format!("http://no-such-host.invalid:{port}/x");
    let resolve = format!("no-such-host.invalid:{port}:127.0.0.1");
    let request = asked(&server, &dir, &[&url, "--resolve", &resolve]);
    assert!(request.starts_with(&format!("GET /x HTTP/1.1\r\nHost: no-such-host.invalid:{port}\r\n")), "{request}");
    let request = asked(&server, &dir, &[&server.url, "-H", "Host: example.test"]);
    assert!(request.contains("Host: example.test\r\n") && request.matches("ost: ").count() == 1, "{request}");
}

#[test]
fn a_socket_in_the_file_system() {
    let dir = TestDir::new();
    let listener = UnixListener::bind(dir.path().join("socket")).expect("a socket");
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(ANSWER.as_bytes());
        }
    });
    let arguments =
        ["run", "http://localhost/x", "--unix-socket", "socket", "-r", "100", "-n", "20", "--quiet", "--json"];
    let output = dir.truetail(&arguments);
    let run = output.json();
    assert_eq!((run["tally"]["responses"].as_u64(), run["generator"]["end_clock"].as_str()), (Some(20), Some("user")));
    assert_eq!(output.stderr, "");
}

#[test]
fn a_redirect_is_an_answer_and_a_cookie_is_not_kept() {
    let answer = "HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nSet-Cookie: a=b\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    let server = RawServer::start_whole(answer);
    let output =
        TestDir::new().truetail(&["run", &server.url, "-r", "200", "-n", "10", "--quiet", "--json", "--no-save"]);
    let run = output.json();
    assert_eq!(run["statuses"]["302"], 10, "{run}");
    // 10 requests and the preflight.
    for _ in 0..11 {
        let asked = server.asked.recv().expect("it was asked");
        assert!(asked.starts_with("GET /api ") && !asked.to_lowercase().contains("cookie"), "{asked}");
    }
}

#[test]
fn a_summary_names_targets_and_rows() {
    let server = RawServer::start_whole(ANSWER);
    let dir = TestDir::new();
    dir.file("targets.txt", &TARGETS.replace("{origin}", origin(&server)));
    dir.file("rows.csv", ROWS);
    let output = dir.truetail(&[
        "run",
        "--targets",
        "targets.txt",
        "--data-from",
        "rows.csv",
        "-r",
        "100",
        "-n",
        "12",
        "--quiet",
        "--no-save",
    ]);
    let line = format!("{}, 3 targets, 4 rows in order", origin(&server));
    assert!(output.stdout.contains(&line), "{output:?}");
    let row = output.stdout.lines().find(|line| line.contains("/health "));
    let (target, figures) = row.and_then(|row| row.split_once("/health ")).unwrap_or_else(|| panic!("{output:?}"));
    assert!(target.trim_start().starts_with("HEAD "), "{output:?}");
    let planned = figures.split_whitespace().next().and_then(|planned| planned.parse::<u64>().ok());
    assert!(planned.is_some_and(|planned| planned <= 12), "{output:?}");
}
