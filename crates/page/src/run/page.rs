//! The content of the page of a run.

use truetail_analysis::series::RunSeries;
use truetail_analysis::verdict::code;
use truetail_run::{Findings, Run};

use crate::site::SitePlace;

/// A run, and the data of its page.
#[derive(Clone, Copy, Debug)]
pub struct RunPage<'a> {
    /// The recorded run.
    pub run: &'a Run,
    /// Findings of the run, with its gates judged.
    pub findings: &'a Findings,
    /// Data for its pictures.
    pub series: &'a RunSeries,
    /// True if the run is in progress. The script then replaces what changes.
    pub live: bool,
    /// Other runs in the picture of the percentiles.
    pub overlays: &'a [Overlay<'a>],
    /// Place of the page in a site, if it is in one.
    pub site: Option<&'a SitePlace>,
}

/// A run that is laid over the percentile curve of another run.
#[derive(Clone, Copy, Debug)]
pub struct Overlay<'a> {
    /// Name of the run in the legend.
    pub name: &'a str,
    /// Data for its pictures.
    pub series: &'a RunSeries,
}

impl<'a> RunPage<'a> {
    /// Creates the page of a completed run, without overlays.
    pub fn new(run: &'a Run, findings: &'a Findings, series: &'a RunSeries) -> RunPage<'a> {
        RunPage { run, findings, series, live: false, overlays: &[], site: None }
    }

    /// Sets whether the run is in progress.
    pub fn live(self, live: bool) -> RunPage<'a> {
        RunPage { live, ..self }
    }

    /// Puts the page in a site.
    pub fn on(self, site: &'a SitePlace) -> RunPage<'a> {
        RunPage { site: Some(site), ..self }
    }

    /// Adds other runs to the picture of the percentiles.
    pub fn with(self, overlays: &'a [Overlay<'a>]) -> RunPage<'a> {
        RunPage { overlays, ..self }
    }

    /// Returns true if the backlog grew without end, so that response times depend on the length of the run.
    pub(crate) fn is_saturated(&self) -> bool {
        self.findings.verdict.has(code::SATURATED)
    }
}
