//! A plot of one line: as many columns as there is room for, each as high as its value.

use crate::style::Style;

/// Heights of a column from next to nothing to full.
const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// The same in ASCII.
const ASCII: [char; 8] = ['_', '.', ',', '-', '=', '+', '*', '#'];

/// What several values of a column come down to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fold {
    /// The largest: a peak is never lost.
    Largest,
    /// The smallest: a gap is never lost.
    Smallest,
}

/// `values` in at most `columns` columns of equal length; where there are none, `None` stays.
pub(crate) fn resample(values: &[Option<f64>], columns: usize, fold: Fold) -> Vec<Option<f64>> {
    let columns = columns.min(values.len());
    let fold = |a: f64, b: f64| match fold {
        Fold::Largest => a.max(b),
        Fold::Smallest => a.min(b),
    };
    (0..columns)
        .map(|i| {
            let (from, to) = (i * values.len() / columns, (i + 1) * values.len() / columns);
            values[from..to].iter().flatten().copied().reduce(fold)
        })
        .collect()
}

/// One character a value, from 0 to the largest that is finite; a space where there is none, and `×` for what has no
/// end. What is above 0 is never drawn as nothing.
pub(crate) fn line(values: &[Option<f64>], style: Style) -> String {
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
            let drawn = resample(&values, columns, Fold::Largest);
            assert_eq!(drawn.len(), columns);
            assert!(drawn.contains(&Some(100.0)), "{columns}");
        }
    }

    #[test]
    fn few_values_are_not_stretched() {
        assert_eq!(resample(&[Some(1.0), None, Some(3.0)], 60, Fold::Largest), [Some(1.0), None, Some(3.0)]);
        assert_eq!(resample(&[Some(1.0), None, Some(3.0)], 1, Fold::Smallest), [Some(1.0)]);
        assert_eq!(resample(&[], 60, Fold::Largest), []);
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
