//! Plots in one line of text: one character per value, as high as the value.

use crate::style::Style;

/// Characters from the lowest to the full height.
const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const ASCII: [char; 8] = ['_', '.', ',', '-', '=', '+', '*', '#'];

/// Reduction of several values to one column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Downsample {
    /// The largest, so that no peak is lost.
    Max,
    /// The smallest, so that no gap is lost.
    Min,
}

/// Reduces `values` to at most `columns` columns of equal length. A column without values is `None`.
pub(crate) fn resample(values: &[Option<f64>], columns: usize, by: Downsample) -> Vec<Option<f64>> {
    let columns = columns.min(values.len());
    let pick = |a: f64, b: f64| match by {
        Downsample::Max => a.max(b),
        Downsample::Min => a.min(b),
    };
    (0..columns)
        .map(|i| {
            let from = i * values.len() / columns;
            let to = (i + 1) * values.len() / columns;
            values[from..to].iter().flatten().copied().reduce(pick)
        })
        .collect()
}

/// Formats one character per value, scaled to the largest finite one: a space for `None` and 0 only, `×` for infinity.
pub fn line(values: &[Option<f64>], style: Style) -> String {
    let top = values.iter().flatten().copied().filter(|value| value.is_finite()).fold(0.0, f64::max);
    let (characters, endless) = if style.unicode { (BLOCKS, '×') } else { (ASCII, 'x') };
    let height = |value: f64| match value {
        _ if value.is_infinite() => endless,
        _ if value <= 0.0 || top <= 0.0 => ' ',
        _ => characters[((value / top * 8.0).ceil() as usize).clamp(1, 8) - 1],
    };
    values.iter().map(|value| value.map_or(' ', height)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peak_survives_any_width() {
        let mut values = vec![Some(1.0); 3600];
        values[1234] = Some(100.0);
        for columns in 1..100 {
            let drawn = resample(&values, columns, Downsample::Max);
            assert_eq!(drawn.len(), columns);
            assert!(drawn.contains(&Some(100.0)), "{columns}");
        }
    }

    #[test]
    fn few_values_are_not_stretched() {
        assert_eq!(resample(&[Some(1.0), None, Some(3.0)], 60, Downsample::Max), [Some(1.0), None, Some(3.0)]);
        assert_eq!(resample(&[Some(1.0), None, Some(3.0)], 1, Downsample::Min), [Some(1.0)]);
        assert_eq!(resample(&[], 60, Downsample::Max), []);
    }

    #[test]
    fn heights_begin_at_zero() {
        let style = Style::default();
        assert_eq!(line(&[Some(1.0), Some(4.0), Some(8.0), None, Some(0.0)], style), "▁▄█  ");
        assert_eq!(line(&[Some(10.1), Some(10.2)], style), "██");
        assert_eq!(line(&[Some(1.0), Some(8.0)], Style { unicode: false, ..style }), "_#");
        assert_eq!(line(&[None, None], style), "  ");
        assert_eq!(line(&[Some(f64::INFINITY), Some(1.0)], style), "×█");
    }
}
