//! `truetail flow from-k6` and `truetail flow from-jmx`.

use truetail_import::ImportError;
use truetail_import::ways::{LoadFiles, load_of_jmx, load_of_k6};

use super::deliver::deliver_files;
use crate::args::flow_verb::FromScriptArgs;
use crate::error::{ExitCode, Result, runtime_error};
use crate::resolve::input;

/// Writes a script of k6 as flows with a truetail.toml.
///
/// # Errors
/// If the script cannot be read or has no request that can be, or a file cannot be written.
pub(super) fn from_k6(args: &FromScriptArgs) -> Result<ExitCode> {
    convert(args, load_of_k6)
}

/// Writes a test plan of JMeter as flows with a truetail.toml.
///
/// # Errors
/// As [`from_k6`].
pub(super) fn from_jmx(args: &FromScriptArgs) -> Result<ExitCode> {
    convert(args, load_of_jmx)
}

fn convert(
    args: &FromScriptArgs,
    load_of: impl Fn(&[u8], &str) -> std::result::Result<LoadFiles, ImportError>,
) -> Result<ExitCode> {
    let bytes = input::bytes(&args.file)?;
    let name = args.file.file_name().unwrap_or_default().to_string_lossy();
    let load = load_of(&bytes, &name)
        .map_err(|error| runtime_error(format!("cannot make a load of '{}': {error}", args.file.display())))?;
    deliver_files(&load, &args.out)
}
