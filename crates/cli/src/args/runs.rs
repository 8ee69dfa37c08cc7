//! `truetail runs`.

use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::{Args, Subcommand};
use truetail_run::VerdictState;
use truetail_run::catalog::{RunFilter, RunOrder, TagFilter};

use super::labels::check_key;
use super::values::{count, one_of};
use crate::output_folder::PARENT;

const EXAMPLE: &str = "\
Examples:
  truetail runs
  truetail runs --target checkout --since 7d --sort p99
  truetail runs --tag build=123 --json
  truetail runs rm --before 30d --verdict invalid
  truetail runs keep --last 50 --yes";

/// List saved runs
///
/// One line for each run in the folder: when, what, load, verdict, percentiles, errors, gates, labels and folder. The
/// list is quick because it keeps a copy of its lines in runs.jsonl, which may be deleted at any time.
#[derive(Args, Debug)]
#[command(before_help = EXAMPLE, args_conflicts_with_subcommands = true)]
pub(crate) struct RunsArgs {
    #[command(subcommand)]
    pub verb: Option<RunsVerb>,
    #[command(flatten)]
    pub place: RunsPlaceArgs,
    /// Order of the runs: the newest, slowest or largest first
    #[arg(long, value_name = "BY", value_parser = one_of(&RunOrder::NAMED), default_value = RunOrder::NAMED[0].0)]
    pub sort: RunOrder,
    /// Print the list as JSON on standard output, and nothing else
    #[arg(long)]
    pub json: bool,
}

/// Verbs of `truetail runs`.
#[derive(Subcommand, Debug)]
pub(crate) enum RunsVerb {
    /// Remove runs
    ///
    /// Removes the files of the runs, and their folders unless other files are in them. Nothing outside the folder is
    /// touched, and no run that has not ended.
    Rm(RunsRemoveArgs),
    /// Remove all but the newest runs
    ///
    /// Of the runs that meet the conditions, the newest stay. Runs in virtual time have no start, and stay too.
    Keep(RunsKeepArgs),
}

/// A folder of runs, and conditions on them.
#[derive(Args, Clone, Debug)]
pub(crate) struct RunsPlaceArgs {
    /// Folder that holds the folders of runs
    #[arg(value_name = "DIR", default_value = PARENT)]
    pub dir: PathBuf,
    #[command(flatten)]
    pub which: WhichRunsArgs,
}

/// Conditions on runs.
#[derive(Args, Clone, Default, Debug)]
pub(crate) struct WhichRunsArgs {
    /// Only runs with this text in their name or URL
    #[arg(long, value_name = "TEXT", help_heading = "Which runs")]
    pub target: Option<String>,
    /// Only runs that began then or later: a time ago, such as 7d or 12h, or a date, such as 2026-11-01
    #[arg(long, value_name = "WHEN", value_parser = instant, help_heading = "Which runs")]
    pub since: Option<SystemTime>,
    /// Only runs that began earlier than that
    #[arg(long, value_name = "WHEN", value_parser = instant, help_heading = "Which runs")]
    pub before: Option<SystemTime>,
    /// Only runs with this verdict; repeatable
    #[arg(long, value_parser = one_of(&VERDICTS), ignore_case = true, help_heading = "Which runs")]
    pub verdict: Vec<VerdictState>,
    /// Only runs with this label; repeatable. Without =VALUE, any value will do
    #[arg(long, value_name = "KEY=VALUE", value_parser = tag, help_heading = "Which runs")]
    pub tag: Vec<TagFilter>,
}

impl WhichRunsArgs {
    /// Returns the conditions.
    pub(crate) fn filter(&self) -> RunFilter {
        RunFilter {
            target: self.target.clone(),
            since_unix_ns: self.since.map(unix_ns),
            before_unix_ns: self.before.map(unix_ns),
            verdicts: self.verdict.clone(),
            tags: self.tag.clone(),
        }
    }
}

/// `truetail runs rm`.
#[derive(Args, Debug)]
pub(crate) struct RunsRemoveArgs {
    #[command(flatten)]
    pub place: RunsPlaceArgs,
    /// Remove every run in the folder, if no condition is given
    #[arg(long)]
    pub all: bool,
    /// Do not ask
    #[arg(short, long)]
    pub yes: bool,
}

/// `truetail runs keep`.
#[derive(Args, Debug)]
pub(crate) struct RunsKeepArgs {
    #[command(flatten)]
    pub place: RunsPlaceArgs,
    /// Number of runs to keep
    #[arg(long, value_name = "N", value_parser = count::<usize>)]
    pub last: usize,
    /// Do not ask
    #[arg(short, long)]
    pub yes: bool,
}

/// Verdicts with their names on a command line.
pub(crate) const VERDICTS: [(&str, VerdictState); 3] =
    [("valid", VerdictState::Valid), ("suspect", VerdictState::Suspect), ("invalid", VerdictState::Invalid)];

/// Parses a time ago, a date, or an instant with date and time.
pub(crate) fn instant(text: &str) -> Result<SystemTime, String> {
    let text = text.trim();
    if let Ok(ago) = humantime::parse_duration(text) {
        return Ok(SystemTime::now().checked_sub(ago).unwrap_or(UNIX_EPOCH));
    }
    let at =
        humantime::parse_rfc3339_weak(text).or_else(|_| humantime::parse_rfc3339_weak(&format!("{text} 00:00:00")));
    at.map_err(|_| format!("'{text}' is no time; write a time ago, such as 7d or 12h, or a date, such as 2026-11-01"))
}

/// Returns nanoseconds since 1970 UTC.
pub(crate) fn unix_ns(at: SystemTime) -> u64 {
    let since = at.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// Parses `KEY=VALUE`, or `KEY`.
pub(crate) fn tag(text: &str) -> Result<TagFilter, String> {
    let (key, value) = text.split_once('=').map_or((text, None), |(key, value)| (key, Some(value)));
    check_key(key).map_err(|()| format!("'{text}' is no label; write KEY=VALUE, or KEY"))?;
    Ok(TagFilter { key: key.to_owned(), value: value.map(str::to_owned) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_ago_or_dates() {
        let day = 86_400_000_000_000;
        assert_eq!(instant("1970-01-02").map(unix_ns), Ok(day));
        assert_eq!(instant("1970-01-02 00:00:01").map(unix_ns), Ok(day + 1_000_000_000));
        assert_eq!(instant("1970-01-02T00:00:01Z").map(unix_ns), Ok(day + 1_000_000_000));
        let week_ago = instant("7d").expect("a time");
        let week = SystemTime::now().duration_since(week_ago).expect("it is past");
        assert!(week >= Duration::from_secs(7 * 86_400), "{week:?}");
        for text in ["", "yesterday", "7", "1970-13-01"] {
            assert!(instant(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_label_may_have_any_value() {
        assert_eq!(tag("a"), Ok(TagFilter { key: "a".to_owned(), value: None }));
        assert_eq!(tag("a=1=2"), Ok(TagFilter { key: "a".to_owned(), value: Some("1=2".to_owned()) }));
        assert!(tag("=1").is_err() && tag("").is_err());
    }
}
