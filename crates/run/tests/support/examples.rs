//! Facts with every field in use.

use truetail_model::cancellation::Cancellation;
use truetail_model::record::{Cause, Snapshot};
use truetail_model::time::Nanos;
use truetail_model::trace::TraceFormat;
use truetail_model::workload::LoadModelKind;
use truetail_run::{
    CheckCounts, CpuContention, CpuTime, EndClock, Facts, FailedAnswer, FailedCheck, GeneratorStats, HeaderPlace,
    HeaderRow, HostInfo, KeptHeader, KeptHeaders, Mark, Mix, MixTarget, OfferedLoad, Pause, ReportedTimes, RunSource,
    Scrape, ServerTiming, ServiceBucket, ServiceHistogram, ServiceSeries, SpanBooks, StatedQuantile, TargetBooks,
    TraceFacts,
};

/// Returns values of one header in the answers that are kept.
fn kept_headers(snapshot: &Snapshot) -> KeptHeaders {
    let mut header = KeptHeader::new("x-cache");
    let values = [header.place("HIT"), header.place("MISS, \"b\""), HeaderPlace::Further, HeaderPlace::Without];
    let kept = snapshot.samples.even().iter().chain(snapshot.samples.slowest_left_out());
    let mut rows: Vec<HeaderRow> = kept
        .filter(|record| record.outcome.is_response())
        .map(|record| {
            let mut row = HeaderRow::new(record.index);
            row.set(0, values[record.index as usize % values.len()]);
            row
        })
        .collect();
    rows.sort_by_key(HeaderRow::index);
    rows.iter().for_each(|row| header.count(row.get(0), 1));
    KeptHeaders { headers: vec![header], rows }
}

/// Returns reported times of the first two requests that are kept.
fn server_timing(snapshot: &Snapshot) -> ServerTiming {
    let mut indices: Vec<u64> = snapshot.samples.even().iter().map(|record| record.index).collect();
    indices.sort_unstable();
    let mut times: Vec<ReportedTimes> = indices.into_iter().take(2).map(ReportedTimes::none).collect();
    times.iter_mut().zip([1_000, 2_000]).for_each(|(times, ns)| times.add(1, Nanos(ns)));
    times.iter_mut().skip(1).for_each(|times| times.add(0, Nanos(7)));
    ServerTiming {
        sources: vec!["server-timing".to_owned(), "header:x-runtime:s".to_owned()],
        nesting: vec!["app > db".to_owned()],
        names: vec!["app".to_owned(), "db".to_owned()],
        answers: 2,
        without: 991,
        unread: 3,
        spans: Some(SpanBooks {
            received: 36,
            used: 8,
            foreign: 7,
            not_kept: 6,
            doubled: 5,
            without_parent: 4,
            damaged: 3,
            left_out: 3,
            unread: 1,
            problem: Some("message 9: EOF while parsing a string".to_owned()),
        }),
        times,
    }
}

/// Returns the numbers of a service with a histogram and a summary.
fn scrape() -> Scrape {
    let histogram = ServiceHistogram {
        metric: "http_request_duration_seconds".to_owned(),
        label: Some("path=\"/api\"".to_owned()),
        count: 990,
        mean_ns: Some(8_500_000.5),
        buckets: vec![
            ServiceBucket { le_ns: Some(10_000_000), count: 900 },
            ServiceBucket { le_ns: Some(25_000_000), count: 80 },
            ServiceBucket { le_ns: None, count: 10 },
        ],
        stated: Vec::new(),
        earlier: 7,
        restarts: 1,
    };
    let summary = ServiceHistogram {
        metric: "rpc_server_seconds".to_owned(),
        label: None,
        mean_ns: None,
        buckets: Vec::new(),
        stated: vec![StatedQuantile { q: 0.5, value_ns: 8_000_000 }],
        ..histogram.clone()
    };
    Scrape {
        name: "app".to_owned(),
        url: "http://127.0.0.1:9090/metrics".to_owned(),
        reads: 21,
        failed: 1,
        problem: Some("it answers with status 503".to_owned()),
        from_ns: 0,
        left_out: 2,
        histograms: vec![histogram, summary],
        series: vec![ServiceSeries {
            name: "jobs{state=\"waiting\"}".to_owned(),
            is_counter: false,
            is_lane: true,
            points: vec![(1_000_000_000, 1.5), (2_000_000_000, 3.0)],
        }],
    }
}

/// Returns an answer to this arrival that failed a check.
pub fn failed_answer(arrival: u64) -> FailedAnswer {
    FailedAnswer {
        arrival,
        intended_start_ns: arrival * 1_000_000,
        target: "GET http://127.0.0.1:8080/items/{{id}}".to_owned(),
        failed: vec![FailedCheck { check: "status == 200".to_owned(), why: "it is 503".to_owned() }],
        status: Some(503),
        headers: vec!["content-type: text/plain".to_owned()],
        body: "no \"room\"\n\u{fffd}".to_owned(),
        body_bytes: 40_000,
    }
}

/// Facts with every field in use.
pub fn facts(snapshot: &Snapshot) -> Facts {
    Facts {
        version: "0.1.0".to_owned(),
        source: RunSource::Sockets,
        started_at_unix_ns: Some(1_750_000_000_123_456_789),
        elapsed_ns: snapshot.last_end.0,
        offered: offered(),
        host: Some(HostInfo {
            os: "linux".to_owned(),
            kernel: Some("6.1.0".to_owned()),
            arch: "x86_64".to_owned(),
            cpu_model: Some("A processor".to_owned()),
            cpus: 2,
            memory_bytes: Some(4 << 30),
        }),
        generator: Some(generator()),
        interrupted: false,
        cut_short: Some(false),
        checkpoint: None,
        bytes_in: snapshot.bytes_in,
        notes: vec!["the preflight met status 404".to_owned()],
        command: Some("truetail run http://127.0.0.1:8080/api -r 1000 -d 20s".to_owned()),
        tags: [("build".to_owned(), "123".to_owned())].into(),
        claims: None,
        stripe: None,
        start: None,
        shards: None,
        trace: Some(TraceFacts::new(7, TraceFormat::W3c, 0.25, Some("http://127.0.0.1:16686/trace/{id}".to_owned()))),
        server_timing: Some(server_timing(snapshot)),
        kept_headers: Some(kept_headers(snapshot)),
        scrapes: vec![scrape()],
        marks: vec![
            Mark {
                name: "kubectl rollout restart deployment/app".to_owned(),
                at_ns: 10_000_000_000,
                took_ns: Some(300_000_000),
                problem: None,
            },
            Mark {
                name: "sync".to_owned(),
                at_ns: 11_000_000_000,
                took_ns: None,
                problem: Some("had not ended when the run did".to_owned()),
            },
        ],
        by_target: vec![TargetBooks {
            method: "GET".to_owned(),
            url: "http://127.0.0.1:8080/api/{{id}}".to_owned(),
            tally: snapshot.tally,
            statuses: snapshot.statuses.clone(),
        }],
        checks: vec![CheckCounts { text: "status == 200".to_owned(), passed: 990, failed: 3 }],
        failed_answers: vec![failed_answer(7)],
        stream: None,
        sessions: None,
    }
}

pub fn offered() -> OfferedLoad {
    OfferedLoad {
        name: None,
        model: LoadModelKind::Open,
        url: Some("http://127.0.0.1:8080/api".to_owned()),
        method: Some("GET".to_owned()),
        mix: Some(mix()),
        profile: Some("1000/s".to_owned()),
        spacing: Some("even".to_owned()),
        seed: Some(1),
        values_seed: None,
        duration_ns: Some(20_000_000_000),
        requests: None,
        users: None,
        users_over_time: None,
        requests_per_session: None,
        think_time_ns: None,
        connections: Some(64),
        connection_per_session: false,
        http2: Some(truetail_run::Http2Config { max_streams: Some(100) }),
        messages: Some(truetail_run::MessageConfig {
            framing: "websocket".to_owned(),
            matching: "order".to_owned(),
            offers_deflate: true,
            http2: true,
        }),
        grpc: Some(truetail_run::GrpcConfig {
            kind: truetail_run::GrpcKind::ClientStreaming,
            message_gap_ns: Some(10_000_000),
        }),
        allow_errors: false,
        cancel: Some(Cancellation { share: 0.05, after_ns: 1_000_000_000, seed: 1 }),
        timeout_ns: Some(5_000_000_000),
        drain_ns: 30_000_000_000,
        warmup_ns: 0,
    }
}

pub fn mix() -> Mix {
    Mix {
        targets: vec![MixTarget {
            method: "GET".to_owned(),
            url: "http://127.0.0.1:8080/api/{{id}}".to_owned(),
            weight: 3,
            name: None,
        }],
        rows: 7,
        order: Some("random".to_owned()),
        seed: Some(1),
        hash: "0123456789abcdef".to_owned(),
    }
}

pub fn generator() -> GeneratorStats {
    GeneratorStats {
        threads: 2,
        cpu: CpuTime { user_ns: 1_000_000_000, system_ns: 2_000_000_000 },
        peak_memory_bytes: Some(10_000_000),
        pauses: vec![Pause { worker: 1, at_ns: 5_000_000_000, length_ns: 7_000_000 }],
        pause_count: 1,
        paused_ns: 7_000_000,
        connections_opened: 64,
        connections_peak: 64,
        connections_available: Some(1003),
        connections_limited_by: Some(truetail_run::MachineLimit::OpenFiles),
        streams: Some(truetail_run::Http2Stats { peak: 37, allowed: Some(128), sent_again: 5 }),
        stray_answers: 0,
        skipped_lines: None,
        messages: Some(truetail_run::MessageBooks {
            channels_compressed: 3,
            unmatched: 1,
            doubled: 2,
            pushes: 3,
            late: 4,
            error_replies: 5,
            channels_lost: 6,
            channels_opened_before: 8,
            channels_failed_before: [(Cause::Refused, 1)].into_iter().collect(),
            channels_late: 2,
            close_codes: [(1001, 7)].into_iter().collect(),
            call_statuses: [("UNAVAILABLE".to_owned(), 2)].into_iter().collect(),
        }),
        timing: truetail_run::Timing::Auto,
        realtime: true,
        ticks: Some(truetail_run::Ticks { longest_ns: 180_000, requests: 900 }),
        clock_reading_ns: Some(21),
        end_clock: EndClock::Kernel,
        busiest_worker_cpu_ns: 700_000_000,
        surroundings: CpuContention { steal_ns: Some(10_000_000), throttled_ns: None, cpu_pressure_ns: Some(5_000) },
        unstamped: 3,
        clock_steps: 1,
        open_files_limit: Some(1024),
    }
}
