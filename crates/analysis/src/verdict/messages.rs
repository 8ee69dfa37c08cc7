//! Validity issues in words: what was seen, with its numbers, and what to do about it.

use std::collections::BTreeMap;

use truetail_model::record::status_name;
use truetail_run::Shift;

use super::machine_limit::{LimitReached, raise_local_ports, raise_open_files};
use super::validity_issue::ValidityIssue;
use crate::figures::{self, quantile_name, rate};
use crate::saturation_detector::SUGGESTED_SHARE;

pub(super) fn message(issue: &ValidityIssue) -> String {
    match *issue {
        ValidityIssue::BooksUnbalanced { planned, accounted } => format!(
            "{} arrivals were planned, but {} are accounted for. This is a bug in truetail, please report it",
            count(planned),
            count(accounted)
        ),
        ValidityIssue::NoAnswers { planned, issued, .. } => no_answers(planned, issued),
        ValidityIssue::AllFailed { responses, ref statuses } => all_failed(responses, statuses),
        ValidityIssue::AllSessionsFailed { sessions } => format!(
            "{} ended early, so no session did what the flow says: see which step failed. {ALLOW_ERRORS}",
            all_of(sessions, "session", "sessions")
        ),
        ValidityIssue::TooFewSamples { arrivals, needs_n } => {
            let n = plural(arrivals, "arrival is", "arrivals are");
            format!(
                "{n} too few for any percentile; a p50 needs {}: run longer, or offer a higher rate",
                count(needs_n)
            )
        }
        ValidityIssue::CensoredTail { q, censored, arrivals, at_least_ns } => format!(
            "{} of {} arrivals had no answer when truetail stopped waiting, so {} and above are only known to be at least \
             {}: allow a longer timeout or drain to learn more",
            count(censored),
            count(arrivals),
            quantile_name(q),
            time(at_least_ns)
        ),
        ValidityIssue::GeneratorLag { q, lag_ns, response_time_ns, limit, advised } => {
            let advice = against_lag(limit, "use a less busy machine, more threads or a lower rate");
            format!(
                "truetail sent requests late: up to {} of the {} {} may be its own. The range shows the value with and \
                 without it{}",
                time(lag_ns),
                quantile_name(q),
                time(response_time_ns),
                if advised { String::new() } else { format!(": {advice}") }
            )
        }
        ValidityIssue::GeneratorLimit { failed, arrivals, no_local_port, no_file_descriptor, open_files_limit } => {
            generator_limit([failed, arrivals], [no_local_port, no_file_descriptor], open_files_limit)
        }
        ValidityIssue::StartedLate { late_ns, missed, arrivals, .. } => format!(
            "truetail began {} after the start of the schedule, so {} of {} arrivals were never sent: leave more time \
             before --start-at",
            time(late_ns),
            count(missed),
            count(arrivals)
        ),
        ValidityIssue::StripesMissing { ref missing, of, .. } => format!(
            "{} of {of} stripes {} missing: {}. What they sent is not known: their arrivals count as never sent, and the \
             server may have met less load than planned",
            missing.len(),
            if missing.len() == 1 { "is" } else { "are" },
            truetail_run::ranges(missing)
        ),
        ValidityIssue::ShardDoubted { stripe, of, ref because, doubted, invalid } => format!(
            "{} a generator to doubt; the worst is stripe {stripe}/{of}: {} ({because}). Its own run says more",
            plural(doubted, "machine has", "machines have"),
            if invalid { "INVALID" } else { "SUSPECT" }
        ),
        ValidityIssue::Throttled { throttled_ns, elapsed_ns } => format!(
            "the CPU quota of truetail's container or control group was used up for {} of {}: raise the quota, or run \
             where there is none",
            time(throttled_ns),
            time(elapsed_ns)
        ),
        ValidityIssue::GeneratorBusy { cpu_ns, elapsed_ns, threads, closed_loop } => {
            generator_busy(cpu_ns, elapsed_ns, threads, closed_loop)
        }
        ValidityIssue::NotStationary { shift, cut_ns } => not_stationary(&shift, cut_ns),
        ValidityIssue::Incomplete { recorded_ns, due, ended, scheduled } => {
            incomplete(recorded_ns, [due, ended], scheduled)
        }
        ValidityIssue::ArrivalsOffSchedule { displaced, issued, mean_gap_ns, limit } => format!(
            "truetail sent {} of {} requests so late that the next one was due ({} later), so the server met bursts that \
             were not planned: {}",
            count(displaced),
            count(issued),
            time(mean_gap_ns),
            against_lag(limit, "use a less busy machine, more threads or a lower rate")
        ),
        ValidityIssue::ConnectionWait { q, wait_ns, response_time_ns, waited, connections } => {
            connection_wait(q, [wait_ns, response_time_ns], waited, connections)
        }
        ValidityIssue::GeneratorPaused { pauses, longest_ns, steal_ns, arrivals_hit, arrivals, moved, .. } => {
            generator_paused([pauses, longest_ns], [arrivals_hit, arrivals], moved, steal_ns)
        }
        ValidityIssue::Saturated {
            offered_per_second,
            capacity_per_second,
            growth_per_second,
            backlog,
            connections,
        } => saturated([offered_per_second, capacity_per_second, growth_per_second], backlog, connections),
        ValidityIssue::ConnectionsExhausted {
            offered_per_second,
            answered_per_second,
            backlog,
            connections,
            service_time_ns,
        } => connections_exhausted([offered_per_second, answered_per_second], backlog, connections, service_time_ns),
        ValidityIssue::SaturatedToTimeout {
            offered_per_second,
            capacity_per_second,
            from_ns,
            timed_out,
            arrivals,
            timeout_ns,
        } => {
            saturated_to_timeout([offered_per_second, capacity_per_second], from_ns, [timed_out, arrivals], timeout_ns)
        }
        ValidityIssue::RateNotReached {
            planned_per_second, sent_per_second, by_generator, never_sent, limit, ..
        } => rate_not_reached([planned_per_second, sent_per_second], by_generator, never_sent, limit),
    }
}

/// Returns the advice against generator lag: `otherwise`, unless the machine's limit on connections explains it.
fn against_lag(limit: Option<LimitReached>, otherwise: &str) -> String {
    limit.map_or(otherwise.to_owned(), |limit| limit.advice())
}

fn generator_limit([failed, arrivals]: [u64; 2], [ports, files]: [u64; 2], open_files_limit: Option<u64>) -> String {
    let limit = open_files_limit.map_or(String::new(), |limit| format!(", of which the limit allows {limit}"));
    let of_files = format!("open files ({}{limit}): {}", count(files), raise_open_files(None));
    let of_ports = format!("local ports ({}): {}", count(ports), raise_local_ports());
    let out_of = match (ports, files) {
        (0, _) => of_files,
        (_, 0) => of_ports,
        _ => format!("{of_ports}; and out of {of_files}"),
    };
    format!(
        "{} of {} arrivals failed, and the server had no part in it: this machine ran out of {out_of}, or limit the \
         connections with -c",
        count(failed),
        count(arrivals)
    )
}

/// Advice for a user who measures a service that fails.
const ALLOW_ERRORS: &str = "If this is what you want to measure, say --allow-errors";

fn all_failed(responses: u64, statuses: &BTreeMap<u16, u64>) -> String {
    let statuses: Vec<String> = statuses.keys().map(|status| status_name(*status).into_owned()).collect();
    if statuses.is_empty() {
        let all = all_of(responses, "reply was an error", "replies were errors");
        return format!("{all}, so the times are those of failures: check the command. {ALLOW_ERRORS}");
    }
    format!(
        "{} had an error status ({}), so the times are those of failures: check the URL, the method and the credentials. \
         {ALLOW_ERRORS}",
        all_of(responses, "answer", "answers"),
        statuses.join(", ")
    )
}

/// `all 50 answers`, `the only answer`.
fn all_of(n: u64, one: &str, more: &str) -> String {
    if n == 1 { format!("the only {one}") } else { format!("all {n} {more}") }
}

fn no_answers(planned: u64, issued: u64) -> String {
    match (planned, issued) {
        (0, _) => "no request was planned: offer a higher rate or run longer".to_owned(),
        (planned, 0) => format!("none of the {} planned requests was sent", count(planned)),
        (planned, _) => {
            let hint = "see the errors, and check that the server is up";
            format!("none of {} requests was answered: {hint}. {ALLOW_ERRORS}", count(planned))
        }
    }
}

fn incomplete(recorded_ns: u64, [due, ended]: [u64; 2], scheduled: Option<u64>) -> String {
    let of = scheduled.map_or(String::new(), |all| format!(" of {}", count(all)));
    format!(
        "truetail was ended before this run was, and this is what it had saved after {}: {}{of} requests were due by then, \
         and {} of them had ended. Run it again",
        time(recorded_ns),
        count(due),
        count(ended)
    )
}

fn generator_busy(cpu_ns: u64, elapsed_ns: u64, threads: u32, closed_loop: bool) -> String {
    let share = (cpu_ns as f64 / elapsed_ns.max(1) as f64 * 100.0).round();
    let threads = plural(threads.into(), "thread", "threads");
    match closed_loop {
        true => format!(
            "a truetail thread was busy for {share}% of the run, so the throughput is truetail's limit: the server could \
             take more. Use more than {threads}, or a faster machine"
        ),
        false => format!(
            "a truetail thread was busy for {share}% of the run, so requests queued inside truetail: use more than \
             {threads}, or a lower rate"
        ),
    }
}

fn connection_wait(q: f64, [wait_ns, response_time_ns]: [u64; 2], waited: u64, connections: Option<u32>) -> String {
    let cap = connections.map_or(String::new(), |n| format!("{} ", count(n.into())));
    format!(
        "{} arrivals waited for one of the {cap}connections allowed: {} at {}, out of a response time of {}. Users behind \
         a pool of that size would wait too; service time leaves it out",
        count(waited),
        time(wait_ns),
        quantile_name(q),
        time(response_time_ns)
    )
}

fn generator_paused(
    [pauses, longest_ns]: [u64; 2],
    [arrivals_hit, arrivals]: [u64; 2],
    moved: Option<f64>,
    steal_ns: Option<u64>,
) -> String {
    let times = match pauses {
        1 => format!("once, for {}", time(longest_ns)),
        n => format!("{} times, for up to {}", count(n), time(longest_ns)),
    };
    let hit = match arrivals_hit {
        0 => String::new(),
        hit => format!(", which delayed {} of {} arrivals", count(hit), count(arrivals)),
    };
    let effect = moved.map_or(String::new(), |q| format!(" and moved {}", quantile_name(q)));
    let why = steal_ns.map_or("It was stopped, suspended or short of CPU".to_owned(), |steal_ns| {
        format!("The hypervisor took {} of CPU time away", time(steal_ns))
    });
    format!("truetail itself stood still {times}{hit}{effect}. {why}: repeat the run on a quieter machine")
}

fn saturated([offered, capacity, growth]: [f64; 3], backlog: u64, connections: Option<u32>) -> String {
    let by = connections.map_or(String::new(), |n| format!(" over {} connections", count(n.into())));
    format!(
        "the server answered {} of the {} offered{by}. The backlog grew by {} to {} requests and would have grown on, so \
         response times only show how long the run was. Offer less than the capacity, such as {}",
        rate(capacity),
        rate(offered),
        rate(growth),
        count(backlog),
        rate((capacity * SUGGESTED_SHARE).floor())
    )
}

fn connections_exhausted(
    [offered, answered]: [f64; 2],
    backlog: u64,
    connections: u32,
    service_time_ns: u64,
) -> String {
    format!(
        "{} is what {} of {} each can carry, and {} were offered: the limit is -c {connections}, not the server, which \
         answered as fast as at the start. {} requests were waiting for a connection at the end. Raise -c, or offer less",
        rate(answered),
        plural(connections.into(), "connection", "connections"),
        time(service_time_ns),
        rate(offered),
        count(backlog)
    )
}

fn saturated_to_timeout(
    [offered, capacity]: [f64; 2],
    from_ns: u64,
    [timed_out, arrivals]: [u64; 2],
    timeout_ns: u64,
) -> String {
    format!(
        "answers took longer and longer until, after {}, requests ran into their timeout of {}: {} of {} timed out. {} \
         were offered and {} answered. This is a growing queue, not a response time: offer less, such as {}",
        seconds(from_ns),
        time(timeout_ns),
        count(timed_out),
        count(arrivals),
        rate(offered),
        rate(capacity),
        rate((capacity * SUGGESTED_SHARE).floor())
    )
}

fn rate_not_reached(
    [planned_per_second, sent_per_second]: [f64; 2],
    by_generator: bool,
    never_sent: u64,
    limit: Option<LimitReached>,
) -> String {
    let why = if by_generator {
        against_lag(limit, "truetail was too slow. Use more threads or a faster machine")
    } else {
        "requests waited for a free connection. Raise -c, or offer less".to_owned()
    };
    let never = match never_sent {
        0 => String::new(),
        n => format!(", and {} never sent", plural(n, "request was", "requests were")),
    };
    format!(
        "only {} of the planned {} were sent in time{never}: {why}",
        rate(sent_per_second),
        rate(planned_per_second)
    )
}

fn not_stationary(shift: &Shift, cut_ns: Option<u64>) -> String {
    let what_to_do = match cut_ns.map(seconds) {
        Some(cut) => format!("leave the start out with --warmup auto or --warmup {cut}"),
        None => "find out what changed, and measure the two apart".to_owned(),
    };
    format!("response time went {}, so percentiles of the whole run mix two levels: {what_to_do}", moved(shift))
}

/// Describes a shift: `from 10.00ms to 15.00ms at 40s`, or `from 10.00ms (until 20s) to 100.0ms (from 47s on)`.
pub(crate) fn moved(shift: &Shift) -> String {
    let from = level(shift.from_ns);
    let to = level(shift.to_ns);
    let at = seconds(shift.at_ns);
    let until = seconds(shift.until_ns);
    let what = if at == until {
        format!("from {from} to {to} at {at}")
    } else {
        format!("from {from} (until {at}) to {to} (from {until} on)")
    };
    let ends = [shift.from_ns, shift.to_ns];
    let between = [shift.highest_ns, shift.lowest_ns].into_iter().find(|level| !ends.contains(level));
    between.map_or(what.clone(), |between| format!("{what}, and was {} in between", level(between)))
}

pub(crate) fn level(ns: Option<u64>) -> String {
    ns.map_or("no answer".to_owned(), time)
}

/// `15s`, `7.5s`.
pub(crate) fn seconds(ns: u64) -> String {
    format!("{}s", (ns as f64 / 1e7).round() / 1e2)
}

fn count(n: u64) -> String {
    n.to_string()
}

/// `1 thread`, `2 threads`.
fn plural(n: u64, one: &str, more: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { more })
}

fn time(ns: u64) -> String {
    figures::time(ns as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_one_word() {
        assert_eq!([15_000_000_000, 7_500_000_000].map(seconds), ["15s", "7.5s"]);
    }
}
