//! Lab of `truetail simulate`, with its options. Each lab allows only its own options, and has its own defaults.

use truetail_sim::labs::every_nth::{self, EveryNthOptions};
use truetail_sim::labs::freeze::{self, FreezeOptions};
use truetail_sim::labs::order_router::{self, OrderRouterOptions};
use truetail_sim::labs::{Lab, LabError};

use crate::args::simulate::{PauseEvery, SimulateLabArgs};
use crate::error::{CliError, Result, runtime_error, usage_error};

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum LabRun {
    Virtual(Lab),
    /// The lab `every-nth` on the wall clock.
    RealTime {
        options: EveryNthOptions,
        /// Show no progress.
        quiet: bool,
    },
}

impl LabRun {
    /// Returns the lab, for virtual or real time.
    pub(crate) fn lab(&self) -> Lab {
        match self {
            LabRun::Virtual(lab) => *lab,
            LabRun::RealTime { options, .. } => Lab::EveryNth(*options),
        }
    }
}

/// Names of the labs, with their options on the command line.
const OPTIONS: [(&str, &[&str]); 3] = [
    (
        freeze::NAME,
        &[
            "--base",
            "--pause-start",
            "--pause-length",
            "--duration",
            "--expected-interval",
            "--snapshot-interval",
            "--users",
        ],
    ),
    (every_nth::NAME, &["--base", "--rate", "--duration", "--pause-every", "--pause", "--real-time", "--quiet"]),
    (order_router::NAME, &["--base", "--rate", "--duration", "--pause-every", "--pause"]),
];

/// Returns the lab called `name` with the given options; `None` if no lab has this name.
///
/// # Errors
/// If an option belongs to another lab or to no lab with that name, or a value is not valid.
pub(crate) fn lab(name: &str, args: &SimulateLabArgs) -> Result<Option<LabRun>> {
    refuse_foreign_options(name, args)?;
    let lab = match Lab::by_name(name) {
        None => return Ok(None),
        Some(Lab::Freeze(defaults)) => Lab::Freeze(freeze_options(defaults, args)?),
        Some(Lab::EveryNth(defaults)) => return every_nth_run(defaults, args).map(Some),
        Some(Lab::OrderRouter(defaults)) => Lab::OrderRouter(order_router_options(defaults, args)?),
    };
    Ok(Some(LabRun::Virtual(lab)))
}

/// Converts the error of the lab called `name`: a usage error if an option is out of range.
pub(crate) fn lab_error(name: &str, error: &LabError) -> CliError {
    let message = format!("{name}: {error}");
    if error.is_invalid_option() { usage_error(message) } else { runtime_error(message) }
}

/// Refuses options of other labs, or all lab options if `name` is no lab.
fn refuse_foreign_options(name: &str, args: &SimulateLabArgs) -> Result<()> {
    let own = OPTIONS.iter().find(|(lab, _)| *lab == name).map(|(_, options)| *options);
    let is_foreign = |option: &str| own.is_none_or(|own| !own.contains(&option));
    match args.given().into_iter().find(|(option, given)| *given && is_foreign(option)) {
        Some((option, _)) => Err(foreign_option(option, name, own)),
        None => Ok(()),
    }
}

fn foreign_option(option: &str, name: &str, own: Option<&[&str]>) -> CliError {
    let owners: Vec<_> = OPTIONS.iter().filter(|(_, options)| options.contains(&option)).map(|(lab, _)| *lab).collect();
    let owners = match owners.split_last() {
        Some((last, [])) => format!("the lab {last}"),
        Some((last, others)) => format!("the labs {} and {last}", others.join(", ")),
        None => "no lab".to_owned(),
    };
    let help = match own {
        Some(own) => format!("{name} has {}", own.join(", ")),
        None => format!("'{name}' is not a lab; for a scenario, write it in the TOML file"),
    };
    usage_error(format!("{option} is an option of {owners}; {help}"))
}

fn freeze_options(defaults: FreezeOptions, args: &SimulateLabArgs) -> Result<FreezeOptions> {
    let options = FreezeOptions {
        base: args.base.unwrap_or(defaults.base),
        pause_start: args.pause_start.unwrap_or(defaults.pause_start),
        pause_length: args.pause_length.unwrap_or(defaults.pause_length),
        duration: args.duration.unwrap_or(defaults.duration),
        expected_interval: args.expected_interval.unwrap_or(defaults.expected_interval),
        snapshot_interval: args.snapshot_interval.unwrap_or(defaults.snapshot_interval),
        users: args.users.unwrap_or(defaults.users),
    };
    if options.pause_start >= options.duration && !options.pause_length.is_zero() {
        return Err(usage_error(format!(
            "--pause-start {} must be before the end (--duration {}), or no request meets the stall",
            options.pause_start, options.duration
        )));
    }
    Ok(options)
}

fn every_nth_run(defaults: EveryNthOptions, args: &SimulateLabArgs) -> Result<LabRun> {
    let pause_every = match args.pause_every {
        None => defaults.pause_every,
        Some(PauseEvery::Requests(requests)) => requests,
        Some(PauseEvery::Time(time)) => {
            return Err(usage_error(format!(
                "--pause-every {time}: every-nth needs a number of requests, such as 500 (order-router takes a time)"
            )));
        }
    };
    let options = EveryNthOptions {
        rate: args.rate.unwrap_or(defaults.rate),
        duration: args.duration.unwrap_or(defaults.duration),
        pause_every,
        pause: args.pause.unwrap_or(defaults.pause),
        work: args.base.unwrap_or(defaults.work),
    };
    if args.quiet && !args.real_time {
        return Err(usage_error("--quiet needs --real-time; a simulation in virtual time shows no progress"));
    }
    Ok(match args.real_time {
        true => LabRun::RealTime { options, quiet: args.quiet },
        false => LabRun::Virtual(Lab::EveryNth(options)),
    })
}

fn order_router_options(defaults: OrderRouterOptions, args: &SimulateLabArgs) -> Result<OrderRouterOptions> {
    let pause_every = match args.pause_every {
        None => defaults.pause_every,
        Some(PauseEvery::Time(time)) => time,
        Some(PauseEvery::Requests(requests)) => {
            return Err(usage_error(format!(
                "--pause-every {requests}: order-router needs a time, such as 800ms (every-nth takes a number of requests)"
            )));
        }
    };
    Ok(OrderRouterOptions {
        rate: args.rate.unwrap_or(defaults.rate),
        duration: args.duration.unwrap_or(defaults.duration),
        work: args.base.unwrap_or(defaults.work),
        pause: args.pause.unwrap_or(defaults.pause),
        pause_every,
    })
}
