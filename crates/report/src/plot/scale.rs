//! Scales of axes, and their ticks.

use crate::number;

#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum AxisScale {
    /// Equal differences have equal lengths.
    Linear { from: f64, to: f64 },
    /// Equal ratios have equal lengths; both ends are above zero.
    Log { from: f64, to: f64 },
}

/// A marked value of an axis.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Tick {
    pub(super) at: f64,
    /// Empty for a minor tick.
    pub(super) text: String,
}

impl Tick {
    fn new(at: f64, text: impl Into<String>) -> Tick {
        Tick { at, text: text.into() }
    }
}

impl AxisScale {
    /// Returns the place of `value`: 0 at the lower end, 1 at the upper, clamped.
    pub(super) fn place(self, value: f64) -> f64 {
        let place = match self {
            AxisScale::Linear { from, to } => (value - from) / (to - from),
            AxisScale::Log { from, to } => libm::log10(value.max(from) / from) / libm::log10(to / from),
        };
        if place.is_nan() { 0.0 } else { place.clamp(0.0, 1.0) }
    }
}

/// The values of an axis, which decide on its ticks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Quantity {
    /// Times in ns, on a logarithmic axis.
    LogTimes,
    /// Times in ns, from 0 on.
    Times,
    /// Numbers, from 0 on.
    Numbers,
    /// Percentages, from 0 on.
    Percents,
}

impl Quantity {
    /// Returns sets of ticks for an axis that is zoomed into, from few to many.
    pub(super) fn levels(self, scale: AxisScale) -> Vec<Vec<Tick>> {
        let (AxisScale::Linear { from, to } | AxisScale::Log { from, to }) = scale;
        if self == Quantity::LogTimes {
            let of = |named: &[u32]| log_ticks(from, to, named);
            return [&[10][..], &[10, 20, 50], &[10, 12, 15, 20, 25, 30, 40, 50, 60, 80]].map(of).into();
        }
        let ticks = |most: usize| match self {
            Quantity::LogTimes | Quantity::Times => linear_time_ticks(to, most),
            Quantity::Numbers => linear_ticks(from, to, most),
            Quantity::Percents => percent_ticks(to, most),
        };
        [2, 4, 8, 20, 40].map(ticks).into()
    }
}

/// Returns the power of ten at or below `value`, which is above zero.
fn decade(value: f64) -> f64 {
    libm::pow(10.0, libm::floor(libm::log10(value) + 1e-9))
}

/// Returns ticks at multiples of 1, 2 or 5 times a power of ten from `from` to `to`, at most `most` steps.
pub(super) fn linear_ticks(from: f64, to: f64, most: usize) -> Vec<Tick> {
    let rough = (to - from) / most.max(1) as f64;
    if !(rough.is_finite() && rough > 0.0) {
        return Vec::new();
    }
    let base = decade(rough);
    let step = [1.0, 2.0, 5.0, 10.0].map(|by| by * base).into_iter().find(|step| *step >= rough * 0.999);
    let step = step.unwrap_or(10.0 * base);
    let decimals = (-libm::floor(libm::log10(step) + 1e-9)).clamp(0.0, 9.0) as usize;
    let first = libm::ceil(from / step - 1e-9) as i64;
    let last = libm::floor(to / step + 1e-9) as i64;
    (first..=last).map(|n| n as f64 * step).map(|at| Tick::new(at, plain(at, decimals))).collect()
}

/// Returns ticks of times in ns from 0 to `to`, in one unit.
pub(super) fn linear_time_ticks(to: f64, most: usize) -> Vec<Tick> {
    let units = [(1e9, "s"), (1e6, "ms"), (1e3, "µs")];
    let (unit, name) = units.into_iter().find(|(unit, _)| to >= *unit).unwrap_or((1.0, "ns"));
    let with_unit = |tick: Tick| Tick { at: tick.at * unit, text: format!("{}{name}", tick.text) };
    linear_ticks(0.0, to / unit, most).into_iter().map(with_unit).collect()
}

fn plain(value: f64, decimals: usize) -> String {
    if decimals == 0 && value >= 0.0 { number::count(value.round() as u64) } else { format!("{value:.decimals$}") }
}

/// Returns ticks of times in ns: powers of ten with a text, and minor ticks at 2 … 9 times them. Over less than two
/// powers of ten, 2 and 5 times have a text too.
pub(super) fn log_time_ticks(from: f64, to: f64) -> Vec<Tick> {
    let within = |at: f64| at >= from * 0.999 && at <= to * 1.001;
    let named: &[u32] = if to / from < 100.0 { &[1, 2, 5] } else { &[1] };
    let mut ticks = Vec::new();
    let mut power = decade(from);
    while power <= to {
        let multiples = (1..=9).map(|by| (by, f64::from(by) * power)).filter(|(_, at)| within(*at));
        ticks.extend(multiples.map(|(by, at)| {
            let text = if named.contains(&by) { number::round_time(at.round() as u64) } else { String::new() };
            Tick::new(at, text)
        }));
        power *= 10.0;
    }
    ticks
}

/// Returns ticks at multiples of powers of ten, given in tenths.
fn log_ticks(from: f64, to: f64, tenths: &[u32]) -> Vec<Tick> {
    let mut ticks = Vec::new();
    let mut power = decade(from);
    while power <= to {
        let all = tenths.iter().map(|tenths| f64::from(*tenths) / 10.0 * power);
        let within = all.filter(|at| *at >= from * 0.999 && *at <= to * 1.001);
        ticks.extend(within.map(|at| Tick::new(at, number::round_time(at.round() as u64))));
        power *= 10.0;
    }
    ticks
}

/// Returns ticks of percentages from 0 to `to`.
pub(super) fn percent_ticks(to: f64, most: usize) -> Vec<Tick> {
    let with_unit = |tick: Tick| Tick { at: tick.at, text: format!("{} %", tick.text) };
    linear_ticks(0.0, to, most).into_iter().map(with_unit).collect()
}

/// Returns sets of ticks of quantiles on an axis of 1/(1 − q) up to `to`, from few to many.
pub(super) fn percentile_levels(to: f64) -> Vec<Vec<Tick>> {
    let of = |parts: &[f64]| -> Vec<Tick> {
        let mut ticks = vec![Tick::new(1.0, "0 %")];
        let mut power = 1.0;
        while power <= to {
            let places = parts.iter().map(|part| part * power).filter(|at| *at > 1.0 && *at <= to * 1.001);
            ticks.extend(places.map(|at| Tick::new(at, format!("{} %", percent(1.0 - 1.0 / at)))));
            power *= 10.0;
        }
        ticks
    };
    vec![percentile_ticks(to), of(&[1.0, 2.0, 5.0]), of(&[1.0, 1.25, 2.0, 2.5, 4.0, 5.0, 8.0])]
}

/// Formats a share as a percentage, without trailing zeros.
fn percent(share: f64) -> String {
    let text = format!("{:.9}", share * 100.0);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Returns sets of ticks of seconds with their units, from few to many. The closest are `least` seconds apart.
pub(super) fn second_levels(from: f64, to: f64, least: f64) -> Vec<Vec<Tick>> {
    let short = (-6..=1).flat_map(|power| [1.0, 2.0, 5.0].map(|by| by * libm::pow(10.0, f64::from(power))));
    let long = [60.0, 120.0, 300.0, 600.0, 1_800.0, 3_600.0, 7_200.0, 10_800.0, 21_600.0, 43_200.0, 86_400.0];
    let steps = short.filter(|step| *step < 50.0).chain(long);
    let close = steps.filter(|step| *step >= least && (to - from) / step >= 2.0);
    let mut levels: Vec<Vec<Tick>> = close.map(|step| seconds(from, to, step)).collect();
    levels.reverse();
    levels
}

fn seconds(from: f64, to: f64, step: f64) -> Vec<Tick> {
    let units = [(3_600.0, "h"), (60.0, "min"), (1.0, "s")];
    let (length, unit) = units.into_iter().find(|(length, _)| step >= *length).unwrap_or((1.0, "s"));
    let first = libm::ceil(from / step - 1e-9) as i64;
    let last = libm::floor(to / step + 1e-9) as i64;
    let decimals = (-libm::floor(libm::log10(step / length) + 1e-9)).clamp(0.0, 9.0) as usize;
    let tick = |n: i64| Tick::new(n as f64 * step, format!("{:.decimals$} {unit}", n as f64 * step / length));
    (first..=last).map(tick).collect()
}

/// Returns ticks of quantiles on an axis of 1/(1 − q) that begins at 1: 0 %, 50 %, 90 %, 99 % … up to `to`.
pub(super) fn percentile_ticks(to: f64) -> Vec<Tick> {
    let mut ticks = vec![Tick::new(1.0, "0 %"), Tick::new(2.0, "50 %")];
    let mut nines = 0;
    let mut at = 10.0;
    while at <= to * 1.001 {
        let text = match nines {
            0 => "90 %".to_owned(),
            1 => "99 %".to_owned(),
            more => format!("99.{} %", "9".repeat(more - 1)),
        };
        ticks.push(Tick::new(at, text));
        (nines, at) = (nines + 1, at * 10.0);
    }
    ticks.retain(|tick| tick.at <= to * 1.001);
    ticks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(ticks: &[Tick]) -> Vec<&str> {
        ticks.iter().map(|tick| tick.text.as_str()).filter(|text| !text.is_empty()).collect()
    }

    #[test]
    fn places_are_from_0_to_1() {
        let linear = AxisScale::Linear { from: 0.0, to: 50.0 };
        assert_eq!([0.0, 25.0, 50.0, 60.0, -1.0].map(|v| linear.place(v)), [0.0, 0.5, 1.0, 1.0, 0.0]);
        let log = AxisScale::Log { from: 1.0, to: 10_000.0 };
        assert_eq!([1.0, 100.0, 10_000.0, 0.0].map(|v| log.place(v)), [0.0, 0.5, 1.0, 0.0]);
        assert_eq!(AxisScale::Linear { from: 1.0, to: 1.0 }.place(1.0), 0.0);
    }

    #[test]
    fn ticks_are_numbers_people_like() {
        assert_eq!(texts(&linear_ticks(0.0, 575.0, 6)), ["0", "100", "200", "300", "400", "500"]);
        assert_eq!(texts(&linear_ticks(0.0, 5.0, 5)), ["0", "1", "2", "3", "4", "5"]);
        assert_eq!(texts(&linear_ticks(0.0, 0.7, 4)), ["0.0", "0.2", "0.4", "0.6"]);
        assert_eq!(texts(&linear_ticks(0.0, 45_000.0, 5)), ["0", "10000", "20000", "30000", "40000"]);
        assert!(linear_ticks(0.0, 0.0, 5).is_empty() && linear_ticks(0.0, f64::NAN, 5).is_empty());
    }

    #[test]
    fn times_have_units() {
        assert_eq!(texts(&log_time_ticks(5e6, 2e9)), ["10ms", "100ms", "1s"]);
        assert_eq!(texts(&log_time_ticks(9e6, 60e6)), ["10ms", "20ms", "50ms"]);
        assert_eq!(log_time_ticks(1e6, 1e7).len(), 10);
    }

    #[test]
    fn the_percentile_axis_adds_nines() {
        assert_eq!(texts(&percentile_ticks(20_000.0)), ["0 %", "50 %", "90 %", "99 %", "99.9 %", "99.99 %"]);
        assert_eq!(texts(&percentile_ticks(1.5)), ["0 %"]);
    }
}
