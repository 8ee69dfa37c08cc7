//! Colours, dashes and widths of runs and tools that are compared.

use super::look::SeriesStyle;
use super::svg::Stroke;

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

/// Dashes of the tools of a model, solid first.
const DASHES: [&str; 7] = ["", "12 5", "4 4", "14 4 3 4", "8 3", "2 5", "14 3 3 3 3 3"];
const OTHERS: [&str; 3] = ["14 4", "8 4 2 4", "4 4"];

impl Role {
    /// Returns the series of a run that has the same colour.
    const fn look(self) -> SeriesStyle {
        match self {
            Role::Open | Role::Tool(ToolModel::Open, _) => SeriesStyle::Response,
            Role::Closed | Role::Tool(ToolModel::Closed, _) => SeriesStyle::Closed,
            Role::Corrected => SeriesStyle::Corrected,
            Role::Truth => SeriesStyle::Truth,
            Role::Other(n) => SeriesStyle::Other(n),
            Role::Tool(ToolModel::Partly, _) => SeriesStyle::Other(0),
            Role::Tool(ToolModel::Filled, _) => SeriesStyle::Other(1),
            Role::Tool(ToolModel::Unknown, _) => SeriesStyle::Planned,
        }
    }

    pub(super) const fn color(self) -> &'static str {
        self.look().color()
    }

    pub(super) fn stroke(self) -> Stroke<'static> {
        Stroke { color: self.color(), width: self.width(), dashes: self.dashes() }
    }

    /// Returns the dashes of a line; empty for a solid one. Both of two coinciding lines remain visible.
    fn dashes(self) -> &'static str {
        match self {
            Role::Open | Role::Closed => "",
            Role::Corrected => "11 9",
            Role::Truth => "1.5 6",
            Role::Tool(_, n) => DASHES[n % DASHES.len()],
            Role::Other(n) => OTHERS[n % OTHERS.len()],
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
