//! `truetail report`.

use std::path::PathBuf;

use clap::Args;

use super::export::ExportArgs;
use super::gates::GateArgs;
use super::page::ReportPageArgs;
use super::screen::ScreenArgs;
use super::stream::VllmArgs;
use super::values::run_folder;

const EXAMPLE: &str = "\
Examples:
  truetail report truetail-runs/20251120T075600Z-127.0.0.1-8080
  truetail report truetail-runs/20251120T075600Z-127.0.0.1-8080 -o page.html
  truetail report truetail-runs/20251120T075600Z-127.0.0.1-8080 --svg pictures --hgrm=percentiles.hgrm";

/// Print the result of a saved run
#[derive(Args, Debug)]
#[command(before_help = EXAMPLE)]
pub(crate) struct ReportArgs {
    /// Folder of the run, or its run.json
    #[arg(value_parser = run_folder)]
    pub run: PathBuf,
    /// Say where the time of the run's requests went, by the spans in this file: what a collector's file exporter wrote
    /// as JSON, or what Jaeger exported; repeatable. The run needs --trace
    #[arg(long, value_name = "FILE")]
    pub spans: Vec<PathBuf>,
    /// Print run.json on standard output, and nothing else
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub export: ExportArgs,
    #[command(flatten)]
    pub gates: GateArgs,
    #[command(flatten)]
    pub page: ReportPageArgs,
    #[command(flatten)]
    pub vllm: VllmArgs,
    #[command(flatten)]
    pub screen: ScreenArgs,
}
