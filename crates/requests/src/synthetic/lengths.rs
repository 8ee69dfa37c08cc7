//! Lengths of prompts and answers, as users write them.

use std::fmt;
use std::str::FromStr;

use truetail_model::random::Random;

/// Limit on a length.
pub(crate) const MAX_TOKENS: u32 = 1_000_000;

/// Lengths in tokens, of which each row gets one.
#[derive(Clone, PartialEq, Debug)]
pub enum Lengths {
    /// All the same.
    Fixed(u32),
    /// Normally distributed, from 1 to twice the mean.
    Normal {
        /// Mean.
        mean: u32,
        /// Standard deviation.
        deviation: u32,
    },
    /// Lognormally distributed, from 1 to ten times the mean.
    Lognormal {
        /// Mean of the lengths, not of their logarithms.
        mean: u32,
        /// Standard deviation of the lengths.
        deviation: u32,
    },
    /// Each from the first to the last is as likely.
    Uniform(u32, u32),
    /// From a file with one a line. The first follows the last.
    File(String, Vec<u32>),
}

impl Lengths {
    /// Returns the length of a row.
    pub(super) fn draw(&self, row: u64, random: &mut Random) -> u32 {
        let within = |value: f64, most: u32| value.round().clamp(1.0, f64::from(most.min(MAX_TOKENS))) as u32;
        match self {
            Lengths::Fixed(length) => *length,
            Lengths::Normal { mean, deviation } => {
                within(f64::from(*mean) + f64::from(*deviation) * standard_normal(random), mean.saturating_mul(2))
            }
            Lengths::Lognormal { mean, deviation } => {
                let (mean, ratio) = (f64::from(*mean), f64::from(*deviation) / f64::from(*mean));
                let variance = (ratio * ratio).ln_1p();
                let value = (mean.ln() - variance / 2.0 + variance.sqrt() * standard_normal(random)).exp();
                within(value, (mean * 10.0) as u32)
            }
            Lengths::Uniform(first, last) => first + (random.uniform() * f64::from(last - first + 1)) as u32,
            Lengths::File(_, lengths) => lengths[(row % lengths.len() as u64) as usize],
        }
    }

    /// Returns a typical length.
    pub(super) fn typical(&self) -> u32 {
        match self {
            Lengths::Fixed(length) => *length,
            Lengths::Normal { mean, .. } | Lengths::Lognormal { mean, .. } => *mean,
            Lengths::Uniform(first, last) => first + (last - first) / 2,
            Lengths::File(_, lengths) => {
                (lengths.iter().map(|length| u64::from(*length)).sum::<u64>() / lengths.len() as u64) as u32
            }
        }
    }

    /// Reads the file of `file:NAME`.
    ///
    /// # Errors
    /// The file cannot be read, or a line is no length.
    pub(super) fn with_file(self, read: &dyn Fn(&str) -> Result<String, String>) -> Result<Lengths, String> {
        let Lengths::File(name, _) = self else { return Ok(self) };
        let text = read(&name)?;
        let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
        let length =
            |(at, line): (usize, &str)| length(line.trim()).map_err(|problem| format!("{name}:{at}: {problem}"));
        let lengths = lines.map(length).collect::<Result<Vec<_>, _>>()?;
        if lengths.is_empty() {
            return Err(format!("{name} has no length; write one a line"));
        }
        Ok(Lengths::File(name, lengths))
    }
}

fn standard_normal(random: &mut Random) -> f64 {
    // Box and Muller; 1 - u is above 0.
    (-2.0 * (1.0 - random.uniform()).ln()).sqrt() * (std::f64::consts::TAU * random.uniform()).cos()
}

fn length(text: &str) -> Result<u32, String> {
    let number = text.parse().ok().filter(|number| (1..=MAX_TOKENS).contains(number));
    number.ok_or_else(|| format!("'{text}' is no length: write a number of tokens from 1 to {MAX_TOKENS}"))
}

impl FromStr for Lengths {
    type Err = String;

    fn from_str(text: &str) -> Result<Lengths, String> {
        if let Some(name) = text.strip_prefix("file:") {
            return Ok(Lengths::File(name.to_owned(), Vec::new()));
        }
        let (is_lognormal, rest) = match text.strip_prefix("lognormal:") {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        if let Some((mean, deviation)) = rest.split_once('±').or_else(|| rest.split_once("+-")) {
            let mean = length(mean.trim())?;
            let deviation = length(deviation.trim())?;
            return Ok(if is_lognormal {
                Lengths::Lognormal { mean, deviation }
            } else {
                Lengths::Normal { mean, deviation }
            });
        }
        if is_lognormal {
            return Err(format!("'{text}': write mean and standard deviation, such as lognormal:512±256"));
        }
        if let Some((first, last)) = text.split_once("..") {
            let first = length(first.trim())?;
            let last = length(last.trim())?;
            if first > last {
                return Err(format!("'{text}': the first length is above the last"));
            }
            return Ok(Lengths::Uniform(first, last));
        }
        Ok(Lengths::Fixed(length(text.trim())?))
    }
}

impl fmt::Display for Lengths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Lengths::Fixed(length) => write!(f, "{length}"),
            Lengths::Normal { mean, deviation } => write!(f, "{mean}±{deviation}"),
            Lengths::Lognormal { mean, deviation } => write!(f, "lognormal:{mean}±{deviation}"),
            Lengths::Uniform(first, last) => write!(f, "{first}..{last}"),
            Lengths::File(name, _) => write!(f, "file:{name}"),
        }
    }
}
