//! `truetail run`: offers load, measures, judges, and reports.

use std::mem;
use std::ops::ControlFlow;

use crate::args::run::RunArgs;
use crate::baseline::Baseline;
use crate::config;
use crate::error::{ExitCode, Result};
use crate::resolve::run::Printed;
use crate::setup;
use crate::stages::{Delivered, Delivery, Prepared, Turns};

/// Offers the load, judges the gates, and saves and prints the result.
///
/// # Errors
/// If the load cannot be offered, or the result cannot be saved or printed.
pub(super) fn run(args: RunArgs) -> Result<ExitCode> {
    match offer(config::complete(args)?, None)? {
        ControlFlow::Continue(Delivered { code, steps, .. }) => steps.end(code),
        ControlFlow::Break(signal) => Ok(ExitCode::Signal(signal)),
    }
}

/// Offers the load, judges the gates, saves the result, and prints it. With `turns`, JSON is left to the caller. Breaks
/// with a signal that came before the load.
pub(super) fn offer(args: RunArgs, turns: Option<&Turns>) -> Result<ControlFlow<i32, Delivered>> {
    let screen = args.screen;
    let baseline = Baseline::resolve(args.baseline.clone(), args.out.as_deref(), &args.gates.per_request())?;
    let has_distinct_prompts = args.streams.cache_bust;
    let mut resolved = setup::resolve(args)?;
    if let Some(baseline) = baseline.as_ref().filter(|_| has_distinct_prompts) {
        resolved.notes.extend(baseline.note_on_prompts(&resolved.plan.offered()));
    }
    let printed = match resolved.printing.result {
        Printed::Json if turns.is_some() => Printed::Elsewhere,
        printed => printed,
    };
    let delivery = Delivery { printed, screen, files: mem::take(&mut resolved.files) };
    let prepared = Prepared::new(resolved, baseline)?;
    prepared.print_notes();
    let measured = match prepared.measure(turns)? {
        ControlFlow::Continue(measured) => measured,
        ControlFlow::Break(signal) => return Ok(ControlFlow::Break(signal)),
    };
    let script = measured.finish_script();
    let delivered = measured.judge().deliver(&delivery);
    if let Some((script, done)) = script {
        script.print_held()?;
        done?;
    }
    Ok(ControlFlow::Continue(delivered))
}
