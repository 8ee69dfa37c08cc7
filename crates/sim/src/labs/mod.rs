//! Labs: small named experiments in virtual time whose figures follow from their definition.
//!
//! | lab | shows |
//! |---|---|
//! | [`freeze`] | a service that stops for half a second: closed loop, corrected closed loop, and open loop |
//! | [`every_nth`] | a pause at every n-th request, closed loop against open loop |
//! | [`order_router`] | short pauses of a fast service, naive loop against corrected and open loop |
//!
//! A [`Lab`] returns the measured [`LabSeries`] and a few figures. It prints and writes nothing.

mod correction;
mod error;
pub mod every_nth;
pub mod freeze;
pub mod order_router;
mod series;

pub use correction::CorrectedRecorder;
pub use error::{LabError, MAX_REQUESTS};
pub use series::{LabQuantile, LabSeries, QUANTILES};

use every_nth::{EveryNthOptions, EveryNthResult};
use freeze::{FreezeOptions, FreezeResult};
use order_router::{OrderRouterOptions, OrderRouterResult};

/// A lab with its options.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Lab {
    /// One freeze, in three series.
    Freeze(FreezeOptions),
    /// A pause at every n-th request.
    EveryNth(EveryNthOptions),
    /// Short pauses of a fast service.
    OrderRouter(OrderRouterOptions),
}

/// Result of a lab.
#[derive(Clone, Debug)]
pub enum LabResult {
    /// Result of [`Lab::Freeze`].
    Freeze(FreezeResult),
    /// Result of [`Lab::EveryNth`].
    EveryNth(EveryNthResult),
    /// Result of [`Lab::OrderRouter`].
    OrderRouter(OrderRouterResult),
}

impl Lab {
    /// Names of all labs, on the command line and in Python.
    pub const NAMES: [&'static str; 3] = [freeze::NAME, every_nth::NAME, order_router::NAME];

    /// Returns the lab called `name`, with its default options.
    pub fn by_name(name: &str) -> Option<Lab> {
        match name {
            freeze::NAME => Some(Lab::Freeze(FreezeOptions::default())),
            every_nth::NAME => Some(Lab::EveryNth(EveryNthOptions::default())),
            order_router::NAME => Some(Lab::OrderRouter(OrderRouterOptions::default())),
            _ => None,
        }
    }

    /// Returns its name, one of [`Lab::NAMES`].
    pub fn name(&self) -> &'static str {
        match self {
            Lab::Freeze(_) => freeze::NAME,
            Lab::EveryNth(_) => every_nth::NAME,
            Lab::OrderRouter(_) => order_router::NAME,
        }
    }

    /// Returns the names of its series, in the order of [`LabResult::into_series`].
    pub fn series_names(&self) -> &'static [&'static str] {
        match self {
            Lab::Freeze(_) => &freeze::SERIES,
            Lab::EveryNth(_) => &every_nth::SERIES,
            Lab::OrderRouter(_) => &order_router::SERIES,
        }
    }

    /// Runs the lab in virtual time.
    ///
    /// # Errors
    /// [`LabError`] if an option is out of range, or requests stay unanswered.
    pub fn run(&self) -> Result<LabResult, LabError> {
        match self {
            Lab::Freeze(options) => freeze::run(options).map(LabResult::Freeze),
            Lab::EveryNth(options) => every_nth::run(options).map(LabResult::EveryNth),
            Lab::OrderRouter(options) => order_router::run(options).map(LabResult::OrderRouter),
        }
    }
}

impl LabResult {
    /// Returns its series, in the order of [`Lab::series_names`].
    pub fn into_series(self) -> Vec<LabSeries> {
        match self {
            LabResult::Freeze(found) => found.series.map(|one| one.series).into(),
            LabResult::EveryNth(found) => vec![found.closed, found.open],
            LabResult::OrderRouter(found) => vec![found.naive, found.corrected, found.open],
        }
    }
}
