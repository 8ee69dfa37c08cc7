//! A course of values, as small as a word.

use std::fmt::Write;

use super::look::SeriesStyle;
use crate::markup::escaped;
use crate::sparkline::{Downsample, resample};

const WIDTH: f64 = 120.0;
const HEIGHT: f64 = 24.0;
/// Distance from the edges, so that no line is cut off.
const INSET: f64 = 2.0;
/// Limit on the columns: one for each two pixels.
const COLUMNS: usize = 60;

/// Draws the course of `values` from 0 to the largest, as SVG. A missing value is a gap. `name` describes it to screen
/// readers. Returns an empty text without values.
pub fn spark(values: &[Option<u64>], name: &str) -> String {
    let values: Vec<Option<f64>> = values.iter().map(|value| value.map(|value| value as f64)).collect();
    let columns = resample(&values, COLUMNS, Downsample::Max);
    let top = columns.iter().flatten().copied().fold(0.0, f64::max);
    if top <= 0.0 {
        return String::new();
    }
    let step = (WIDTH - 2.0 * INSET) / (columns.len().max(2) - 1) as f64;
    let x = |at: usize| INSET + step * at as f64;
    let y = |value: f64| HEIGHT - INSET - (HEIGHT - 2.0 * INSET) * value / top;
    let mut path = String::new();
    let mut is_drawn = false;
    for (at, value) in columns.iter().enumerate() {
        if let Some(value) = value {
            let letter = if is_drawn { 'L' } else { 'M' };
            write!(path, "{letter}{:.1} {:.1}", x(at), y(*value)).expect("a String takes everything");
            let is_single = !is_drawn && columns.get(at + 1).is_none_or(Option::is_none);
            path.push_str(if is_single { "h.1" } else { "" });
        }
        is_drawn = value.is_some();
    }
    format!(
        "<svg class=\"spark\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" role=\"img\"><title>{}\
         </title><path class=\"{}\" d=\"{path}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\" stroke-linejoin=\"round\" \
         stroke-linecap=\"round\"/></svg>",
        escaped(name),
        SeriesStyle::Response.class(),
        SeriesStyle::Response.color(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_is_a_gap_and_the_largest_value_is_at_the_top() {
        let drawn = spark(&[Some(1), Some(4), None, Some(2)], "p99 <over> time");
        assert!(drawn.contains("<title>p99 &lt;over&gt; time</title>"), "{drawn}");
        let path = drawn.split("d=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a path");
        assert_eq!(path, "M2.0 17.0L40.7 2.0M118.0 12.0h.1");
    }

    #[test]
    fn without_values_nothing_is_drawn() {
        assert_eq!(spark(&[], ""), "");
        assert_eq!(spark(&[None, Some(0)], ""), "");
        assert!(spark(&[Some(u64::MAX)], "").contains("M2.0 2.0h.1"));
    }
}
