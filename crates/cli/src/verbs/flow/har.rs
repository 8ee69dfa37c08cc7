//! `truetail flow from-har`.

use truetail_import::ways::{HarOptions, flow_of_har};

use super::deliver::{check_out, deliver};
use crate::args::flow_verb::FromHarArgs;
use crate::error::{ExitCode, Result, runtime_error};
use crate::resolve::input;

/// Writes a browser's recording as a Hurl file.
///
/// # Errors
/// If the archive cannot be read or has no usable request, or the result cannot be written.
pub(super) fn from_har(args: &FromHarArgs) -> Result<ExitCode> {
    check_out(args.out.as_deref(), &args.file)?;
    let shown = args.file.display();
    let bytes = input::bytes(&args.file)?;
    let name = args.file.file_name().unwrap_or_default().to_string_lossy();
    let options = HarOptions { assets: args.assets, origins: args.origin.clone() };
    let flow = flow_of_har(&bytes, &name, &options)
        .map_err(|error| runtime_error(format!("cannot make a flow of '{shown}': {error}")))?;
    deliver(&flow.hurl, args.out.as_deref(), &flow.notes)
}
