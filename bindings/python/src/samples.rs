//! Single requests as a numpy structured array.

use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;
use pyo3::types::PyByteArray;
use truetail_model::record::RequestRecord;
use truetail_model::trace::TraceIds;
use truetail_run::folder::OptionalColumn;
use truetail_run::{Run, StreamFacts};

use crate::stream_columns;
use crate::text_column::{TEXT, TRACE_ID, write_text, write_trace_id};

/// Name and type of each column that all runs have, in the order of [`write()`].
const COLUMNS: [(&str, &str); 15] = [
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
    ("connected", "?"),
    ("bytes_in", "=i8"),
    // NaN is no status.
    ("status", "=f8"),
    ("only_slow", "?"),
    ("outcome", TEXT),
];

/// Returns the samples by intended start. `slowest` adds arrivals that were kept only because they are slow.
pub(crate) fn to_numpy<'py>(py: Python<'py>, run: &Run, slowest: bool) -> PyResult<Bound<'py, PyAny>> {
    let numpy = import(py, "numpy")?;
    let bytes = PyByteArray::new(py, &py.detach(|| rows(run, slowest)));
    let optional = OptionalColumn::of(&run.snapshot.samples).into_iter().map(|column| (column.name, "=f8"));
    let trace_id = trace_ids(run).map(|_| ("trace_id", TRACE_ID));
    let of_streams = streams(run).into_iter().flat_map(stream_columns::columns);
    let columns = COLUMNS.into_iter().chain(optional).chain(trace_id).chain(of_streams);
    numpy.call_method1("frombuffer", (bytes, columns.collect::<Vec<_>>()))
}

/// Returns the trace ids of the requests, if they had any.
fn trace_ids(run: &Run) -> Option<TraceIds> {
    run.facts.trace.as_ref()?.ids()
}

/// Returns the streams, if the run keeps streams of single requests.
fn streams(run: &Run) -> Option<&StreamFacts> {
    run.facts.stream.as_ref().filter(|streams| !streams.requests.is_empty())
}

/// Returns the samples of [`to_numpy`] as a data frame.
pub(crate) fn to_pandas<'py>(py: Python<'py>, run: &Run, slowest: bool) -> PyResult<Bound<'py, PyAny>> {
    let pandas = import(py, "pandas")?;
    let frame = pandas.getattr("DataFrame")?.call1((to_numpy(py, run, slowest)?,))?;
    let streams = streams(run);
    // The type of pandas for integers that may be missing.
    let optional = OptionalColumn::of(&run.snapshot.samples).into_iter().map(|column| column.name);
    let integers = streams.into_iter().flat_map(stream_columns::number_names).chain(["status"]).chain(optional);
    let categories = streams.into_iter().flat_map(stream_columns::text_names).chain(["outcome"]);
    let typed = integers.map(|name| (name, "Int64")).chain(categories.map(|name| (name, "category")));
    for (name, type_name) in typed {
        frame.set_item(name, frame.get_item(name)?.call_method1("astype", (type_name,))?)?;
    }
    if frame.contains("target")? {
        let names = run.facts.offered.target_names();
        let places = frame.get_item("target")?;
        let known = places.call_method1("lt", (names.len(),))?.call_method1("fillna", (false,))?;
        // -1 means a missing category.
        let codes = places.call_method1("where", (known, -1))?;
        let categorical = pandas.getattr("Categorical")?.call_method1("from_codes", (codes, names))?;
        frame.set_item("target", categorical)?;
    }
    if let Some(streams) = streams {
        let gaps = stream_columns::gaps(streams, &frame.get_item("index")?)?;
        frame.set_item("gaps_ns", gaps)?;
    }
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

fn rows(run: &Run, slowest: bool) -> Vec<u8> {
    let samples = &run.snapshot.samples;
    let streams = streams(run);
    let slow = samples.slowest_left_out().filter(|_| slowest).map(|record| (record, true));
    let mut records: Vec<_> = samples.even().iter().map(|record| (record, false)).chain(slow).collect();
    records.sort_unstable_by_key(|(record, _)| (record.intended_start, record.index));
    let optional = OptionalColumn::of(samples);
    let ids = trace_ids(run);
    let mut bytes = Vec::new();
    for (record, only_slow) in records {
        write(&mut bytes, record, only_slow);
        for column in &optional {
            let number = (column.get)(record).map_or(f64::NAN, |number| number as f64);
            bytes.extend(number.to_ne_bytes());
        }
        ids.iter().for_each(|ids| write_trace_id(&mut bytes, &ids.trace_id(record.index)));
        streams.into_iter().for_each(|streams| stream_columns::write(&mut bytes, streams, record.index));
    }
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
    ];
    let write_number =
        |bytes: &mut Vec<u8>, number: u64| bytes.extend(i64::try_from(number).unwrap_or(i64::MAX).to_ne_bytes());
    numbers.iter().for_each(|number| write_number(bytes, *number));
    bytes.push(u8::from(record.connected));
    write_number(bytes, record.bytes_in);
    let status = record.outcome.status().map_or(f64::NAN, f64::from);
    bytes.extend(status.to_ne_bytes());
    bytes.push(u8::from(only_slow));
    write_text(bytes, record.outcome.name());
}
