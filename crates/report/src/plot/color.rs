//! Colours, dashes and widths of series.

/// What a series is. It determines colour, dashes and width: the same role looks the same in every picture.
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
    /// Anything else; up to 3 are told apart by their numbers from 0.
    Other(usize),
    /// One of many load tools. The colour stands for the observed load model; dashes tell up to 7 tools of a model apart, by
    /// their numbers from 0.
    Tool(ToolModel, usize),
}

/// The observed load model of a tool.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ToolModel {
    /// It kept its schedule.
    Open,
    /// It kept its schedule in part.
    Partly,
    /// It waited for answers.
    Closed,
    /// It waited for answers, and its tail was back-filled.
    Filled,
    /// It could not be determined.
    Unknown,
}

/// From the palette of Okabe & Ito.
const BLUE: &str = "#0072B2";
const VERMILLION: &str = "#D55E00";
const ORANGE: &str = "#E69F00";
const BLACK: &str = "#000000";
/// Not from the palette: for an unknown model.
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

    /// The dashes of a line; empty for a solid one. They are chosen so that both of two coinciding lines can be seen.
    pub(super) fn dashes(self) -> &'static str {
        match self {
            Role::Open | Role::Closed => "",
            Role::Corrected => "11 9",
            Role::Truth => "1.5 6",
            Role::Tool(_, n) => DASHES[n % DASHES.len()],
            Role::Other(n) => ["14 4", "8 4 2 4", "4 4"][n % OTHERS.len()],
        }
    }

    /// The width of a line. Wider ones are drawn first.
    pub(super) fn width(self) -> f64 {
        match self {
            Role::Open => 5.0,
            Role::Closed => 3.5,
            Role::Corrected | Role::Truth => 3.0,
            Role::Other(_) | Role::Tool(..) => 2.5,
        }
    }
}
