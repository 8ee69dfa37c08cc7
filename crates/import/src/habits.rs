//! Habits of each tool that change its numbers but do not show in its files, with their sources.
//!
//! Line numbers refer to the version that was read. `testdata/tools` has the output that shows habits found by running
//! a tool.

use truetail_run::Habit;

const fn habit(what: &'static str, source: &'static str) -> Habit {
    Habit { what, source }
}

/// Returns the known habits of a tool by its name, or of the writers of a format of no tool.
pub fn for_tool(tool: &str) -> &'static [Habit] {
    ALL.iter().find(|(name, _)| *name == tool).map_or(&[], |(_, habits)| habits)
}

/// The habits of every tool, by its name in [`FormatInfo::tool`](crate::FormatInfo::tool), and of HAR.
const ALL: [(&str, &[Habit]); 19] = [
    ("ab", AB),
    ("hey", HEY),
    ("wrk", WRK),
    ("wrk2", WRK2),
    ("vegeta", VEGETA),
    ("k6", K6),
    ("jmeter", JMETER),
    ("gatling", GATLING),
    ("locust", LOCUST),
    ("hyperfoil", HYPERFOIL),
    ("oha", OHA),
    ("fortio", FORTIO),
    ("ghz", GHZ),
    ("autocannon", AUTOCANNON),
    ("h2load", H2LOAD),
    ("vllm", VLLM),
    ("sglang", SGLANG),
    ("guidellm", GUIDELLM),
    ("har", HAR),
];

const AB: &[Habit] = &[
    habit(
        "'Failed requests' counts a reset up to three times, and an answer of another length than the first as a failure",
        "ab 2.3, testdata/tools/ab/2.3/errors",
    ),
    habit(
        "the file of -g is sorted by latency, and its starts are in whole seconds: the order of the run is lost",
        "ab 2.3, testdata/tools/ab/2.3/stall/samples.tsv",
    ),
    habit(
        "with -r, requests that were refused or reset are among the latencies, with the time until they failed",
        "ab 2.3, testdata/tools/ab/2.3/refused",
    ),
];

const HEY: &[Habit] = &[
    habit("requests without an answer are in no latency and in no row of the CSV", "hey report.go, runReporter"),
    habit(
        "a cap on the rate (-q) is a ticker of each worker, which drops the ticks that it misses: hey never catches up",
        "hey requester.go, runWorker",
    ),
    habit(
        "percentiles come from the first 1,000,000 results only, while the mean is over all",
        "hey report.go lines 31, 97, 119",
    ),
    habit(
        "Go's HTTP client sends a request again, unseen, when a kept connection was reset",
        "hey 0.1.4, testdata/tools/hey/0.1.4/errors",
    ),
];

const WRK: &[Habit] = &[
    habit(
        "after every run, wrk adds requests to its histogram that it never sent (HdrHistogram's correction), at an interval \
         of run time / (requests / connections)",
        "wrk.c lines 168-171, stats.c lines 33-43",
    ),
    habit(
        "an answer later than --timeout (2 s by default) is counted and left out of the latencies",
        "wrk.c line 344, stats.c line 22",
    ),
    habit("a request that is never answered is counted nowhere", "wrk issue 297"),
    habit("requests in flight at the end are dropped", "wrk 4.1.0, testdata/tools/wrk/4.1.0"),
];

const WRK2: &[Habit] = &[
    habit("latency starts when the connection's own schedule had planned the request", "wrk2 wrk.c line 518"),
    habit(
        "each connection catches up at no more than twice its rate, and all connections send in phase",
        "wrk2 wrk.c lines 276, 433-468",
    ),
    habit(
        "timers are rounded up to whole milliseconds, so latencies are up to 2 ms too high",
        "wrk2 wrk.c lines 478, 604; wrk2 issue 78",
    ),
    habit(
        "timeouts are counted again every 2 s and are never latencies; a connection that hangs leaves no trace in them",
        "wrk2 wrk.c lines 371-388, wrk.h line 26",
    ),
    habit("what was still due at the end is lost", "wrk2 wrk.c line 503"),
];

const VEGETA: &[Habit] = &[
    habit(
        "latency starts when a worker takes the request, not when the pacer planned it",
        "vegeta lib/attack.go lines 536-556",
    ),
    habit(
        "with -max-workers the pacer waits for a free worker: the run becomes a closed loop and does not say so",
        "vegeta lib/attack.go lines 474-507",
    ),
    habit(
        "requests that could not be sent in time disappear and only lower the rate",
        "vegeta lib/attack.go lines 474-507",
    ),
    habit("failed requests are among the latencies, so a quick refusal lowers them", "vegeta lib/metrics.go line 58"),
];

const K6: &[Habit] = &[
    habit(
        "an open executor drops an iteration when no virtual user is free, and does not make it up",
        "k6 lib/executor/constant_arrival_rate.go lines 331-372",
    ),
    habit(
        "http_req_duration leaves out the wait for a connection, DNS, connecting and TLS",
        "k6 lib/netext/httpext/tracer.go lines 25-37, 381",
    ),
    habit(
        "a connection that could not be opened counts as 0 ms and lowers the percentiles",
        "k6 lib/netext/httpext/tracer.go lines 346-381, transport.go line 144",
    ),
    habit(
        "over gRPC it counts no failures, and writes no sample of a virtual user that could not connect; a lost connection has \
         the status of a server that says UNAVAILABLE",
        "k6 internal/lib/netext/grpcext/conn.go, HandleRPC; testdata/tools/k6-constant-arrival-rate/1.8.1/grpc-refused",
    ),
    habit(
        "a call of gRPC that meets its deadline is in no sample and no figure",
        "k6 internal/lib/netext/grpcext/conn.go, PushIfNotDone in HandleRPC; \
         testdata/tools/k6-constant-arrival-rate/1.8.1/grpc-timeouts",
    ),
    habit("a sample's time is the end of the request", "k6 1.8.1, testdata/tools/k6-constant-arrival-rate/1.8.1"),
];

const JMETER: &[Habit] = &[
    habit(
        "percentiles of the HTML report come from the last 20,000 samples only, by default",
        "JMeter, generating-dashboard.xml lines 210-216 (jmeter.reportgenerator.statistic_window)",
    ),
    habit(
        "without the shipped jmeter.properties, a sample's time stamp is its end and not its start; the file does not tell",
        "JMeter, jmeter.properties: sampleresult.timestamp.start",
    ),
    habit("the wait in a timer and for a free thread is in no column", "JMeter 5.6.3, its captured results"),
    habit(
        "requests without an answer are among the latencies, with the time until they failed",
        "JMeter 5.6.3, its captured results",
    ),
];

const GATLING: &[Habit] = &[
    habit(
        "latency starts when the HTTP client takes the request and is in whole milliseconds",
        "Gatling DefaultHttpClient.java line 395, GatlingHttpListener.scala line 74",
    ),
    habit("users are scheduled in batches of a second, rounded to milliseconds", "Gatling Injector.scala line 33"),
    habit("percentiles of the reports of 3.13 and later are approximate", "Gatling issue 4715, t-digest issue 230"),
    habit(
        "requests are tried again up to twice after a reset, unseen",
        "Gatling 3.15.1, testdata/tools/gatling/3.15.1/errors",
    ),
];

const LOCUST: &[Habit] = &[
    habit(
        "response times are rounded to two significant digits before the percentiles are taken",
        "locust stats.py lines 124-142",
    ),
    habit(
        "the CSV files are written once a second and not at the end: the last second is missing",
        "Locust 2.47.0, its captured results",
    ),
    habit("constant_throughput is a limit per user, which never catches up", "Locust's documentation, wait_time"),
    habit("requests in flight at the end are dropped", "Locust 2.47.0, testdata/tools/locust/2.47.0"),
];

const HYPERFOIL: &[Habit] = &[
    habit(
        "latency starts when the request is prepared; only compensateInternalLatency, off by default, counts from the \
         intended start, for the first request of a session",
        "Hyperfoil Ergonomics.java, BaseBuilder.java lines 19-44",
    ),
    habit(
        "users that had to wait for a free session start later, without the time at which they were due",
        "Hyperfoil OpenModelPhase.java line 110",
    ),
    habit("timeouts and lost connections are counted and are no latencies", "Hyperfoil Request.java line 51"),
    habit("constantRate sends at random (Poisson) by default", "Hyperfoil, variance of OpenModelPhase"),
];

const OHA: &[Habit] = &[
    habit(
        "--latency-correction counts from when the pacer woke up, not from the schedule, and without a rate it does nothing",
        "oha client.rs lines 1463-1468, 2015-2023",
    ),
    habit(
        "what is still queued at the deadline vanishes; at most one request of each worker is reported as aborted",
        "oha client.rs lines 2150-2195; oha issue 577",
    ),
    habit("errors, timeouts and aborted requests are in no latency", "oha result_data.rs lines 57-66, 99-105"),
    habit(
        "the success rate leaves out aborted requests and counts every answer as a success",
        "oha result_data.rs lines 85-97",
    ),
];

const FORTIO: &[Habit] = &[
    habit("latency starts with the call, however late the call is", "fortio periodic.go lines 804-822"),
    habit(
        "after a stall, a thread sends back to back until it has caught up, or with -nocatchup leaves out what it missed",
        "fortio periodic.go",
    ),
    habit(
        "percentiles are interpolated within the buckets of -r (1 ms by default)",
        "fortio 1.68.2, its captured results",
    ),
    habit(
        "the fast client tries again on a new connection after a reset or a timeout, and reports one good answer",
        "fortio 1.68.2, its captured results",
    ),
    habit(
        "calls of gRPC have no timeout: -timeout is for HTTP",
        "fortio bincommon/commonflags.go, fgrpc/grpcrunner.go",
    ),
];

const GHZ: &[Habit] = &[
    habit(
        "a call waits for a free worker (-c, 50 by default) before its clock starts: a stall delays as many calls as there are \
         workers, and the others follow in a burst, measured from then on",
        "ghz runner/requester.go runWorkers, load/pacer.go; testdata/tools/ghz/0.121.0/stall",
    ),
    habit("the time stamp of a call in 'details' is its end, not its start", "ghz runner/stats_handler.go, HandleRPC"),
    habit(
        "percentiles, fastest and slowest leave out calls that failed, unless --count-errors is given; the average has all",
        "ghz runner/reporter.go, Finalize",
    ),
    habit(
        "at the end of a duration (-z), calls in flight are cut off and count as Unavailable",
        "ghz 0.121.0, testdata/tools/ghz/0.121.0/cut-off",
    ),
    habit("details and percentiles are those of the first 1,000,000 calls", "ghz runner/requester.go, maxResult"),
];

const AUTOCANNON: &[Habit] = &[
    habit(
        "with a rate, every latency is recorded again at 1 ms less, 2 ms less and so on, whatever the rate: this can halve \
         the median",
        "autocannon lib/run.js lines 241-242, lib/pipelinedRequestsQueue.js lines 65-66",
    ),
    habit(
        "with a rate, the requests of a second go out in one burst at its beginning",
        "autocannon lib/httpClient.js lines 67-73, 156",
    ),
    habit("requests without an answer are in no latency", "autocannon 9.0.0, testdata/tools/autocannon/9.0.0/errors"),
    habit(
        "after a reset, answers are assigned to other requests: the latencies mean nothing from then on",
        "autocannon 9.0.0, testdata/tools/autocannon/9.0.0/errors",
    ),
];

const H2LOAD: &[Habit] = &[
    habit("latency starts with the submission of the request", "h2load.cc line 1608"),
    habit("with --rps, the wait for a free stream is in no latency", "h2load.cc lines 302-320"),
    habit("failed requests are in no latency and have no row in the log", "h2load.cc line 1127"),
];

const VLLM: &[Habit] = &[
    habit(
        "the clock of a request starts after it has passed the limit on concurrency: waiting there is in no latency",
        "vllm/benchmarks/serve.py; vLLM issue 54101",
    ),
    habit(
        "up to version 0.32, the time to the first token of a chat ends with the first chunk that has choices, even if that holds no \
         token",
        "vllm/benchmarks/lib/endpoint_request_func.py",
    ),
];

const SGLANG: &[Habit] = &[
    habit(
        "requests are spaced by relative sleeps, so the schedule drifts by whatever each request costs",
        "sglang bench_serving.py, get_request",
    ),
    habit(
        "the clock of a request starts after it has passed the limit on concurrency: waiting there is in no latency",
        "sglang bench_serving.py",
    ),
];

const GUIDELLM: &[Habit] = &[
    habit(
        "latency starts when the backend takes the request; how late that was is not in the tables of the console",
        "GuideLLM issue 1048, pull request 1053",
    ),
    habit(
        "the time per output token includes the first token, and the time between tokens is a mean of each request",
        "GuideLLM src/guidellm/schemas/request_stats.py",
    ),
];

/// Browsers and proxies that write HAR files.
const HAR: &[Habit] =
    &[habit("the time of an entry includes 'blocked', the wait for a connection", "HAR 1.2 specification, timings")];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_habit_is_a_sentence_with_a_source() {
        for Habit { what, source } in ALL.iter().flat_map(|(_, habits)| *habits).chain(HAR) {
            assert!(what.len() > 30 && !what.ends_with('.') && !what.contains("  "), "{what}");
            assert!(source.len() > 8 && !source.contains("  "), "{source}");
        }
    }

    #[test]
    fn every_tool_of_a_format_has_habits() {
        for info in crate::all().iter().map(|format| format.info()) {
            assert!(info.tool.is_none_or(|tool| !for_tool(tool).is_empty()), "{}", info.name);
        }
    }
}
