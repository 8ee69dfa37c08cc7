//! The binary `truetail`.

#![warn(unreachable_pub)]

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(truetail_cli::command(std::env::args_os()))
}
