//! Figures about the answers of a language model in run.json.

use truetail_run::wire::v1::RunFile;
use truetail_run::{ClaimedQuantile, Distribution, GapMeaning, StreamClaims};

/// Returns the figures; `None` if the run did not query a language model.
pub(super) fn claims(run: &RunFile) -> Option<StreamClaims> {
    let llm = run.stream.as_ref()?.times.llm.as_ref()?;
    let first = &llm.first_content_time;
    let gap = &llm.content_gap;
    Some(StreamClaims {
        first: quantiles(first),
        first_max_ns: max(first),
        measured: Some(first.count),
        gaps: quantiles(gap),
        gap_max_ns: max(gap),
        gap_of: GapMeaning::Event,
    })
}

/// Returns the quantiles without lower bounds, which are not figures.
fn quantiles(times: &Distribution) -> Vec<ClaimedQuantile> {
    let stated = times.quantiles.iter().filter(|quantile| quantile.q < 1.0 && quantile.supported && !quantile.at_least);
    let claimed = stated.filter_map(|one| Some(ClaimedQuantile { q: one.q, value_ns: one.value_ns?, printed: true }));
    claimed.collect()
}

fn max(times: &Distribution) -> Option<u64> {
    times.max_ns.filter(|_| times.censored + times.failed == 0)
}
