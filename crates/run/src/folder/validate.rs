//! Checks that a `run.json` describes a possible run: its parts agree, and no number is too large.
//!
//! All computations on a loaded run rely on this check: sums of counts and times do not overflow, and no part is larger
//! than the whole.

use std::collections::BTreeMap;

use truetail_model::record::{Metric, MetricPopulation, Tally, Unbalanced};

use crate::limits::{LONGEST_NS, MAX_ARRIVALS};
use crate::wire::v1::{Exact, RunFile};
use crate::{GeneratorStats, KeptHeaders, LONGEST_PAUSES, TargetBooks};

/// Returns the first impossible statement of `run.json` as an error.
pub(super) fn check(run_file: &RunFile) -> Result<(), String> {
    check_tally("tally", &run_file.tally)?;
    check_tally("warmup_tally", &run_file.warmup_tally)?;
    run_file.cancelled_tally.iter().try_for_each(|tally| check_tally("cancelled_tally", tally))?;
    for metric in Metric::ALL {
        check_count(metric, run_file)?;
    }
    for (tag, exact) in &run_file.recorded.exact {
        check_exact(tag, exact)?;
    }
    check_statuses("statuses", &run_file.statuses, &run_file.tally)?;
    check_sum("causes", run_file.causes.values(), "failed", run_file.tally.failed())?;
    check_targets(&run_file.by_target, &run_file.tally)?;
    check_headers(run_file)?;
    check_sizes(run_file)?;
    run_file.generator.as_ref().map_or(Ok(()), check_generator)
}

fn check_headers(run_file: &RunFile) -> Result<(), String> {
    let headers = run_file.kept_headers.iter().map(|file| &file.facts);
    KeptHeaders::problem(headers, run_file.tally.responses).map_or(Ok(()), Err)
}

fn check_tally(name: &str, tally: &Tally) -> Result<(), String> {
    tally.check().map_err(|Unbalanced { planned, accounted }| {
        format!(
            "its {name} does not balance: {planned} arrivals were planned and {accounted} have an outcome, or issued does not match"
        )
    })?;
    if tally.planned > MAX_ARRIVALS {
        return Err(format!("its {name} plans {} arrivals, more than a run can have", tally.planned));
    }
    Ok(())
}

/// Returns the population of a metric, in words, and its size in the tally.
pub(super) fn population(metric: Metric, tally: &Tally) -> (&'static str, u64) {
    match metric.definition().population {
        MetricPopulation::Answered => ("answered", tally.responses),
        MetricPopulation::Censored => ("never answered", tally.censored()),
        MetricPopulation::Failed => ("failed", tally.failed()),
        MetricPopulation::Issued => ("issued", tally.issued),
    }
}

/// Returns true if every arrival of the population has a value of this metric.
pub(super) const fn has_each(metric: Metric) -> bool {
    match metric {
        Metric::ResponseTime
        | Metric::Censored
        | Metric::Failed
        | Metric::ServiceTime
        | Metric::StartDelay
        | Metric::GeneratorLag
        | Metric::ConnectionWait => true,
        Metric::WithoutGenerator
        | Metric::ConnectTime
        | Metric::ReadLag
        | Metric::TlsHandshakeTime
        | Metric::FirstByteTime
        | Metric::SendWait => false,
    }
}

/// Checks that a distribution holds no more arrivals than the tally, and exactly as many if each has a value. Channels
/// that were opened before the load belong to no arrival.
fn check_count(metric: Metric, run_file: &RunFile) -> Result<(), String> {
    let (kind, arrivals) = population(metric, &run_file.tally);
    let opened_before = run_file.messages.as_ref().filter(|_| metric.has_openings());
    let opened_before = opened_before.map_or(0, |messages| messages.channels_opened_before);
    let recorded = run_file.recorded.exact.get(metric.name()).map_or(0, |exact| exact.count);
    // Of a request in flight at a checkpoint, only its waiting time is known.
    let is_known_later = run_file.checkpoint.is_some() && metric.definition().population == MetricPopulation::Issued;
    let unknown = if is_known_later { run_file.tally.in_flight_at_end } else { 0 };
    // The books of messages come at the end of a run.
    let may_have_more = run_file.checkpoint.is_some() && metric.has_openings();
    if (recorded > arrivals.saturating_add(opened_before) && !may_have_more)
        || (has_each(metric) && recorded.saturating_add(unknown) < arrivals)
    {
        return Err(format!(
            "its tally says that {arrivals} arrivals were {kind}, but recorded.exact.{} counts {recorded}",
            metric.name()
        ));
    }
    Ok(())
}

fn check_exact(tag: &str, exact: &Exact) -> Result<(), String> {
    if exact.count > MAX_ARRIVALS {
        return Err(format!("its recorded.exact.{tag} counts {}, more than a run can have", exact.count));
    }
    not_longer(&format!("recorded.exact.{tag}.max_ns"), exact.max_ns)
}

/// Checks that the statuses count every answer. A protocol without a status counts none.
fn check_statuses(name: &str, statuses: &BTreeMap<u16, u64>, tally: &Tally) -> Result<(), String> {
    if statuses.is_empty() {
        return Ok(());
    }
    check_sum(name, statuses.values(), "were answered", tally.responses)
}

fn check_sum<'a>(name: &str, counts: impl Iterator<Item = &'a u64>, what: &str, arrivals: u64) -> Result<(), String> {
    let sum: u128 = counts.map(|count| u128::from(*count)).sum();
    if sum == u128::from(arrivals) {
        return Ok(());
    }
    Err(format!("its {name} add up to {sum}, but its tally says that {arrivals} arrivals {what}"))
}

/// Checks that the books of each target balance, and add up to the books of the run.
fn check_targets(targets: &[TargetBooks], whole: &Tally) -> Result<(), String> {
    let mut sum = Tally::default();
    for (number, target) in targets.iter().enumerate() {
        let name = format!("by_target[{number}].tally");
        check_tally(&name, &target.tally)?;
        check_statuses(&format!("by_target[{number}].statuses"), &target.statuses, &target.tally)?;
        sum.merge(&target.tally);
        if sum.planned > whole.planned {
            break;
        }
    }
    if targets.is_empty() || sum == *whole {
        return Ok(());
    }
    Err(format!(
        "its by_target adds up to {} planned arrivals and {} answers, but its tally says {} and {}",
        sum.planned, sum.responses, whole.planned, whole.responses
    ))
}

/// Checks that the times of the whole are possible, and that no count exceeds the planned arrivals.
fn check_sizes(run_file: &RunFile) -> Result<(), String> {
    let recorded = &run_file.recorded;
    not_longer("elapsed_ns", run_file.elapsed_ns)?;
    not_longer("recorded.measure_from_ns", recorded.measure_from_ns)?;
    not_longer("recorded.last_end_ns", recorded.last_end_ns)?;
    let timeline = &recorded.timeline;
    let planned = run_file.tally.planned;
    // If a warm-up was cut off afterwards, some rows still hold its arrivals.
    let with_warmup = planned + run_file.warmup_tally.planned;
    for (name, count, most) in [
        ("samples.seen", recorded.samples.seen, planned),
        ("timeline.planned", timeline.planned, with_warmup),
        ("timeline.sent", timeline.sent, with_warmup),
        ("timeline.completed", timeline.completed, with_warmup),
        ("timeline.failed", timeline.failed, with_warmup),
    ] {
        if count > most {
            return Err(format!("its recorded.{name} is {count}, but only {most} arrivals were planned"));
        }
    }
    Ok(())
}

fn check_generator(generator: &GeneratorStats) -> Result<(), String> {
    if generator.pauses.len() > LONGEST_PAUSES {
        return Err(format!(
            "its generator.pauses lists {} pauses, but a run keeps the {LONGEST_PAUSES} longest",
            generator.pauses.len()
        ));
    }
    Ok(())
}

fn not_longer(name: &str, value: u64) -> Result<(), String> {
    if value <= LONGEST_NS {
        return Ok(());
    }
    Err(format!("its {name} is {value}, but no run is longer than {LONGEST_NS} ns"))
}
