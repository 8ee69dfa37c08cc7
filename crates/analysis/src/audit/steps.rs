//! Bins of a run merged into coarser steps of equal width, which begin at multiples of that width.

use super::axis::Axis;

#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Step {
    pub(super) starts: f64,
    /// Mean concurrency.
    pub(super) concurrency: f64,
}

/// The steps of a run.
pub(super) struct Steps {
    /// Number of the first step, counted from time 0.
    pub(super) first: u64,
    /// Width of a step in nanoseconds.
    pub(super) width: u64,
    pub(super) steps: Vec<Step>,
}

impl Steps {
    /// Divides a run into steps of `width`, rounded up to a multiple of `resolution`. Returns `None` on overflow.
    pub(super) fn divide(axis: &Axis<'_>, width: u64, resolution: u64) -> Option<Steps> {
        let width = width.max(1).div_ceil(resolution.max(1)).checked_mul(resolution.max(1))?;
        let first = axis.events.begins(0) / width;
        let last = axis.events.begins(axis.bins()) / width;
        let mut steps = vec![Step::default(); usize::try_from(last - first).ok()? + 1];
        let mut in_flight = 0;
        for (index, cell) in axis.events.cells().iter().enumerate() {
            let begins = axis.events.begins(index);
            let time = if cell.starts > 0 { cell.first_start } else { begins };
            let step = &mut steps[(time / width - first) as usize];
            step.starts += f64::from(cell.starts);
            // Starts and ends lie anywhere in the bin, so this takes the mean of its beginning and end.
            let mean = (in_flight + axis.in_flight_after(index)).max(0) as f64 / 2.0;
            steps[(begins / width - first) as usize].concurrency += mean * axis.events.width() as f64 / width as f64;
            in_flight = axis.in_flight_after(index);
        }
        Some(Steps { first, width, steps })
    }
}
