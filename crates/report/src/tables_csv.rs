//! A run as CSV, for spreadsheets: quantiles, series over time, and percentile curves. Unknown values are blank.

use truetail_analysis::series::{CurveKind, RunSeries};
use truetail_model::record::Metric;
use truetail_run::{Distribution, Findings};

use crate::output_file::OutputFile;

/// Returns the tables of a run as files: `quantiles.csv`, `over-time.csv`, `curves.csv`.
pub fn csv_files(findings: &Findings, series: &RunSeries) -> [OutputFile; 3] {
    [
        OutputFile::text("quantiles.csv", quantiles_csv(findings)),
        OutputFile::text("over-time.csv", over_time_csv(series)),
        OutputFile::text("curves.csv", curves_csv(series)),
    ]
}

/// Returns one row for each quantile of each time, as in run.json.
pub fn quantiles_csv(findings: &Findings) -> String {
    let head = [
        "time",
        "count",
        "q",
        "value_ns",
        "low_ns",
        "high_ns",
        "without_generator_ns",
        "at_least",
        "no_answer",
        "supported",
        "needs_n",
    ];
    let metrics = Metric::ALL.into_iter().filter(|metric| metric.has_own_distribution());
    let others = metrics.map(|metric| (metric.name(), &findings.metrics[metric]));
    let all = [("response_time", &findings.response_time)].into_iter().chain(others);
    let rows = |(name, distribution): (&'static str, &Distribution)| {
        let count = distribution.count;
        let row = move |quantile: &truetail_run::Quantile| {
            vec![
                name.to_owned(),
                count.to_string(),
                quantile.q.to_string(),
                field(quantile.value_ns),
                field(quantile.low_ns),
                field(quantile.high_ns),
                field(quantile.without_generator_ns),
                quantile.at_least.to_string(),
                quantile.no_answer.to_string(),
                quantile.supported.to_string(),
                field(quantile.needs_n),
            ]
        };
        distribution.quantiles.iter().map(row).collect::<Vec<_>>()
    };
    table(&head.map(str::to_owned), all.flat_map(rows))
}

fn over_time_csv(series: &RunSeries) -> String {
    let time = &series.time;
    let load = &series.load;
    let delay = &series.start_delay;
    let mut columns: Vec<(String, Vec<String>)> = Vec::new();
    let mut add = |name: &str, values: Vec<String>| columns.push((name.to_owned(), values));
    add("from_s", (0..time.columns).map(|i| time.begin_s(i).to_string()).collect());
    add("to_s", (0..time.columns).map(|i| time.end_s(i).to_string()).collect());
    for (name, rates) in [
        ("planned_per_s", &load.planned_per_s),
        ("sent_per_s", &load.sent_per_s),
        ("completed_per_s", &load.completed_per_s),
        ("failed_per_s", &load.failed_per_s),
    ] {
        add(name, rates.iter().map(f64::to_string).collect());
    }
    let counts =
        [("backlog", &load.backlog), ("in_flight", &load.in_flight), ("unanswered", &series.heat_map.unanswered)];
    counts.into_iter().for_each(|(name, counts)| add(name, counts.iter().map(u64::to_string).collect()));
    for (metric, quantiles) in [("response_time", &series.response_time), ("generator_lag", &series.generator_lag)] {
        for one in quantiles {
            add(&column(metric, one.q), one.values_ns.iter().map(|value| field(*value)).collect());
        }
    }
    for (name, means) in [
        ("generator_lag_mean_ns", &delay.generator_lag_ns),
        ("connection_wait_mean_ns", &delay.connection_wait_ns),
        ("connect_mean_ns", &delay.connect_ns),
    ] {
        add(name, means.iter().map(|value| field(*value)).collect());
    }
    let head: Vec<String> = columns.iter().map(|(name, _)| name.clone()).collect();
    let row = |i: usize| columns.iter().map(|(_, values)| values.get(i).cloned().unwrap_or_default()).collect();
    table(&head, (0..time.columns).map(row))
}

/// Returns a column name such as `response_time_p99_9_ns`. The largest value is `max`.
fn column(metric: &str, q: f64) -> String {
    let quantile = if q >= 1.0 { "max".to_owned() } else { format!("p{}", q * 100.0).replace('.', "_") };
    format!("{metric}_{quantile}_ns")
}

fn curves_csv(series: &RunSeries) -> String {
    let head = ["curve", "q", "value_ns", "low_ns", "high_ns", "without_generator_ns"];
    let rows = series.curves.iter().flat_map(|curve| {
        curve.points.iter().map(|point| {
            vec![
                name_of(curve.kind).to_owned(),
                point.q.to_string(),
                point.value_ns.to_string(),
                field(point.low_ns),
                field(point.high_ns),
                field(point.without_generator_ns),
            ]
        })
    });
    table(&head.map(str::to_owned), rows)
}

const fn name_of(kind: CurveKind) -> &'static str {
    match kind {
        CurveKind::ResponseTime => "response_time",
        CurveKind::ServiceTime => "service_time",
        CurveKind::ClosedLoopShadow => "closed_loop_shadow",
        CurveKind::Corrected => "corrected",
        CurveKind::Truth => "truth",
    }
}

fn field(value: Option<u64>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}

fn table(head: &[String], rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut csv = csv::Writer::from_writer(Vec::new());
    csv.write_record(head).expect("memory takes everything");
    rows.for_each(|row| csv.write_record(row).expect("as many fields as the head"));
    let bytes = csv.into_inner().expect("memory takes everything");
    String::from_utf8(bytes).expect("written from texts")
}
