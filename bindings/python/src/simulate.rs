//! `truetail.simulate`: a scenario or a lab in virtual time.

use std::path::{Path, PathBuf};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use truetail_model::scenario::{Scenario, builtin};
use truetail_run::input;
use truetail_sim::SimOptions;
use truetail_sim::labs::{Lab, LabError, LabResult, LabSeries};

use crate::arguments::{positive_time, type_error, value_error};
use crate::result::RunResult;

/// Simulates an ideal client, to the nanosecond. A scenario gives one result, and a lab a dict with a result per
/// series.
#[pyfunction]
#[pyo3(signature = (scenario, duration=None))]
pub(crate) fn simulate<'py>(
    py: Python<'py>,
    scenario: &Bound<'py, PyAny>,
    duration: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    if let Some(series) = lab(py, scenario) {
        return match duration {
            Some(_) => Err(value_error("duration", "a lab has settings of its own; leave it out")),
            None => by_name(py, series.map_err(|error| PyValueError::new_err(error.to_string()))?),
        };
    }
    let scenario = find_scenario(scenario, duration)?;
    let run = py.detach(|| truetail_sim::simulate(&scenario, SimOptions::default()));
    let run = run.map_err(|error| value_error("scenario", error))?;
    Ok(Bound::new(py, RunResult::new(py, run, Default::default()))?.into_any())
}

/// Returns the series of the lab of that name, if it exists.
fn lab(py: Python<'_>, name: &Bound<'_, PyAny>) -> Option<Result<Vec<LabSeries>, LabError>> {
    let name = name.cast::<PyString>().ok()?.to_string();
    let lab = Lab::by_name(&name)?;
    Some(py.detach(|| lab.run().map(LabResult::into_series)))
}

fn by_name(py: Python<'_>, series: Vec<LabSeries>) -> PyResult<Bound<'_, PyAny>> {
    let results = PyDict::new(py);
    for one in series {
        results.set_item(one.name, RunResult::new(py, one.run, Default::default()))?;
    }
    Ok(results.into_any())
}

/// Returns a scenario by name, file or TOML text, scaled to `duration` if given.
pub(crate) fn find_scenario(given: &Bound<'_, PyAny>, duration: Option<&Bound<'_, PyAny>>) -> PyResult<Scenario> {
    let scenario = match given.cast::<PyString>() {
        Ok(text) => named_scenario(&text.to_string())?,
        Err(_) => {
            let path = given.extract::<PathBuf>();
            scenario_in_file(&path.map_err(|_| type_error("scenario", "a name, a path or a text in TOML", given))?)?
        }
    };
    match duration {
        None => Ok(scenario),
        Some(given) => {
            scenario.scaled_to(positive_time("duration", given)?).map_err(|error| value_error("duration", error))
        }
    }
}

fn named_scenario(given: &str) -> PyResult<Scenario> {
    if given.contains('\n') {
        return Scenario::parse(given, "scenario.toml").map_err(|error| value_error("scenario", error));
    }
    if given.ends_with(".toml") || Path::new(given).is_file() {
        return scenario_in_file(Path::new(given));
    }
    builtin::find(given).map_err(|error| value_error("scenario", error))
}

fn scenario_in_file(path: &Path) -> PyResult<Scenario> {
    let text = input::text(path)?;
    let beside = path.parent().unwrap_or(Path::new(""));
    let read = |trace: &str| input::text(&beside.join(trace)).map_err(|error| format!("cannot read {trace}: {error}"));
    Scenario::parse_with(&text, &path.display().to_string(), &read).map_err(|error| value_error("scenario", error))
}
