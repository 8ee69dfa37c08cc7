//! Who is drawn how.

/// What a series is. It decides colour, dash and width: the same kind looks the same in every picture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Measured on a schedule.
    Open,
    /// Measured by users who wait for their answer.
    Closed,
    /// A closed loop after HdrHistogram's correction.
    Corrected,
    /// Known, not measured.
    Truth,
    /// Anything else; numbers from 0 are told apart up to 3.
    Other(usize),
    /// One of many load tools: its colour is the model that was observed, its dashes tell it from others of that model,
    /// by numbers from 0, up to 7.
    Tool(Model, usize),
}

/// What a load tool was, by observation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Model {
    /// It kept to a schedule.
    Open,
    /// It did for a part.
    Partly,
    /// It waited for answers.
    Closed,
    /// It waited for answers, and its tail was filled in afterwards.
    Filled,
    /// It could not be told.
    Unknown,
}

/// Of the palette of Okabe & Ito.
const BLUE: &str = "#0072B2";
const VERMILLION: &str = "#D55E00";
const ORANGE: &str = "#E69F00";
const BLACK: &str = "#000000";
/// Not of the palette: for what has no meaning.
const GRAY: &str = "#7A7A7A";
/// Of tools of one model, solid first.
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
            Role::Tool(Model::Open, _) => BLUE,
            Role::Tool(Model::Partly, _) => OTHERS[0],
            Role::Tool(Model::Closed, _) => VERMILLION,
            Role::Tool(Model::Filled, _) => OTHERS[1],
            Role::Tool(Model::Unknown, _) => GRAY,
        }
    }

    /// Dashes of a line; empty for a solid one. Where two lines lie on each other, both can be seen.
    pub(super) fn dashes(self) -> &'static str {
        match self {
            Role::Open | Role::Closed => "",
            Role::Corrected => "11 9",
            Role::Truth => "1.5 6",
            Role::Tool(_, n) => DASHES[n % DASHES.len()],
            Role::Other(n) => ["14 4", "8 4 2 4", "4 4"][n % OTHERS.len()],
        }
    }

    /// Width of a line. Wide ones are drawn first.
    pub(super) fn width(self) -> f64 {
        match self {
            Role::Open => 5.0,
            Role::Closed => 3.5,
            Role::Corrected | Role::Truth => 3.0,
            Role::Other(_) | Role::Tool(..) => 2.5,
        }
    }
}
