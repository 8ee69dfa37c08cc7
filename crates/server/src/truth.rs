//! The truth: what the server knows of each request that it admitted.

use std::io::{self, Write};

use truetail_model::service::FaultSet;

use crate::stream::StreamTruth;
use crate::truth_log::LogRow;

/// How a request ended on the server's side.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Ending {
    /// The last byte of a whole answer was handed to the system.
    Answered,
    /// Less body than the head promised was sent, and the connection closed; in HTTP/2 the stream reset.
    ShortBody,
    /// Bytes that are not HTTP were sent, and the connection closed; in HTTP/2 a head with 200, and the stream reset.
    Garbage,
    /// The connection was reset in place of an answer; in HTTP/2 the stream.
    Reset,
    /// No answer was to come, whatever the client did.
    BlackHole,
    /// The client was gone before the last byte of its answer was handed to the system.
    ClientGone,
    /// The server closed the connection before this request's turn: an earlier request on it was cut short or reset, or
    /// what followed on it was not HTTP.
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

    /// Its name in a truth log.
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

    /// True when bytes were sent, and all that were to be sent.
    pub const fn sent_something(self) -> bool {
        matches!(self, Ending::Answered | Ending::ShortBody | Ending::Garbage)
    }
}

/// One admitted request. Instants are nanoseconds since the start of the fault clock of its epoch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TruthRow {
    /// Which start of the fault clock it belongs to, from 1: `POST /clock` begins a new one.
    pub epoch: u32,
    /// Its number in the epoch, from 1, in the order of arrival.
    pub number: u64,
    /// When its head had been read: its arrival.
    pub arrived_ns: u64,
    /// When the last byte of its answer was to leave; for a reset, when the reset was due; `None` for a black hole,
    /// and for a stream that a batch had not ended.
    pub due_ns: Option<u64>,
    /// When the last byte had been handed to the system; `None` unless [`Ending::sent_something`].
    pub answered_ns: Option<u64>,
    /// The status in the head that was sent; `None` unless [`Ending::sent_something`], and for garbage.
    pub status: Option<u16>,
    /// How it ended.
    pub ending: Ending,
    /// The faults it met.
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
    /// Requests of the service.
    pub admitted: u64,
    /// Control requests, which do not reach the service: health checks, preflights, `/clock`.
    pub control: u64,
    /// Requests that were refused because they are not HTTP, too large or too slow. They do not reach the service either.
    pub refused: u64,
    pub(crate) endings: [u64; Ending::ALL.len()],
}

impl Totals {
    /// How many requests ended with `ending`.
    pub fn ended(&self, ending: Ending) -> u64 {
        self.endings[ending as usize]
    }

    /// True when the endings sum up to the admitted requests; anything else is a bug.
    pub fn is_balanced(&self) -> bool {
        self.admitted == self.endings.iter().sum::<u64>()
    }
}

/// What a server knows once it has been stopped.
#[derive(Debug)]
pub struct ServerTruth {
    /// One row for each request, in the order of arrival, epoch after epoch; empty unless rows are kept in memory.
    pub rows: Vec<TruthRow>,
    /// Each stream, in the order in which they ended; empty unless rows are kept in memory.
    pub streams: Vec<StreamTruth>,
    /// Counts, which are always kept.
    pub totals: Totals,
    /// When the fault clock of each epoch started, nanoseconds since 1970 UTC.
    pub clock_starts_unix_ns: Vec<u64>,
    /// Why a truth log is incomplete; `None` when all are complete.
    pub log_error: Option<io::Error>,
}

impl ServerTruth {
    /// The rows of one epoch (from 1), in the order of arrival.
    pub fn epoch(&self, epoch: u32) -> &[TruthRow] {
        let from = self.rows.partition_point(|row| row.epoch < epoch);
        let to = self.rows.partition_point(|row| row.epoch <= epoch);
        &self.rows[from..to]
    }

    /// The rows of the last epoch.
    pub fn last_epoch(&self) -> &[TruthRow] {
        self.epoch(self.rows.last().map_or(0, |row| row.epoch))
    }

    /// How many requests of the last epoch arrived at or after `from_ns` and before `to_ns`.
    pub fn arrivals_between(&self, from_ns: u64, to_ns: u64) -> usize {
        let rows = self.last_epoch();
        let before = |instant| rows.partition_point(|row| row.arrived_ns < instant);
        before(to_ns).saturating_sub(before(from_ns))
    }
}
