//! `truetail run`, resolved.

use truetail_engine::{Plan, TooFewFiles};
use truetail_run::{EndClock, Timing};

use super::{load, request, tls};
use crate::args::run::{RunArgs, TimingName, WarmupValue};
use crate::outcome::{Failure, Result, could_not, usage};
use crate::supervise::Terms;
use crate::target_folder::Place;
use crate::threshold::Threshold;

/// What `truetail run` is to do.
#[derive(Debug)]
pub struct ResolvedRun {
    /// The load, and to whom.
    pub plan: Plan,
    /// Things to say in the run.
    pub notes: Vec<String>,
    /// Ask once before the load.
    pub preflight: bool,
    /// Conditions under which the run fails.
    pub thresholds: Vec<Threshold>,
    /// Where the run is saved.
    pub place: Place,
    /// `run.json` on standard output in place of the summary.
    pub json: bool,
    /// When it ends before its limit, and whether what comes before the response time has settled is cut off.
    pub terms: Terms,
    /// No progress.
    pub quiet: bool,
}

/// Checks the arguments, reads the files that they name, looks the host up, and raises the limit on open files.
///
/// # Errors
/// What is wrong, in one line.
pub fn resolve(args: RunArgs) -> Result<ResolvedRun> {
    let workload = load::workload(&args)?;
    let place = place(&args)?;
    let timing = timing(&args)?;
    let mut target = request::target(&args)?;
    tls::secure(&mut target, &args)?;
    let mut plan = Plan::new(workload, target);
    plan.keep_alive = !args.no_keepalive;
    plan.max_streams = args.max_streams;
    plan.threads = args.threads;
    if args.user_timestamps {
        plan.end_clock = EndClock::User;
    }
    plan.timing = timing;
    plan.check_open_files().map_err(too_few_files)?;
    Ok(ResolvedRun {
        plan,
        notes: tls::notes(&args),
        preflight: !args.no_preflight,
        thresholds: args.fail_if,
        place,
        json: args.json,
        terms: Terms {
            until: args.until,
            cut_warmup: args.warmup == Some(WarmupValue::Auto),
            stop_when_saturated: args.stop_when_saturated,
        },
        quiet: args.quiet,
    })
}

/// Without the kernel's word, answers would be as old as the last tick.
fn timing(args: &RunArgs) -> Result<Timing> {
    match args.timing {
        Some(TimingName::Cheap) if args.unix_socket.is_some() => Err(usage(
            "--timing cheap and --unix-socket contradict each other: answers are read once a millisecond, and the kernel \
             does not say when they came through such a socket; leave one out",
        )),
        Some(TimingName::Cheap) if args.user_timestamps => Err(usage(
            "--timing cheap and --user-timestamps contradict each other: answers are read once a millisecond, so only \
             the kernel knows when they came; leave one out",
        )),
        Some(TimingName::Cheap) => Ok(Timing::Cheap),
        Some(TimingName::Precise) => Ok(Timing::Precise),
        Some(TimingName::Balanced) | None => Ok(Timing::Balanced),
    }
}

fn place(args: &RunArgs) -> Result<Place> {
    match (&args.out, args.no_save) {
        (Some(_), true) => Err(usage("--out and --no-save contradict each other; give one")),
        (Some(folder), false) => Ok(Place::Chosen(folder.clone())),
        (None, true) => Ok(Place::Nowhere),
        (None, false) => Ok(Place::Fresh),
    }
}

fn too_few_files(error: TooFewFiles) -> Failure {
    let asked = error.asked;
    could_not(format!(
        "--connections {asked} is more than the limit on open files allows: {error}; raise it with ulimit -n, or ask for \
         fewer"
    ))
}
