//! Finding for files that list single requests with their starts.

use serde_json::json;
use truetail_model::time::Nanos;
use truetail_model::workload::LoadModelKind;
use truetail_run::{ForeignRun, ForeignView};

use super::axis::Axis;
use super::chance::{probability_by_chance, waits_for_answers};
use super::dips::{Dip, dips};
use super::estimate::{Missing, reported_quantiles, with_bounds};
use super::finding::{Audit, AuditFinding, Evidence};
use super::hidden;
use super::rows::{KnownLoad, MATERIAL, Rows};
use super::server;
use super::silence::{Precision, Silence, Silences, silences};
use super::summary;
use super::timeline::AuditStop;
use super::workers::WorkerFacts;
use crate::figures;

/// Largest probability that chance shows the same, for a likely and for a certain finding.
const LIKELY: f64 = 0.01;
const CERTAIN: f64 = 1e-4;
/// With fewer requests than this, nothing is concluded.
const FEWEST_REQUESTS: u64 = 50;
/// Starts with a coarser resolution show no single silence, in nanoseconds.
const COARSE: u64 = 50_000_000;
/// Fewest steps of the resolution that a run needs.
const FEWEST_STEPS: u64 = 20;
/// Depth of a dip in standard deviations, for a likely and for a certain finding. A certain finding also needs `COVER`.
const SIGMA_LIKELY: f64 = 6.0;
const SIGMA_CERTAIN: f64 = 10.0;
const COVER: std::ops::RangeInclusive<f64> = 0.65..=1.35;

struct Observations {
    silences: Silences,
    dips: Vec<Dip>,
    users: Option<WorkerFacts>,
    by_chance: f64,
    waits: bool,
    /// No request was slow enough to hide much.
    nothing_slow: bool,
    /// Stops too short to show could hide much.
    is_blind: bool,
    /// Effective resolution of the starts, in nanoseconds.
    resolution: u64,
    /// Resolution of the starts in the file, in nanoseconds.
    file_resolution: u64,
    time: u64,
    starts: u64,
}

pub(super) fn judge(rows: &Rows, axis: Axis<'_>, run: &ForeignRun, given: KnownLoad) -> Audit {
    let mut audit = by_times(rows, axis, run, given);
    if run.view == ForeignView::Server {
        server::adapt(&mut audit, given);
    }
    match summary::material_drops(run, rows.requests) {
        None => audit,
        Some(dropped) => with_dropped(audit, run, dropped),
    }
}

/// Applies the tool's own count of requests that it did not send. It counts even if the times do not show the omission.
fn with_dropped(mut audit: Audit, run: &ForeignRun, dropped: u64) -> Audit {
    let is_estimated = audit.finding.is_omission();
    if !is_estimated {
        // Their response times are unknown.
        audit.corrected.clear();
    }
    audit.finding = AuditFinding::Certain;
    audit.missing_arrivals =
        audit.missing_arrivals.filter(|_| is_estimated).max(summary::dropped_requests(run, dropped));
    audit.evidence.insert(0, summary::dropping(run, dropped));
    audit
}

fn by_times(rows: &Rows, mut axis: Axis<'_>, run: &ForeignRun, given: KnownLoad) -> Audit {
    let seen = observe(rows, &mut axis, run);
    let by_silence: Vec<Missing> = seen.silences.waiting.iter().map(Missing::from_silence).collect();
    let by_dip: Vec<Missing> = seen.dips.iter().map(Missing::from_dip).collect();
    let from_silences = from_silences(&seen, &by_silence);
    let from_dips = from_dips(&seen, &by_dip);
    if from_silences.max(from_dips) == AuditFinding::NoneSeen
        && seen.starts >= FEWEST_REQUESTS
        && let Some(audit) = by_tool(rows, &seen, run, given)
    {
        return audit;
    }
    let found = from_silences.max(from_dips);
    let finding = if seen.starts < FEWEST_REQUESTS { AuditFinding::CannotTell } else { found.max(cannot_tell(&seen)) };
    let missing = match finding {
        AuditFinding::NoneSeen | AuditFinding::CannotTell => &[],
        AuditFinding::Likely | AuditFinding::Certain if from_silences >= from_dips => by_silence.as_slice(),
        AuditFinding::Likely | AuditFinding::Certain => by_dip.as_slice(),
    };
    let (users, interval) = load(&seen, given);
    let corrected = match finding {
        AuditFinding::CannotTell => Vec::new(),
        AuditFinding::NoneSeen => with_bounds(&rows.durations, &[], None),
        AuditFinding::Likely | AuditFinding::Certain => with_bounds(&rows.durations, missing, given.interval),
    };
    Audit {
        finding,
        evidence: evidence(&seen, finding, from_silences >= from_dips),
        requests: Some(rows.requests),
        failed: rows.failed(run),
        missing_arrivals: (finding != AuditFinding::CannotTell).then(|| total(missing).round() as u64),
        users,
        expected_interval: interval,
        reported: reported_quantiles(&rows.durations),
        corrected,
        stops: stops(&seen, finding, from_silences >= from_dips),
        timeline: None,
    }
}

/// Stretches that [`evidence`] describes.
fn stops(seen: &Observations, finding: AuditFinding, by_silence: bool) -> Vec<AuditStop> {
    let omits = finding.is_omission();
    if omits && !by_silence {
        return seen.dips.iter().map(AuditStop::from_dip).collect();
    }
    let are_shown = seen.by_chance <= LIKELY;
    seen.silences.waiting.iter().filter(|_| are_shown).map(AuditStop::from_silence).collect()
}

/// Judges by durations if the starts are too coarse to show anything, but the tool is known to be a closed loop.
/// Little's law gives the number of users if the file does not.
fn by_tool(rows: &Rows, seen: &Observations, run: &ForeignRun, given: KnownLoad) -> Option<Audit> {
    let is_coarse = seen.file_resolution > COARSE && seen.resolution == seen.file_resolution;
    if !is_coarse || seen.nothing_slow || run.load.model != Some(LoadModelKind::Closed) {
        return None;
    }
    let seconds = seen.time as f64 / 1e9;
    let mut run = run.clone();
    run.claims.rate_per_second = Some(seen.starts as f64 / seconds);
    let busy = rows.durations.sum_ns() as f64 / seen.time as f64;
    let users = given.users.or(Some((busy.round() as u32).max(1)));
    let mut audit = summary::judge(Some(&rows.durations), rows, &run, KnownLoad { users, ..given });
    audit.evidence.push(coarse(seen));
    Some(audit)
}

fn observe(rows: &Rows, axis: &mut Axis<'_>, run: &ForeignRun) -> Observations {
    let resolution = run.clock.start_resolution_ns.max(1);
    let workers = rows.workers.facts();
    // The end of a stall in the server says nothing about its clients.
    let is_client = run.view == ForeignView::Client;
    let users = workers.filter(WorkerFacts::are_users).filter(|_| is_client);
    let precision = Precision {
        end: if resolution == 1 { 0 } else { resolution + run.clock.duration_resolution_ns },
        think: users.map_or(0, |users| users.think.0),
    };
    let time = axis.total_time();
    let silences = if resolution <= COARSE { silences(axis, precision) } else { Silences::default() };
    let by_chance = probability_by_chance(&silences, axis.total(), precision);
    let waits = is_client && waits_for_answers(&silences);
    let is_shown = waits || users.is_some();
    axis.exclude(&[]);
    let width = axis.events.width();
    Observations {
        // With exact starts, an irregular schedule shows dips too. Dips then count only for a client that waits.
        dips: if is_shown || resolution > COARSE { dips(axis, resolution) } else { Vec::new() },
        by_chance: if is_shown && !silences.waiting.is_empty() { 0.0 } else { by_chance },
        silences,
        users,
        waits,
        nothing_slow: hidden::share(&rows.durations) < MATERIAL,
        is_blind: is_blind(axis, rows, resolution),
        resolution: if width > COARSE { width.max(resolution) } else { resolution },
        file_resolution: resolution,
        time,
        starts: axis.total(),
    }
}

/// Returns true if the starts are too coarse to show short stops, and if such stops could hide enough to matter.
fn is_blind(axis: &Axis<'_>, rows: &Rows, resolution: u64) -> bool {
    let width = axis.events.width();
    // If only the bins are wide, a stop longer than two bins still shows.
    let visible = if resolution > COARSE { u64::MAX } else { width.saturating_mul(2) };
    resolution.max(width) > COARSE && hidden::share_unseen(axis, &rows.durations, resolution, visible) >= MATERIAL
}

fn time(length: Nanos) -> String {
    figures::time(length.0 as f64)
}

fn total(missing: &[Missing]) -> f64 {
    missing.iter().map(|one| one.counts[1]).sum()
}

fn matters(seen: &Observations, missing: &[Missing]) -> bool {
    let missing = total(missing);
    missing >= MATERIAL * (seen.starts as f64 + missing)
}

fn from_silences(seen: &Observations, missing: &[Missing]) -> AuditFinding {
    if !matters(seen, missing) || seen.by_chance > LIKELY {
        AuditFinding::NoneSeen
    } else if seen.by_chance <= CERTAIN {
        AuditFinding::Certain
    } else {
        AuditFinding::Likely
    }
}

fn from_dips(seen: &Observations, missing: &[Missing]) -> AuditFinding {
    let clear = |dip: &Dip| dip.sigma >= SIGMA_CERTAIN && COVER.contains(&dip.cover());
    if !matters(seen, missing) || seen.dips.iter().all(|dip| dip.sigma < SIGMA_LIKELY) {
        AuditFinding::NoneSeen
    } else if seen.dips.iter().any(clear) {
        AuditFinding::Certain
    } else {
        AuditFinding::Likely
    }
}

fn cannot_tell(seen: &Observations) -> AuditFinding {
    let too_coarse =
        seen.file_resolution > COARSE && seen.time / seen.file_resolution < FEWEST_STEPS && !seen.nothing_slow;
    if seen.is_blind || too_coarse { AuditFinding::CannotTell } else { AuditFinding::NoneSeen }
}

fn load(seen: &Observations, given: KnownLoad) -> (Option<u32>, Option<Nanos>) {
    let waiting = seen.users;
    let largest = seen.silences.waiting.iter().max_by(|a, b| a.expected.total_cmp(&b.expected));
    let blocked = largest.and_then(|silence| u32::try_from(silence.in_flight).ok());
    let users = given.users.or(waiting.map(|users| users.workers)).or(blocked);
    let rate = largest.map(|silence| silence.expected / (silence.span.length() as f64 / 1e9));
    let inferred = users.zip(rate).map(|(users, rate)| Nanos((f64::from(users) / rate * 1e9) as u64));
    (users, given.interval.or(inferred))
}

fn evidence(seen: &Observations, finding: AuditFinding, by_silence: bool) -> Vec<Evidence> {
    let mut found = Vec::new();
    let omits = finding.is_omission();
    if omits && by_silence {
        found.push(silence_evidence(seen));
        found.push(limit_evidence(seen));
    } else if omits {
        found.extend(dip_evidence(seen));
    } else if !seen.silences.waiting.is_empty() && seen.by_chance <= LIKELY {
        found.push(too_little(seen));
    }
    found.extend(waiting(seen));
    if seen.starts < FEWEST_REQUESTS {
        found.push(Evidence::new(
            "too_few_requests",
            format!("{} requests with a start are too few; it takes {FEWEST_REQUESTS}", seen.starts),
            &[("requests", json!(seen.starts))],
        ));
    }
    if seen.resolution > COARSE {
        found.push(coarse(seen));
    }
    if seen.nothing_slow && !omits {
        found.push(summary::too_fast());
    }
    found
}

fn longest(seen: &Observations) -> Option<&Silence> {
    seen.silences.waiting.iter().max_by_key(|silence| silence.span.length())
}

fn silence_evidence(seen: &Observations) -> Evidence {
    let silences = &seen.silences.waiting;
    let longest = longest(seen).map_or(Nanos::ZERO, |silence| Nanos(silence.span.length()));
    let at = longest_at(seen);
    let missing: f64 = silences.iter().map(|silence| silence.expected).sum();
    let count = silences.len();
    let times = if count == 1 { "once".to_owned() } else { format!("{count} times") };
    Evidence::new(
        "sends_stop_while_slow",
        format!(
            "{times} nothing was sent and nothing came back while requests were in flight, for up to {}, and sending \
             went on with the next answer; {missing:.0} requests were to be expected in that time at the rate before and after",
            time(longest)
        ),
        &[
            ("silences", json!(count)),
            ("longest_ns", json!(longest.0)),
            ("longest_at_ns", json!(at)),
            ("expected_starts", json!(missing.round())),
            ("probability_by_chance", json!(seen.by_chance)),
        ],
    )
}

fn longest_at(seen: &Observations) -> u64 {
    longest(seen).map_or(0, |silence| silence.span.from)
}

fn limit_evidence(seen: &Observations) -> Evidence {
    let limit = longest(seen).map_or(0, |silence| silence.in_flight);
    let requests = if limit == 1 { "request was" } else { "requests were" };
    Evidence::new(
        "stops_at_limit",
        format!("sending stopped when {limit} {requests} in flight"),
        &[("in_flight", json!(limit))],
    )
}

fn dip_evidence(seen: &Observations) -> Option<Evidence> {
    let deepest = seen.dips.iter().max_by(|a, b| a.sigma.total_cmp(&b.sigma))?;
    let missing: f64 = seen.dips.iter().map(|dip| dip.missing).sum();
    let whole = Nanos(seen.dips.iter().map(|dip| dip.length.0).sum());
    let count = seen.dips.len();
    let stretches = if count == 1 { String::new() } else { format!(" {count} stretches of together") };
    Some(Evidence::new(
        "rate_dips_while_slow",
        format!(
            "{missing:.0} requests are missing in{stretches} {} against {} before and after, while the slowest took {} \
             and no more requests than usual were in flight",
            time(whole),
            figures::rate(deepest.rate),
            time(Nanos(deepest.longest))
        ),
        &[
            ("dips", json!(count)),
            ("from_ns", json!(deepest.from)),
            ("length_ns", json!(deepest.length.0)),
            ("all_lengths_ns", json!(whole.0)),
            ("expected_starts", json!(missing.round())),
            ("sigma", json!(deepest.sigma)),
            ("longest_ns", json!(deepest.longest)),
        ],
    ))
}

fn too_little(seen: &Observations) -> Evidence {
    let missing: f64 = seen.silences.waiting.iter().map(|silence| silence.expected).sum();
    Evidence::new(
        "too_little_to_matter",
        format!(
            "sending stopped while something was slow; the {missing:.0} requests to be expected meanwhile are less than \
             {} % of all and not counted as missing",
            MATERIAL * 100.0
        ),
        &[("expected_starts", json!(missing.round()))],
    )
}

fn waiting(seen: &Observations) -> Vec<Evidence> {
    let mut found = Vec::new();
    let gaps = &seen.silences;
    if seen.waits {
        let all = gaps.followed + gaps.not_followed;
        found.push(Evidence::new(
            "waits_for_answers",
            format!("the client sends when an answer comes: after {} of {all} gaps the next request followed an answer at once", gaps.followed),
            &[("gaps", json!(all)), ("followed", json!(gaps.followed))],
        ));
    }
    if let Some(workers) = seen.users {
        found.push(Evidence::new(
            "workers_wait",
            format!(
                "each of {} workers waits for its last answer and then sends its next request, usually {} later; \
                 {:.1} % come earlier",
                workers.workers,
                time(workers.think),
                100.0 * (1.0 - workers.share_waiting)
            ),
            &[("workers", json!(workers.workers)), ("think_ns", json!(workers.think.0))],
        ));
    }
    found
}

fn coarse(seen: &Observations) -> Evidence {
    let resolution = time(Nanos(seen.resolution));
    let why = if seen.resolution == seen.file_resolution {
        format!("the file gives starts to {resolution} only")
    } else {
        format!("the file spans so long a time that starts are told apart to {resolution} only")
    };
    Evidence::new(
        "coarse_starts",
        format!("{why}, so that shorter stops do not show"),
        &[("resolution_ns", json!(seen.resolution))],
    )
}
