//! Export of a run in other forms: pictures, CSV, HdrHistogram's text.

use std::fs;
use std::path::Path;

use truetail_analysis::series::series;
use truetail_report::plot::pictures_of_run;
use truetail_report::{OutputFile, csv_files, hgrm, quantiles_csv};
use truetail_run::{Findings, Run};

use crate::after_load::AfterLoad;
use crate::args::export::ExportArgs;
use crate::error::{Result, runtime_error, usage_error};
use crate::output;
use crate::output_folder::write_files;

/// Forms to export, and their places.
#[derive(Debug)]
pub(crate) struct Export(ExportArgs);

impl Export {
    /// Checks that at most one form goes to standard output. `json` counts as a form there.
    pub(crate) fn resolve(args: ExportArgs, json: bool) -> Result<Export> {
        let printed = [("--json", json), ("--csv", args.csv == Some(None)), ("--hgrm", args.hgrm == Some(None))];
        let printed: Vec<&str> = printed.into_iter().filter(|(_, printed)| *printed).map(|(name, _)| name).collect();
        if let [one, other, ..] = printed[..] {
            let place = if other == "--csv" { "--csv=DIR" } else { "--hgrm=FILE" };
            return Err(usage_error(format!(
                "{one} and {other} both print on standard output; write one of them to disk: {place}"
            )));
        }
        Ok(Export(args))
    }

    /// Returns the form that replaces the report on standard output.
    pub(crate) fn printed(&self, run: &Run, findings: &Findings) -> Option<String> {
        match (&self.0.csv, &self.0.hgrm) {
            (Some(None), _) => Some(quantiles_csv(findings)),
            (_, Some(None)) => Some(hgrm(&run.snapshot)),
            _ => None,
        }
    }

    /// Writes the forms that go to disk, and continues after a failure.
    pub(crate) fn write(&self, run: &Run, findings: &Findings, steps: &mut AfterLoad) {
        self.write_folders(run, findings, steps);
        let Some(Some(file)) = &self.0.hgrm else { return };
        steps.tried(output::write_file(file, hgrm(&run.snapshot)));
    }

    fn write_folders(&self, run: &Run, findings: &Findings, steps: &mut AfterLoad) {
        let csv = self.0.csv.as_ref().and_then(Option::as_deref);
        if self.0.svg.is_none() && csv.is_none() {
            return;
        }
        let series = series(run, findings);
        if let Some(folder) = csv {
            steps.tried(write_into(folder, &csv_files(findings, &series)));
        }
        if let Some(folder) = &self.0.svg {
            let file = |(name, picture): (&str, truetail_report::plot::Picture)| {
                OutputFile::text(format!("{name}.svg"), picture.svg())
            };
            let files: Vec<OutputFile> = pictures_of_run(run, findings, &series).into_iter().map(file).collect();
            steps.tried(write_into(folder, &files));
        }
    }
}

/// Writes files into a folder, which is created if it is missing.
fn write_into(folder: &Path, files: &[OutputFile]) -> Result<()> {
    fs::create_dir_all(folder)
        .map_err(|error| runtime_error(format!("cannot create {}: {error}", folder.display())))?;
    write_files(folder, files)
}
