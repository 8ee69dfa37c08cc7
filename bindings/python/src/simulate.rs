//! `truetail.simulate`: a scenario or a lab in virtual time.

use std::fs;
use std::path::{Path, PathBuf};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use truetail_model::scenario::{Scenario, builtin};
use truetail_sim::SimOptions;
use truetail_sim::labs::{Lab, LabError, LabResult, LabSeries};

use crate::arguments::{length, wrong, wrong_type};
use crate::result::{Raised, RunResult};

/// What an ideal client would have measured, to the nanosecond: one result for a scenario, one by name for each series
/// of a lab.
#[pyfunction]
#[pyo3(signature = (scenario, duration=None))]
pub fn simulate<'py>(
    py: Python<'py>,
    scenario: &Bound<'py, PyAny>,
    duration: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    if let Some(series) = lab(py, scenario) {
        return match duration {
            Some(_) => Err(wrong("duration", "a lab has settings of its own; leave it out")),
            None => by_name(py, series.map_err(|error| PyValueError::new_err(error.to_string()))?),
        };
    }
    let scenario = find(scenario, duration)?;
    let run = py.detach(|| truetail_sim::simulate(&scenario, SimOptions::default()));
    let run = run.map_err(|error| wrong("scenario", error))?;
    Ok(Bound::new(py, RunResult::new(py, run, Raised::default()))?.into_any())
}

/// The series of the lab of that name; `None` where there is none.
fn lab(py: Python<'_>, name: &Bound<'_, PyAny>) -> Option<Result<Vec<LabSeries>, LabError>> {
    let name = name.cast::<PyString>().ok()?.to_string();
    let lab = Lab::by_name(&name)?;
    Some(py.detach(|| lab.run().map(LabResult::into_series)))
}

fn by_name(py: Python<'_>, series: Vec<LabSeries>) -> PyResult<Bound<'_, PyAny>> {
    let results = PyDict::new(py);
    for one in series {
        results.set_item(one.name, RunResult::new(py, one.run, Raised::default()))?;
    }
    Ok(results.into_any())
}

/// The scenario of that name, in that file, or with that text; scaled to `duration` where one is given.
pub fn find(given: &Bound<'_, PyAny>, duration: Option<&Bound<'_, PyAny>>) -> PyResult<Scenario> {
    let scenario = match given.cast::<PyString>() {
        Ok(text) => named(&text.to_string())?,
        Err(_) => {
            let path = given.extract::<PathBuf>();
            in_file(&path.map_err(|_| wrong_type("scenario", "a name, a path or a text in TOML", given))?)?
        }
    };
    match duration {
        None => Ok(scenario),
        Some(given) => scenario.scaled_to(length("duration", given)?).map_err(|error| wrong("duration", error)),
    }
}

fn named(given: &str) -> PyResult<Scenario> {
    if given.contains('\n') {
        return Scenario::parse(given, "scenario.toml").map_err(|error| wrong("scenario", error));
    }
    if given.ends_with(".toml") || Path::new(given).is_file() {
        return in_file(Path::new(given));
    }
    builtin::find(given).map_err(|error| wrong("scenario", error))
}

fn in_file(path: &Path) -> PyResult<Scenario> {
    let text = fs::read_to_string(path)?;
    let beside = path.parent().unwrap_or(Path::new(""));
    let read =
        |trace: &str| fs::read_to_string(beside.join(trace)).map_err(|error| format!("cannot read {trace}: {error}"));
    Scenario::parse_with(&text, &path.display().to_string(), &read).map_err(|error| wrong("scenario", error))
}
