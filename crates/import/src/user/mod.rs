//! Tables of no tool: the user says what each column holds.

mod csv;
mod json;

use crate::rows::number::Unit;
use crate::tables::{Clock, Length};
use crate::{ImportError, ImportOptions};

pub(crate) use csv::UserCsv;
pub(crate) use json::UserJson;

/// Times below this many nanoseconds count from the start of a run. As Unix times they would be before March 1973.
const OF_OUR_DAYS_NS: u64 = 100_000_000 * Unit::Seconds.nanos();

const ROLES: [&str; 7] = ["start", "end", "duration", "worker", "status", "error", "bytes"];
/// Roles that have a unit.
const TIMES: [&str; 3] = ["start", "end", "duration"];

/// The meaning of the columns, as the user stated it.
struct Wanted<'o> {
    options: &'o ImportOptions,
}

impl<'o> Wanted<'o> {
    /// Checks the user's options. Anything unknown or missing is an error.
    fn new(options: &'o ImportOptions) -> Result<Wanted<'o>, ImportError> {
        let wanted = Wanted { options };
        let unknown = |pairs: &[(String, String)], known: &[&str]| {
            pairs.iter().map(|(role, _)| role).find(|role| !known.contains(&role.as_str())).cloned()
        };
        if let Some(role) = unknown(&options.columns, &ROLES) {
            return Err(wrong(format!("'{role}' is no column that is read; name {}", ROLES.join(", "))));
        }
        if let Some(role) = unknown(&options.units, &TIMES) {
            return Err(wrong(format!("'{role}' has no unit; name units of {}", TIMES.join(", "))));
        }
        for pairs in [&options.columns, &options.units] {
            let roles: Vec<_> = pairs.iter().map(|(role, _)| role).collect();
            if let Some(role) = roles.iter().enumerate().find(|(n, role)| roles[..*n].contains(role)) {
                return Err(wrong(format!("'{}' is named twice", role.1)));
            }
        }
        if wanted.column("duration").is_none() && (wanted.column("start").is_none() || wanted.column("end").is_none()) {
            return Err(wrong("name the column 'duration', or 'start' and 'end'".to_owned()));
        }
        if wanted.column("end").is_some() && wanted.column("start").is_some() && wanted.column("duration").is_some() {
            return Err(wrong("name two of the columns 'start', 'end' and 'duration', not all three".to_owned()));
        }
        if wanted.column("end").is_some() && wanted.column("start").is_none() {
            return Err(wrong("a table with 'end' needs the column 'start' too".to_owned()));
        }
        Ok(wanted)
    }

    /// Returns the named columns with their roles.
    fn columns(&self) -> impl Iterator<Item = (&'static str, &'o str)> {
        ROLES.into_iter().filter_map(|role| Some((role, self.column(role)?)))
    }

    fn column(&self, role: &str) -> Option<&'o str> {
        self.options.columns.iter().find(|(name, _)| name == role).map(|(_, column)| column.as_str())
    }

    /// Returns the notation of an instant: the user's unit, or else the notation of the first row.
    fn clock(&self, role: &str) -> Result<Clock, ImportError> {
        Ok(self.options.unit(role)?.map_or(Clock::OfFirst, Clock::In))
    }

    /// Returns the source of durations. `index` finds a column.
    fn length(&self, index: impl Fn(&str) -> Result<usize, ImportError>) -> Result<Length, ImportError> {
        let Some(column) = self.column("duration") else {
            return Ok(Length::UntilEnd(index("end")?, self.clock("end")?));
        };
        let unit = match self.options.unit("duration")? {
            Some(unit) => unit,
            None => unit_in_name(column).ok_or_else(|| {
                wrong(format!("the unit of '{column}' is not known; add --units duration=ms, us, ns or s"))
            })?,
        };
        Ok(Length::Duration(index("duration")?, unit))
    }
}

/// Refuses a table if neither the user nor the first row shows the unit of a time.
fn known_units(start: Option<(usize, Clock)>, length: Length) -> Result<(), ImportError> {
    let start = start.map(|(_, clock)| ("start", clock));
    let end = match length {
        Length::UntilEnd(_, clock) => Some(("end", clock)),
        Length::Duration(..) => None,
    };
    match start.into_iter().chain(end).find(|(_, clock)| clock.is_unknown()) {
        Some((role, _)) => Err(wrong(format!(
            "the first '{role}' is neither a date nor a Unix time of 10, 13, 16 or 19 digits; add --units {role}=s, ms, us or ns"
        ))),
        None => Ok(()),
    }
}

fn wrong(what: String) -> ImportError {
    ImportError::Options(what)
}

/// Returns the unit at the end of a name: `latency_ms`, `latency (us)`, `duration.ns`.
fn unit_in_name(name: &str) -> Option<Unit> {
    let name = name.to_ascii_lowercase();
    let name = name.trim_end_matches([')', ']']);
    let last = name.rsplit(|char: char| !char.is_alphanumeric() && char != 'µ').next()?;
    if last.len() == name.len() {
        // A whole name such as `s` does not state a unit.
        return None;
    }
    match last {
        "millis" | "milliseconds" => Some(Unit::Millis),
        "micros" | "microseconds" => Some(Unit::Micros),
        "nanos" | "nanoseconds" => Some(Unit::Nanos),
        "sec" | "secs" | "seconds" => Some(Unit::Seconds),
        last => Unit::by_name(last),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_may_have_a_unit() {
        for (name, unit) in [
            ("latency_ms", Some(Unit::Millis)),
            ("Latency (us)", Some(Unit::Micros)),
            ("data.duration-ns", Some(Unit::Nanos)),
            ("time.seconds", Some(Unit::Seconds)),
            ("items", None),
            ("s", None),
            ("", None),
        ] {
            assert_eq!(unit_in_name(name), unit, "{name}");
        }
    }
}
