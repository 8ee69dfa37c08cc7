//! Quantiles that a tool does not print, compared with a plain sort of the column in its file.

use truetail_model::record::rank_of;
use truetail_tools::ToolOutput;

use crate::support::{bytes_of, parse, testdata};

/// Tool, file with single requests, its key (none for standard output), index and unit of the latency column.
const COLUMNS: [(&str, &str, Option<&str>, usize, f64); 5] = [
    ("hey", "0.1.4/stall/samples.csv", None, 0, 1e9),
    ("oha", "1.16.0/stall/corrected-samples.csv", None, 4, 1e9),
    ("h2load", "1.52.0/stall/samples.tsv", Some("samples"), 2, 1e3),
    ("vegeta", "12.13.0/stall/results.csv", Some("results.csv"), 2, 1.0),
    ("jmeter-precise-throughput", "5.6.3/stall/samples.csv", Some("samples.csv"), 1, 1e6),
];

#[test]
fn computed_quantiles_are_those_of_the_sorted_column() {
    for (tool, file, key, column, unit_ns) in COLUMNS {
        let bytes = bytes_of(&testdata(tool).join(file));
        let text = std::str::from_utf8(&bytes).expect("text");
        let time = |row: &str| row.split([',', '\t']).nth(column).expect("a column").parse::<f64>();
        let (header, rows): (Vec<_>, Vec<_>) = text.lines().map(time).partition(Result::is_err);
        assert!(header.len() <= 1, "{tool}: {header:?}");
        let mut times: Vec<f64> = rows.into_iter().flatten().collect();
        times.sort_by(f64::total_cmp);
        let mut output = ToolOutput { exit_code: Some(1), ..ToolOutput::default() };
        match key {
            Some(key) => drop(output.files.insert(key.to_owned(), bytes)),
            None => output.stdout = bytes,
        }
        let report = parse(tool, &output).expect("a report");
        for q in [0.5, 0.9, 0.99, 0.999, 0.9999] {
            let claim = report.claims.quantile(q).unwrap_or_else(|| panic!("{tool}: no quantile {q}"));
            let expected = times[rank_of(q, times.len() as u64) as usize - 1];
            assert_eq!((claim.value_ns, claim.printed), ((expected * unit_ns).round() as u64, false), "{tool} {q}");
        }
    }
}
