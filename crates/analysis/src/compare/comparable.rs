//! Reasons not to compare two sides.

use std::fmt::Debug;

use truetail_run::{Facts, Run, Verdict, VerdictState};

/// Returns every reason not to compare these named runs, one sentence each. Seeds and lengths may differ.
pub fn objections(a: &[(&str, &Run, &Verdict)], b: &[(&str, &Run, &Verdict)]) -> Vec<String> {
    objections_except(ExpectedDifference::Nothing, a, b)
}

/// Difference between the sides that the user intends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExpectedDifference {
    /// No difference.
    Nothing,
    /// The target of the requests, such as two builds of a service on different ports.
    Target,
}

/// Returns the reasons that [`objections`] returns, except for the `expected` difference.
pub fn objections_except(
    expected: ExpectedDifference,
    a: &[(&str, &Run, &Verdict)],
    b: &[(&str, &Run, &Verdict)],
) -> Vec<String> {
    let all: Vec<_> = a.iter().chain(b).collect();
    let invalid =
        all.iter().filter(|(.., verdict)| verdict.state == VerdictState::Invalid).map(|(name, _, verdict)| {
            let why = verdict.reasons.first().map_or("", |reason| reason.code.as_str());
            format!("{name} is INVALID ({why})")
        });
    let Some((first_name, first, _)) = all.first() else { return Vec::new() };
    let differing = all.iter().skip(1).flat_map(|(name, run, _)| {
        differences_except(expected, &first.facts, &run.facts)
            .into_iter()
            .map(move |(what, first, other)| format!("{what} is {first} in {first_name} and {other} in {name}"))
    });
    let twice = all.iter().enumerate().flat_map(|(at, (name, run, _))| {
        let is_same = |(_, other, _): &&&(&str, &Run, &Verdict)| is_same(run, other);
        all[..at].iter().find(is_same).map(|(other, ..)| format!("{other} and {name} are the same run"))
    });
    let mut objections: Vec<String> = Vec::new();
    for objection in invalid.chain(differing).chain(twice) {
        if !objections.contains(&objection) {
            objections.push(objection);
        }
    }
    objections
}

fn is_same(a: &Run, b: &Run) -> bool {
    let started = a.facts.started_at_unix_ns.is_some() && a.facts.started_at_unix_ns == b.facts.started_at_unix_ns;
    started && a.snapshot.tally == b.snapshot.tally && a.snapshot.last_end == b.snapshot.last_end
}

/// Returns the settings that differ, except for the `expected` difference, and can change response times of the same
/// service: name, and both values.
pub(crate) fn differences_except(
    expected: ExpectedDifference,
    a: &Facts,
    b: &Facts,
) -> Vec<(&'static str, String, String)> {
    let x = &a.offered;
    let y = &b.offered;
    let generator = |facts: &Facts| facts.generator.clone();
    let clock = |facts: &Facts| generator(facts).map(|generator| generator.end_clock);
    let timing = |facts: &Facts| generator(facts).map(|generator| generator.timing);
    let hash = |facts: &Facts| facts.offered.mix.as_ref().map(|mix| mix.hash.clone());
    [
        differ("the load model", &x.model, &y.model),
        differ("the rate profile", &x.profile, &y.profile),
        differ("the spacing", &x.spacing, &y.spacing),
        differ("the number of users", &x.users, &y.users),
        differ("the number of users over time", &x.users_over_time, &y.users_over_time),
        differ("the number of requests per session", &x.requests_per_session, &y.requests_per_session),
        differ("the think time", &x.think_time_ns, &y.think_time_ns),
        differ("the limit on connections", &x.connections, &y.connections),
        differ("--connection-per-session", &x.connection_per_session, &y.connection_per_session),
        differ("the timeout", &x.timeout_ns, &y.timeout_ns),
        differ("the URL", &x.url, &y.url).filter(|_| expected == ExpectedDifference::Nothing),
        differ("the method", &x.method, &y.method),
        differ("the set of requests", &hash(a), &hash(b)).filter(|_| expected == ExpectedDifference::Nothing),
        differ("HTTP/2", &x.http2, &y.http2),
        differ("gRPC", &x.grpc, &y.grpc),
        differ("the framing of messages", &x.messages, &y.messages),
        differ("the source", &a.source, &b.source),
        differ("--timing", &timing(a), &timing(b)),
        differ("the clock of the answers", &clock(a), &clock(b)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn differ<T: PartialEq + Debug>(what: &'static str, a: &T, b: &T) -> Option<(&'static str, String, String)> {
    (a != b).then(|| (what, shown(a), shown(b)))
}

/// Formats `Some("x")` as `x`, and `None` as `not set`.
fn shown(value: &impl Debug) -> String {
    let text = format!("{value:?}");
    let inner = text.strip_prefix("Some(").and_then(|text| text.strip_suffix(')')).unwrap_or(&text);
    if inner == "None" { "not set".to_owned() } else { inner.trim_matches('"').to_owned() }
}
