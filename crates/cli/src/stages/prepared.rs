//! Load that was checked and tried.

use truetail_engine::Target;

use super::preflight::preflight;
use crate::baseline::Baseline;
use crate::error::Result;
use crate::live::LiveView;
use crate::output;
use crate::output_folder::OutputFolder;
use crate::receiving::SpanListener;
use crate::resolve::run::ResolvedRun;
use crate::scraping::Scrapers;

/// Load that is ready: its options and places were checked, and its server was tried. It has created nothing yet.
pub(crate) struct Prepared {
    pub(super) resolved: ResolvedRun,
    pub(super) baseline: Option<Baseline>,
    pub(super) views: LiveView,
    /// Listener for spans.
    pub(super) spans: Option<SpanListener>,
    /// Services that are read during the run.
    pub(super) scrapers: Scrapers,
    /// Notes from the preflight.
    pub(super) tried: Vec<String>,
}

impl Prepared {
    /// Checks the place of the result, prepares the views, and tries the server. A signal meanwhile ends the process.
    ///
    /// # Errors
    /// If the result cannot be saved, a view cannot be shown, or the server does not answer.
    pub(crate) fn new(mut resolved: ResolvedRun, baseline: Option<Baseline>) -> Result<Prepared> {
        OutputFolder::check(&resolved.save_to)?;
        let views = LiveView::prepare(&resolved.beside.live)?;
        let spans = SpanListener::prepare(&resolved.beside.spans, &resolved.plan.target)?;
        let files_of_spans = spans.as_ref().map_or(0, SpanListener::files);
        resolved.plan.other_files = views.files() + files_of_spans + Scrapers::files(&resolved.beside.scrapes);
        let tried = preflight(&mut resolved.plan, resolved.trial, resolved.observed.checks.as_ref())?;
        let scrapers = Scrapers::prepare(&resolved.beside.scrapes)?;
        Ok(Prepared { resolved, baseline, views, spans, scrapers, tried })
    }

    /// Prints the notes about the options.
    pub(crate) fn print_notes(&self) {
        self.resolved.notes.iter().for_each(|note| output::note(note));
    }
}

/// Returns the name of the folder for runs against `target`.
pub(crate) fn name_of(target: &Target) -> String {
    let origin = target.origin();
    let port = if origin.has_default_port() { String::new() } else { format!("-{}", origin.port) };
    format!("{}{port}", origin.host)
}
