//! Page of a run, as text.

use truetail_analysis::series::{RunSeries, series};
use truetail_page::{Overlay, RunPage, run_page};
use truetail_run::{Findings, Run};

/// Returns the page of a run whose gates were judged.
pub(crate) fn page_of(run: &Run, findings: &Findings) -> String {
    run_page(&RunPage::new(run, findings, &series(run, findings)))
}

/// Returns the page of a run, with the percentiles of other runs, given as (name, run), beside its own.
pub(crate) fn page_beside(run: &Run, findings: &Findings, others: &[(String, Run)]) -> String {
    let drawn: Vec<(&str, RunSeries)> = others
        .iter()
        .map(|(name, other)| (name.as_str(), series(other, &truetail_analysis::findings(other))))
        .collect();
    let overlays: Vec<Overlay<'_>> = drawn.iter().map(|(name, series)| Overlay { name, series }).collect();
    run_page(&RunPage::new(run, findings, &series(run, findings)).with(&overlays))
}
