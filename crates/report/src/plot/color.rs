//! Colours, dashes and widths of series.

/// Kind of a series, which determines its colour, dashes and width in every picture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Measured on a schedule.
    Open,
    /// Measured by users who wait for their answer.
    Closed,
    /// A closed loop after HdrHistogram's correction.
    Corrected,
    /// Known exactly, not measured.
    Truth,
    /// Anything else. Numbers from 0 tell up to 3 apart.
    Other(usize),
    /// One of many load tools. Colours show the observed load model; numbers from 0 choose one of 7 dashes.
    Tool(ToolModel, usize),
}

/// The observed load model of a tool.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ToolModel {
    /// The tool kept its schedule.
    Open,
    /// The tool kept its schedule in part.
    Partly,
    /// The tool waited for answers.
    Closed,
    /// The tool waited for answers, and its tail was back-filled.
    Filled,
    /// The load model could not be determined.
    Unknown,
}

/// The palette of Okabe & Ito.
const BLUE: &str = "#0072B2";
const VERMILLION: &str = "#D55E00";
const ORANGE: &str = "#E69F00";
const BLACK: &str = "#000000";
/// For an unknown model; not from the palette.
const GRAY: &str = "#7A7A7A";
/// Dashes of the tools of a model, solid first.
const DASHES: [&str; 7] = ["", "12 5", "4 4", "14 4 3 4", "8 3", "2 5", "14 3 3 3 3 3"];
const OTHERS: [&str; 3] = ["#009E73", "#CC79A7", "#56B4E9"];

impl Role {
    pub(super) fn color(self) -> &'static str {
        match self {
            Role::Open => BLUE,
            Role::Closed => VERMILLION,
            Role::Corrected => ORANGE,
            Role::Truth => BLACK,
            Role::Other(n) => OTHERS[n % OTHERS.len()],
            Role::Tool(ToolModel::Open, _) => BLUE,
            Role::Tool(ToolModel::Partly, _) => OTHERS[0],
            Role::Tool(ToolModel::Closed, _) => VERMILLION,
            Role::Tool(ToolModel::Filled, _) => OTHERS[1],
            Role::Tool(ToolModel::Unknown, _) => GRAY,
        }
    }

    /// Returns the dashes of a line; empty for a solid one. Both of two coinciding lines remain visible.
    pub(super) fn dashes(self) -> &'static str {
        match self {
            Role::Open | Role::Closed => "",
            Role::Corrected => "11 9",
            Role::Truth => "1.5 6",
            Role::Tool(_, n) => DASHES[n % DASHES.len()],
            Role::Other(n) => ["14 4", "8 4 2 4", "4 4"][n % OTHERS.len()],
        }
    }

    /// Returns the width of a line. Wider lines are drawn first.
    pub(super) fn width(self) -> f64 {
        match self {
            Role::Open => 5.0,
            Role::Closed => 3.5,
            Role::Corrected | Role::Truth => 3.0,
            Role::Other(_) | Role::Tool(..) => 2.5,
        }
    }
}
