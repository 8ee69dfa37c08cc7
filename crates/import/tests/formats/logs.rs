use truetail_import::{Excerpt, Likeness, by_name, recognise};
use truetail_model::record::Outcome;
use truetail_model::time::Nanos;
use truetail_run::{ForeignRequest, ForeignView};

use crate::{file, import};

#[test]
fn nginx_in_three_formats_says_the_same() {
    let (_, named) = import("nginx-log", &file("import/nginx/1.22.1/named.log"));
    let (_, timed) = import("nginx-log", &file("import/nginx/1.22.1/timed.log"));
    assert_eq!((timed.len(), &timed), (116, &named));
    let (_, json) = import("access-json", &file("import/nginx/1.22.1/access.json"));
    let durations = |requests: &[ForeignRequest]| requests.iter().map(|request| request.duration).collect::<Vec<_>>();
    assert_eq!(durations(&json), durations(&timed));
}

#[test]
fn what_clients_send_is_no_time_of_nginx() {
    let line = |user: &str, agent: &str| {
        format!("6.6.6.6 - {user} [20/Nov/2026:06:55:45 +0000] \"GET / HTTP/1.1\" 200 3 \"-\" \"{agent}\" 0.010\n")
    };
    let text = [line("-", "-"), line("[1700000000.123]", "99999999.999"), line("[", "rt=7")].concat();
    let (run, requests) = import("nginx-log", text.as_bytes());
    assert!(requests.len() == 3 && requests.iter().all(|request| *request == requests[0]), "{requests:?}");
    assert_eq!((run.clock.start_resolution_ns, run.clock.duration_resolution_ns), (1_000_000_000, 1_000_000));
}

#[test]
fn a_log_without_request_time_is_told_what_it_lacks() {
    let error = recognise(&file("import/nginx/1.22.1/combined.log")).err().expect("it has no request time");
    assert!(error.near.iter().any(|(format, why)| *format == "nginx-log" && why.contains("$request_time")), "{error}");
    let json = by_name("access-json")
        .expect("a format")
        .likeness(&Excerpt::new(br#"{"time_iso8601":"x","body_bytes_sent":3}"#));
    assert_eq!(json, Likeness::Near("the key 'request_time' is missing".to_owned()));
}

/// The lines are from Envoy's and Istio's documentation.
#[test]
fn envoy_as_it_is_documented() {
    let envoy = "[2016-04-15T20:17:00.310Z] \"POST /api/v1/locations HTTP/2\" 204 - 154 0 226 100 \"10.0.35.28\" \
                 \"nsq2http\" \"cc21d9b0-cf5c-432b-8c7e-98aeb7988cd2\" \"locations\" \"tcp://10.0.2.1:80\"\n";
    let (run, requests) = import("envoy-log", envoy.as_bytes());
    let request = ForeignRequest {
        bytes_in: Some(0),
        ..ForeignRequest::new(Some(1_460_751_420_310_000_000), Nanos(226_000_000), Outcome::response(204))
    };
    assert_eq!((requests[0], run.view), (request, ForeignView::Server));
    let istio = "[2020-11-25T21:26:18.409Z] \"GET /status/418 HTTP/1.1\" 418 - via_upstream - \"-\" 0 135 3 1 \"-\" \
                 \"curl/7.73.0-DEV\" \"84961386-6d84-929d-98bd-c5aee93b5c88\" \"httpbin:8000\" \"10.44.1.27:80\"\n";
    let (_, requests) = import("envoy-log", istio.as_bytes());
    assert_eq!((requests[0].duration, requests[0].bytes_in), (Nanos(3_000_000), Some(135)));
    assert_eq!(requests[0].outcome, Outcome::response(418));
    let json =
        "{\"start_time\":\"2020-11-25T21:26:18.409Z\",\"duration\":3,\"response_code\":418,\"bytes_sent\":135}\n";
    assert_eq!(import("access-json", json.as_bytes()).1, requests);
}
