//! The text format of Prometheus, version 0.0.4, with classic histograms.
//!
//! Prometheus' own Rust crate, prometheus-client, writes OpenMetrics, which names the family of a counter differently:
//! `promtool check metrics` refuses that.

use std::fmt::Write;

use super::{Family, Kind, TimesHistogram, Value};

/// The content type of [`text`].
pub const TEXT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Returns the metrics, one line per sample.
pub fn text(families: &[Family]) -> String {
    let mut out = String::new();
    families.iter().for_each(|family| write_family(&mut out, family).expect("a String takes everything"));
    out
}

fn write_family(out: &mut String, family: &Family) -> std::fmt::Result {
    let name = family.prometheus_name();
    let kind = match family.kind {
        Kind::Counter => "counter",
        Kind::Gauge => "gauge",
        Kind::Histogram => "histogram",
    };
    let help = family.help.replace('\\', "\\\\").replace('\n', "\\n");
    writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}")?;
    for sample in &family.samples {
        match &sample.value {
            Value::Number(number) => writeln!(out, "{name}{} {number}", labels(&sample.labels, None))?,
            Value::Times(times) => write_times(out, &name, &sample.labels, times)?,
        }
    }
    Ok(())
}

fn write_times(
    out: &mut String,
    name: &str,
    given: &[(&'static str, String)],
    times: &TimesHistogram,
) -> std::fmt::Result {
    for (bound, count) in &times.classic {
        writeln!(out, "{name}_bucket{} {count}", labels(given, Some(&bound.to_string())))?;
    }
    writeln!(out, "{name}_bucket{} {}", labels(given, Some("+Inf")), times.count)?;
    let labels = labels(given, None);
    writeln!(out, "{name}_sum{labels} {}\n{name}_count{labels} {}", times.sum_s, times.count)
}

/// Formats `{name="value",le="0.1"}`; empty without labels.
fn labels(labels: &[(&'static str, String)], le: Option<&str>) -> String {
    let given = labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value)));
    let all: Vec<String> = given.chain(le.map(|bound| format!("le=\"{bound}\""))).collect();
    if all.is_empty() { String::new() } else { format!("{{{}}}", all.join(",")) }
}

fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
