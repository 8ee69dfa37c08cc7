//! `truetail flow from-postman`.

use truetail_import::ways::flow_of_postman;

use super::deliver::{check_out, deliver, flow_file};
use crate::args::flow_verb::FromPostmanArgs;
use crate::error::{ExitCode, Result, runtime_error};
use crate::resolve::input;

/// Writes a collection as a Hurl file.
///
/// # Errors
/// If the collection cannot be read or has no usable request, or the result cannot be written.
pub(super) fn from_postman(args: &FromPostmanArgs) -> Result<ExitCode> {
    let out = args.out.as_deref().map(|out| flow_file(out, &args.file)).transpose()?;
    check_out(out.as_deref(), &args.file)?;
    let bytes = input::bytes(&args.file)?;
    let name = args.file.file_name().unwrap_or_default().to_string_lossy();
    let flow = flow_of_postman(&bytes, &name)
        .map_err(|error| runtime_error(format!("cannot make a flow of '{}': {error}", args.file.display())))?;
    deliver(&flow.hurl, out.as_deref(), &flow.notes)
}
