use truetail_model::random::{Random, mix64};

/// The random stream of the positions.
const PURPOSE: u64 = 0x706c_6163_6573_0001;

/// A request of a log.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taken {
    /// The logged time, in nanoseconds since 1970.
    pub(super) logged_ns: u64,
    /// Nanoseconds from the arrival to the logged time.
    pub(super) took_ns: u64,
    /// Resolution of the logged time, in nanoseconds.
    pub(super) resolution_ns: u32,
    /// The number of its request.
    pub(super) asked: u32,
}

/// Positions of arrivals with the same logged time, within the log's resolution. A log in whole seconds does not show
/// when in a second a request came.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Placement {
    /// At random by a seed, like requests of many independent users. Arrivals keep the order of their lines.
    Random(u64),
    /// At equal distances, in the order of their lines.
    Even,
    /// All at the logged time.
    AtOnce,
}

impl Placement {
    /// Returns the start of each line in nanoseconds since 1970, with its request number, in no particular order. The
    /// distance from the logged time is at most the resolution of the log and of the line.
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
                // The instant seeds the draw, so that the arrivals of an hour do not depend on earlier ones.
                let mut random = Random::new(mix64(seed) ^ instant_ns, PURPOSE);
                let mut offsets: Vec<u64> =
                    (0..count).map(|_| (random.uniform() * resolution_ns as f64) as u64).collect();
                offsets.sort_unstable();
                offsets
            }
        }
    }

    pub(super) fn text(self) -> String {
        match self {
            Placement::Random(seed) => format!("at random by seed {seed}, in the order of the lines"),
            Placement::Even => "at equal distances, in the order of the lines".to_owned(),
            Placement::AtOnce => "at its beginning, all at once".to_owned(),
        }
    }
}
