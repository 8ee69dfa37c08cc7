//! HdrHistogram's formats: the log of histograms by interval, and the percentile distribution as text.

mod hgrm;
mod hlog;
mod intervals;

pub(crate) use hgrm::HGRM;
pub(crate) use hlog::HLOG;

use std::io::BufRead;

use truetail_run::ForeignRun;

use crate::rows::number::Unit;
use crate::whole::file::{Checked, counted};
use crate::{Excerpt, Format, FormatInfo, ImportError, ImportOptions, Likeness, RequestSink};

/// A file of HdrHistogram. Its values have no unit unless the user states one: `--units duration=us`.
pub(crate) struct HdrFile {
    info: &'static FormatInfo,
    likeness: fn(&Excerpt<'_>) -> Likeness,
    /// Reads the bytes. The second argument is the user's unit in nanoseconds.
    read: fn(&[u8], Option<u64>) -> Result<ForeignRun, ImportError>,
}

impl Format for HdrFile {
    fn info(&self) -> &'static FormatInfo {
        self.info
    }

    fn check(&self, options: &ImportOptions) -> Result<(), ImportError> {
        options.refuse_columns(self.info)
    }

    fn likeness(&self, excerpt: &Excerpt<'_>) -> Likeness {
        (self.likeness)(excerpt)
    }

    fn read(
        &self,
        input: &mut dyn BufRead,
        options: &ImportOptions,
        sink: &mut RequestSink<'_>,
    ) -> Result<ForeignRun, ImportError> {
        let unit_ns = options.unit("duration")?.map(Unit::nanos);
        let checked = Checked::read(self, input)?;
        checked.parse(|bytes| counted(self.info, sink, |_| (self.read)(bytes, unit_ns)))
    }
}

/// Limit on the values, which only a damaged file exceeds.
const MAX_VALUES: u64 = 1 << 53;
