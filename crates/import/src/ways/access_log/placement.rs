//! Where arrivals lie inside the resolution of a log: a log that writes whole seconds does not say when in a second a request came.

use truetail_model::random::{Random, mix64};

/// The random stream of the places.
const PURPOSE: u64 = 0x706c_6163_6573_0001;

/// A request of a log.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taken {
    /// The time that the line has, in nanoseconds since 1970.
    pub(super) logged_ns: u64,
    /// To be taken off that time, which is that of the end then.
    pub(super) took_ns: u64,
    /// How exact that time is.
    pub(super) resolution_ns: u32,
    /// The number of what it asks for.
    pub(super) asked: u32,
}

/// Where the arrivals of one instant of a log lie, from that instant to the next that the log can write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Placement {
    /// At random, by a seed, as those of many independent users do. They keep the order of their lines.
    Random(u64),
    /// At equal distances, in the order of their lines.
    Even,
    /// All at the instant that the log has.
    AtOnce,
}

impl Placement {
    /// The start of each line in nanoseconds since 1970, and what it asks for, in no particular order. No line lies farther from
    /// its time than the log or the line itself is inexact.
    pub(super) fn starts(self, lines: &[Taken], resolution_ns: u64) -> Vec<(u64, u32)> {
        let mut lines = lines.to_vec();
        lines.sort_by_key(|line| (line.logged_ns, line.resolution_ns));
        let mut starts = Vec::with_capacity(lines.len());
        for together in lines.chunk_by(|a, b| (a.logged_ns, a.resolution_ns) == (b.logged_ns, b.resolution_ns)) {
            let offsets = self.offsets(
                together[0].logged_ns,
                together.len(),
                resolution_ns.min(together[0].resolution_ns.into()),
            );
            let start = |(line, offset): (&Taken, u64)| {
                (line.logged_ns.saturating_add(offset).saturating_sub(line.took_ns), line.asked)
            };
            starts.extend(together.iter().zip(offsets).map(start));
        }
        starts
    }

    fn offsets(self, instant_ns: u64, count: usize, resolution_ns: u64) -> Vec<u64> {
        match self {
            Placement::AtOnce => vec![0; count],
            Placement::Even => {
                let place = |k: usize| (2 * k as u128 + 1) * u128::from(resolution_ns) / (2 * count as u128);
                (0..count).map(|k| place(k) as u64).collect()
            }
            Placement::Random(seed) => {
                // By the instant, so that the arrivals of an hour are the same whatever was taken before it.
                let mut random = Random::new(mix64(seed) ^ instant_ns, PURPOSE);
                let mut offsets: Vec<u64> =
                    (0..count).map(|_| (random.uniform() * resolution_ns as f64) as u64).collect();
                offsets.sort_unstable();
                offsets
            }
        }
    }

    /// How they were placed, for people.
    pub(super) fn text(self) -> String {
        match self {
            Placement::Random(seed) => format!("at random by seed {seed}, in the order of the lines"),
            Placement::Even => "at equal distances, in the order of the lines".to_owned(),
            Placement::AtOnce => "at its beginning, all at once".to_owned(),
        }
    }
}
