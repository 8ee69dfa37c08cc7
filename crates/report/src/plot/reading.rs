//! Data beside a picture, for reading its values at a cursor and for zooming into it.

use serde::Serialize;
use truetail_analysis::series::HeatMap;

use super::look::SeriesStyle;
use super::scale::{AxisScale, Quantity, Tick};
use crate::number;

/// Data of a picture that can be read at a cursor and zoomed. Places are shares of the width of a panel from its left,
/// or of its height from its foot.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Reading {
    /// The axis that all panels share.
    pub(super) axis: ReadingAxis,
    /// The panels, from top to bottom.
    pub(super) panels: Vec<PanelReading>,
}

/// The horizontal axis of a picture.
#[derive(Clone, PartialEq, Default, Debug, Serialize)]
pub(super) struct ReadingAxis {
    /// Pictures with the same key are zoomed and read together.
    pub(super) key: &'static str,
    /// Name for screen readers.
    pub(super) name: &'static str,
    /// Word before the text of a stop.
    pub(super) at: &'static str,
    /// Both ends, in a unit proportional to places on the axis. A zoom keeps them while the axis of a live run grows.
    pub(super) range: (f64, f64),
    /// Places of the cursor.
    pub(super) stops: Vec<f64>,
    /// Text of each stop, joined by [`SEPARATOR`].
    pub(super) texts: String,
    /// Ticks, from few to many.
    pub(super) ticks: TickLevels,
}

/// Sets of ticks, from few to many: place and text.
pub(super) type TickLevels = Vec<Vec<(f64, String)>>;

/// A panel of a picture.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(super) struct PanelReading {
    pub(super) title: String,
    /// Words after the title that explain the colours.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    /// Ticks of the vertical axis.
    ticks: TickLevels,
    /// A logarithmic panel as a linear one; `None` if it cannot be turned.
    #[serde(skip_serializing_if = "Option::is_none")]
    linear: Option<LinearPanel>,
    /// True if the foot of the panel is 0.
    zero: bool,
    /// Text for a panel without values.
    #[serde(skip_serializing_if = "Option::is_none")]
    nothing: Option<String>,
    pub(super) layers: Vec<LayerReading>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cells: Option<CellsReading>,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
struct LinearPanel {
    /// Ratio of the upper to the lower end of the logarithmic axis.
    ratio: f64,
    ticks: TickLevels,
}

/// A layer of a panel, which can be switched off.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(super) struct LayerReading {
    pub(super) name: String,
    /// Class of its colour.
    class: &'static str,
    /// True for a line, false for an area.
    line: bool,
    /// Value at each stop, joined by [`SEPARATOR`]; `None` for a layer without values.
    #[serde(skip_serializing_if = "Option::is_none")]
    texts: Option<String>,
}

/// The cells of a heat map, so that the one under the pointer can be read.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(super) struct CellsReading {
    /// Places of the lower edge of the first row and of the upper edge of the last row.
    pub(super) edges: (f64, f64),
    /// Text of each row.
    pub(super) rows: Vec<String>,
    /// For each stop: (row, count).
    pub(super) counts: Vec<Vec<(u16, u64)>>,
}

const SEPARATOR: &str = "|";
/// Text of an unknown value.
const NOTHING: &str = "–";

pub(super) fn joined(texts: impl Iterator<Item = String>) -> String {
    texts.collect::<Vec<_>>().join(SEPARATOR)
}

/// Rounds a place to what a screen can show.
pub(super) fn rounded(place: f64) -> f64 {
    (place * 1e4).round() / 1e4
}

/// Returns levels of ticks on `scale`, without those that have no text, and without a level equal to the one before.
pub(super) fn levels(scale: AxisScale, levels: Vec<Vec<Tick>>) -> TickLevels {
    let placed = |ticks: Vec<Tick>| -> Vec<(f64, String)> {
        let named = ticks.into_iter().filter(|tick| !tick.text.is_empty());
        named.map(|tick| (rounded(scale.place(tick.at)), tick.text)).collect()
    };
    let mut levels: TickLevels = levels.into_iter().map(placed).collect();
    levels.dedup();
    levels
}

impl ReadingAxis {
    /// Creates an axis with stops at these values.
    pub(super) fn new(scale: AxisScale, stops: &[f64], texts: impl Iterator<Item = String>) -> ReadingAxis {
        let (AxisScale::Linear { from, to } | AxisScale::Log { from, to }) = scale;
        let range =
            if matches!(scale, AxisScale::Log { .. }) { (libm::log10(from), libm::log10(to)) } else { (from, to) };
        let stops = stops.iter().map(|at| rounded(scale.place(*at))).collect();
        ReadingAxis { range, stops, texts: joined(texts), at: "at", ..ReadingAxis::default() }
    }
}

impl PanelReading {
    pub(super) fn new(title: &str, scale: AxisScale, quantity: Quantity) -> PanelReading {
        let linear = match scale {
            AxisScale::Log { from, to } => {
                let linear = AxisScale::Linear { from: 0.0, to };
                Some(LinearPanel { ratio: to / from, ticks: levels(linear, Quantity::Times.levels(linear)) })
            }
            AxisScale::Linear { .. } => None,
        };
        let zero = linear.is_none();
        let ticks = levels(scale, quantity.levels(scale));
        PanelReading {
            title: title.to_owned(),
            note: None,
            ticks,
            linear,
            zero,
            nothing: None,
            layers: Vec::new(),
            cells: None,
        }
    }

    /// Explains why the panel has no values.
    pub(super) fn set_nothing(&mut self, why: &str) {
        self.linear = None;
        self.ticks.clear();
        self.nothing = Some(why.to_owned());
    }

    /// Adds the cells of a heat map, which keeps its scale.
    pub(super) fn set_cells(&mut self, edges: (f64, f64), rows: Vec<String>, map: &HeatMap) {
        self.linear = None;
        self.note = (map.largest > 1).then(|| format!("the stronger, the more: 1 to {}", number::count(map.largest)));
        self.cells = Some(CellsReading { edges, rows, counts: map.cells.clone() });
    }
}

impl LayerReading {
    pub(super) fn line(name: &str, look: SeriesStyle, texts: impl Iterator<Item = Option<String>>) -> LayerReading {
        let texts = Some(joined(texts.map(|text| text.unwrap_or_else(|| NOTHING.to_owned()))));
        LayerReading { name: name.to_owned(), class: look.class(), line: true, texts }
    }

    pub(super) fn area(name: &str, look: SeriesStyle, texts: impl Iterator<Item = Option<String>>) -> LayerReading {
        LayerReading { line: false, ..LayerReading::line(name, look, texts) }
    }

    /// A layer without values.
    pub(super) fn shade(name: &str, look: SeriesStyle) -> LayerReading {
        LayerReading { name: name.to_owned(), class: look.class(), line: false, texts: None }
    }
}
