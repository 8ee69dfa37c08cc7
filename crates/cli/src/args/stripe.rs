//! Options of a run that several machines share.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use truetail_model::driver::Stripe;
use truetail_model::time::Nanos;

/// Options of a run that several machines share.
#[derive(Args, Clone, Debug)]
pub(crate) struct StripeArgs {
    /// Offer part I of N of the load, such as 2/8; parts count from 1. Give the other options as for the whole load,
    /// the same on each machine, and put the runs together with 'truetail merge'. A sum is for engines that count from
    /// 0: 1+1/8
    #[arg(long, value_name = "I/N", allow_hyphen_values = true, help_heading = "Several machines")]
    pub stripe: Option<Stripe>,
    /// Begin the schedule at this instant, such as 2026-01-01T00:00:00Z, or in this time from now, such as +10s. A
    /// machine that is late leaves out what was due before, and counts it as never issued. With @FILE, wait until FILE
    /// is there and holds the instant
    #[arg(long, value_name = "INSTANT|+TIME|@FILE", allow_hyphen_values = true, help_heading = "Several machines")]
    pub start_at: Option<StartAt>,
}

/// Value of `--start-at`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum StartAt {
    /// This long after the command line was read.
    After(Nanos),
    /// Nanoseconds since 1970 UTC.
    At(u64),
    /// The instant that this file will hold.
    In(PathBuf),
}

impl FromStr for StartAt {
    type Err = String;

    fn from_str(text: &str) -> Result<StartAt, String> {
        if let Some(time) = text.strip_prefix('+') {
            return time.parse().map(StartAt::After).map_err(|error| format!("{error}"));
        }
        if let Some(file) = text.strip_prefix('@').filter(|file| !file.is_empty()) {
            return Ok(StartAt::In(file.into()));
        }
        truetail_import::date_with_zone(text).map(StartAt::At).ok_or_else(|| {
            format!(
                "'{text}' is no instant with a zone; write 2026-01-01T00:00:00Z, 2026-01-01T01:00:00+01:00, or a time from \
                 now, such as +10s"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_is_an_instant_or_a_time_from_now() {
        assert_eq!("+1m30s".parse(), Ok(StartAt::After(Nanos::from_secs(90))));
        assert_eq!("1970-01-01T00:00:01.5Z".parse(), Ok(StartAt::At(1_500_000_000)));
        assert_eq!("1970-01-01T01:00:01,5+01:00".parse(), Ok(StartAt::At(1_500_000_000)));
        assert_eq!("@/run/start".parse(), Ok(StartAt::In("/run/start".into())));
        for text in [
            "10s",
            "+",
            "+10",
            "@",
            "-10s",
            "",
            "2026-01-01",
            "2026-01-01T00:00:00",
            "2026-13-01T00:00:00Z",
            "1969-12-31T23:59:59Z",
        ] {
            let error = text.parse::<StartAt>().unwrap_err();
            assert!(!error.contains('\n'), "{text}: {error}");
        }
    }
}
