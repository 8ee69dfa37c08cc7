//! Run with everything that is judged about it.

use std::path::PathBuf;

use truetail_report::CompareReport;
use truetail_run::{Findings, GateFinding, Run};

use super::measured::Measured;
use crate::baseline::Baseline;
use crate::error::Result;
use crate::gating::Gating;
use crate::live::RunningView;
use crate::output;
use crate::output_folder::OutputFolder;
use crate::start;
use crate::supervisor::not_reached;

/// Run with its findings, and the places that it still goes to.
pub(crate) struct Judged {
    pub run: Run,
    /// Findings, including gates.
    pub findings: Findings,
    /// Comparison with the baseline.
    pub compared: Option<CompareReport>,
    /// Signal that ended the run.
    pub signal: Option<i32>,
    pub gating: Gating,
    pub baseline: Option<Baseline>,
    /// Folder to save it in.
    pub folder: Option<OutputFolder>,
    /// Folder that holds it.
    pub saved: Option<PathBuf>,
    pub views: RunningView,
}

impl Measured {
    /// Judges the run, its gates, and how it compares with the baseline.
    pub(crate) fn judge(self) -> Judged {
        let Measured { mut run, signal, judge, until, baseline, folder, views } = self;
        add_note(&mut run, start::said_of_late);
        let (mut run, mut findings) = judge.findings(run);
        add_note(&mut run, |run| not_reached(until?, run));
        let gating = judge.gating;
        gating.judge(&run, &mut findings, &[]);
        let compared = baseline.as_ref().and_then(|baseline| baseline.judge(&mut run, &mut findings));
        Judged { run, findings, compared, signal, gating, baseline, folder, saved: None, views }
    }
}

impl Judged {
    /// Judges a run that was not measured here. Without gates in `gating`, judges the `stored` ones again.
    pub(crate) fn of(run: Run, gating: Gating, stored: &[GateFinding]) -> Judged {
        let mut findings = truetail_analysis::findings(&run);
        gating.judge(&run, &mut findings, stored);
        Judged {
            run,
            findings,
            compared: None,
            signal: None,
            gating,
            baseline: None,
            folder: None,
            saved: None,
            views: RunningView::default(),
        }
    }

    /// Saves the run in its folder, if it has one.
    ///
    /// # Errors
    /// If a file of the run cannot be written.
    pub(crate) fn save(&mut self) -> Result<()> {
        if let Some(folder) = self.folder.take() {
            self.saved = Some(folder.save(&self.run, &self.findings)?);
        }
        Ok(())
    }
}

/// Prints a note on the run, if there is one, and adds it to the run.
fn add_note(run: &mut Run, note: impl FnOnce(&Run) -> Option<String>) {
    if let Some(note) = note(run) {
        output::note(&note);
        run.facts.notes.push(note);
    }
}
