//! HdrHistogram's formats: the log of histograms by interval, and the percentile distribution as text.

mod hgrm;
mod hlog;
mod intervals;

pub(crate) use hgrm::HGRM;
pub(crate) use hlog::HLOG;

use std::io::BufRead;

use truetail_run::ForeignRun;

use crate::rows::number::Unit;
use crate::whole::file::{checked_bytes, counted, without_mark};
use crate::{Format, FormatInfo, ImportError, ImportOptions, Likeness, RequestSink};

/// A file of HdrHistogram. Its values have no unit unless the user states one: `--units duration=us`.
pub(crate) struct HdrFile {
    info: &'static FormatInfo,
    likeness: fn(&[u8]) -> Likeness,
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

    fn likeness(&self, head: &[u8]) -> Likeness {
        (self.likeness)(without_mark(head))
    }

    fn read(
        &self,
        input: &mut dyn BufRead,
        options: &ImportOptions,
        sink: &mut RequestSink<'_>,
    ) -> Result<ForeignRun, ImportError> {
        let unit_ns = options.unit("duration")?.map(Unit::nanos);
        let bytes = checked_bytes(self, input)?;
        counted(self.info, sink, |_| (self.read)(without_mark(&bytes), unit_ns))
    }
}

/// Limit on the values, which only a damaged file exceeds.
const MAX_VALUES: u64 = 1 << 53;
