//! The users of the closed model: how many there are at each instant, and when each of them joins and leaves.

use std::fmt;
use std::str::FromStr;

use crate::arrival::{Profile, ProfileError, RateProfile, Stage, Stages};
use crate::time::{Nanos, Timestamp};

/// Users of the closed model: a constant number, or one that changes in stages.
///
/// All users are numbered from 0. At time t the stages have a value, and the users below this value, rounded to the
/// nearest whole number (halves up), are active. So the user who joined last leaves first. After the stages, their last
/// value stays.
#[derive(Clone, PartialEq, Debug)]
pub struct Users {
    number: Number,
    /// These users are `first`, `first + stride` … of all.
    first: u64,
    stride: u64,
}

#[derive(Clone, PartialEq, Debug)]
enum Number {
    Constant(u32),
    /// Both ends of each stage are whole numbers up to `u32::MAX`.
    Stages(Stages),
}

/// Time in which a user is active without a break.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stay {
    /// First instant.
    pub joins: Timestamp,
    /// First instant without the user; [`Timestamp::NEVER`] if the user stays.
    pub leaves: Timestamp,
}

/// Error of a text that is not a number of users.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum UsersError {
    /// Neither a whole number from 1 nor stages.
    #[error(
        "'{0}' is not a number of users; write a whole number from 1, or stages such as 10..200/60s or \
         0..50/10s,50/30s,50..0/10s"
    )]
    Unknown(String),
    /// The stages are malformed.
    #[error("stages '{text}': {problem}; write {STAGES_FORM}")]
    Malformed {
        /// The given text.
        text: String,
        /// Problem with the text.
        problem: String,
    },
}

const STAGES_FORM: &str = "N/TIME or FROM..TO/TIME for each stage, such as 0..50/10s,50/30s,50..0/10s";

impl Users {
    /// Returns `users`, all active from the beginning to the end.
    pub const fn constant(users: u32) -> Users {
        Users { number: Number::Constant(users), first: 0, stride: 1 }
    }

    /// Returns true if their number does not change.
    pub const fn is_constant(&self) -> bool {
        matches!(self.number, Number::Constant(_))
    }

    /// Returns the highest number of users.
    pub fn most(&self) -> u32 {
        self.part_of(match &self.number {
            Number::Constant(users) => u64::from(*users),
            Number::Stages(stages) => stages.peak_per_second() as u64,
        })
    }

    /// Returns the number of users who are active at `at`.
    pub fn active_at(&self, at: Timestamp) -> u32 {
        self.part_of(match &self.number {
            Number::Constant(users) => u64::from(*users),
            Number::Stages(stages) => {
                let piece = pieces(stages).find(|piece| at < piece.end).unwrap_or_else(|| last_value(stages));
                piece.rounded_at(at)
            }
        })
    }

    /// Returns how many of `all` users are among these.
    fn part_of(&self, all: u64) -> u32 {
        all.saturating_sub(self.first).div_ceil(self.stride) as u32
    }

    /// Returns the length of all stages; `None` for a constant number.
    pub fn natural_length(&self) -> Option<Nanos> {
        match &self.number {
            Number::Constant(_) => None,
            Number::Stages(stages) => Some(stages.length()),
        }
    }

    /// Returns the users `index`, `index + of` … of these. The parts for all indices together are exactly these users.
    #[must_use]
    pub fn dealt(&self, index: u32, of: u32) -> Users {
        Users {
            first: self.first + u64::from(index) * self.stride,
            stride: self.stride * u64::from(of),
            ..self.clone()
        }
    }

    /// Returns the first stay of `user`, counted from 0 among these users, that has not ended at `at`; `None` if the
    /// user is not active at `at` or later.
    pub fn stay_after(&self, user: u32, at: Timestamp) -> Option<Stay> {
        let number = self.first + u64::from(user) * self.stride;
        let stages = match &self.number {
            Number::Constant(users) => {
                let is_active = number < u64::from(*users) && at < Timestamp::NEVER;
                return is_active.then_some(Stay { joins: Timestamp::ZERO, leaves: Timestamp::NEVER });
            }
            Number::Stages(stages) => stages,
        };
        let mut stay: Option<Stay> = None;
        for next in pieces(stages).chain([last_value(stages)]).filter_map(|piece| piece.stay_of(number)) {
            match &mut stay {
                Some(stay) if stay.leaves == next.joins => stay.leaves = next.leaves,
                Some(found) if found.leaves > at => break,
                _ => stay = Some(next),
            }
        }
        stay.filter(|stay| stay.leaves > at)
    }

    /// Changes the length of each stage.
    pub(crate) fn map_lengths(&mut self, length: impl Fn(Nanos) -> Nanos) {
        if let Number::Stages(stages) = &mut self.number {
            let changed = |stage: &Stage| Stage { length: length(stage.length), ..*stage };
            *stages = Stages::new(stages.stages().iter().map(changed).collect());
        }
    }
}

/// A stage between two instants.
#[derive(Clone, Copy, Debug)]
struct Piece {
    begin: Timestamp,
    end: Timestamp,
    length: Nanos,
    from: u32,
    to: u32,
}

fn pieces(stages: &Stages) -> impl Iterator<Item = Piece> + '_ {
    let mut begin = Timestamp::ZERO;
    stages.stages().iter().map(move |stage| {
        let end = begin + stage.length;
        let [from, to] = [stage.from_per_second, stage.to_per_second].map(|users| users as u32);
        let piece = Piece { begin, end, length: stage.length, from, to };
        begin = end;
        piece
    })
}

/// Returns the time after all stages, with their last value.
fn last_value(stages: &Stages) -> Piece {
    let last = stages.stages().last().map_or(0, |stage| stage.to_per_second as u32);
    Piece { begin: Timestamp::ZERO + stages.length(), end: Timestamp::NEVER, length: Nanos::MAX, from: last, to: last }
}

impl Piece {
    /// Returns the value at `at`, rounded: ⌊a + (b − a)·t/T + 1/2⌋, in whole numbers.
    fn rounded_at(&self, at: Timestamp) -> u64 {
        let [length, since] = [self.length.0, at.since(self.begin).0].map(i128::from);
        let [from, to] = [self.from, self.to].map(i128::from);
        ((2 * from * length + 2 * (to - from) * since + length) / (2 * length)) as u64
    }

    /// Returns the time in which user `number` is active: where a + (b − a)·t/T ≥ `number` + 1/2, in whole numbers.
    fn stay_of(&self, number: u64) -> Option<Stay> {
        let length = i128::from(self.length.0);
        let [from, to] = [self.from, self.to].map(i128::from);
        // Twice the distance of the value at the beginning from the value at which the user joins or leaves.
        let above = (2 * from - 2 * i128::from(number) - 1) * length;
        let rise = 2 * (to - from);
        let begin = match (above >= 0, rise > 0) {
            (true, _) => 0,
            (false, true) => (-above + rise - 1) / rise,
            (false, false) => return None,
        };
        let end = if above >= 0 && rise < 0 { (above / -rise + 1).min(length) } else { length };
        let at = |since: i128| self.begin + Nanos(since as u64);
        (begin < end).then(|| Stay { joins: at(begin), leaves: if end == length { self.end } else { at(end) } })
    }
}

impl From<u32> for Users {
    fn from(users: u32) -> Users {
        Users::constant(users)
    }
}

impl FromStr for Users {
    type Err = UsersError;

    /// Reads `50`, or stages as a [`Profile`] has them: `10..200/60s`, `0..50/10s,50/30s`, `steps:…` or `ramp:…`.
    fn from_str(text: &str) -> Result<Users, UsersError> {
        let unknown = || UsersError::Unknown(text.to_owned());
        if let Ok(users) = text.trim().parse::<u32>() {
            return if users > 0 { Ok(Users::constant(users)) } else { Err(unknown()) };
        }
        let malformed = |problem| UsersError::Malformed { text: text.to_owned(), problem };
        let stages = match text.parse() {
            Ok(Profile::Stages(stages)) => stages,
            Err(ProfileError::Malformed { problem, .. }) if !text.starts_with("sine:") => {
                return Err(malformed(problem));
            }
            _ => return Err(unknown()),
        };
        let ends = stages.stages().iter().flat_map(|stage| [stage.from_per_second, stage.to_per_second]);
        match ends.into_iter().find(|users| users.fract() != 0.0 || *users > f64::from(u32::MAX)) {
            Some(users) => Err(malformed(format!("{users} is not a whole number up to {}", u32::MAX))),
            None => Ok(Users { number: Number::Stages(stages), first: 0, stride: 1 }),
        }
    }
}

impl fmt::Display for Users {
    /// Writes the form that [`FromStr`] reads, of the undivided users.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.number {
            Number::Constant(users) => write!(f, "{users}"),
            // Without the prefix, a single constant stage is no profile.
            Number::Stages(stages) if stages.are_steps() && stages.stages().len() == 1 => write!(f, "steps:{stages}"),
            Number::Stages(stages) => write!(f, "{stages}"),
        }
    }
}
