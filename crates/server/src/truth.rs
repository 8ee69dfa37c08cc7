//! The truth: the server's record of each request that it admitted.

use std::io::{self, Write};

use truetail_model::service::FaultSet;

use crate::stream::StreamTruth;
use crate::truth_log::LogRow;

/// Ending of a request on the server's side.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Ending {
    /// The system took the last byte of a complete answer.
    Answered,
    /// Less body than the head promised was sent, and the connection closed (in HTTP/2 the stream reset).
    ShortBody,
    /// Bytes that are not HTTP were sent, and the connection closed. In HTTP/2: a head with 200, and the stream reset.
    Garbage,
    /// The connection was reset instead of an answer (in HTTP/2 the stream).
    Reset,
    /// An answer was never planned.
    BlackHole,
    /// The client was gone before the system took the last byte of its answer.
    ClientGone,
    /// The connection was closed or reset before this request's turn, because of an earlier answer or of bad input.
    Dropped,
    /// Still held when the server was stopped.
    Held,
}

impl Ending {
    /// Every ending.
    pub const ALL: [Ending; 8] = [
        Ending::Answered,
        Ending::ShortBody,
        Ending::Garbage,
        Ending::Reset,
        Ending::BlackHole,
        Ending::ClientGone,
        Ending::Dropped,
        Ending::Held,
    ];

    /// Returns the name in a truth log.
    pub const fn name(self) -> &'static str {
        match self {
            Ending::Answered => "answered",
            Ending::ShortBody => "short-body",
            Ending::Garbage => "garbage",
            Ending::Reset => "reset",
            Ending::BlackHole => "black-hole",
            Ending::ClientGone => "client-gone",
            Ending::Dropped => "dropped",
            Ending::Held => "held",
        }
    }

    /// Returns true if bytes were sent, and all planned bytes were.
    pub const fn sent_something(self) -> bool {
        matches!(self, Ending::Answered | Ending::ShortBody | Ending::Garbage)
    }
}

/// One admitted request. Times are in nanoseconds since the start of the fault clock of its epoch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TruthRow {
    /// Epoch of the fault clock, from 1. `POST /clock` begins a new one.
    pub epoch: u32,
    /// Number in the epoch, from 1, in order of arrival.
    pub number: u64,
    /// Arrival: the time after which the head had been read.
    pub arrived_ns: u64,
    /// Planned time of the last byte of the answer, or of the reset; `None` for a black hole or an unfinished stream of
    /// a batch.
    pub due_ns: Option<u64>,
    /// Time after which the system had taken the last byte; `None` unless [`Ending::sent_something`].
    pub answered_ns: Option<u64>,
    /// Status in the head that was sent; `None` unless [`Ending::sent_something`], and for garbage.
    pub status: Option<u16>,
    /// How it ended.
    pub ending: Ending,
    /// Faults that affected the request.
    pub faults: FaultSet,
}

impl LogRow for TruthRow {
    const HEADER: &'static str = "epoch,number,arrived_ns,due_ns,answered_ns,status,ending,faults";

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        write!(out, "{},{},{},", self.epoch, self.number, self.arrived_ns)?;
        write_if_any(out, self.due_ns)?;
        write_if_any(out, self.answered_ns)?;
        write_if_any(out, self.status.map(u64::from))?;
        write!(out, "{},", self.ending.name())?;
        for (index, fault) in self.faults.iter().enumerate() {
            write!(out, "{}{}", if index == 0 { "" } else { "+" }, fault.name())?;
        }
        writeln!(out)
    }
}

fn write_if_any(out: &mut impl Write, value: Option<u64>) -> io::Result<()> {
    match value {
        Some(value) => write!(out, "{value},"),
        None => write!(out, ","),
    }
}

/// Counts over all epochs. Every admitted request has exactly one ending.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Totals {
    /// Requests that the service admitted.
    pub admitted: u64,
    /// Control requests, which do not reach the service: health checks, preflights, `/clock`.
    pub control: u64,
    /// Requests that were refused as invalid, too large or too slow. They do not reach the service either.
    pub refused: u64,
    pub(crate) endings: [u64; Ending::ALL.len()],
}

impl Totals {
    /// Returns the number of requests that ended with `ending`.
    pub fn count(&self, ending: Ending) -> u64 {
        self.endings[ending as usize]
    }

    /// Returns true if the endings sum up to the admitted requests; anything else is a bug.
    pub fn is_balanced(&self) -> bool {
        self.admitted == self.endings.iter().sum::<u64>()
    }
}

/// The truth of a server after it was stopped.
#[derive(Debug)]
pub struct ServerTruth {
    /// One row for each request, in order of arrival, epoch after epoch; empty unless rows are kept in memory.
    pub rows: Vec<TruthRow>,
    /// Each stream, in the order in which the streams ended; empty unless rows are kept in memory.
    pub streams: Vec<StreamTruth>,
    /// Counts, which are always kept.
    pub totals: Totals,
    /// Start of the fault clock in each epoch, in nanoseconds since 1970 UTC.
    pub clock_starts_unix_ns: Vec<u64>,
    /// Reason that a truth log is incomplete; `None` if all logs are complete.
    pub log_error: Option<io::Error>,
}

impl ServerTruth {
    /// Returns the rows of one epoch (from 1), in order of arrival.
    pub fn epoch(&self, epoch: u32) -> &[TruthRow] {
        let from = self.rows.partition_point(|row| row.epoch < epoch);
        let to = self.rows.partition_point(|row| row.epoch <= epoch);
        &self.rows[from..to]
    }

    /// Returns the rows of the last epoch.
    pub fn last_epoch(&self) -> &[TruthRow] {
        self.epoch(self.rows.last().map_or(0, |row| row.epoch))
    }

    /// Counts the requests of the last epoch that arrived at or after `from_ns` and before `to_ns`.
    pub fn arrivals_between(&self, from_ns: u64, to_ns: u64) -> usize {
        let rows = self.last_epoch();
        let before = |instant| rows.partition_point(|row| row.arrived_ns < instant);
        before(to_ns).saturating_sub(before(from_ns))
    }
}
