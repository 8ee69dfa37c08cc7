//! Validity issues in words: what was seen, with numbers, and what to do about it.

use truetail_run::Shift;

use super::validity_issue::ValidityIssue;
use crate::saturation_detector::SUGGESTED_SHARE;

/// A sentence or two.
pub(super) fn message(issue: &ValidityIssue) -> String {
    match *issue {
        ValidityIssue::BooksUnbalanced { planned, accounted } => format!(
            "{} arrivals were planned and {} are accounted for: this is a bug in truetail, please report it",
            count(planned),
            count(accounted)
        ),
        ValidityIssue::NoResponses { planned: 0 } => {
            "no arrival was planned: offer a higher rate or a longer run".to_owned()
        }
        ValidityIssue::NoResponses { planned } => {
            format!("none of {} arrivals was answered: see the errors, and check that the target is up", count(planned))
        }
        ValidityIssue::TooFewSamples { arrivals, needs_n } => format!(
            "{} arrivals cannot carry a p99, which needs {}: run longer or offer a higher rate",
            count(arrivals),
            count(needs_n)
        ),
        ValidityIssue::CensoredTail { q, censored, arrivals, at_least_ns } => format!(
            "{} of {} arrivals got no answer in the time that was waited, so from {} on the response time is only known \
             to be at least {}: a longer timeout or drain would tell more",
            count(censored),
            count(arrivals),
            percentile(q),
            time(at_least_ns)
        ),
        ValidityIssue::GeneratorLag { q, lag_ns, response_time_ns } => format!(
            "the generator began requests late: its lag at {} is {}, of a response time of {}; use a machine with less \
             to do, more threads or a lower rate",
            percentile(q),
            time(lag_ns),
            time(response_time_ns)
        ),
        ValidityIssue::GeneratorLimit { failed, arrivals, no_local_port, no_file_descriptor } => format!(
            "{} of {} arrivals failed for want of local ports ({}) or open files ({}) on this machine, not because of the \
             server: cap the connections with -c, or raise the limit (ulimit -n)",
            count(failed),
            count(arrivals),
            count(no_local_port),
            count(no_file_descriptor)
        ),
        ValidityIssue::Throttled { throttled_ns, elapsed_ns } => format!(
            "the generator's control group was over its CPU quota for {} of {}: raise the quota, or run it where there is \
             none",
            time(throttled_ns),
            time(elapsed_ns)
        ),
        ValidityIssue::GeneratorBusy { cpu_ns, elapsed_ns, threads } => format!(
            "a worker of the generator used {} of {} of processor time, so that it is itself a queue: use more than {} \
             threads, or a lower rate",
            time(cpu_ns),
            time(elapsed_ns),
            threads
        ),
        ValidityIssue::NotStationary { shift, cut_ns } => not_stationary(&shift, cut_ns),
        ValidityIssue::ArrivalsOffSchedule { displaced, issued, mean_gap_ns } => format!(
            "the generator began {} of {} requests later than the next one was due ({}), so they came in bursts that nobody \
             planned: use more threads, a machine with less to do or a lower rate",
            count(displaced),
            count(issued),
            time(mean_gap_ns)
        ),
        ValidityIssue::ConnectionWait { .. } => connection_wait(issue),
        ValidityIssue::GeneratorPaused { .. } => generator_paused(issue),
        ValidityIssue::Saturated { .. } => saturated(issue),
        ValidityIssue::SaturatedToTimeout { .. } => saturated_to_timeout(issue),
        ValidityIssue::RateNotReached { .. } => rate_not_reached(issue),
    }
}

fn connection_wait(issue: &ValidityIssue) -> String {
    let ValidityIssue::ConnectionWait { q, wait_ns, response_time_ns, waited, connections } = *issue else {
        unreachable!()
    };
    let cap = connections.map_or(String::new(), |n| format!("{} ", count(n.into())));
    format!(
        "{} arrivals waited for one of the {cap}connections allowed: {} at {}, of a response time of {}; users behind \
         such a pool feel that, and the service time leaves it out",
        count(waited),
        time(wait_ns),
        percentile(q),
        time(response_time_ns)
    )
}

fn generator_paused(issue: &ValidityIssue) -> String {
    let ValidityIssue::GeneratorPaused { pauses, longest_ns, arrivals_hit, arrivals, p99_ns, .. } = *issue else {
        unreachable!()
    };
    let times = match pauses {
        1 => "once, for".to_owned(),
        n => format!("{} times, for up to", count(n)),
    };
    format!(
        "the generator itself stood still {times} {}, which delayed {} of {} arrivals and is in the tail below (p99 {}): \
         it was stopped, starved of CPU or suspended; repeat the run",
        time(longest_ns),
        count(arrivals_hit),
        count(arrivals),
        time(p99_ns)
    )
}

fn saturated(issue: &ValidityIssue) -> String {
    let ValidityIssue::Saturated { offered_per_second, capacity_per_second, growth_per_second, backlog, connections } =
        *issue
    else {
        unreachable!()
    };
    let by = connections.map_or(String::new(), |n| format!(" with at most {} connections", count(n.into())));
    format!(
        "the backlog grew by {} to {} arrivals and had no end in sight: {} were offered and {} answered{by}; response \
         times depend on how long this run was, so take the capacity from it and offer less, such as {}",
        rate(growth_per_second),
        count(backlog),
        rate(offered_per_second),
        rate(capacity_per_second),
        rate((capacity_per_second * SUGGESTED_SHARE).floor())
    )
}

fn saturated_to_timeout(issue: &ValidityIssue) -> String {
    let ValidityIssue::SaturatedToTimeout {
        offered_per_second,
        capacity_per_second,
        from_ns,
        timed_out,
        arrivals,
        timeout_ns,
    } = *issue
    else {
        unreachable!()
    };
    format!(
        "answers got older until, {} into the run, requests reached their timeout of {}: {} were offered and {} answered \
         before, and {} of {} arrivals timed out; that is a queue without end and no response time, so take the capacity \
         and offer less, such as {}",
        seconds(from_ns),
        time(timeout_ns),
        rate(offered_per_second),
        rate(capacity_per_second),
        count(timed_out),
        count(arrivals),
        rate((capacity_per_second * SUGGESTED_SHARE).floor())
    )
}

fn rate_not_reached(issue: &ValidityIssue) -> String {
    let ValidityIssue::RateNotReached { planned_per_second, sent_per_second, by_generator } = *issue else {
        unreachable!()
    };
    let why = if by_generator {
        "the generator was too slow: use more threads or a faster machine"
    } else {
        "arrivals waited for a free connection: raise -c or offer less"
    };
    format!("{} were planned and {} sent, because {why}", rate(planned_per_second), rate(sent_per_second))
}

fn not_stationary(shift: &Shift, cut_ns: Option<u64>) -> String {
    let what_to_do = match cut_ns.map(seconds) {
        Some(cut) => format!("--warmup auto, or --warmup {}, leaves that out", cut.replace(' ', "")),
        None => "find out what changed then, and judge the parts apart".to_owned(),
    };
    format!("the response time went {}: quantiles of the whole run are a mixture; {what_to_do}", moved(shift))
}

/// What a shift was: `from 10.0 ms to 15.0 ms at 40 s`, or `from 10.0 ms (until 20 s) to 100 ms (from 47 s on)`.
pub(crate) fn moved(shift: &Shift) -> String {
    let (from, to) = (level(shift.from_ns), level(shift.to_ns));
    let (at, until) = (seconds(shift.at_ns), seconds(shift.until_ns));
    let what = if at == until {
        format!("from {from} to {to} at {at}")
    } else {
        format!("from {from} (until {at}) to {to} (from {until} on)")
    };
    let ends = [shift.from_ns, shift.to_ns];
    let between = [shift.highest_ns, shift.lowest_ns].into_iter().find(|level| !ends.contains(level));
    between.map_or(what.clone(), |between| format!("{what}, and was {} in between", level(between)))
}

/// The level of the response time.
pub(crate) fn level(ns: Option<u64>) -> String {
    ns.map_or("no answer".to_owned(), time)
}

/// `15 s`, `7.5 s`.
pub(crate) fn seconds(ns: u64) -> String {
    format!("{} s", (ns as f64 / 1e7).round() / 1e2)
}

/// 0.999 as `p99.9`, 1 as `max`.
fn percentile(q: f64) -> String {
    if q >= 1.0 { "max".to_owned() } else { format!("p{}", (q * 1e6).round() / 1e4) }
}

/// `60 000`.
fn count(n: u64) -> String {
    let digits = n.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|group| std::str::from_utf8(group).expect("digits")).collect();
    groups.join(" ")
}

/// `1 000/s`; below 10 with one decimal.
fn rate(per_second: f64) -> String {
    if per_second < 10.0 { format!("{per_second:.1}/s") } else { format!("{}/s", count(per_second.round() as u64)) }
}

/// A time in the fitting unit, to three digits: `12.3 ms`.
fn time(ns: u64) -> String {
    let (scaled, unit) = match ns {
        0..1_000 => return format!("{ns} ns"),
        1_000..1_000_000 => (ns as f64 / 1e3, "µs"),
        1_000_000..1_000_000_000 => (ns as f64 / 1e6, "ms"),
        _ => (ns as f64 / 1e9, "s"),
    };
    let decimals = if scaled < 10.0 { 2 } else { usize::from(scaled < 100.0) };
    format!("{scaled:.decimals$} {unit}")
}
