//! Comparison of the loads of two runs.

use serde::Serialize;
use truetail_model::cancellation::Cancellation;

use crate::{Facts, Mix, OfferedLoad};

/// Returns the first difference that prevents merging two runs: name and both values.
pub(super) fn difference(a: &Facts, b: &Facts) -> Option<(&'static str, String, String)> {
    let x = &a.offered;
    let y = &b.offered;
    None.or_else(|| differ("source", &a.source, &b.source))
        .or_else(|| differ("scenario.name", &x.name, &y.name))
        .or_else(|| differ("scenario.model", &x.model, &y.model))
        .or_else(|| differ("scenario.url", &x.url, &y.url))
        .or_else(|| differ("scenario.method", &x.method, &y.method))
        .or_else(|| differ("scenario.mix.hash", &hash_of_requests(x), &hash_of_requests(y)))
        .or_else(|| differ("scenario.profile", &x.profile, &y.profile))
        .or_else(|| differ("scenario.spacing", &x.spacing, &y.spacing))
        .or_else(|| differ("scenario.duration_ns", &x.duration_ns, &y.duration_ns))
        .or_else(|| differ("scenario.requests", &x.requests, &y.requests))
        .or_else(|| differ("scenario.users", &x.users, &y.users))
        .or_else(|| differ("scenario.users_over_time", &x.users_over_time, &y.users_over_time))
        .or_else(|| differ("scenario.requests_per_session", &x.requests_per_session, &y.requests_per_session))
        .or_else(|| differ("scenario.think_time_ns", &x.think_time_ns, &y.think_time_ns))
        .or_else(|| differ("scenario.connections", &x.connections, &y.connections))
        .or_else(|| differ("scenario.connection_per_session", &x.connection_per_session, &y.connection_per_session))
        .or_else(|| differ("scenario.http2", &x.http2, &y.http2))
        .or_else(|| differ("scenario.timeout_ns", &x.timeout_ns, &y.timeout_ns))
        .or_else(|| differ("scenario.cancel", &without_choice(x), &without_choice(y)))
        .or_else(|| differ("scenario.drain_ns", &x.drain_ns, &y.drain_ns))
        .or_else(|| differ("scenario.warmup_ns", &x.warmup_ns, &y.warmup_ns))
        .or_else(|| differ("scenario", &without_seed(x), &without_seed(y)))
        .or_else(|| stripe_differences(a, b))
}

/// Compares stripes, which are parts of one run: they must have the same seed, version and schedule.
fn stripe_differences(a: &Facts, b: &Facts) -> Option<(&'static str, String, String)> {
    let (Some(x), Some(y)) = (&a.stripe, &b.stripe) else { return None };
    let mix_seed = |facts: &Facts| facts.offered.mix.as_ref().and_then(|mix| mix.seed);
    differ("seed", &a.offered.seed, &b.offered.seed)
        .or_else(|| differ("scenario.mix.seed", &mix_seed(a), &mix_seed(b)))
        .or_else(|| differ("scenario.values_seed", &a.offered.values_seed, &b.offered.values_seed))
        .or_else(|| differ("scenario.cancel", &a.offered.cancel, &b.offered.cancel))
        .or_else(|| differ("version", &a.version, &b.version))
        .or_else(|| differ("stripe.of", &x.of, &y.of))
        .or_else(|| differ("stripe.schedule", &x.schedule, &y.schedule))
}

/// Returns the cancellation without the seed of its choice.
fn without_choice(offered: &OfferedLoad) -> Option<Cancellation> {
    offered.cancel.map(|cancel| Cancellation { seed: 0, ..cancel })
}

fn hash_of_requests(offered: &OfferedLoad) -> Option<&str> {
    offered.mix.as_ref().map(|mix| mix.hash.as_str())
}

/// Returns everything that must be equal, for fields that [`difference`] does not name.
fn without_seed(offered: &OfferedLoad) -> OfferedLoad {
    let mix = offered.mix.clone().map(|mix| Mix { seed: None, ..mix });
    OfferedLoad { seed: None, values_seed: None, cancel: without_choice(offered), mix, ..offered.clone() }
}

pub(super) fn differ<T: PartialEq + Serialize>(
    field: &'static str,
    a: &T,
    b: &T,
) -> Option<(&'static str, String, String)> {
    let json = |value: &T| serde_json::to_string(value).expect("a part of run.json");
    (a != b).then(|| (field, json(a), json(b)))
}
