//! The verdict: whether the numbers of a run can be trusted. A verdict is the worst of its reasons, and each reason
//! carries the numbers that triggered it. [`thresholds`] holds the limits, with the reason for each.
//!
//! Effects of the generator are never attributed to the server, and effects of the server never to the generator. A
//! server may stall, answer with errors or not answer: that is no reason against a run if its numbers show it.

mod connection_cap;
mod cpu_contention;
mod failing;
mod figures;
mod machine_limit;
pub(crate) mod messages;
mod pauses;
mod saturation;
mod shards;
mod steadiness;
pub mod thresholds;
mod validity_issue;

use truetail_model::record::{Cause, Metric, RequestRecord, Snapshot};
use truetail_model::time::Nanos;
use truetail_model::workload::LoadModelKind;
use truetail_run::{Distribution, Findings, Quantile, Reason, Run, Verdict, VerdictState};

pub use machine_limit::LimitReached;
pub use validity_issue::{ValidityIssue, code};

use crate::load_timeline::LoadTimeline;
use crate::throughput;
pub(crate) use figures::is_moved;
use figures::{Bracket, mean_or_zero, most_doubtful, value_at};
use thresholds::{BACKLOG_IS_OURS_SHARE, CONNECTION_WAIT_SHARE, SENT_IN_TIME_SHARE};

/// Judges a run, worst reasons first. `every` holds all arrivals in order, if each was kept.
pub(crate) fn judge(run: &Run, findings: &Findings, every: Option<&[RequestRecord]>) -> Verdict {
    let mut reasons: Vec<_> = issues(run, findings, every).iter().map(reason).collect();
    // The sort is stable, so equal reasons keep their order.
    reasons.sort_by_key(|reason| std::cmp::Reverse(reason.state));
    let state = reasons.first().map_or(VerdictState::Valid, |worst| worst.state);
    Verdict { state, reasons }
}

fn reason(issue: &ValidityIssue) -> Reason {
    Reason {
        code: issue.code().to_owned(),
        state: issue.state(),
        message: messages::message(issue),
        numbers: issue.numbers(),
    }
}

/// Finds every issue of a run, in no order of weight.
fn issues(run: &Run, findings: &Findings, every: Option<&[RequestRecord]>) -> Vec<ValidityIssue> {
    let snapshot = &run.snapshot;
    let books = books_unbalanced(snapshot);
    if snapshot.tally.responses == 0 {
        return books
            .into_iter()
            .chain([failing::no_answers(run)])
            .chain(generator_limit(run))
            .chain(machine_issues(run))
            .chain(incomplete(run))
            .collect();
    }
    let mut issues: Vec<ValidityIssue> = [
        books,
        pauses::generator_paused(run, findings, every),
        cpu_contention::throttled(run, findings),
        cpu_contention::busy(run, findings),
        generator_limit(run),
        backlog(run, findings, every),
        connection_wait(run, findings),
        censored_tail(findings),
        too_few_samples(findings),
        failing::all_failed(run),
    ]
    .into_iter()
    .flatten()
    .collect();
    let limit = limit_reached(run, findings, every);
    issues.extend(generator_lag(findings, &issues, limit));
    issues.extend(machine_issues(run).chain(incomplete(run)));
    shards::remove_explained(&mut issues, &snapshot.tally);
    if issues.iter().any(|issue| issue.code() == code::SATURATED) {
        // These are consequences of saturation, with numbers that are not properties of the service.
        issues.retain(|issue| {
            !matches!(issue, ValidityIssue::ConnectionWait { .. } | ValidityIssue::CensoredTail { .. })
        });
    }
    issues.extend(steadiness::not_stationary(findings, &issues));
    issues.extend(steadiness::arrivals_off_schedule(findings, &issues, limit));
    issues
}

fn incomplete(run: &Run) -> Option<ValidityIssue> {
    let checkpoint = run.facts.checkpoint?;
    let all = run.snapshot.all_arrivals();
    Some(ValidityIssue::Incomplete {
        recorded_ns: run.facts.elapsed_ns,
        due: all.planned,
        ended: all.issued - all.in_flight_at_end,
        scheduled: checkpoint.scheduled,
    })
}

/// Finds the issues of machines that shared the load or began too late.
fn machine_issues(run: &Run) -> impl Iterator<Item = ValidityIssue> {
    [shards::stripes_missing(run), shards::started_late(run), shards::shard_doubted(run)].into_iter().flatten()
}

/// Checks the books, and whether the distributions hold as many arrivals as the books.
fn books_unbalanced(snapshot: &Snapshot) -> Option<ValidityIssue> {
    let unbalanced = |planned, accounted| Some(ValidityIssue::BooksUnbalanced { planned, accounted });
    for tally in [&snapshot.tally, &snapshot.warmup, &snapshot.cancelled] {
        if let Err(wrong) = tally.check() {
            return unbalanced(wrong.planned, wrong.accounted);
        }
    }
    let count = |metric| snapshot.metric(metric).count();
    let recorded = [count(Metric::ResponseTime), count(Metric::Censored), count(Metric::Failed)];
    let tally = &snapshot.tally;
    if recorded == [tally.responses, tally.censored(), tally.failed()] {
        return None;
    }
    unbalanced(tally.planned, recorded.iter().sum())
}

/// The quantile with the largest share of `part` in the response time, if above `limit`: (q, part, response time).
fn largest_share(findings: &Findings, part: &Distribution, quantiles: &[f64], limit: f64) -> Option<(f64, u64, u64)> {
    let share = |(_, part, whole): &(f64, u64, u64)| *part as f64 / (*whole as f64).max(1.0);
    quantiles
        .iter()
        .filter_map(|q| Some((*q, value_at(part, *q)?, value_at(&findings.response_time, *q)?)))
        .filter(|found| share(found) > limit)
        .max_by(|a, b| share(a).total_cmp(&share(b)))
}

/// Returns an issue if the range of a weighed quantile is wide, and no pause among `others` explains it.
fn generator_lag(findings: &Findings, others: &[ValidityIssue], limit: Option<LimitReached>) -> Option<ValidityIssue> {
    let (q, Bracket { value_ns, without_ns }) = most_doubtful(findings)?;
    let explained = |issue: &ValidityIssue| matches!(issue, ValidityIssue::GeneratorPaused { moved: Some(_), .. });
    let lag_ns = value_ns - without_ns;
    let advised = others.iter().any(|issue| matches!(issue, ValidityIssue::RateNotReached { by_generator: true, .. }));
    let issue = ValidityIssue::GeneratorLag { q, lag_ns, response_time_ns: value_ns, limit, advised };
    (!others.iter().any(explained)).then_some(issue)
}

/// Returns the limit of this machine, if every connection that it allows was in use.
fn limit_reached(run: &Run, findings: &Findings, every: Option<&[RequestRecord]>) -> Option<LimitReached> {
    LimitReached::detect(run, findings, throughput::offered_per_second(run, every))
}

fn connection_wait(run: &Run, findings: &Findings) -> Option<ValidityIssue> {
    let (q, wait_ns, response_time_ns) =
        largest_share(findings, &findings.metrics[Metric::ConnectionWait], &[0.5, 0.9, 0.99], CONNECTION_WAIT_SHARE)?;
    let waits = run.snapshot.metric(Metric::ConnectionWait);
    let waited = waits.count() - waits.count_at_or_below(Nanos::ZERO);
    Some(ValidityIssue::ConnectionWait {
        q,
        wait_ns,
        response_time_ns,
        waited,
        connections: run.facts.connections_here(),
    })
}

/// Reports the lowest quantile, except the largest value, that is only known from below.
fn censored_tail(findings: &Findings) -> Option<ValidityIssue> {
    let response_time = &findings.response_time;
    let bound = |quantile: &&Quantile| quantile.q < 1.0 && quantile.at_least && !quantile.no_answer;
    let first = response_time.quantiles.iter().find(bound)?;
    Some(ValidityIssue::CensoredTail {
        q: first.q,
        censored: response_time.censored,
        arrivals: response_time.count,
        at_least_ns: first.value_ns?,
    })
}

/// Doubts a run if every quantile needs more arrivals. A single quantile says so in its row.
fn too_few_samples(findings: &Findings) -> Option<ValidityIssue> {
    let p50 = findings.response_time.quantiles.iter().find(|quantile| quantile.q == 0.5)?;
    Some(ValidityIssue::TooFewSamples { arrivals: findings.response_time.count, needs_n: p50.needs_n? })
}

fn generator_limit(run: &Run) -> Option<ValidityIssue> {
    let count = |cause| run.snapshot.causes.get(&cause).copied().unwrap_or(0);
    let no_local_port = count(Cause::NoLocalPort);
    let no_file_descriptor = count(Cause::NoFileDescriptor);
    let failed = no_local_port + no_file_descriptor;
    let arrivals = run.snapshot.tally.planned;
    let open_files_limit = run.facts.generator.as_ref().and_then(|generator| generator.open_files_limit);
    (failed > 0).then_some(ValidityIssue::GeneratorLimit {
        failed,
        arrivals,
        no_local_port,
        no_file_descriptor,
        open_files_limit,
    })
}

/// Attributes a backlog to the generator if it was late, else to the server (or the user's cap on connections).
fn backlog(run: &Run, findings: &Findings, every: Option<&[RequestRecord]>) -> Option<ValidityIssue> {
    if run.facts.offered.model == LoadModelKind::Closed {
        return None;
    }
    let timeline = LoadTimeline::new(&run.snapshot, every)?;
    let lag = mean_or_zero(&findings.metrics[Metric::GeneratorLag]);
    let is_ours = lag > mean_or_zero(&findings.response_time) * BACKLOG_IS_OURS_SHARE;
    let saturated = || {
        saturation::saturated(run, findings, &timeline, every).or_else(|| saturation::up_to_the_timeout(run, &timeline))
    };
    let saturated = if is_ours { None } else { saturated() };
    let by_generator = lag > mean_or_zero(&findings.metrics[Metric::ConnectionWait]);
    let limit = if by_generator { limit_reached(run, findings, every) } else { None };
    saturated.or_else(|| rate_not_reached(run, every, by_generator, limit))
}

/// Compares what was sent in time with the plan of the whole schedule. A stopped run may leave arrivals unsent.
fn rate_not_reached(
    run: &Run,
    every: Option<&[RequestRecord]>,
    by_generator: bool,
    limit: Option<LimitReached>,
) -> Option<ValidityIssue> {
    let tally = &run.snapshot.tally;
    let planned = tally.planned as f64;
    let sent = throughput::sent_in_time(run, every)?;
    let never_sent = if run.facts.interrupted { 0 } else { tally.never_issued };
    let invalid = by_generator || never_sent as f64 > planned * (1.0 - SENT_IN_TIME_SHARE);
    (sent.count < planned * SENT_IN_TIME_SHARE).then_some(ValidityIssue::RateNotReached {
        planned_per_second: sent.per_second(planned),
        sent_per_second: sent.per_second(sent.count),
        by_generator,
        never_sent,
        limit,
        invalid,
    })
}
