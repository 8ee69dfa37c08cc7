//! The binary `truetail`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(truetail_cli::command(std::env::args_os()))
}
