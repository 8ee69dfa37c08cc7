//! Single requests as a numpy structured array.

use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;
use pyo3::types::PyByteArray;
use truetail_model::record::{RequestRecord, Samples};

/// Name and type of each column, in the order of [`write()`].
const COLUMNS: [(&str, &str); 14] = [
    ("index", "=i8"),
    ("intended_start_ns", "=i8"),
    ("actual_start_ns", "=i8"),
    ("end_ns", "=i8"),
    ("response_time_ns", "=i8"),
    ("service_time_ns", "=i8"),
    ("start_delay_ns", "=i8"),
    ("generator_lag_ns", "=i8"),
    ("connection_wait_ns", "=i8"),
    ("connect_ns", "=i8"),
    ("bytes_in", "=i8"),
    // NaN is no status.
    ("status", "=f8"),
    ("only_slow", "?"),
    ("outcome", "=U16"),
];
/// Length of the longest outcome name, in characters.
const OUTCOME_CHARS: usize = 16;

/// Returns the samples by intended start. `slowest` adds arrivals that were kept only because they are slow.
pub(crate) fn to_numpy<'py>(py: Python<'py>, samples: &Samples, slowest: bool) -> PyResult<Bound<'py, PyAny>> {
    let numpy = import(py, "numpy")?;
    let bytes = PyByteArray::new(py, &py.detach(|| rows(samples, slowest)));
    numpy.call_method1("frombuffer", (bytes, COLUMNS.to_vec()))
}

/// Returns the samples of [`to_numpy`] as a data frame.
pub(crate) fn to_pandas<'py>(py: Python<'py>, samples: &Samples, slowest: bool) -> PyResult<Bound<'py, PyAny>> {
    let pandas = import(py, "pandas")?;
    let frame = pandas.getattr("DataFrame")?.call1((to_numpy(py, samples, slowest)?,))?;
    let outcome = frame.get_item("outcome")?.call_method1("astype", ("category",))?;
    frame.set_item("outcome", outcome)?;
    // The type of pandas for integers that may be missing.
    let status = frame.get_item("status")?.call_method1("astype", ("Int64",))?;
    frame.set_item("status", status)?;
    Ok(frame)
}

fn import<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyModule>> {
    py.import(name).map_err(|error| {
        let missing = PyImportError::new_err(format!(
            "this needs {name}, which cannot be imported ({error}); pip install {name}"
        ));
        missing.set_cause(py, Some(error));
        missing
    })
}

fn rows(samples: &Samples, slowest: bool) -> Vec<u8> {
    let slow = samples.slowest_left_out().filter(|_| slowest).map(|record| (record, true));
    let mut records: Vec<_> = samples.even().iter().map(|record| (record, false)).chain(slow).collect();
    records.sort_unstable_by_key(|(record, _)| (record.intended_start, record.index));
    let mut bytes = Vec::new();
    records.into_iter().for_each(|(record, only_slow)| write(&mut bytes, record, only_slow));
    bytes
}

fn write(bytes: &mut Vec<u8>, record: &RequestRecord, only_slow: bool) {
    let numbers = [
        record.index,
        record.intended_start.0,
        record.actual_start.0,
        record.end.0,
        record.response_time().0,
        record.service_time().0,
        record.delay.total().0,
        record.delay.generator_lag.0,
        record.delay.connection_wait.0,
        record.delay.connect.0,
        record.bytes_in,
    ];
    numbers.iter().for_each(|number| bytes.extend(i64::try_from(*number).unwrap_or(i64::MAX).to_ne_bytes()));
    let status = record.outcome.status().map_or(f64::NAN, f64::from);
    bytes.extend(status.to_ne_bytes());
    bytes.push(u8::from(only_slow));
    let letters = record.outcome.name().chars().map(u32::from).chain(std::iter::repeat(0));
    letters.take(OUTCOME_CHARS).for_each(|letter| bytes.extend(letter.to_ne_bytes()));
}
