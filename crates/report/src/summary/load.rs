//! The target and the load in words.

use truetail_model::workload::LoadModelKind;
use truetail_run::{Findings, Mix, OfferedLoad, Run, RunSource, SessionFacts, StepFacts};

use super::labelled::LabelledText;
use crate::number;

/// Describes the target and the load in a line: `GET http://127.0.0.1:8080/api, open loop at 1000/s for 60s`.
pub fn headline(run: &Run) -> String {
    let offered = &run.facts.offered;
    let target = measured(run).map_or(String::new(), |target| format!("{target}, "));
    let connections = connections(offered).map_or(String::new(), |connections| format!(", {connections}"));
    format!("{target}{}{connections}", load(run))
}

/// Returns all settings of the load, and the resulting rates.
pub fn load_details(run: &Run, findings: &Findings) -> [LabelledText; 2] {
    let offered = &run.facts.offered;
    let spacing = offered.spacing.as_ref().map(|spacing| format!("{spacing} spacing"));
    let seed = offered.seed.map(|seed| format!("seed {seed}"));
    let timeout = offered.timeout_ns.map(|ns| format!("timeout {}", number::round_time(ns)));
    let drain = Some(format!("drain {}", number::round_time(offered.drain_ns)));
    let parts: Vec<String> = [spacing, seed, timeout, drain].into_iter().flatten().collect();
    let rates = format!(
        "{} offered · {} answered",
        number::rate_if_any(findings.offered_per_second),
        number::rate_if_any(findings.throughput_per_second)
    );
    [("Load", parts.join(" · ")), ("Rate", rates)]
}

/// Describes the target without its load; `None` if the run has no description.
pub fn measured(run: &Run) -> Option<String> {
    let offered = &run.facts.offered;
    let source = &run.facts.source;
    let what = match (&offered.method, &offered.url) {
        (Some(method), Some(url)) => Some(format!("{method} {url}")),
        (None, Some(url)) => Some(url.clone()),
        _ => None,
    };
    let how = match source {
        RunSource::Sockets => None,
        RunSource::Simulator => Some("simulated".to_owned()),
        RunSource::Callable => Some("a callable in this process".to_owned()),
        RunSource::Import { tool, version } => {
            Some(format!("imported from {tool} {}", version.as_deref().unwrap_or("")).trim_end().to_owned())
        }
    };
    let mix = match &run.facts.sessions {
        Some(sessions) => {
            let unit = if are_agents(sessions) { "recorded sessions" } else { "rows" };
            let rows = offered.mix.as_ref().and_then(|mix| rows(mix, unit));
            let rows = rows.map_or_else(String::new, |rows| format!(", {rows}"));
            Some(format!("{}{rows}", flows(sessions)))
        }
        None => offered.mix.as_ref().and_then(mix),
    };
    let parts: Vec<String> = [what, mix, offered.name.clone(), how].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Returns true if sessions are graphs of calls.
fn are_agents(sessions: &SessionFacts) -> bool {
    sessions.steps.iter().any(|step| step.planned.is_some())
}

/// Describes the flows: `flow shop.hurl`, `flows browse (weight 8), buy (weight 2)`.
fn flows(sessions: &SessionFacts) -> String {
    if are_agents(sessions) {
        return format!("agents {}", sessions.flow);
    }
    if sessions.flows.is_empty() {
        return format!("flow {}", sessions.flow);
    }
    let flows =
        sessions.flows.iter().map(|flow| format!("{} (weight {})", flow.name, number::count(flow.weight.into())));
    format!("flows {}", flows.collect::<Vec<_>>().join(", "))
}

/// Describes the number of targets, and of rows that fill them in; `None` with one target and no rows.
fn mix(mix: &Mix) -> Option<String> {
    let targets = (mix.targets.len() > 1).then(|| format!("{} targets", number::count(mix.targets.len() as u64)));
    let parts: Vec<String> = [targets, rows(mix, "rows")].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn rows(mix: &Mix, unit: &str) -> Option<String> {
    let order = if mix.order.as_deref() == Some("random") { "in random order" } else { "in order" };
    (mix.rows > 0).then(|| format!("{} {unit} {order}", number::count(mix.rows.into())))
}

fn load(run: &Run) -> String {
    let offered = &run.facts.offered;
    let differ = |sessions: &SessionFacts| {
        let differ = |step: &StepFacts| step.not_reached.not_asked > 0 || step.planned.is_some();
        !sessions.flows.is_empty() || sessions.steps.iter().any(differ)
    };
    // Sessions that choose their steps may do one again.
    let is_bounded = !offered.asks_by_any_method() && run.facts.sessions.as_ref().is_some_and(differ);
    let up_to = if is_bounded { "up to " } else { "" };
    let think = offered.think_time_ns.filter(|ns| *ns > 0);
    let think = think.map_or(String::new(), |ns| format!(" with {} think time", number::round_time(ns)));
    let what = match offered.model {
        LoadModelKind::Open => format!("open loop at {}", schedule(offered)),
        LoadModelKind::Closed => format!("closed loop of {}{think}", users(offered)),
        LoadModelKind::PartlyOpen => format!(
            "sessions of {up_to}{} {}{think} at {}",
            offered.requests_per_session.unwrap_or(1),
            // A Python function decides how many requests a session makes.
            if offered.asks_by_any_method() { "steps" } else { "requests" },
            schedule(offered)
        ),
    };
    let what_arrives = if offered.model == LoadModelKind::PartlyOpen { "sessions" } else { "requests" };
    let requests = offered.requests.map(|n| format!("{} {what_arrives}", number::count(n)));
    let lengths: Vec<String> = offered.duration_ns.map(number::round_time).into_iter().chain(requests).collect();
    let ends = [
        (!lengths.is_empty()).then(|| format!(" for {}", lengths.join(" or "))),
        (offered.warmup_ns > 0).then(|| format!(", without the first {}", number::round_time(offered.warmup_ns))),
    ];
    ends.into_iter().flatten().fold(what, |text, end| text + &end)
}

/// Describes the users: `10 users`, `up to 200 users (10..200/60s)`.
fn users(offered: &OfferedLoad) -> String {
    let most = match offered.users.unwrap_or(0) {
        1 => "1 user".to_owned(),
        users => format!("{} users", number::count(users.into())),
    };
    offered.users_over_time.as_ref().map_or(most.clone(), |stages| format!("up to {most} ({stages})"))
}

fn schedule(offered: &OfferedLoad) -> String {
    let profile = offered.profile.as_deref().map_or("an unknown rate".to_owned(), readable);
    let random = offered.spacing.as_deref().filter(|spacing| *spacing != "even");
    let spacing = random.map_or(String::new(), |spacing| format!(" ({spacing})"));
    format!("{profile}{spacing}")
}

/// Rounds a constant rate with many digits, such as a third of a number, for reading.
fn readable(profile: &str) -> String {
    const MAX_DIGITS: usize = 8;
    let constant = profile.strip_suffix("/s").filter(|digits| digits.len() > MAX_DIGITS);
    constant.and_then(|digits| digits.parse().ok()).map_or_else(|| profile.to_owned(), number::rate)
}

/// Describes the limits on connections and on simultaneous requests, if any, and HTTP/2.
fn connections(offered: &OfferedLoad) -> Option<String> {
    if let Some(messages) = &offered.messages {
        let channels = match (offered.connection_per_session, offered.connections) {
            (true, None) => "a channel per session".to_owned(),
            (true, Some(n)) => format!("a channel per session, at most {}", number::count(n.into())),
            (false, None) => "a channel for each thread".to_owned(),
            (false, Some(1)) => "one channel".to_owned(),
            (false, Some(n)) => format!("{} channels", number::count(n.into())),
        };
        let matched = if messages.matching == "order" { "" } else { &format!(", matched by {}", messages.matching) };
        let framing = if messages.framing == "grpc" { "gRPC" } else { &format!("framing {}", messages.framing) };
        let below = if messages.http2 { " over HTTP/2" } else { "" };
        let deflate = if messages.offers_deflate { ", permessage-deflate" } else { "" };
        return Some(format!("{channels}, {framing}{below}{deflate}{matched}"));
    }
    let streams = offered.http2.and_then(|http2| http2.max_streams);
    let streams = streams.map_or(String::new(), |n| format!(" of {} streams", number::count(n.into())));
    if offered.connection_per_session {
        let version = if offered.http2.is_some() { "HTTP/2, " } else { "" };
        let most = offered.connections.map_or(String::new(), |n| format!(", at most {}", number::count(n.into())));
        return Some(format!("{version}a connection per session{most}"));
    }
    let http2 = if offered.grpc.is_some() { "gRPC over HTTP/2" } else { "HTTP/2" };
    match (offered.http2, offered.connections) {
        (None, None) => None,
        (None, Some(1)) => Some("at most 1 connection".to_owned()),
        (None, Some(n)) => Some(format!("at most {} connections", number::count(n.into()))),
        (Some(_), None) => Some(format!("{http2}{streams}")),
        (Some(_), Some(1)) => Some(format!("{http2} on one connection{streams}")),
        (Some(_), Some(n)) => Some(format!("{http2} on at most {} connections{streams}", number::count(n.into()))),
    }
}

#[cfg(test)]
mod tests {
    use super::readable;

    #[test]
    fn only_rates_with_many_digits_are_rounded() {
        assert_eq!(readable("694.4444444444445/s"), "694.4/s");
        assert_eq!(readable("0.3333333333333333/s"), "0.333/s");
        assert_eq!(readable("12345.5/s"), "12345.5/s");
        assert_eq!(readable("steps:10/60s,20/60s"), "steps:10/60s,20/60s");
    }
}
