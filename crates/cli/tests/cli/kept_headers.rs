//! `--keep-header`: the values of response headers, and the response times by value.

use std::fs;
use std::io::Write;

use serde_json::Value;

use super::service::{self, STALL, ns, run};
use super::support::{TestDir, assert_balanced};

/// Starts a server with a cache that misses in one of eight requests, and is slow then. `X-Id` differs in each answer.
fn serve() -> String {
    service::serve(|request, socket| {
        let is_miss = request.number.is_multiple_of(8);
        request.spend("miss");
        let cache = match (is_miss, request.path()) {
            (_, "/none") => String::new(),
            (true, _) => "X-Cache: MISS\r\n".to_owned(),
            (false, _) => "X-Cache: HIT\r\nX-Cache: \u{202e}x\r\n".to_owned(),
        };
        let id = request.number;
        let answer = format!("HTTP/1.1 200 OK\r\n{cache}X-Id: {id}\r\nContent-Length: 2\r\n\r\nok");
        socket.write_all(answer.as_bytes()).ok()
    })
}

#[test]
fn times_are_split_by_value() {
    let dir = TestDir::new();
    let keep = ["--keep-header", "X-Cache", "--keep-header", "x-id"];
    let (run, output) = run(&dir, &format!("{}/miss", serve()), &keep);
    assert_balanced(&run);
    let [cache, id] = &run["kept_headers"].as_array().expect("a list")[..] else { panic!("{}", run["kept_headers"]) };
    assert_eq!((&cache["name"], &id["name"]), (&"x-cache".into(), &"x-id".into()));
    let groups = cache["groups"].as_array().expect("groups");
    assert_eq!(groups.iter().map(|group| &group["kind"]).collect::<Vec<_>>(), ["value", "value"], "{groups:?}");
    let of = |value: &str| groups.iter().find(|group| group["value"] == value).unwrap_or_else(|| panic!("{groups:?}"));
    let hit = of("HIT, \u{202e}x");
    let miss = of("MISS");
    assert_eq!(hit["answers"].as_u64().unwrap() + miss["answers"].as_u64().unwrap(), 400, "{groups:?}");
    let p50 = |group: &Value| ns(&group["response_time"]["quantiles"][0]["value_ns"]);
    assert!(p50(miss) >= STALL.as_nanos() as f64 && p50(hit) < p50(miss), "{groups:?}");
    // Identifiers are counted together once there are too many.
    assert_eq!(id["values"].as_array().map(Vec::len), Some(32));
    assert!(id["further"].as_u64().unwrap() > 0 && id["without"] == 0, "{id}");

    assert!(output.stdout.contains("MISS") && !output.stdout.contains('\u{202e}'), "{output:?}");
    let samples = fs::read_to_string(dir.path().join("run/samples.csv")).expect("samples");
    assert!(samples.lines().next().unwrap().ends_with(",header.x-cache,header.x-id"), "{samples:.400}");
    let misses = samples.lines().filter(|line| line.contains(",MISS,")).count() as u64;
    assert_eq!(misses, miss["answers"].as_u64().unwrap());

    // A saved run has the same, and the page too.
    let again = dir.truetail(&["report", "run", "-o", "page.html"]);
    let table = |text: &str| {
        text.lines().skip_while(|line| !line.contains("x-cache")).take(3).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!((again.code, table(&again.stdout)), (Some(0), table(&output.stdout)));
    let page = fs::read_to_string(dir.path().join("page.html")).expect("a page");
    assert!(page.contains("id=\"headers\"") && page.contains("Response times by x-cache"));
}

#[test]
fn a_header_that_no_answer_has_is_counted_as_missing() {
    let dir = TestDir::new();
    let (run, output) = run(&dir, &format!("{}/none", serve()), &["--keep-header", "X-Cache"]);
    let header = &run["kept_headers"][0];
    assert_eq!((&header["without"], &header["values"]), (&400.into(), &Value::Array(Vec::new())), "{header}");
    assert!(output.stdout.contains("(no such header)"), "{}", output.stdout);
}

#[test]
fn what_is_wrong_with_it_is_one_line() {
    let dir = TestDir::new();
    let url = "http://127.0.0.1:9/";
    let five: Vec<&str> = ["a", "b", "c", "d", "e"].iter().flat_map(|name| ["--keep-header", name]).collect();
    for (args, says) in [
        (vec![url, "--keep-header", "X-Cache: HIT"], "without a colon"),
        (vec![url, "--keep-header", "set-cookie"], "secrets"),
        ([vec![url], five].concat(), "at most 4"),
        (vec!["redis://127.0.0.1:9", "--command", "PING", "--keep-header", "a"], "--keep-header is for HTTP"),
    ] {
        let output = dir.truetail(&[&["run", "-r", "9"], args.as_slice()].concat());
        assert_eq!(output.code, Some(2), "{output:?}");
        assert!(output.stderr.contains(says) && output.stderr.lines().count() == 1, "{output:?}");
    }
}
