//! Facts and findings with every field in use.

use truetail_model::record::{Cause, Metric, Snapshot};
use truetail_model::time::Nanos;
use truetail_model::trace::TraceFormat;
use truetail_model::workload::LoadModelKind;
use truetail_run::{
    ArrivalFidelity, CheckCounts, ClosedLoopShadow, Contribution, CpuContention, CpuTime, Dispersion, Distribution,
    EndClock, Exponential, Facts, FailedAnswer, FailedCheck, Findings, Gaps, GateFinding, GateState, GeneratorStats,
    HeaderGroup, HeaderGroupKind, HeaderPlace, HeaderRow, HistogramFinding, HostInfo, KeptHeader, KeptHeaders,
    LedgerPart, LedgerRow, Mark, MarkFinding, MarkState, Mix, MixTarget, Mode, ModePlace, OfferedLoad, PartQuantile,
    Pause, Quantile, Reason, ReportedPart, ReportedTimes, Run, RunSource, Scrape, ScrapeFinding, ServerTiming,
    ServiceBucket, ServiceHistogram, ServiceQuantile, ServiceSeries, Settling, SettlingState, ShadowQuantile, Shift,
    SlowRequest, SpanBooks, StatedQuantile, TargetBooks, TargetFindings, TraceFacts, Uncertainty, Verdict,
    VerdictState,
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

fn mark_finding(state: MarkState, recovery_ns: Option<u64>) -> MarkFinding {
    MarkFinding {
        state,
        limit_ns: Some(25_000_000),
        requests: 9_000,
        harmed: Some(120),
        peak_ns: Some(900_000_000),
        recovery_ns,
        recovery_low_ns: Some(1_900_000_000),
        recovery_high_ns: recovery_ns,
        message: "120 of 9000 requests harmed".to_owned(),
    }
}

fn mode(place: ModePlace) -> Mode {
    Mode {
        low_ns: 300_000_000,
        high_ns: 304_000_000,
        requests: 40,
        share: 0.02,
        part: "to the first byte".to_owned(),
        part_share: 0.99,
        place,
        message: "2.0% of the answers took 300.0ms to 304.0ms".to_owned(),
    }
}

fn histogram_finding(high_ns: Option<u64>, finding: ScrapeFinding) -> HistogramFinding {
    let quantile = ServiceQuantile { q: 0.5, low_ns: 10, high_ns, dashboard_ns: 17, users_ns: high_ns };
    HistogramFinding { quantiles: vec![quantile], finding, message: "p50 is 10ns…25ns, but".to_owned() }
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

/// Findings with every field in use. The numbers belong to no run.
pub fn findings(run: &Run) -> Findings {
    let distribution = Distribution {
        count: 1000,
        censored: 3,
        failed: 2,
        mean_ns: Some(1234.5),
        min_ns: Some(10),
        max_ns: Some(99_999),
        quantiles: vec![
            quantile(0.5, Some(1_000), None),
            Quantile { at_least: true, unresolved: true, ..quantile(0.999, Some(90_000), Some(10_000)) },
            Quantile { at_least: true, no_answer: true, ..quantile(1.0, None, None) },
        ],
        exact: true,
    };
    let numbers =
        [("pause_ns".to_owned(), serde_json::json!(7_000_000)), ("share".to_owned(), serde_json::json!(0.25))];
    let written = Metric::ALL.into_iter().filter(|metric| metric.is_written(0));
    Findings {
        verdict: Verdict {
            state: VerdictState::Suspect,
            reasons: vec![Reason {
                code: "generator_paused".to_owned(),
                state: VerdictState::Suspect,
                message: "the generator did not run for 7 ms".to_owned(),
                numbers: numbers.into_iter().collect(),
            }],
        },
        tally: run.snapshot.tally,
        response_time: distribution.clone(),
        response_time_success: Some(distribution.clone()),
        response_time_error_status: None,
        metrics: written.map(|metric| (metric, distribution.clone())).collect(),
        throughput_per_second: Some(995.5),
        offered_per_second: Some(1000.0),
        uncertainty: vec![Uncertainty {
            q: 0.5,
            value_ns: 1_000,
            sampling_ns: Some(10),
            histogram_ns: 1,
            clock_ns: 50,
            generator_lag_ns: Some(0),
            read_lag_ns: None,
            largest: Some(Contribution::Clock),
        }],
        settling: Settling {
            state: SettlingState::Settles,
            why: "the response time settled from 55.0 ms to 10.0 ms in the first 15 s".to_owned(),
            cut_ns: Some(15_000_000_000),
            cut_arrivals: Some(15_000),
            shift: Some(Shift {
                at_ns: 4_000_000_000,
                until_ns: 15_000_000_000,
                from_ns: Some(85_000_000),
                to_ns: Some(10_000_000),
                lowest_ns: Some(10_000_000),
                highest_ns: None,
            }),
        },
        arrival_fidelity: Some(arrival_fidelity()),
        reported_parts: vec![ReportedPart {
            name: "db".to_owned(),
            count: 2,
            mean_ns: 1_500.0,
            max_ns: 2_000,
            quantiles: vec![PartQuantile { q: 1.0, value_ns: 2_000 }],
            longer_than_service: 1,
        }],
        ledger: vec![LedgerRow {
            q: 0.5,
            requests: 10,
            reported: 2,
            response_time_ns: 9_000.5,
            parts: vec![LedgerPart {
                name: "db".to_owned(),
                mean_ns: 1_500.0,
                low_ns: Some(1_000.0),
                high_ns: Some(2_000.0),
            }],
        }],
        scrapes: vec![vec![
            histogram_finding(Some(25_000_000), ScrapeFinding::Understates),
            histogram_finding(None, ScrapeFinding::CannotTell),
        ]],
        marks: vec![
            mark_finding(MarkState::Recovered, Some(2_000_000_000)),
            MarkFinding {
                limit_ns: None,
                harmed: None,
                peak_ns: None,
                recovery_low_ns: None,
                ..mark_finding(MarkState::CannotTell, None)
            },
        ],
        header_groups: vec![vec![HeaderGroup {
            kind: HeaderGroupKind::Value,
            value: Some("HIT".to_owned()),
            answers: 7,
            response_time: distribution.clone(),
        }]],
        modes: vec![
            mode(ModePlace::EveryNth(50)),
            mode(ModePlace::Within { from_ns: 5, to_ns: 7 }),
            mode(ModePlace::Header { name: "x-cache".to_owned(), value: "MISS".to_owned() }),
        ],
        slowest: vec![SlowRequest {
            trace_id: Some("00000000000000075f2a1d0c3b4e9688".to_owned()),
            trace_sampled: true,
            target: Some("GET /items".to_owned()),
            index: 41,
            intended_start_ns: 41_000_000,
            response_time_ns: 99_999,
            service_time_ns: 90_000,
            outcome: "response".to_owned(),
            status: Some(200),
            parts: [("generator lag".to_owned(), 9_999), ("service".to_owned(), 90_000)].into_iter().collect(),
        }],
        closed_loop_shadow: Some(ClosedLoopShadow {
            users: 10,
            requests: 14_000,
            unanswered: 3,
            quantiles: vec![
                ShadowQuantile {
                    q: 0.5,
                    value_ns: Some(500),
                    omission_factor: Some(2.0),
                    at_least: false,
                    omission_low: Some(1.7),
                    omission_high: Some(2.3),
                },
                ShadowQuantile {
                    q: 0.9999,
                    value_ns: None,
                    omission_factor: None,
                    at_least: false,
                    omission_low: None,
                    omission_high: None,
                },
            ],
            one_in: 2,
            resolution_ns: 2_000_000,
        }),
        targets: vec![TargetFindings {
            name: "GET /items".to_owned(),
            tally: run.snapshot.tally,
            response_time: distribution.clone(),
        }],
        stream: None,
        sessions: None,
        gates: vec![
            GateFinding {
                text: "p99 > 50ms".to_owned(),
                state: GateState::Holds,
                value_ns: Some(1_000),
                limit_ns: Some(50_000_000),
                value: None,
                limit: None,
                message: "measured 1 µs".to_owned(),
            },
            GateFinding {
                text: "error-rate > 1%".to_owned(),
                state: GateState::Open,
                value_ns: None,
                limit_ns: None,
                value: Some(0.005),
                limit: Some(0.01),
                message: "measured 0.5 %".to_owned(),
            },
        ],
    }
}

fn arrival_fidelity() -> ArrivalFidelity {
    let exponential = Exponential { planned_distance: 0.004, actual_distance: 0.0125, critical_distance: 0.0055 };
    ArrivalFidelity {
        issued: 2_990,
        within_1ms: 0.999,
        mean_gap_ns: 1_000_000,
        within_tenth_of_gap: 0.75,
        displaced_by_generator: 2,
        gaps: Some(Gaps { count: 2_989, distance: 0.0125, tolerance_ns: 100_000, exponential: Some(exponential) }),
        dispersion: Some(Dispersion { window_ns: 10_000_000, planned: 1.0, actual: 1.25 }),
    }
}

fn quantile(q: f64, value_ns: Option<u64>, needs_n: Option<u64>) -> Quantile {
    Quantile {
        q,
        value_ns,
        low_ns: value_ns.map(|value| value - 10),
        high_ns: value_ns.map(|value| value + 10),
        at_least: false,
        no_answer: false,
        supported: needs_n.is_none(),
        needs_n,
        effective_n: needs_n.is_none().then_some(321),
        without_generator_ns: value_ns.map(|value| value - 20),
        unresolved: false,
    }
}
