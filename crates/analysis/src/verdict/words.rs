//! What a doubt says to a person: what was seen, with numbers, and what to do about it.

use super::reason::{Doubt, time};

/// A sentence or two.
pub(super) fn message(doubt: &Doubt) -> String {
    match doubt {
        Doubt::BooksUnbalanced { planned, accounted } => format!(
            "{planned} arrivals were planned and {accounted} are accounted for: this is a bug in truetail, please report it"
        ),
        Doubt::NoResponses { planned: 0 } => "no arrival was planned: offer a higher rate or a longer run".to_owned(),
        Doubt::NoResponses { planned } => {
            format!("none of {planned} arrivals was answered: see the errors, and check that the target is up")
        }
        Doubt::TooFewSamples { arrivals, needs_n } => {
            format!("{arrivals} arrivals cannot carry a p99, which needs {needs_n}: run longer or offer a higher rate")
        }
        Doubt::CensoredTail { q, censored, arrivals, at_least_ns } => format!(
            "{censored} of {arrivals} arrivals got no answer in the time that was waited, so from {} on the response \
             time is only known to be at least {}: a longer timeout or drain would tell more",
            percentile(*q),
            time(*at_least_ns)
        ),
        Doubt::ConnectionWait { .. } => connection_wait(doubt),
        Doubt::GeneratorLag { q, lag_ns, response_time_ns } => format!(
            "the generator began requests late: its lag at {p} is {}, of a response time of {}; use a machine with less \
             to do, more threads or a lower rate",
            time(*lag_ns),
            time(*response_time_ns),
            p = percentile(*q)
        ),
        Doubt::GeneratorPaused { .. } => generator_paused(doubt),
        Doubt::Saturated { .. } => saturated(doubt),
        Doubt::RateNotReached { .. } => rate_not_reached(doubt),
        Doubt::GeneratorLimit { failed, arrivals, no_local_port, no_file_descriptor } => format!(
            "{failed} of {arrivals} arrivals failed for want of local ports ({no_local_port}) or open files \
             ({no_file_descriptor}) on this machine, not because of the server: cap the connections with -c, or raise \
             the limit (ulimit -n)"
        ),
    }
}

fn connection_wait(doubt: &Doubt) -> String {
    let Doubt::ConnectionWait { q, wait_ns, response_time_ns, waited, connections } = doubt else { unreachable!() };
    let cap = connections.map_or("the connections allowed".to_owned(), |n| format!("the {n} connections allowed"));
    format!(
        "{waited} arrivals waited for one of {cap}: {} at {p}, of a response time of {}; users behind such \
         a pool feel that, and the service time leaves it out",
        time(*wait_ns),
        time(*response_time_ns),
        p = percentile(*q)
    )
}

fn generator_paused(doubt: &Doubt) -> String {
    let Doubt::GeneratorPaused { pauses, longest_ns, arrivals_hit, arrivals, p99_ns, .. } = doubt else {
        unreachable!()
    };
    let times = if *pauses == 1 { "once".to_owned() } else { format!("{pauses} times") };
    let length = if *pauses == 1 { "for" } else { "for up to" };
    format!(
        "the generator itself stood still {times}, {length} {}, which delayed {arrivals_hit} of {arrivals} arrivals and is \
         in the tail below (p99 {}): it was stopped, starved of CPU or suspended; repeat the run",
        time(*longest_ns),
        time(*p99_ns)
    )
}

fn saturated(doubt: &Doubt) -> String {
    let Doubt::Saturated { offered_per_second, capacity_per_second, growth_per_second, backlog, connections } = doubt
    else {
        unreachable!()
    };
    let by = connections.map_or(String::new(), |n| format!(" with at most {n} connections"));
    format!(
        "the backlog grew by {growth_per_second:.0}/s to {backlog} arrivals and had no end in sight: \
         {offered_per_second:.0}/s were offered and {capacity_per_second:.0}/s answered{by}; response times depend on \
         how long this run was, so take the capacity from it and offer less"
    )
}

fn rate_not_reached(doubt: &Doubt) -> String {
    let Doubt::RateNotReached { planned_per_second, sent_per_second, by_generator } = doubt else { unreachable!() };
    let why = if *by_generator {
        "the generator was too slow: use more threads or a faster machine"
    } else {
        "arrivals waited for a free connection: raise -c or offer less"
    };
    format!("{planned_per_second:.0}/s were planned and {sent_per_second:.0}/s sent, because {why}")
}

/// 0.999 as `p99.9`, 1 as `max`.
fn percentile(q: f64) -> String {
    if q >= 1.0 { "max".to_owned() } else { format!("p{}", (q * 1e6).round() / 1e4) }
}
