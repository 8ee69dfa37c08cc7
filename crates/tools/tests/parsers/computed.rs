//! Quantiles that a tool does not print, compared with a plain sort of the column in its file.

use std::fs;

use truetail_tools::ToolOutput;

use crate::support::{by_sorting, fixtures, parse};

/// A file with single requests.
struct Column {
    tool: &'static str,
    /// Path below `testdata/tools/<tool>`.
    file: &'static str,
    /// Key of the file; `None` for standard output.
    key: Option<&'static str>,
    delimiter: char,
    /// Index of the latency column, and its unit.
    place: usize,
    unit_ns: f64,
    has_header: bool,
}

const HEY: Column = Column {
    tool: "hey",
    file: "0.1.4/stall/samples.csv",
    key: None,
    delimiter: ',',
    place: 0,
    unit_ns: 1e9,
    has_header: true,
};
const OHA: Column =
    Column { tool: "oha", file: "1.16.0/stall/corrected-samples.csv", key: None, place: 4, unit_ns: 1e9, ..HEY };
const H2LOAD: Column = Column {
    tool: "h2load",
    file: "1.52.0/stall/samples.tsv",
    key: Some("samples"),
    delimiter: '\t',
    place: 2,
    unit_ns: 1e3,
    has_header: false,
};

const VEGETA: Column = Column {
    tool: "vegeta",
    file: "12.13.0/stall/results.csv",
    key: Some("results.csv"),
    delimiter: ',',
    place: 2,
    unit_ns: 1.0,
    has_header: false,
};
const JMETER: Column = Column {
    tool: "jmeter-precise-throughput",
    file: "5.6.3/stall/samples.csv",
    key: Some("samples.csv"),
    delimiter: ',',
    place: 1,
    unit_ns: 1e6,
    has_header: true,
};

#[test]
fn computed_quantiles_are_those_of_the_sorted_column() {
    for column in [HEY, OHA, H2LOAD, VEGETA, JMETER] {
        let bytes = fs::read(fixtures(column.tool).join(column.file)).expect("a fixture");
        let expected = column.times(std::str::from_utf8(&bytes).expect("text"));
        let mut output = ToolOutput { exit_code: Some(1), ..ToolOutput::default() };
        match column.key {
            Some(key) => drop(output.files.insert(key.to_owned(), bytes)),
            None => output.stdout = bytes,
        }
        let report = parse(column.tool, &output).expect("a report");
        for q in [0.5, 0.9, 0.99, 0.999, 0.9999] {
            let claim = report.claims.quantile(q).unwrap_or_else(|| panic!("{}: no quantile {q}", column.tool));
            let expected_ns = (by_sorting(expected.clone(), q) * column.unit_ns).round() as u64;
            assert_eq!((claim.value_ns, claim.printed), (expected_ns, false), "{} {q}", column.tool);
        }
    }
}

impl Column {
    fn times(&self, text: &str) -> Vec<f64> {
        let rows = text.lines().skip(usize::from(self.has_header));
        let time = |row: &str| row.split(self.delimiter).nth(self.place).and_then(|cell| cell.parse().ok());
        rows.map(|row| time(row).unwrap_or_else(|| panic!("no time in {row}"))).collect()
    }
}
