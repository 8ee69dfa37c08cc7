//! Access logs as arrivals with their requests: lines of nginx, Apache and Envoy, and JSON lines.
//!
//! | file | what is in it |
//! |---|---|
//! | `line` | the request of a line |
//! | `request` | method and target as logged |
//! | `distinct` | distinct requests of a log |
//! | `left_out` | lines that are not arrivals, by cause |
//! | `placement` | positions of arrivals within the resolution of the log |
//! | `notes` | notes about the arrivals |

mod distinct;
mod left_out;
mod line;
mod notes;
mod placement;
mod request;

use std::collections::BTreeMap;
use std::io::{BufReader, Cursor, Read};

use truetail_model::time::Nanos;

use crate::excerpt::HEAD;
use crate::rows::Lines;
use crate::rows::number::Usual;
use crate::{ImportError, gzip, read_head};

use distinct::Distinct;
use left_out::{Cause, LeftOut};
use line::LineReader;
use placement::Taken;

pub use placement::Placement;
pub use request::Asked;

/// Limit on the arrivals that are taken from a log.
const MAX_ARRIVALS: usize = 50_000_000;

/// Selection of the requests of a log.
#[derive(Clone, Default, Debug)]
pub struct AccessLogOptions {
    /// Keeps requests from this instant on, in nanoseconds since 1970. The recording then starts at it.
    pub from_ns: Option<u64>,
    /// Keeps requests before this instant, in nanoseconds since 1970.
    pub to_ns: Option<u64>,
    /// Keeps only requests of this host.
    pub host: Option<String>,
    /// Keeps POST, PUT and PATCH too, without their bodies.
    pub empty_bodies: bool,
}

/// The requests of a log.
#[derive(Debug, Default)]
pub struct AccessLog {
    /// In the order of their lines.
    lines: Vec<Taken>,
    /// Distinct requests.
    asked: Vec<Asked>,
    from_ns: Option<u64>,
    resolution: Usual,
    /// Number of lines that show when the request came.
    timed: u64,
    hosts: BTreeMap<String, u64>,
    left_out: LeftOut,
    damage: Option<String>,
}

/// Reads a log, which may be compressed with gzip, to its end.
///
/// # Errors
/// [`ImportError`], if it cannot be read, or none of its lines can be taken.
pub fn read_access_log(input: &mut dyn Read, options: &AccessLogOptions) -> Result<AccessLog, ImportError> {
    let head = read_head(input)?;
    let mut whole = Cursor::new(&head[..]).chain(BufReader::with_capacity(HEAD, input));
    let mut log = AccessLog { from_ns: options.from_ns, ..AccessLog::default() };
    if head.starts_with(gzip::MAGIC) {
        let mut unpacked = gzip::Unpacked::new(whole);
        log.read(&mut Lines::new(&mut BufReader::new(&mut unpacked)), options)?;
        log.damage = unpacked.note();
    } else {
        log.read(&mut Lines::new(&mut whole), options)?;
    }
    if log.lines.is_empty() { Err(log.nothing()) } else { Ok(log) }
}

impl AccessLog {
    fn read(&mut self, lines: &mut Lines<'_>, options: &AccessLogOptions) -> Result<(), ImportError> {
        let mut reader = LineReader::new();
        let mut known = Distinct::new();
        lines.skip_byte_order_mark()?;
        while let Some(span) = lines.peek_line()? {
            let place = lines.place();
            let bytes = lines.bytes(span).trim_ascii();
            if !bytes.is_empty() {
                let taken = if span.too_long {
                    Err(Cause::TooLong)
                } else {
                    self.line(bytes, &mut reader, &mut known, options)
                };
                taken.unwrap_or_else(|cause| self.left_out.count(cause, place.line));
            }
            if self.lines.len() > MAX_ARRIVALS {
                let help = "take a part of the log with --from and --to";
                return Err(ImportError::content(place, format!("more than {MAX_ARRIVALS} requests; {help}")));
            }
            if let Some(why) = known.too_many() {
                return Err(ImportError::content(place, why));
            }
            lines.take(span)?;
        }
        self.asked = known.into_requests();
        Ok(())
    }

    fn line(
        &mut self,
        bytes: &[u8],
        reader: &mut LineReader,
        known: &mut Distinct,
        options: &AccessLogOptions,
    ) -> Result<(), Cause> {
        let logged = reader.read(bytes)?;
        let took_ns = logged.took.map_or(0, |took| took.ns);
        let start_ns = logged.time.ns.checked_sub(took_ns).ok_or(Cause::Line)?;
        let is_before = options.from_ns.is_some_and(|from| start_ns < from);
        if is_before || options.to_ns.is_some_and(|to| start_ns >= to) {
            return Err(Cause::Time);
        }
        let asked = logged.asked?;
        if options.host.as_ref().is_some_and(|host| asked.host.as_ref() != Some(host)) {
            return Err(Cause::Host);
        }
        asked.check_body(options.empty_bodies)?;
        self.resolution.see(logged.time);
        self.timed += u64::from(logged.has_start);
        if let Some(host) = &asked.host {
            match self.hosts.get_mut(host) {
                Some(count) => *count += 1,
                None => drop(self.hosts.insert(host.clone(), 1)),
            }
        }
        let number = known.number(asked);
        let resolution_ns = u32::try_from(logged.time.resolution_ns).unwrap_or(u32::MAX);
        self.lines.push(Taken { logged_ns: logged.time.ns, took_ns, resolution_ns, asked: number });
        Ok(())
    }

    /// Returns the time of each arrival since the start of the recording, ascending, with its request.
    pub fn arrivals(&self, placement: Placement) -> Vec<(Nanos, &Asked)> {
        self.placed(placement).into_iter().map(|(at, asked)| (at, &self.asked[asked as usize])).collect()
    }

    /// Returns the arrivals like [`AccessLog::arrivals`], with request numbers, and the distinct requests.
    pub fn into_arrivals(self, placement: Placement) -> (Vec<(Nanos, u32)>, Vec<Asked>) {
        (self.placed(placement), self.asked)
    }

    fn placed(&self, placement: Placement) -> Vec<(Nanos, u32)> {
        let mut starts = placement.starts(&self.lines, self.resolution.ns());
        starts.sort_by_key(|(start_ns, _)| *start_ns);
        let first = starts.first().map_or(0, |(start_ns, _)| *start_ns);
        // Requests that were placed before the start of an hour count at its start.
        let origin = self.from_ns.unwrap_or(first);
        starts.into_iter().map(|(start_ns, asked)| (Nanos(start_ns.saturating_sub(origin)), asked)).collect()
    }
}
