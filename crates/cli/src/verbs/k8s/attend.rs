//! `truetail k8s attend`: passes orders to the truetail that runs in this container.

use std::fs;
use std::io::{self, BufRead};
use std::path::Path;

use rustix::process::{Pid, Signal, kill_process};

use super::render::instant;
use crate::args::k8s::AttendArgs;
use crate::error::{ExitCode, Result, runtime_error};
use crate::output;
use crate::resolve::stripe::unix_ns;
use crate::start::process_file;
use truetail_run::input;

/// Carries out the orders on standard input, one per line.
pub(super) fn attend(args: &AttendArgs) -> Result<ExitCode> {
    for line in io::stdin().lock().lines() {
        let line = line.map_err(|error| runtime_error(format!("cannot read standard input: {error}")))?;
        let answer = match line.split_once(' ').unwrap_or((line.trim(), "")) {
            ("clock", _) => unix_ns().to_string(),
            ("begin", at) => begin(&args.file, at)?,
            ("stop", _) => stop(&args.file)?,
            _ => {
                return Err(runtime_error(format!("unknown order '{line}'; use clock, begin NANOSECONDS or stop")));
            }
        };
        output::print(&format!("{answer}\n"))?;
    }
    Ok(ExitCode::Success)
}

/// Writes the instant to a new file and renames it, so that the reader never sees a part of the instant.
fn begin(file: &Path, at: &str) -> Result<String> {
    let at: u64 = at.trim().parse().map_err(|_| runtime_error(format!("begin: '{at}' is no number of nanoseconds")))?;
    let mut beside = file.as_os_str().to_owned();
    beside.push(".new");
    fs::write(&beside, instant(at))
        .and_then(|()| fs::rename(&beside, file))
        .map_err(|error| output::cannot_write(file, &error))?;
    Ok("ok".to_owned())
}

fn stop(file: &Path) -> Result<String> {
    let path = process_file(file);
    let text = input::text(&path).map_err(|error| runtime_error(format!("cannot read {}: {error}", path.display())))?;
    let process = text.trim().parse().ok().and_then(Pid::from_raw);
    let process = process.ok_or_else(|| runtime_error(format!("{} holds no process id", path.display())))?;
    kill_process(process, Signal::TERM)
        .map_err(|error| runtime_error(format!("cannot stop process {}: {error}", text.trim())))?;
    Ok("ok".to_owned())
}
