//! Requests from a script.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Requests from a script.
#[derive(Args, Clone, Default, Debug)]
pub(crate) struct ScriptArgs {
    /// Let this script in Lua make the requests, with the interface of wrk and wrk2, or lead sessions by session(s). It
    /// decides what is sent, and the schedule when. Its arguments are at the end, in place of a curl command. Needs a
    /// truetail that was built with --features script
    #[arg(long, value_name = "FILE.lua", help_heading = "Request")]
    #[arg(conflicts_with_all = ["targets", "curl", "flow", "replay", "trace"])]
    pub script: Option<PathBuf>,
    /// Let the script use files and programs: io, os, require, dofile and loadfile
    #[arg(long, value_name = "WHAT", help_heading = "Request")]
    pub script_allow: Option<ScriptPower>,
}

/// `--script-allow`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum ScriptPower {
    /// Files, programs and modules.
    Io,
}
