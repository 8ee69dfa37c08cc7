//! Finding for files without starts, or with latencies that are not plain service times.

use serde_json::json;
use truetail_model::record::Histogram;
use truetail_model::time::Nanos;
use truetail_model::workload::LoadModelKind;
use truetail_run::{ForeignRun, LatencyFrom};

use super::estimate::{Missing, reported_quantiles, with_bounds};
use super::finding::{Audit, AuditFinding, CorrectedQuantile, Evidence, QUANTILES, ReportedQuantile};
use super::hidden;
use super::rows::{KnownLoad, MATERIAL, Rows};

/// A request holds its user up if it takes this many of the user's intervals. A lower limit would be exceeded in any
/// service with varying times: exponential times exceed 3 means in 5 % of all cases, and 10 means in 1 of 22,000.
const SLOW_INTERVALS: f64 = 10.0;
/// A tool on a schedule that reached this share of its rate left out nothing that matters.
const KEPT_UP: f64 = 0.99;

pub(super) fn judge(histogram: Option<&Histogram>, rows: &Rows, run: &ForeignRun, given: KnownLoad) -> Audit {
    let told = told(histogram, run, given);
    let requests = if rows.requests > 0 {
        Some(rows.requests)
    } else {
        run.claims.requests.or(run.claims.measured).or(histogram.map(Histogram::count))
    };
    Audit {
        finding: told.finding,
        missing_arrivals: told.missing.map(|missing| missing.round() as u64),
        evidence: told.evidence,
        requests,
        failed: rows.failed(run),
        users: given.users,
        expected_interval: told.interval,
        reported: reported_by(histogram, run),
        corrected: told.corrected,
        stops: Vec::new(),
        timeline: None,
    }
}

/// Conclusions that do not need starts.
struct Conclusion {
    finding: AuditFinding,
    evidence: Vec<Evidence>,
    missing: Option<f64>,
    interval: Option<Nanos>,
    corrected: Vec<CorrectedQuantile>,
}

impl Conclusion {
    fn only(finding: AuditFinding, evidence: Evidence, interval: Option<Nanos>) -> Conclusion {
        Conclusion { finding, evidence: vec![evidence], missing: None, interval, corrected: Vec::new() }
    }
}

fn told(histogram: Option<&Histogram>, run: &ForeignRun, given: KnownLoad) -> Conclusion {
    if let Some(told) = dropped_conclusion(run, given) {
        return told;
    }
    match run.claims.latency_from {
        LatencyFrom::Intended => {
            Conclusion { missing: Some(0.0), ..Conclusion::only(AuditFinding::NoneSeen, intended(), given.interval) }
        }
        LatencyFrom::BackFilled => Conclusion::only(AuditFinding::CannotTell, back_filled(), given.interval),
        LatencyFrom::Send => match run.load.model {
            Some(LoadModelKind::Closed) => closed(histogram, run, given),
            Some(LoadModelKind::Open | LoadModelKind::PartlyOpen) | None if nothing_slow(histogram, run) => {
                Conclusion {
                    missing: Some(0.0),
                    ..Conclusion::only(AuditFinding::NoneSeen, too_fast(), given.interval)
                }
            }
            Some(LoadModelKind::Open) => open(run, given),
            Some(LoadModelKind::PartlyOpen) | None => {
                Conclusion::only(AuditFinding::CannotTell, no_starts(), given.interval)
            }
        },
    }
}

fn dropped_conclusion(run: &ForeignRun, given: KnownLoad) -> Option<Conclusion> {
    let dropped = material_drops(run, run.claims.requests.or(run.claims.measured).unwrap_or(0))?;
    let missing = dropped_requests(run, dropped).map(|requests| requests as f64);
    Some(Conclusion { missing, ..Conclusion::only(AuditFinding::Certain, dropping(run, dropped), given.interval) })
}

/// Number of requests or iterations that the tool counts as due and not sent, if it is material beside `sent`.
pub(super) fn material_drops(run: &ForeignRun, sent: u64) -> Option<u64> {
    let matters = |dropped: &u64| *dropped > 0 && *dropped as f64 >= MATERIAL * (sent as f64 + *dropped as f64);
    run.claims.dropped.filter(matters)
}

/// Returns true if the tool counts iterations, as k6 does. An iteration may send any number of requests.
fn counts_iterations(run: &ForeignRun) -> bool {
    run.tool == Some("k6")
}

/// Number of dropped requests, or `None` if the tool counts iterations.
pub(super) fn dropped_requests(run: &ForeignRun, dropped: u64) -> Option<u64> {
    (!counts_iterations(run)).then_some(dropped)
}

pub(super) fn dropping(run: &ForeignRun, dropped: u64) -> Evidence {
    let message = if counts_iterations(run) {
        format!(
            "the tool says itself that it did not begin {dropped} iterations that were due, each of one request or more"
        )
    } else {
        format!("the tool says itself that it did not send {dropped} requests that were due")
    };
    Evidence::new("dropped", message, &[("dropped", json!(dropped))])
}

fn open(run: &ForeignRun, given: KnownLoad) -> Conclusion {
    let rates = run.claims.rate_per_second.zip(run.load.rate_per_second);
    let Some((sent, asked)) = rates else {
        return Conclusion::only(AuditFinding::CannotTell, no_starts(), given.interval);
    };
    let numbers = [("rate_per_second", json!(sent)), ("asked_per_second", json!(asked))];
    if sent >= KEPT_UP * asked {
        let message =
            format!("the tool sends on a schedule, and sent {sent:.1} of the {asked:.1} requests per second asked for");
        let evidence = Evidence::new("kept_its_rate", message, &numbers);
        return Conclusion { missing: Some(0.0), ..Conclusion::only(AuditFinding::NoneSeen, evidence, given.interval) };
    }
    let message = format!(
        "the tool sends on a schedule, but sent only {sent:.1} of the {asked:.1} requests per second asked for; without the \
         starts of single requests nobody can tell when the others were missing"
    );
    Conclusion::only(AuditFinding::CannotTell, Evidence::new("below_its_rate", message, &numbers), given.interval)
}

/// Judges a closed loop. A request that took v kept its user from sending v / interval − 1 others.
fn closed(histogram: Option<&Histogram>, run: &ForeignRun, given: KnownLoad) -> Conclusion {
    let Some(measured) = measured(histogram, run) else {
        return Conclusion::only(AuditFinding::CannotTell, no_count(run), given.interval);
    };
    let Some(interval) = interval(run, given) else {
        return Conclusion::only(AuditFinding::CannotTell, no_interval(), given.interval);
    };
    let tail = tail(histogram, run, measured);
    let users = given.users.map_or(1.0, f64::from);
    let hidden = |value: u64| (value as f64 / interval - 1.0).max(0.0);
    let is_slow = |value: u64| value as f64 >= SLOW_INTERVALS * interval;
    let slow: Vec<Slow> = tail.into_iter().filter(|slow| is_slow(slow.value)).collect();
    let sum = |count: fn(&Slow) -> f64| -> f64 { slow.iter().map(|one| count(one) * hidden(one.value)).sum() };
    let low = sum(|one| one.at_least);
    // Unless the file counts its slow requests, up to all users were held up as long as the longest request took.
    let longest = slow.iter().map(|one| one.value).max().unwrap_or(0);
    let high = if histogram.is_some() { low } else { low.max(users * hidden(longest)) };
    let share = |missing: f64| if missing.is_finite() { missing / (measured as f64 + missing).max(1.0) } else { 1.0 };
    let finding = match (share(low) >= MATERIAL, share(high) >= MATERIAL) {
        (true, _) => AuditFinding::Certain,
        (false, true) => AuditFinding::Likely,
        (false, false) if histogram.is_none() && share(most_hidden(run, measured, interval)) >= MATERIAL => {
            return Conclusion::only(AuditFinding::CannotTell, between_quantiles(), Some(Nanos(interval as u64)));
        }
        (false, false) => AuditFinding::NoneSeen,
    };
    let interval = Nanos(interval as u64);
    let base = histogram.cloned().unwrap_or_else(|| interpolated(run, measured));
    let omits = finding != AuditFinding::NoneSeen;
    let missing = if omits { missing(&slow, interval, low, high) } else { Vec::new() };
    let corrected = with_bounds(&base, &missing, None);
    Conclusion {
        finding,
        evidence: vec![held_up(finding, longest, interval, low, high)],
        missing: Some(missing.iter().map(|one| one.counts[1]).sum()),
        interval: Some(interval),
        corrected,
    }
}

/// Largest number of unsent requests, if as many were slow as the quantiles and the maximum allow.
fn most_hidden(run: &ForeignRun, measured: u64, interval: f64) -> f64 {
    let slow = hidden::at_most_slow(&run.claims, (SLOW_INTERVALS * interval) as u64);
    let of = |(share, value): (f64, u64)| share * measured as f64 * (value as f64 / interval - 1.0);
    slow.map_or(f64::INFINITY, |slow| slow.into_iter().map(of).sum())
}

fn between_quantiles() -> Evidence {
    Evidence::new(
        "slow_not_counted",
        "the users of the tool wait for their answers, and the file does not say how many requests were slow enough to keep \
         others from being sent"
            .to_owned(),
        &[],
    )
}

fn missing(slow: &[Slow], interval: Nanos, low: f64, high: f64) -> Vec<Missing> {
    let scale = if low > 0.0 { high / low } else { 1.0 };
    let of = |one: &Slow| {
        let count = one.at_least * (one.value as f64 / interval.0.max(1) as f64 - 1.0).max(0.0);
        // The users that the file does not count were most likely held up too: one stall holds up all of them.
        Missing { shortest: interval.0, longest: one.value, counts: [count, count * scale, count * scale] }
    };
    slow.iter().map(of).collect()
}

fn held_up(finding: AuditFinding, longest: u64, interval: Nanos, low: f64, high: f64) -> Evidence {
    let message = if finding == AuditFinding::NoneSeen {
        format!(
            "the users of the tool wait for their answers, but no request held them up for long, against {} between the requests of one user",
            time(interval)
        )
    } else {
        format!(
            "the users of the tool wait for their answers and send every {}; requests of up to {} kept them from \
             sending {low:.0} to {high:.0} others",
            time(interval),
            time(Nanos(longest))
        )
    };
    Evidence::new(
        "users_held_up",
        message,
        &[
            ("longest_ns", json!(longest)),
            ("interval_ns", json!(interval.0)),
            ("missing_low", json!(low.round())),
            ("missing_high", json!(high.round())),
        ],
    )
}

/// Sending interval of each user, in nanoseconds.
fn interval(run: &ForeignRun, given: KnownLoad) -> Option<f64> {
    let by_rate = || Some(f64::from(given.users?) / run.claims.rate_per_second.filter(|rate| *rate > 0.0)? * 1e9);
    let interval = given.interval.map(|interval| interval.0 as f64).or_else(by_rate)?;
    (interval > 0.0).then_some(interval)
}

fn time(length: Nanos) -> String {
    crate::figures::time(length.0 as f64)
}

fn measured(histogram: Option<&Histogram>, run: &ForeignRun) -> Option<u64> {
    let measured = histogram.map(Histogram::count).or(run.claims.measured).or(run.claims.requests);
    measured.filter(|measured| *measured > 0)
}

/// At least this many requests that took about `value` nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Slow {
    value: u64,
    at_least: f64,
}

/// Returns the tail, from the histogram or from the quantiles and the maximum.
fn tail(histogram: Option<&Histogram>, run: &ForeignRun, measured: u64) -> Vec<Slow> {
    if let Some(histogram) = histogram {
        return histogram.buckets().map(|(low, _, count)| Slow { value: low.0, at_least: count as f64 }).collect();
    }
    let mut found = Vec::new();
    let mut above = 0.0;
    if let Some(max) = run.claims.max_ns {
        found.push(Slow { value: max, at_least: 1.0 });
        above = 1.0;
    }
    for claimed in run.claims.quantiles.iter().rev() {
        let at_least = (measured as f64 * (1.0 - claimed.q)).floor();
        if at_least > above {
            found.push(Slow { value: claimed.value_ns, at_least: at_least - above });
            above = at_least;
        }
    }
    found
}

/// Builds a histogram with the quantiles of the file. Between two quantiles, each request gets the lower value, which
/// is its minimum.
fn interpolated(run: &ForeignRun, measured: u64) -> Histogram {
    let mut histogram = Histogram::new();
    let mut last: Option<(u64, u64)> = None;
    let top = run.claims.max_ns.map(|max| (1.0, max));
    for (q, value) in run.claims.quantiles.iter().map(|claimed| (claimed.q, claimed.value_ns)).chain(top) {
        let rank = truetail_model::record::rank_of(q, measured);
        let (below, lower) = last.unwrap_or((0, value));
        if rank > below {
            histogram.record_n(Nanos(lower), rank - below - 1);
            histogram.record(Nanos(value));
            last = Some((rank, value));
        }
    }
    histogram
}

fn reported_by(histogram: Option<&Histogram>, run: &ForeignRun) -> Vec<ReportedQuantile> {
    if let Some(histogram) = histogram {
        return reported_quantiles(histogram);
    }
    let claimed = |q: f64| {
        let value_ns =
            if q == 1.0 { run.claims.max_ns } else { run.claims.quantile(q).map(|claimed| claimed.value_ns) };
        Some(ReportedQuantile { q, value_ns: value_ns? })
    };
    QUANTILES.into_iter().filter_map(claimed).collect()
}

/// Returns true if all slow requests together took too little time to hide much.
fn nothing_slow(histogram: Option<&Histogram>, run: &ForeignRun) -> bool {
    match histogram {
        Some(histogram) => !histogram.is_empty() && hidden::share(histogram) < MATERIAL,
        None => hidden::share_claimed(&run.claims).is_some_and(|share| share < MATERIAL),
    }
}

pub(super) fn too_fast() -> Evidence {
    Evidence::new(
        "nothing_slow",
        "the slow requests together took too little time to have hidden others that matter".to_owned(),
        &[],
    )
}

fn intended() -> Evidence {
    Evidence::new(
        "from_intended_start",
        "the latencies count from when each request was to be sent, so that waiting to be sent is part of them"
            .to_owned(),
        &[],
    )
}

fn back_filled() -> Evidence {
    Evidence::new(
        "back_filled",
        "the tool added requests to its histogram that it never sent, so that nobody can tell what was measured"
            .to_owned(),
        &[],
    )
}

fn no_starts() -> Evidence {
    Evidence::new(
        "no_starts",
        "the file does not say when requests were sent, so that nobody can tell whether sending stopped".to_owned(),
        &[],
    )
}

fn no_interval() -> Evidence {
    Evidence::new(
        "no_interval",
        "the file does not say how often a user sends; give --users or --expected-interval".to_owned(),
        &[],
    )
}

fn no_count(run: &ForeignRun) -> Evidence {
    let (code, message) = match run.claims.measured.or(run.claims.requests) {
        None => (
            "no_count",
            "the file does not say how many requests there were, so that nobody can tell what share is missing",
        ),
        Some(_) => ("nothing_measured", "the file has no latency of any request"),
    };
    Evidence::new(code, message.to_owned(), &[])
}
