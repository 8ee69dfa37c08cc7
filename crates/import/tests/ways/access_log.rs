//! Access logs as arrivals: their times, their requests, and the lines left out.

use std::fs;
use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use truetail_import::ways::{AccessLog, AccessLogOptions, Placement, read_access_log, unix_ns};

const MS: u64 = 1_000_000;

fn options() -> AccessLogOptions {
    AccessLogOptions::default()
}

fn log(text: &str, options: &AccessLogOptions) -> AccessLog {
    read_access_log(&mut text.as_bytes(), options).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns `12ms GET /a shop.test` for each arrival.
fn shown(log: &AccessLog, placement: Placement) -> Vec<String> {
    let arrivals = log.arrivals(placement);
    let one = |at: u64, method: &str, target: &str, host: &str| format!("{}ms {method} {target} {host}", at / MS);
    arrivals
        .iter()
        .map(|(at, asked)| {
            one(at.0, &asked.method, &asked.target, asked.host.as_deref().unwrap_or_default()).trim_end().to_owned()
        })
        .collect()
}

/// A line in the combined format, in second `second` of an hour.
fn combined(second: u32, request: &str) -> String {
    format!("10.0.0.1 - - [22/Nov/2026:11:00:{second:02} +0000] \"{request}\" 200 3 \"-\" \"curl/8\"\n")
}

#[test]
fn each_format_says_when_requests_came_and_what_they_asked_for() {
    let timed = "10.0.0.1 - - [22/Nov/2026:11:00:05 +0000] \"GET /a HTTP/1.1\" 200 3 \"-\" \"-\" 0.250 0.249\n\
                 10.0.0.1 - - [22/Nov/2026:11:00:05 +0000] \"GET /b HTTP/1.1\" 200 3 \"-\" \"-\" 1.000 0.999\n";
    assert_eq!(shown(&log(timed, &options()), Placement::AtOnce), ["0ms GET /b", "750ms GET /a"]);

    let hosts = "shop.test:443 10.0.0.1 - - [22/Nov/2026:11:00:05 +0000] \"GET /a HTTP/1.1\" 200 3 \"-\" \"-\"\n";
    assert_eq!(shown(&log(hosts, &options()), Placement::AtOnce), ["0ms GET /a shop.test:443"]);

    let envoy = "[2026-11-22T11:00:05.125Z] \"GET /a HTTP/2\" 200 - 0 3 10 9 \"-\" \"curl/8\" \"id-1\" \"Shop.test\" \"10.0.0.2:80\"\n\
                 [2026-11-22T11:00:05.000Z] \"GET /b HTTP/2\" 200 - via_upstream - \"-\" 0 3 10 9 \"-\" \"c\" \"id-2\" \"other.test\" \"u\"\n";
    let read = log(envoy, &options());
    assert_eq!(shown(&read, Placement::AtOnce), ["0ms GET /b other.test", "125ms GET /a shop.test"]);
    let notes = read.notes("envoy.log", Placement::AtOnce, true).join("\n");
    assert!(notes.contains("exact to 1ms") && notes.contains("2 hosts") && !notes.contains("how long"), "{notes}");

    let json = "{\"msec\": 1795348105.423, \"request\": \"GET /a?x=1 HTTP/1.1\", \"request_time\": 0.1, \"host\": \"a.test\"}\n\
                {\"time_iso8601\": \"2026-11-22T11:48:26+00:00\", \"request_method\": \"HEAD\", \"request_uri\": \"/b\", \"request_time\": \"0.5\"}\n\
                {\"start_time\": \"2026-11-22T11:48:25.400Z\", \"method\": \"GET\", \"path\": \"/c\", \"duration\": 3, \"authority\": \"c.test\"}\n";
    let read = log(json, &options());
    assert_eq!(shown(&read, Placement::AtOnce), ["0ms GET /a?x=1 a.test", "77ms GET /c c.test", "177ms HEAD /b"]);
}

#[test]
fn no_client_sets_the_time_of_its_line() {
    let time = "[22/Nov/2026:11:00:06 +0000]";
    let read = |line: &str| {
        let text =
            format!("10.0.0.1 - - [22/Nov/2026:11:00:05 +0000] \"GET /a HTTP/1.1\" 200 3 \"-\" \"-\" 0.000\n{line}\n");
        shown(&log(&text, &options()), Placement::AtOnce)
    };
    for user in ["[1700000000.123]", "[1700000000.123", "[", "a [b] c", "[1700000000] [x"] {
        let line = format!("6.6.6.6 - {user} {time} \"GET /b HTTP/1.1\" 200 3 \"-\" \"-\" 0.100");
        assert_eq!(read(&line), ["0ms GET /a", "900ms GET /b"], "{user}");
    }
    for (host, wanted) in [("[::1]:80", "[::1]:80"), ("shop.test:80", "shop.test:80")] {
        let line = format!("{host} 6.6.6.6 - a b {time} \"GET /b HTTP/1.1\" 200 3 \"-\" \"-\" 0.100");
        assert_eq!(read(&line), ["0ms GET /a".to_owned(), format!("900ms GET /b {wanted}")]);
    }
    // Clients cannot fake the duration either.
    for (referer, agent) in
        [("-", "99999.999"), ("rt=5", "rt=7"), ("\\\\", "99.999 "), ("request_time=1", "\\x22 5.000")]
    {
        for took in ["0.100", "rt=0.100"] {
            let line = format!("6.6.6.6 - - {time} \"GET /b HTTP/1.1\" 200 3 \"{referer}\" \"{agent}\" {took}");
            assert_eq!(read(&line), ["0ms GET /a", "900ms GET /b"], "{referer} {agent}");
        }
        let line = format!("6.6.6.6 - - {time} \"GET /b HTTP/1.1\" 200 3 \"{referer}\" \"{agent}\"");
        assert_eq!(read(&line), ["0ms GET /a", "1000ms GET /b"], "{referer} {agent}");
    }
}

#[test]
fn one_line_does_not_set_the_resolution_of_a_log() {
    let odd = "[2026-11-22T11:00:00.000Z] \"GET /odd HTTP/2\" 200 - 0 3 10 9 \"-\" \"c\" \"id\" \"-\" \"u\"\n";
    let text: String = (0..10).map(|n| combined(0, &format!("GET /{n} HTTP/1.1"))).collect();
    let read = log(&[odd, &text].concat(), &options());
    assert!(read.notes("f", Placement::Even, false)[1].contains("exact to 1s"));
    let shown = shown(&read, Placement::Even);
    assert_eq!(
        (shown[0].as_str(), shown[1].as_str(), shown[10].as_str()),
        ("0ms GET /odd", "49ms GET /0", "949ms GET /9")
    );

    let fine: String = (0..9).map(|n| odd.replace("00.000", &format!("0{n}.12{n}"))).collect();
    let read = log(&[&fine, &*combined(0, "GET /a HTTP/1.1")].concat(), &options());
    assert!(read.notes("f", Placement::Even, false)[1].contains("exact to 1ms"));
}

#[test]
fn times_at_the_end_of_all_times_are_placed() {
    let text = "1.1.1.1 - - [18446744073] \"GET / HTTP/1.1\" 200 3\n".repeat(4);
    assert_eq!(log(&text, &options()).arrivals(Placement::Even).len(), 4);
}

#[test]
fn captured_logs_of_nginx_are_read_also_compressed() {
    for name in ["access.json", "combined.log", "named.log", "timed.log"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/import/nginx/1.22.1").join(name);
        let text = fs::read(path).unwrap();
        let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count();
        let plain = read_access_log(&mut &text[..], &options()).unwrap();
        assert_eq!(plain.arrivals(Placement::Even).len(), lines, "{name}");
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(&text).unwrap();
        let packed = packed.finish().unwrap();
        let read = read_access_log(&mut &packed[..], &options()).unwrap();
        assert_eq!(shown(&read, Placement::Random(1)), shown(&plain, Placement::Random(1)));
        let cut = read_access_log(&mut &packed[..packed.len() - 9], &options()).unwrap();
        assert!(cut.notes(name, Placement::Even, false).iter().any(|note| note.contains("cut off")), "{name}");
    }
}

#[test]
fn what_is_left_out_is_counted_by_cause() {
    let text = [
        combined(0, "GET /a HTTP/1.1"),
        combined(0, "POST /a HTTP/1.1"),
        combined(0, "PUT /a HTTP/1.1"),
        combined(1, "\\x16\\x03\\x01"),
        combined(1, "CONNECT a:443 HTTP/1.1"),
        "not a line of a log\n\n".to_owned(),
        combined(59, "GET /late HTTP/1.1"),
    ]
    .concat();
    let until = unix_ns("2026-11-22T11:00:30Z");
    let limited = AccessLogOptions { to_ns: until, ..options() };
    let read = log(&text, &limited);
    assert_eq!(shown(&read, Placement::AtOnce), ["0ms GET /a"]);
    let notes = read.notes("a.log", Placement::AtOnce, false);
    let wanted = "1 of 7 lines of a.log is an arrival; left out: 1 not understood (line 6), 1 without a request that can be sent (line 4), \
                  1 with another method than GET, HEAD, OPTIONS, DELETE, POST, PUT and PATCH (line 5), 2 POST, PUT or PATCH, whose bodies \
                  are not in the log (--empty-bodies sends them without) (first in line 2), 1 of another time (line 8)";
    assert_eq!(notes[0], wanted);
    assert!(notes[1].contains("exact to 1s") && notes[2].contains("does not say how long"), "{notes:?}");
    let all = AccessLogOptions { empty_bodies: true, ..options() };
    assert_eq!(shown(&log(&text, &all), Placement::AtOnce).len(), 4);

    for (text, wanted) in [("", "the log is empty"), ("x\n", "the only line becomes no arrival: 1 not understood")] {
        let error = read_access_log(&mut text.as_bytes(), &options()).unwrap_err().to_string();
        assert!(error.contains(wanted), "{error}");
    }
}

#[test]
fn an_hour_begins_where_it_was_asked_to() {
    let text: String = (0..60).map(|second| combined(second, "GET /a HTTP/1.1")).collect();
    let from_ns = unix_ns("22/Nov/2026:12:00:10 +0100");
    let to_ns = unix_ns("2026-11-22T11:00:20Z");
    let read = log(&text, &AccessLogOptions { from_ns, to_ns, ..options() });
    let wanted: Vec<_> = (0..10).map(|second| format!("{}ms GET /a", 1_000 * second + 500)).collect();
    assert_eq!(shown(&read, Placement::Even), wanted);
}

#[test]
fn only_one_host_is_taken_where_that_is_asked() {
    let line = |host: &str| format!("{host} {}", combined(0, "GET /a HTTP/1.1"));
    let text = [line("a.test"), line("b.test"), line("a.test"), combined(0, "GET / HTTP/1.1")].concat();
    let read = log(&text, &AccessLogOptions { host: Some("a.test".to_owned()), ..options() });
    assert_eq!(shown(&read, Placement::AtOnce), ["0ms GET /a a.test"; 2]);
    assert!(read.notes("f", Placement::AtOnce, false)[0].contains("2 of another host"));
}

#[test]
fn arrivals_are_spread_in_their_second_by_the_seed() {
    let text: String = (0..400).map(|n| combined(n / 200, &format!("GET /{n} HTTP/1.1"))).collect();
    let read = log(&text, &options());
    let times = |placement| read.arrivals(placement).iter().map(|(at, _)| at.0).collect::<Vec<_>>();
    assert_eq!(times(Placement::Even)[..3], [0, 5 * MS, 10 * MS]);
    assert_eq!(times(Placement::Random(7)), times(Placement::Random(7)));
    assert_ne!(times(Placement::Random(7)), times(Placement::Random(8)));
    // The order is that of the lines. Half of the arrivals are in the first half-second, within five deviations.
    let random = read.arrivals(Placement::Random(1));
    let order: Vec<String> = random.iter().map(|(_, asked)| asked.target.clone()).collect();
    assert_eq!(order, (0..400).map(|n| format!("/{n}")).collect::<Vec<_>>());
    let early = random[..200].iter().filter(|(at, _)| at.0 < 500 * MS).count();
    assert!((65..=135).contains(&early), "{early}");
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        lines in prop::collection::vec((0u32..60, "[A-Z]{0,4} [!-~]{0,6} (HTTP/1.1)?"), 0..5),
    ) {
        let lines: Vec<String> = lines.iter().map(|(second, request)| combined(*second, request)).collect();
        for bytes in [&bytes[..], &[lines.concat().as_bytes(), &bytes].concat()] {
            let Ok(read) = read_access_log(&mut &bytes[..], &options()) else { continue };
            for placement in [Placement::AtOnce, Placement::Even, Placement::Random(1)] {
                let arrivals = read.arrivals(placement);
                prop_assert!(!arrivals.is_empty() && arrivals.is_sorted_by_key(|(at, _)| *at));
                prop_assert!(arrivals.iter().all(|(_, asked)| asked.target.starts_with('/')));
            }
            prop_assert!(read.notes("f", Placement::Even, true).iter().all(|note| !note.contains('\n')));
        }
    }
}
