//! Rate profiles: the offered rate over time.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Constant, ProfileError, RateProfile, Sine, Stage, Stages, Trace};
use crate::time::{Nanos, Rate, parse_number};

/// Rate profile of a load.
#[derive(Clone, PartialEq, Debug)]
pub enum Profile {
    /// A constant rate.
    Constant(Constant),
    /// Stages that stay, climb or fall.
    Stages(Stages),
    /// A swing about a mean.
    Sine(Sine),
    /// Recorded arrivals.
    Trace(Trace),
}

impl Profile {
    /// Returns the profile of a constant `rate`.
    pub fn constant(rate: Rate) -> Profile {
        Profile::Constant(Constant { rate })
    }

    fn as_dyn(&self) -> &dyn RateProfile {
        match self {
            Profile::Constant(p) => p,
            Profile::Stages(p) => p,
            Profile::Sine(p) => p,
            Profile::Trace(p) => p,
        }
    }

    /// Returns the length of all stages, one period or the recording; `None` for a constant rate.
    pub fn natural_length(&self) -> Option<Nanos> {
        match self {
            Profile::Constant(_) => None,
            Profile::Stages(stages) => Some(stages.length()),
            Profile::Sine(sine) => Some(sine.period),
            // The horizon must lie after the last arrival, because its end is exclusive.
            Profile::Trace(trace) => trace.instants().last().map(|t| t.since_origin() + Nanos(1)),
        }
    }
}

impl RateProfile for Profile {
    fn cumulative(&self, seconds: f64) -> f64 {
        self.as_dyn().cumulative(seconds)
    }

    fn inverse(&self, count: f64) -> Option<f64> {
        match self {
            Profile::Constant(p) => p.inverse(count),
            Profile::Stages(_) | Profile::Sine(_) | Profile::Trace(_) => self.as_dyn().inverse(count),
        }
    }

    fn peak_per_second(&self) -> f64 {
        self.as_dyn().peak_per_second()
    }
}

const STEPS_FORM: &str = "steps:RATE/DURATION,… such as steps:100/10s,500/10s";
const STAGES_FORM: &str = "RATE/DURATION or FROM..TO/DURATION for each stage, such as 5..30/5s,30/15s,30..0/5s";
const RAMP_FORM: &str = "ramp:FROM..TO/DURATION such as ramp:100..2000/60s";
const SINE_FORM: &str = "sine:LOW..HIGH/PERIOD such as sine:500..1500/60s";

impl FromStr for Profile {
    type Err = ProfileError;

    /// Reads `1000` (constant), `5..30/5s,30/15s` (stages), `steps:…`, `ramp:…` or `sine:…`. A trace is read from a
    /// file: see [`Trace::parse`].
    fn from_str(text: &str) -> Result<Profile, ProfileError> {
        let Some((kind, rest)) = text.split_once(':') else {
            if text.contains("..") || text.contains(',') {
                return parse_stages(text);
            }
            let rate: Rate = text.parse().map_err(|_| ProfileError::Unknown(text.to_owned()))?;
            return Ok(Profile::constant(rate));
        };
        match kind {
            "steps" => parse_steps(text, rest),
            "ramp" => parse_ramp(text, rest),
            "sine" => parse_sine(text, rest),
            _ => Err(ProfileError::Unknown(text.to_owned())),
        }
    }
}

fn malformed(text: &str, form: &'static str, problem: impl fmt::Display) -> ProfileError {
    ProfileError::Malformed { text: text.to_owned(), problem: problem.to_string(), form }
}

/// Reads requests per second, such as `100` or `1.5k`; may be 0.
fn per_second(text: &str, form: &'static str, field: &str) -> Result<f64, ProfileError> {
    match parse_number(field.trim()) {
        Some(rate) if rate.is_finite() && rate >= 0.0 => Ok(rate),
        Some(_) => Err(malformed(text, form, format!("'{field}' is negative or not finite"))),
        None => Err(malformed(text, form, format!("'{field}' is not a number"))),
    }
}

fn length(text: &str, form: &'static str, field: &str) -> Result<Nanos, ProfileError> {
    let length: Nanos = field.parse().map_err(|e| malformed(text, form, e))?;
    if length.is_zero() { Err(malformed(text, form, "a length of zero")) } else { Ok(length) }
}

/// Reads `LOW..HIGH/DURATION`.
fn span(text: &str, form: &'static str, rest: &str) -> Result<(f64, f64, Nanos), ProfileError> {
    let (rates, over) = rest.rsplit_once('/').ok_or_else(|| malformed(text, form, "no duration"))?;
    let (low, high) = rates.split_once("..").ok_or_else(|| malformed(text, form, "no two numbers"))?;
    let low = per_second(text, form, low)?;
    let high = per_second(text, form, high)?;
    if low == 0.0 && high == 0.0 {
        return Err(malformed(text, form, "both numbers are zero"));
    }
    Ok((low, high, length(text, form, over)?))
}

fn parse_steps(text: &str, rest: &str) -> Result<Profile, ProfileError> {
    let mut steps = Vec::new();
    for field in rest.split(',') {
        let (rate, over) = field.rsplit_once('/').ok_or_else(|| malformed(text, STEPS_FORM, "no duration"))?;
        steps.push(Stage::constant(per_second(text, STEPS_FORM, rate)?, length(text, STEPS_FORM, over)?));
    }
    if steps.iter().all(|step| step.from_per_second == 0.0) {
        return Err(malformed(text, STEPS_FORM, "every number is zero"));
    }
    Ok(Profile::Stages(Stages::new(steps)))
}

fn parse_stages(text: &str) -> Result<Profile, ProfileError> {
    let mut stages = Vec::new();
    for field in text.split(',') {
        let (rates, over) = field.rsplit_once('/').ok_or_else(|| malformed(text, STAGES_FORM, "no duration"))?;
        let (from, to) = rates.split_once("..").unwrap_or((rates, rates));
        stages.push(Stage {
            from_per_second: per_second(text, STAGES_FORM, from)?,
            to_per_second: per_second(text, STAGES_FORM, to)?,
            length: length(text, STAGES_FORM, over)?,
        });
    }
    if stages.iter().all(|stage| stage.from_per_second == 0.0 && stage.to_per_second == 0.0) {
        return Err(malformed(text, STAGES_FORM, "every number is zero"));
    }
    Ok(Profile::Stages(Stages::new(stages)))
}

fn parse_ramp(text: &str, rest: &str) -> Result<Profile, ProfileError> {
    let (from_per_second, to_per_second, length) = span(text, RAMP_FORM, rest)?;
    Ok(Profile::Stages(Stages::new(vec![Stage { from_per_second, to_per_second, length }])))
}

fn parse_sine(text: &str, rest: &str) -> Result<Profile, ProfileError> {
    let (low_per_second, high_per_second, period) = span(text, SINE_FORM, rest)?;
    if low_per_second > high_per_second {
        return Err(malformed(text, SINE_FORM, "the low rate is above the high one"));
    }
    Ok(Profile::Sine(Sine { low_per_second, high_per_second, period }))
}

impl fmt::Display for Profile {
    /// Writes the form that [`FromStr`] reads; a trace as `trace:N arrivals`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Profile::Constant(p) => write!(f, "{}", p.rate),
            Profile::Stages(p) => {
                f.write_str(match p.stages() {
                    _ if p.are_steps() => "steps:",
                    [_] => "ramp:",
                    _ => "",
                })?;
                write!(f, "{p}")
            }
            Profile::Sine(p) => write!(f, "sine:{}..{}/{}", p.low_per_second, p.high_per_second, p.period),
            Profile::Trace(p) => write!(f, "trace:{} arrivals", p.instants().len()),
        }
    }
}

impl Serialize for Profile {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Profile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Profile, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}
