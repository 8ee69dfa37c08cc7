//! Errors of a merge.

use truetail_model::driver::Stripe;

use crate::limits::{MAX_ARRIVALS, MAX_BYTES};

/// Reason why runs cannot be merged.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum MergeError {
    /// No run was given.
    #[error("there is no run to merge")]
    Nothing,
    /// The runs have different workloads.
    #[error(
        "these runs cannot be merged: {field} is {first} in run 1 and {other} in run {run}; merge only runs of the same workload"
    )]
    Different {
        /// Number of the other run, from 1.
        run: usize,
        /// Name in `run.json` of the field that differs.
        field: &'static str,
        /// Its value in the first run.
        first: String,
        /// Its value in the other run.
        other: String,
    },
    /// One run was given twice.
    #[error("run {first} and run {second} are the same run; give each run once")]
    Twice {
        /// Number of a run, from 1.
        first: usize,
        /// Number of a run, from 1.
        second: usize,
    },
    /// Either run 1 or this run is a stripe of a load, but not both.
    #[error(
        "these runs cannot be merged: run 1 and run {run} are not both stripes of a load; give only runs with --stripe, or none"
    )]
    NotAllStripes {
        /// Number of the run, from 1.
        run: usize,
    },
    /// A run's file names an impossible stripe.
    #[error("run {run} says that it is stripe {index} of {of}; stripes count from 1 to their number, which is at most {most}", most = Stripe::MAX)]
    NoSuchStripe {
        /// Number of the run, from 1.
        run: usize,
        /// Number of the stripe.
        index: u32,
        /// Number of all stripes.
        of: u32,
    },
    /// Two runs have the same stripe.
    #[error("run {first} and run {second} are both stripe {index}/{of}; give each stripe once")]
    StripeTwice {
        /// Number of the stripe, from 1.
        index: u32,
        /// Number of all stripes.
        of: u32,
        /// Number of a run, from 1.
        first: usize,
        /// Number of a run, from 1.
        second: usize,
    },
    /// Stripes are missing.
    #[error(
        "{} of {of} missing: {}; give all of them, or --partial to count what they held as never issued",
        if missing.len() == 1 { "1 stripe".to_owned() } else { format!("{} stripes", missing.len()) },
        ranges(missing)
    )]
    Holes {
        /// Numbers of the missing stripes, from 1, ascending.
        missing: Vec<u32>,
        /// Number of all stripes.
        of: u32,
    },
    /// Stripes are missing, and their arrivals cannot be computed.
    #[error(
        "what the missing stripes held is not known, because run.json does not hold the recorded instants of a trace: give all stripes, or the recording (merge --partial --trace FILE)"
    )]
    UnknownHoles,
    /// Stripes are missing, and this version would plan other arrivals for them.
    #[error(
        "what the missing stripes held is not known, because this version of truetail makes another schedule of the same \
         options: give all stripes, or merge with the version that ran them"
    )]
    HolesOfAnotherVersion,
    /// Stripes are missing, and the given recording is not the one that the runs replayed.
    #[error("the recording is not the one that these runs were dealt out of: another file, or another --speed")]
    AnotherRecording,
    /// Stripes are missing, and a recording was given although the runs replayed none.
    #[error("these runs replayed no recording: leave it out")]
    NotRecorded,
    /// Stripes are missing, and the other runs were stopped before the end of their schedule.
    #[error(
        "the runs were stopped early, so what the missing stripes would have held by then is not known: give all stripes"
    )]
    HolesOfStopped,
    /// The run is already a merged run of stripes.
    #[error("run {run} is the merged run of stripes; give the stripes themselves")]
    MergedAlready {
        /// Number of the run, from 1.
        run: usize,
    },
    /// The runs together exceed the limit on arrivals.
    #[error("these runs cannot be merged: together they plan {planned} arrivals, and a run has at most {MAX_ARRIVALS}")]
    TooMany {
        /// Number of arrivals, warm-up included.
        planned: u128,
    },
    /// The answers of the runs together exceed the limit on bytes.
    #[error(
        "these runs cannot be merged: together their answers have {bytes} bytes, and those of a run have at most {MAX_BYTES}"
    )]
    TooManyBytes {
        /// Number of bytes.
        bytes: u128,
    },
    /// A sum over the runs exceeds the limit on numbers.
    #[error("these runs cannot be merged: together their {0}")]
    TooLarge(String),
}

impl MergeError {
    /// Returns the numbers of the runs that the error is about, from 1.
    pub fn runs(&self) -> Vec<usize> {
        match *self {
            MergeError::Different { run, .. } | MergeError::NotAllStripes { run } => vec![1, run],
            MergeError::NoSuchStripe { run, .. } | MergeError::MergedAlready { run } => vec![run],
            MergeError::Twice { first, second } | MergeError::StripeTwice { first, second, .. } => vec![first, second],
            MergeError::Nothing
            | MergeError::Holes { .. }
            | MergeError::UnknownHoles
            | MergeError::HolesOfAnotherVersion
            | MergeError::AnotherRecording
            | MergeError::NotRecorded
            | MergeError::HolesOfStopped
            | MergeError::TooMany { .. }
            | MergeError::TooManyBytes { .. }
            | MergeError::TooLarge(_) => Vec::new(),
        }
    }
}

/// Formats ascending numbers like `3, 5-7 and 12`.
pub fn ranges(numbers: &[u32]) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(*number) => *last = *number,
            _ => runs.push((*number, *number)),
        }
    }
    let text = |(first, last): &(u32, u32)| if first == last { first.to_string() } else { format!("{first}-{last}") };
    let mut texts: Vec<String> = runs.iter().map(text).collect();
    match texts.pop() {
        Some(last) if !texts.is_empty() => format!("{} and {last}", texts.join(", ")),
        last => last.unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::ranges;

    #[test]
    fn numbers_in_a_row_are_one_range() {
        let said = |numbers: &[u32]| ranges(numbers);
        assert_eq!((said(&[]), said(&[3]), said(&[1, 2, 3])), (String::new(), "3".to_owned(), "1-3".to_owned()));
        assert_eq!(said(&[3, 5, 6, 7, 12]), "3, 5-7 and 12");
    }
}
