//! Findings with every field in use.

use truetail_model::record::Metric;
use truetail_run::{
    ArrivalFidelity, ClosedLoopShadow, Contribution, Dispersion, Distribution, Exponential, Findings, Gaps,
    GateFinding, GateState, HeaderGroup, HeaderGroupKind, HistogramFinding, LedgerPart, LedgerRow, MarkFinding,
    MarkState, Mode, ModePlace, PartQuantile, Quantile, Reason, ReportedPart, Run, ScrapeFinding, ServiceQuantile,
    Settling, SettlingState, ShadowQuantile, Shift, SlowRequest, TargetFindings, Uncertainty, Verdict, VerdictState,
};

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
            mode(ModePlace::Connections { slow: 1, of: 20 }),
            mode(ModePlace::AfterIdle { at_least_ns: 5 }),
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
