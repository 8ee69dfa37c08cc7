//! Conversion of Python values. Each error names the argument, the problem, and a remedy.

use std::fmt::Display;
use std::path::Path;

use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString};
use truetail_model::arrival::{Profile, ProfileError, Trace};
use truetail_model::time::{Nanos, Rate};
use truetail_model::users::{Users, UsersError};
use truetail_run::input;

/// Returns `ValueError: name: problem`.
pub(crate) fn value_error(name: &str, problem: impl Display) -> PyErr {
    PyValueError::new_err(format!("{name}: {problem}"))
}

/// Returns `TypeError: name: expected this, not that`.
pub(crate) fn type_error(name: &str, expected: &str, given: &Bound<'_, PyAny>) -> PyErr {
    let given = given.get_type().name().map_or_else(|_| "that".to_owned(), |name| name.to_string());
    PyTypeError::new_err(format!("{name}: expected {expected}, not {given}"))
}

/// Converts a time: `"500us"`, a number of seconds, or a `timedelta`. It must not be negative.
pub(crate) fn time(name: &str, given: &Bound<'_, PyAny>) -> PyResult<Nanos> {
    if let Ok(text) = given.cast::<PyString>() {
        return text.to_string().parse().map_err(|error| value_error(name, error));
    }
    let seconds = match given.getattr("total_seconds") {
        Ok(total_seconds) => total_seconds.call0()?.extract::<f64>(),
        Err(_) => number(given),
    };
    let seconds = seconds
        .map_err(|_| type_error(name, "a time such as '10ms' or '1m30s', a number of seconds or a timedelta", given))?;
    if !(0.0..1e9).contains(&seconds) {
        return Err(value_error(name, format!("{seconds} seconds is out of range; a time is finite and not negative")));
    }
    Ok(Nanos::from_secs_f64(seconds))
}

/// Converts a time as [`time`] does, to nanoseconds, for the Python code around this module.
#[pyfunction]
pub(crate) fn nanoseconds(name: &str, given: &Bound<'_, PyAny>) -> PyResult<u64> {
    Ok(time(name, given)?.0)
}

/// Converts a time above zero.
pub(crate) fn positive_time(name: &str, given: &Bound<'_, PyAny>) -> PyResult<Nanos> {
    let time = time(name, given)?;
    if time.is_zero() { Err(value_error(name, "it is zero; write a time above zero, such as '10s'")) } else { Ok(time) }
}

/// Converts a whole number of at least `least`.
pub(crate) fn whole_number(name: &str, given: &Bound<'_, PyAny>, least: u64) -> PyResult<u64> {
    let expected = format!("a whole number from {least}");
    if given.is_instance_of::<PyBool>() {
        return Err(type_error(name, &expected, given));
    }
    match given.extract::<u64>() {
        Ok(number) if number >= least => Ok(number),
        Err(error) if !error.is_instance_of::<PyOverflowError>(given.py()) => Err(type_error(name, &expected, given)),
        _ => Err(value_error(name, format!("{given} is not {expected}"))),
    }
}

/// Converts a number of threads, users or connections: from 1 to `u32::MAX`.
pub(crate) fn count(name: &str, given: &Bound<'_, PyAny>) -> PyResult<u32> {
    let number = whole_number(name, given, 1)?;
    u32::try_from(number).map_err(|_| value_error(name, format!("{number} is too many; at most {}", u32::MAX)))
}

/// Converts a number of users, constant or in stages: `10`, `"0..50/10s,50/30s"`.
pub(crate) fn users(name: &str, given: &Bound<'_, PyAny>) -> PyResult<Users> {
    match given.cast::<PyString>() {
        Ok(text) => text.to_string().parse().map_err(|error: UsersError| value_error(name, error)),
        Err(_) => count(name, given).map(Users::constant),
    }
}

/// Prefix of a profile that names a file with recorded arrivals.
const TRACE: &str = "trace:";

/// Converts a rate or a rate profile: `1000`, `"60/m"`, `"ramp:100..2000/60s"`, `"trace:arrivals.txt"`.
pub(crate) fn profile(name: &str, given: &Bound<'_, PyAny>) -> PyResult<Profile> {
    if let Ok(text) = given.cast::<PyString>() {
        let text = text.to_string();
        if let Some(file) = text.strip_prefix(TRACE) {
            let trace = Trace::parse(&input::text(Path::new(file))?);
            return trace.map(Profile::Trace).map_err(|error| value_error(name, format!("{file}: {error}")));
        }
        return if text.contains(':') {
            text.parse().map_err(|error: ProfileError| value_error(name, error))
        } else {
            text.parse().map(Profile::constant).map_err(|error| value_error(name, error))
        };
    }
    let per_second = number(given).map_err(|_| type_error(name, "a rate such as 1000, '1k' or '60/m'", given))?;
    Rate::per_second(per_second).map(Profile::constant).map_err(|error| value_error(name, error))
}

/// Converts the name of one of `choices`.
pub(crate) fn choice<T: Copy>(name: &str, given: &str, choices: &[(&str, T)]) -> PyResult<T> {
    let found = choices.iter().find(|(known, _)| *known == given);
    let names = || choices.iter().map(|(known, _)| format!("'{known}'")).collect::<Vec<_>>().join(", ");
    found
        .map(|(_, choice)| *choice)
        .ok_or_else(|| value_error(name, format!("there is no '{given}'; choose one of {}", names())))
}

/// Checks a quantile in [0, 1].
pub(crate) fn quantile(q: f64) -> PyResult<f64> {
    if (0.0..=1.0).contains(&q) {
        return Ok(q);
    }
    let meant = if (1.0..=100.0).contains(&q) { format!("; write {} for p{q}", q / 100.0) } else { String::new() };
    Err(value_error("q", format!("{q} is not a quantile in [0, 1]{meant}")))
}

/// Converts a number. A `bool` is not a number.
fn number(given: &Bound<'_, PyAny>) -> PyResult<f64> {
    if given.is_instance_of::<PyBool>() { Err(PyTypeError::new_err("a truth value")) } else { given.extract() }
}
