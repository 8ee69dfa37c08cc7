//! Delivery of a result: to its folder, standard output, files and views.

use std::mem;

use truetail_report::{SummaryOptions, compare_text, summary};
use truetail_run::{Findings, Run, folder, wire};

use super::judged::Judged;
use crate::after_load::AfterLoad;
use crate::args::screen::ScreenArgs;
use crate::error::{ExitCode, Result, runtime_error};
use crate::resolve::run::{Printed, RunFiles};
use crate::{gating, output, page, vllm};

/// Limit on the bytes of a packed run. Kubernetes keeps 10 MiB of a log, which also holds the lines before the run.
const MAX_PACKED: usize = 8 << 20;

/// Places that a result goes to, besides its folder and the files of its gates.
#[derive(Default, Debug)]
pub(crate) struct Delivery {
    pub printed: Printed,
    pub screen: ScreenArgs,
    pub files: RunFiles,
}

/// Result that went to its places.
pub(crate) struct Delivered {
    /// Exit code if no step failed.
    pub code: ExitCode,
    /// Results of the steps.
    pub steps: AfterLoad,
    pub result: Judged,
}

impl Judged {
    /// Saves the run, prints it, and writes what was asked for. Every step is tried.
    pub(crate) fn deliver(mut self, to: &Delivery) -> Delivered {
        let mut steps = AfterLoad::default();
        steps.tried(self.save());
        let mut views = mem::take(&mut self.views);
        views.finish(&self.run, &self.findings);
        self.print(to, &mut steps);
        if to.printed != Printed::Packed {
            self.write(&to.files, &mut steps);
        }
        views.end();
        Delivered { code: self.exit_code(to.printed), steps, result: self }
    }

    fn print(&self, to: &Delivery, steps: &mut AfterLoad) {
        let Judged { run, findings, .. } = self;
        match to.printed {
            Printed::Packed => drop(steps.tried(print_packed(run, findings))),
            Printed::Json => {
                steps.tried(output::print(&wire::v1::run_file(run, findings).to_json()));
                gating::note_failures(findings);
            }
            Printed::Summary => {
                let saved = self.saved.as_ref().map(|folder| folder.display().to_string());
                let options = SummaryOptions { saved: saved.as_deref(), details: to.screen.details };
                steps.tried(output::print(&summary(run, findings, options, output::stdout_style())));
                if let Some(compared) = &self.compared {
                    steps.tried(output::print(&format!("\n{}", compare_text(compared, output::stdout_style()))));
                }
            }
            Printed::Elsewhere => {}
        }
    }

    fn write(&self, files: &RunFiles, steps: &mut AfterLoad) {
        let Judged { run, findings, .. } = self;
        self.gating.write(run, findings, steps);
        steps.tried(self.baseline.as_ref().map_or(Ok(()), |baseline| baseline.write(run, findings)));
        if let Some(file) = &files.html {
            steps.tried(output::write_file(file, page::page_of(run, findings)));
        }
        steps.tried(vllm::write(files.vllm_json.as_deref(), run, findings));
    }

    fn exit_code(&self, printed: Printed) -> ExitCode {
        match self.run.facts.stripe {
            // A stripe is judged when it is merged.
            Some(_) if printed == Printed::Packed => self.signal.map_or(ExitCode::Success, ExitCode::Signal),
            _ => gating::exit_code(&self.run, &self.findings, self.signal),
        }
    }
}

/// Prints the run as text with everything that its folder would hold.
fn print_packed(run: &Run, findings: &Findings) -> Result<()> {
    let name = run.facts.stripe.as_ref().map_or("run".to_owned(), |stripe| format!("stripe-{}", stripe.index));
    let packed = folder::pack(run, findings, &name, MAX_PACKED);
    let (text, whole) = packed.map_err(|error| runtime_error(format!("cannot print the run: {error}")))?;
    if !whole {
        output::note("the single requests of samples.csv are left out: with them the run is longer than a log may be");
    }
    output::print(&text)
}
