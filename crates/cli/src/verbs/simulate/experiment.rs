//! Which lab with which options: every option belongs to the labs that know it, and what is not given has the value of
//! the founding documents.

use truetail_sim::labs::every_nth::EveryNthOptions;
use truetail_sim::labs::freeze::FreezeOptions;
use truetail_sim::labs::order_router::OrderRouterOptions;

use crate::args::simulate::{LabArgs, PauseEvery};
use crate::outcome::{Failure, Result, usage};

/// A lab with all its options.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Experiment {
    /// One freeze, three series.
    Freeze(FreezeOptions),
    /// A pause at every n-th request.
    EveryNth {
        /// Its options.
        options: EveryNthOptions,
        /// Where it is run.
        clock: Clock,
    },
    /// Short pauses of a fast service.
    OrderRouter(OrderRouterOptions),
}

/// Which time passes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Clock {
    /// None.
    Virtual,
    /// That of this machine.
    Wall {
        /// No progress.
        quiet: bool,
    },
}

/// What the labs are called.
pub const NAMES: [&str; 3] = ["freeze", "every-nth", "order-router"];

/// The labs, with the options that they know.
const LABS: [(&str, &[&str]); 3] = [
    (
        "freeze",
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
    ("every-nth", &["--base", "--rate", "--duration", "--pause-every", "--pause", "--real-time", "--quiet"]),
    ("order-router", &["--base", "--rate", "--duration", "--pause-every", "--pause"]),
];

impl Experiment {
    /// What its series are called.
    pub fn series(self) -> &'static [&'static str] {
        match self {
            Experiment::Freeze(_) => &["closed-loop-raw", "closed-loop-corrected", "open-loop"],
            Experiment::EveryNth { .. } => &["closed-loop", "open-loop"],
            Experiment::OrderRouter(_) => &["naive", "corrected", "open-loop"],
        }
    }
}

/// The lab called `name` with the options that were given; `None` where that is no lab, which then may have none.
///
/// # Errors
/// An option that does not belong to it, or a value that makes no sense in it.
pub fn find(name: &str, args: &LabArgs) -> Result<Option<Experiment>> {
    refuse_strangers(name, args)?;
    let experiment = match name {
        "freeze" => Experiment::Freeze(freeze(args)?),
        "every-nth" => every_nth(args)?,
        "order-router" => Experiment::OrderRouter(order_router(args)?),
        _ => return Ok(None),
    };
    Ok(Some(experiment))
}

/// Options of other labs are refused, and those of any lab where there is none.
fn refuse_strangers(name: &str, args: &LabArgs) -> Result<()> {
    let mine = LABS.iter().find(|(lab, _)| *lab == name).map(|(_, options)| *options);
    let is_strange = |option: &str| mine.is_none_or(|mine| !mine.contains(&option));
    match args.given().into_iter().find(|(option, given)| *given && is_strange(option)) {
        Some((option, _)) => Err(strange(option, name, mine)),
        None => Ok(()),
    }
}

fn strange(option: &str, name: &str, mine: Option<&[&str]>) -> Failure {
    let owners: Vec<_> = LABS.iter().filter(|(_, options)| options.contains(&option)).map(|(lab, _)| *lab).collect();
    let owners = match owners.split_last() {
        Some((last, [])) => format!("the lab {last}"),
        Some((last, others)) => format!("the labs {} and {last}", others.join(", ")),
        None => "no lab".to_owned(),
    };
    let help = match mine {
        Some(mine) => format!("{name} has {}", mine.join(", ")),
        None => format!("'{name}' is none; a scenario has these things in its TOML file"),
    };
    usage(format!("{option} belongs to {owners}; {help}"))
}

fn freeze(args: &LabArgs) -> Result<FreezeOptions> {
    let usual = FreezeOptions::default();
    let options = FreezeOptions {
        base: args.base.unwrap_or(usual.base),
        pause_start: args.pause_start.unwrap_or(usual.pause_start),
        pause_length: args.pause_length.unwrap_or(usual.pause_length),
        duration: args.duration.unwrap_or(usual.duration),
        expected_interval: args.expected_interval.unwrap_or(usual.expected_interval),
        snapshot_interval: args.snapshot_interval.unwrap_or(usual.snapshot_interval),
        users: args.users.unwrap_or(usual.users),
    };
    if options.pause_start >= options.duration && !options.pause_length.is_zero() {
        return Err(usage(format!(
            "--pause-start {} is not before the end, --duration {}; nobody would meet the freeze",
            options.pause_start, options.duration
        )));
    }
    Ok(options)
}

fn every_nth(args: &LabArgs) -> Result<Experiment> {
    let usual = EveryNthOptions::default();
    let pause_every = match args.pause_every {
        None => usual.pause_every,
        Some(PauseEvery::Requests(requests)) => requests,
        Some(PauseEvery::Time(time)) => {
            return Err(usage(format!(
                "--pause-every {time}: every-nth counts requests; write a whole number such as 500 (order-router pauses \
                 by time)"
            )));
        }
    };
    let options = EveryNthOptions {
        rate: args.rate.unwrap_or(usual.rate),
        duration: args.duration.unwrap_or(usual.duration),
        pause_every,
        pause: args.pause.unwrap_or(usual.pause),
        work: args.base.unwrap_or(usual.work),
    };
    if args.quiet && !args.real_time {
        return Err(usage("--quiet goes with --real-time; virtual time has no progress to tell"));
    }
    let clock = if args.real_time { Clock::Wall { quiet: args.quiet } } else { Clock::Virtual };
    Ok(Experiment::EveryNth { options, clock })
}

fn order_router(args: &LabArgs) -> Result<OrderRouterOptions> {
    let usual = OrderRouterOptions::default();
    let pause_every = match args.pause_every {
        None => usual.pause_every,
        Some(PauseEvery::Time(time)) => time,
        Some(PauseEvery::Requests(requests)) => {
            return Err(usage(format!(
                "--pause-every {requests}: order-router pauses by time; write one such as 800ms (every-nth counts requests)"
            )));
        }
    };
    Ok(OrderRouterOptions {
        rate: args.rate.unwrap_or(usual.rate),
        duration: args.duration.unwrap_or(usual.duration),
        work: args.base.unwrap_or(usual.work),
        pause: args.pause.unwrap_or(usual.pause),
        pause_every,
    })
}
