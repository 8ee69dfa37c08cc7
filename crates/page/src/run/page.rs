//! What a page is made of.

use truetail_analysis::series::RunSeries;
use truetail_analysis::verdict::SATURATED;
use truetail_run::{Findings, Run};

use crate::data::PageRun;

/// A run to make a page of.
#[derive(Clone, Copy, Debug)]
pub struct RunPage<'a> {
    /// What was recorded.
    pub run: &'a Run,
    /// What was found, with its gates judged.
    pub findings: &'a Findings,
    /// What is drawn of it.
    pub series: &'a RunSeries,
    /// The run is going on: its pictures are left to the script, which gets new data.
    pub live: bool,
    /// Other runs in the picture of its percentiles.
    pub overlays: &'a [Overlay<'a>],
}

/// A run that is laid over the percentile curve of another one.
#[derive(Clone, Copy, Debug)]
pub struct Overlay<'a> {
    /// What the legend calls it.
    pub name: &'a str,
    /// What is drawn of it.
    pub series: &'a RunSeries,
}

impl<'a> RunPage<'a> {
    /// The page of a run that has ended, on its own.
    pub fn new(run: &'a Run, findings: &'a Findings, series: &'a RunSeries) -> RunPage<'a> {
        RunPage { run, findings, series, live: false, overlays: &[] }
    }

    /// The same of a run that is going on, or not.
    pub fn live(self, live: bool) -> RunPage<'a> {
        RunPage { live, ..self }
    }

    /// The same with other runs in the picture of its percentiles.
    pub fn with(self, overlays: &'a [Overlay<'a>]) -> RunPage<'a> {
        RunPage { overlays, ..self }
    }

    /// What the legends call the run itself.
    pub(crate) fn name(&self) -> &'static str {
        "this run"
    }

    /// All runs of the page, for its script.
    pub(crate) fn runs(&self) -> Vec<PageRun<'a>> {
        let this = PageRun { name: self.name().to_owned(), series: self.series };
        let others = self.overlays.iter().map(|other| PageRun { name: other.name.to_owned(), series: other.series });
        std::iter::once(this).chain(others).collect()
    }

    /// The backlog grew without end, so that response times say how long the run was.
    pub(crate) fn is_saturated(&self) -> bool {
        self.findings.verdict.reasons.iter().any(|reason| reason.code == SATURATED)
    }
}
