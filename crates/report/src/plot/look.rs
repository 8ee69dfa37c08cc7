//! Colour, class and dashes of each series. A series looks the same in every picture and on every page.

/// A series of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SeriesStyle {
    Response,
    Service,
    Shadow,
    /// As measured by users who wait for answers.
    Closed,
    Corrected,
    Truth,
    Planned,
    Sent,
    Completed,
    Failed,
    Backlog,
    InFlight,
    P50,
    P90,
    P99,
    P999,
    Max,
    Lag,
    LagP50,
    LagMax,
    Wait,
    Connect,
    GeneratorPause,
    ServerPause,
    WarmUp,
    /// Cells of a heat map, from 0 for the fewest values to 7 for the most.
    Heat(usize),
    /// Measured next to a simulation, in an open and in a closed loop.
    MeasuredOpen,
    MeasuredClosed,
    /// Another run, by its number from 0. The first 3 look different.
    Other(usize),
}

const BLUE: &str = "#0072B2";
const SKY: &str = "#56B4E9";
const GREEN: &str = "#009E73";
const ORANGE: &str = "#E69F00";
const VERMILLION: &str = "#D55E00";
const PURPLE: &str = "#CC79A7";
const GRAY: &str = "#7A7A7A";
const BLACK: &str = "#1A1A1A";

const OTHERS: [(&str, &str, &str); 3] =
    [(GREEN, "s-other-0", "10 4"), (PURPLE, "s-other-1", "4 3"), (ORANGE, "s-other-2", "8 4 2 4")];

/// Shades from few values to many. Each is darker than the one before, so that their order is visible even without
/// colour vision.
const HEAT: [(&str, &str, &str); 8] = [
    ("#D3E6F4", "s-heat-0", ""),
    ("#A8CFE8", "s-heat-1", ""),
    ("#7DB7DB", "s-heat-2", ""),
    ("#52A0CF", "s-heat-3", ""),
    ("#3584B5", "s-heat-4", ""),
    ("#25658E", "s-heat-5", ""),
    ("#164566", "s-heat-6", ""),
    ("#06263F", "s-heat-7", ""),
];

impl SeriesStyle {
    /// Number of shades of a heat map.
    pub(super) const HEAT_SHADES: usize = HEAT.len();

    /// Returns the colour on white, the class for recolouring, and the dashes, empty for a solid line.
    const fn parts(self) -> (&'static str, &'static str, &'static str) {
        match self {
            SeriesStyle::Response => (BLUE, "s-response", ""),
            SeriesStyle::Service => (SKY, "s-service", ""),
            SeriesStyle::Shadow => (VERMILLION, "s-shadow", ""),
            SeriesStyle::Closed => (VERMILLION, "s-closed", ""),
            SeriesStyle::Corrected => (ORANGE, "s-corrected", "9 5"),
            SeriesStyle::Truth => (BLACK, "s-truth", "1.5 5"),
            SeriesStyle::Planned => (GRAY, "s-planned", "6 4"),
            SeriesStyle::Sent => (GREEN, "s-sent", ""),
            SeriesStyle::Completed => (BLUE, "s-completed", ""),
            SeriesStyle::Failed => (VERMILLION, "s-failed", ""),
            SeriesStyle::Backlog => (ORANGE, "s-backlog", ""),
            SeriesStyle::InFlight => (SKY, "s-in-flight", ""),
            SeriesStyle::P50 => (SKY, "s-p50", ""),
            SeriesStyle::P90 => (BLUE, "s-p90", ""),
            SeriesStyle::P99 => (GREEN, "s-p99", ""),
            SeriesStyle::P999 => (ORANGE, "s-p999", ""),
            SeriesStyle::Max => (VERMILLION, "s-max", ""),
            SeriesStyle::Lag => (PURPLE, "s-lag", ""),
            SeriesStyle::LagP50 => (BLUE, "s-lag-p50", ""),
            SeriesStyle::LagMax => (GRAY, "s-lag-max", ""),
            SeriesStyle::Wait => (ORANGE, "s-wait", ""),
            SeriesStyle::Connect => (SKY, "s-connect", ""),
            SeriesStyle::GeneratorPause => (PURPLE, "s-pause-generator", ""),
            SeriesStyle::ServerPause => (VERMILLION, "s-pause-server", ""),
            SeriesStyle::WarmUp => (GRAY, "s-warm-up", ""),
            SeriesStyle::MeasuredOpen => (GREEN, "s-measured-open", "3 3"),
            SeriesStyle::MeasuredClosed => (PURPLE, "s-measured-closed", "3 3"),
            SeriesStyle::Heat(n) => HEAT[n % HEAT.len()],
            SeriesStyle::Other(n) => OTHERS[n % OTHERS.len()],
        }
    }

    pub(super) const fn color(self) -> &'static str {
        self.parts().0
    }

    pub(super) const fn class(self) -> &'static str {
        self.parts().1
    }

    pub(super) const fn dashes(self) -> &'static str {
        self.parts().2
    }
}

const NEUTRAL: [(&str, &str); 5] =
    [("#1A1A1A", "ink"), ("#595959", "faint"), ("#E3E3E3", "grid"), ("#8A8A8A", "axis"), ("#FFFFFF", "paper")];

/// Series that stand for their colours in elements without a series.
const COLORS: [SeriesStyle; 6] = [
    SeriesStyle::Response,
    SeriesStyle::Closed,
    SeriesStyle::Corrected,
    SeriesStyle::Other(0),
    SeriesStyle::Other(1),
    SeriesStyle::Planned,
];

/// Returns the class of a colour, so that a page can recolour it.
pub(super) fn class_of(color: &str) -> Option<&'static str> {
    let neutral = NEUTRAL.iter().find(|(known, _)| *known == color).map(|(_, class)| *class);
    neutral.or_else(|| COLORS.into_iter().find(|look| look.color() == color).map(SeriesStyle::class))
}
