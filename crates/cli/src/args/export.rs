//! A saved run in other forms: pictures, CSV, HdrHistogram's text.

use std::path::PathBuf;

use clap::Args;

/// A saved run in other forms.
#[derive(Args, Clone, Default, Debug)]
pub(crate) struct ExportArgs {
    /// Write the pictures of the run into this folder, as SVG
    #[arg(long, value_name = "DIR", help_heading = "Other forms")]
    pub svg: Option<PathBuf>,
    /// Print all percentiles as CSV, and nothing else; --csv=DIR writes quantiles.csv, over-time.csv and curves.csv
    /// there
    #[arg(long, value_name = "DIR", num_args = 0..=1, require_equals = true, help_heading = "Other forms")]
    pub csv: Option<Option<PathBuf>>,
    /// Print the response times in HdrHistogram's percentile format, in ms, and nothing else; --hgrm=FILE writes a file
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, help_heading = "Other forms")]
    pub hgrm: Option<Option<PathBuf>>,
}
