//! Names of metrics.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// Words of a metric about whole requests …
const REQUEST: [&str; 14] = [
    "request",
    "requests",
    "response",
    "responses",
    "http",
    "rpc",
    "grpc",
    "rq",
    "e2e",
    "handler",
    "handling",
    "view",
    "invocation",
    "server",
];
/// … unless it is about a part of them, or about requests that the service sends itself.
const PART: [&str; 33] = [
    "queue",
    "queued",
    "wait",
    "waiting",
    "prefill",
    "decode",
    "first",
    "token",
    "tokens",
    "inter",
    "db",
    "sql",
    "query",
    "gc",
    "dns",
    "connect",
    "connection",
    "client",
    "size",
    "bytes",
    "inference",
    "validation",
    "batch",
    "preprocessing",
    "lock",
    "tls",
    "handshake",
    "upstream",
    "outgoing",
    "render",
    "lag",
    "age",
    "interval",
];
/// Units, in nanoseconds.
const UNITS: [(&str, f64); 9] = [
    ("seconds", 1e9),
    ("milliseconds", 1e6),
    ("millis", 1e6),
    ("ms", 1e6),
    ("microseconds", 1e3),
    ("us", 1e3),
    ("nanoseconds", 1.0),
    ("ns", 1.0),
    ("second", 1e9),
];
/// Metrics of known services without a unit in their names: Envoy, Text Generation Inference.
const WITHOUT_UNIT: [(&str, f64); 2] = [("envoy_http_downstream_rq_time", 1e6), ("tgi_request_duration", 1e9)];

/// Returns the unit of a metric that says how long requests took, in nanoseconds; `None` for other metrics. Only the
/// name tells.
pub fn request_time_unit(name: &str) -> Option<f64> {
    if let Some((_, unit)) = WITHOUT_UNIT.iter().find(|(known, _)| *known == name) {
        return Some(*unit);
    }
    let name = name.to_ascii_lowercase();
    let words: Vec<&str> = name.split(['_', ':', '.', '-']).collect();
    let has = |of: &[&str]| words.iter().any(|word| of.contains(word));
    let unit = UNITS.iter().find(|(unit, _)| words.contains(unit))?.1;
    (has(&REQUEST) && !has(&PART)).then_some(unit)
}

/// Counters and gauges that are drawn without being asked for.
const LANES: [&str; 37] = [
    "process_cpu_seconds_total",
    "process_resident_memory_bytes",
    "process_open_fds",
    "process_num_threads",
    "process_cpu_usage",
    "system_cpu_usage",
    "go_goroutines",
    "go_threads",
    "go_gc_duration_seconds_sum",
    "jvm_gc_pause_seconds_sum",
    "jvm_gc_collection_seconds_sum",
    "jvm_threads_live_threads",
    "jvm_threads_current",
    "nodejs_eventloop_lag_seconds",
    "nodejs_eventloop_lag_p99_seconds",
    "nodejs_gc_duration_seconds_sum",
    "python_gc_collections_total",
    "tomcat_threads_busy_threads",
    "hikaricp_connections_active",
    "hikaricp_connections_pending",
    "nginx_connections_active",
    "nginx_connections_waiting",
    "*queue_length",
    "*queue_size",
    "*queue_depth",
    "*_in_flight",
    "*_inflight",
    "*_in_progress",
    "*_active_requests",
    "*:num_requests_*",
    "*:num_running_reqs",
    "*:num_queue_reqs",
    "*cache_usage_perc",
    "*:num_preemptions_total",
    "*:token_usage",
    "*:cache_hit_rate",
    "tgi_batch_current_size",
];
/// A pattern of names: any text in place of each `*`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pattern(String);

/// A text that is no pattern.
#[derive(Clone, PartialEq, Eq, Error, Debug)]
#[error("'{0}' is no name of a metric; write one such as process_open_fds, with * for any text")]
pub struct PatternError(String);

impl FromStr for Pattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Pattern, PatternError> {
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | ':' | '.' | '*' | '-');
        let stars = text.matches('*').count();
        match !text.is_empty() && text.len() <= 200 && stars <= 8 && text.chars().all(is_part) {
            true => Ok(Pattern(text.to_owned())),
            false => Err(PatternError(text.chars().take(80).collect())),
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Pattern {
    /// Returns true if the pattern fits the whole name.
    pub fn matches(&self, name: &str) -> bool {
        fits(&self.0, name)
    }
}

fn fits(pattern: &str, name: &str) -> bool {
    let Some((begin, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut left) = name.strip_prefix(begin) else { return false };
    let mut parts = rest.split('*').peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return left.ends_with(part);
        }
        let Some(at) = left.find(part) else { return false };
        left = &left[at + part.len()..];
    }
    true
}

/// Returns true if the metric of this name is drawn without being asked for.
pub(crate) fn is_usual_lane(name: &str) -> bool {
    LANES.iter().any(|lane| fits(lane, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_times_are_known_by_their_names() {
        for (name, unit) in [
            ("http_request_duration_seconds", Some(1e9)),
            ("http_request_duration_ms", Some(1e6)),
            ("http_server_request_duration_seconds", Some(1e9)),
            ("http_server_duration_milliseconds", Some(1e6)),
            ("http_server_requests_seconds", Some(1e9)),
            ("django_http_requests_latency_seconds_by_view_method", Some(1e9)),
            ("grpc_server_handling_seconds", Some(1e9)),
            ("vllm:e2e_request_latency_seconds", Some(1e9)),
            ("envoy_http_downstream_rq_time", Some(1e6)),
            ("tgi_request_duration", Some(1e9)),
            ("vllm:time_to_first_token_seconds", None),
            ("vllm:request_queue_time_seconds", None),
            ("http_client_request_duration_seconds", None),
            ("http_request_size_bytes", None),
            ("go_gc_duration_seconds", None),
            ("http_requests_total", None),
            ("db_query_duration_seconds", None),
        ] {
            assert_eq!(request_time_unit(name), unit, "{name}");
        }
    }

    #[test]
    fn a_star_is_any_text() {
        let fits = |pattern: &str, name| pattern.parse::<Pattern>().unwrap().matches(name);
        assert!(fits("a", "a") && fits("*", "") && fits("a*", "abc") && fits("*_total", "x_total"));
        assert!(fits("a*b*c", "a1b2c") && fits("*a*", "xay") && fits("a*a", "aa"));
        assert!(!fits("a", "ab") && !fits("a*b*c", "ac") && !fits("*_total", "x_totals") && !fits("a*a", "a"));
        for text in ["", "a b", "a{b}", "*********"] {
            assert!(text.parse::<Pattern>().is_err(), "{text}");
        }
        assert!(is_usual_lane("vllm:num_requests_waiting") && is_usual_lane("process_cpu_seconds_total"));
        assert!(!is_usual_lane("http_requests_total"));
    }
}
