//! The state of a run as metrics. Only the two gauges of the current state include the warm-up.

use truetail_model::record::{Metric, status_name};
use truetail_run::{GateState, VerdictState};

use super::{Family, Kind, Sample, TimesHistogram, Unit, Value};
use crate::LiveState;

/// Returns the metrics of a state. Without a state, before the run begins, only the build.
pub fn families(state: Option<&LiveState>) -> Vec<Family> {
    let mut families = vec![build_info()];
    if let Some(state) = state {
        families.extend(load(state));
        families.extend(times(state));
        families.extend(judgement(state));
    }
    families
}

fn build_info() -> Family {
    let version = ("version", env!("CARGO_PKG_VERSION").to_owned());
    labelled(
        "build_info",
        "Version of truetail that offers the load; always 1.",
        Kind::Gauge,
        vec![(vec![version], 1.0)],
    )
}

fn number(name: &'static str, help: &'static str, kind: Kind, value: f64) -> Family {
    labelled(name, help, kind, vec![(Vec::new(), value)])
}

fn labelled(
    name: &'static str,
    help: &'static str,
    kind: Kind,
    values: Vec<(Vec<(&'static str, String)>, f64)>,
) -> Family {
    let samples = values.into_iter().map(|(labels, value)| Sample { labels, value: Value::Number(value) }).collect();
    Family { name, help, unit: Unit::None, kind, samples }
}

fn counter(name: &'static str, help: &'static str, value: u64) -> Family {
    number(name, help, Kind::Counter, value as f64)
}

fn gauge(name: &'static str, help: &'static str, value: f64) -> Family {
    number(name, help, Kind::Gauge, value)
}

fn load(state: &LiveState) -> Vec<Family> {
    let snapshot = &state.run.snapshot;
    let progress = &state.progress;
    let tally = &snapshot.tally;
    let elapsed = Family {
        unit: Unit::Seconds,
        ..gauge("run_elapsed", "Time since the first request was due.", progress.elapsed.as_secs_f64())
    };
    let status = |(status, count): (&u16, &u64)| (vec![("status", status_name(*status).into_owned())], *count as f64);
    let waiting = progress.planned.saturating_sub(progress.sent);
    vec![
        elapsed,
        counter("arrivals_planned", "Requests that were due by the schedule.", tally.planned),
        counter("requests_sent", "Requests that were begun.", tally.issued),
        counter("requests_completed", "Requests that got a complete response, whatever its status.", tally.responses),
        labelled("requests_failed", "Requests without a response, by cause.", Kind::Counter, failures(state)),
        labelled(
            "responses",
            "Complete responses, by HTTP status, or by the name of the status of a gRPC call that failed.",
            Kind::Counter,
            snapshot.statuses.iter().map(status).collect(),
        ),
        gauge("requests_in_flight", "Requests that were begun and have not ended.", progress.in_flight as f64),
        gauge("requests_waiting", "Requests that are due and were not begun (backlog).", waiting as f64),
    ]
}

fn failures(state: &LiveState) -> Vec<(Vec<(&'static str, String)>, f64)> {
    let snapshot = &state.run.snapshot;
    let causes = snapshot.causes.iter().map(|(cause, count)| (cause.name(), *count));
    let causes = causes.chain([("timed_out", snapshot.tally.timed_out)]);
    causes.map(|(cause, count)| (vec![("cause", cause.to_owned())], count as f64)).collect()
}

fn times(state: &LiveState) -> Vec<Family> {
    let snapshot = &state.run.snapshot;
    let of = |name, help, metric, unanswered: &[Metric]| {
        let unanswered: Vec<_> = unanswered.iter().map(|metric| snapshot.metric(*metric)).collect();
        let times = TimesHistogram::new(snapshot.metric(metric), &unanswered);
        let samples = vec![Sample { labels: Vec::new(), value: Value::Times(times) }];
        Family { name, help, unit: Unit::Seconds, kind: Kind::Histogram, samples }
    };
    vec![
        of(
            "response_time",
            "From the time at which a request was due to the end of its response. A request without a response is in the \
             last bucket, and in the sum with the time it was waited for.",
            Metric::ResponseTime,
            &[Metric::Censored, Metric::Failed],
        ),
        of(
            "service_time",
            "From the first byte sent to the end of the response, of requests with a response.",
            Metric::ServiceTime,
            &[],
        ),
        of(
            "generator_lag",
            "By how much truetail itself sent requests later than they were due.",
            Metric::GeneratorLag,
            &[],
        ),
    ]
}

fn judgement(state: &LiveState) -> Vec<Family> {
    let findings = &state.findings;
    let verdict = [VerdictState::Valid, VerdictState::Suspect, VerdictState::Invalid].map(|one| {
        let label = ("state", one.name().to_ascii_lowercase());
        (vec![label], f64::from(u8::from(one == findings.verdict.state)))
    });
    let reason = |reason: &truetail_run::Reason| {
        let state = ("state", reason.state.name().to_ascii_lowercase());
        (vec![("code", reason.code.clone()), state], 1.0)
    };
    let reasons = findings.verdict.reasons.iter().map(reason).collect();
    let mut gates = Vec::new();
    for gate in &findings.gates {
        for (one, name) in [(GateState::Holds, "holds"), (GateState::Open, "open"), (GateState::Fails, "fails")] {
            let labels = vec![("gate", gate.text.clone()), ("state", name.to_owned())];
            gates.push((labels, f64::from(u8::from(one == gate.state))));
        }
    }
    let families = [
        labelled("verdict", "Verdict on the run so far: 1 for its state.", Kind::Gauge, verdict.into()),
        labelled("verdict_reason", "Reasons of the verdict so far; always 1.", Kind::Gauge, reasons),
        labelled("gate", "Gates (--fail-if) on the run so far: 1 for the state of each.", Kind::Gauge, gates),
    ];
    families.into_iter().filter(|family| !family.samples.is_empty()).collect()
}
