//! `truetail man`: writes the man pages.

use std::fs;

use crate::args::definition;
use crate::args::man::ManArgs;
use crate::error::{ExitCode, Result, runtime_error};
use crate::output;

/// Writes `truetail.1` and one page per verb.
pub(super) fn man(args: &ManArgs) -> Result<ExitCode> {
    let folder = args.out.display();
    fs::create_dir_all(&args.out)
        .and_then(|()| clap_mangen::generate_to(definition(), &args.out))
        .map_err(|error| runtime_error(format!("cannot write the man pages to {folder}: {error}")))?;
    output::print(&format!("man pages in {folder}\n")).map(|()| ExitCode::Success)
}
