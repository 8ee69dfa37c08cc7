//! HdrHistogram's own formats: the log of histograms by interval, and the percentile distribution as text.

mod hgrm;
mod hlog;

pub(super) use hgrm::Hgrm;
pub(super) use hlog::Hlog;

use crate::rows::number::Unit;
use crate::{ImportError, ImportOptions};

/// The unit of the values, nanoseconds, where the user says it: `--units duration=us`.
///
/// # Errors
/// [`ImportError::Options`], if it is no unit.
fn said_unit_ns(options: &ImportOptions) -> Result<Option<u64>, ImportError> {
    let said = options.units.iter().find(|(name, _)| name == "duration");
    let unit = |(_, unit): &(String, String)| {
        let known = Unit::by_name(unit).map(Unit::nanos);
        known.ok_or_else(|| {
            ImportError::Options(format!("the unit of 'duration' must be ns, us, ms or s, not '{unit}'"))
        })
    };
    said.map(unit).transpose()
}

/// More values than any run has; only a damaged file says so.
const MOST_VALUES: u64 = 1 << 53;
