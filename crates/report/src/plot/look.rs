//! Colour, class and dashes of each series. A series looks the same in every picture and on every page.

/// A series of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Look {
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
    /// Another run; up to 3 are told apart by their numbers from 0.
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

impl Look {
    /// Returns the colour on white, the class for recolouring, and the dashes, empty for a solid line.
    const fn parts(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Look::Response => (BLUE, "s-response", ""),
            Look::Service => (SKY, "s-service", ""),
            Look::Shadow => (VERMILLION, "s-shadow", ""),
            Look::Closed => (VERMILLION, "s-closed", ""),
            Look::Corrected => (ORANGE, "s-corrected", "9 5"),
            Look::Truth => (BLACK, "s-truth", "1.5 5"),
            Look::Planned => (GRAY, "s-planned", "6 4"),
            Look::Sent => (GREEN, "s-sent", ""),
            Look::Completed => (BLUE, "s-completed", ""),
            Look::Failed => (VERMILLION, "s-failed", ""),
            Look::Backlog => (ORANGE, "s-backlog", ""),
            Look::InFlight => (SKY, "s-in-flight", ""),
            Look::P50 => (SKY, "s-p50", ""),
            Look::P90 => (BLUE, "s-p90", ""),
            Look::P99 => (GREEN, "s-p99", ""),
            Look::P999 => (ORANGE, "s-p999", ""),
            Look::Max => (VERMILLION, "s-max", ""),
            Look::Lag => (PURPLE, "s-lag", ""),
            Look::LagP50 => (BLUE, "s-lag-p50", ""),
            Look::LagMax => (GRAY, "s-lag-max", ""),
            Look::Wait => (ORANGE, "s-wait", ""),
            Look::Connect => (SKY, "s-connect", ""),
            Look::GeneratorPause => (PURPLE, "s-pause-generator", ""),
            Look::ServerPause => (VERMILLION, "s-pause-server", ""),
            Look::Other(n) => OTHERS[n % OTHERS.len()],
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

/// Returns the class of a colour that belongs to no series.
pub(super) fn neutral_class(color: &str) -> Option<&'static str> {
    NEUTRAL.iter().find(|(known, _)| *known == color).map(|(_, class)| *class)
}
