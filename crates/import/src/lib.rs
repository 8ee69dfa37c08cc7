//! Readers for other tools' result files. They recognise files by content and read rows in bounded memory.
//!
//! A [`Format`] reads one kind of file. It passes each request to a sink as soon as its row is read, and returns what
//! the file states about the whole run ([`ForeignRun`]). The intact part of a damaged file is used, and the rest is
//! counted ([`UnusedRows`](truetail_run::UnusedRows)). Nothing is judged here. [`ways`] reads recordings as loads.

#![warn(unreachable_pub)]

mod ab;
mod autocannon;
pub mod container;
mod error;
mod excerpt;
mod exchange;
mod format;
mod fortio;
mod gatling;
mod ghz;
mod guidellm;
mod gzip;
mod h2load;
pub mod habits;
mod har;
mod hdr;
mod hey;
mod hyperfoil;
mod jmeter;
mod k6;
mod locust;
mod logs;
mod oha;
mod recognise;
mod rows;
mod serving;
mod tables;
mod user;
mod utf16;
mod vegeta;
pub mod ways;
mod whole;
mod wrk;

use std::io::{self, BufReader, Cursor, Read};

use truetail_run::ForeignRun;

use excerpt::HEAD;
use recognise::InFront;
use rows::Rows;

pub use error::{ImportError, Unrecognised};
pub use excerpt::Excerpt;
pub use format::{Format, FormatInfo, ImportOptions, Likeness, RequestSink};
pub use rows::instant::date_with_zone;

/// Returns every format, the most specific first.
#[rustfmt::skip]
pub fn all() -> &'static [&'static dyn Format] {
    static ALL: &[&dyn Format] = &[
        &vegeta::VegetaGob,
        &Rows(jmeter::JMeterCsv),
        &Rows(k6::K6Csv),
        &Rows(vegeta::VegetaCsv),
        &hey::CSV,
        &ab::REQUESTS,
        &Rows(oha::OhaTable),
        &locust::SAMPLES,
        &Rows(k6::K6Json),
        &Rows(vegeta::VegetaJson),
        &Rows(logs::AccessJson),
        &logs::NGINX,
        &logs::ENVOY,
        &Rows(user::UserCsv),
        &Rows(user::UserJson),
        &wrk::WRK2,
        &wrk::WRK,
        &ab::REPORT,
        &ab::PERCENTILES,
        &hey::SUMMARY,
        &oha::TEXT,
        &oha::CSV,
        &oha::JSON,
        &k6::SUMMARY,
        &vegeta::REPORT,
        &jmeter::JMeterXml,
        &gatling::LOG,
        &locust::STATS,
        &locust::HISTORY,
        &locust::JSON,
        &hyperfoil::RESULT,
        &hyperfoil::RUN,
        &fortio::JSON,
        &fortio::LOG,
        &ghz::JSON,
        &ghz::CSV,
        &autocannon::JSON,
        &h2load::LOG,
        &serving::VLLM,
        &serving::SGLANG,
        &guidellm::GUIDELLM,
        &hdr::HLOG,
        &hdr::HGRM,
        &har::HAR,
    ];
    ALL
}

/// Returns the format with this name.
pub fn by_name(name: &str) -> Option<&'static dyn Format> {
    all().iter().copied().find(|format| format.info().name == name)
}

/// Returns the formats that claim a file; the first one reads it. See [`recognise()`].
pub fn claims(excerpt: &Excerpt<'_>) -> Vec<&'static dyn Format> {
    recognise::claims(excerpt, all()).map_or_else(|_| Vec::new(), |claimed| claimed.formats)
}

/// Returns the first format of [`all`] that claims a file. `head` is the whole file or at least its first mebibyte. A
/// few lines in front of the content do not matter.
///
/// # Errors
/// [`Unrecognised`], with a description of the file, and similar formats.
pub fn recognise(head: &[u8]) -> Result<&'static dyn Format, Unrecognised> {
    recognised(&Excerpt::new(head)).map(|(format, _)| format)
}

/// Also returns the start of the content in bytes.
fn recognised(excerpt: &Excerpt<'_>) -> Result<(&'static dyn Format, usize), Unrecognised> {
    match recognise::claims(excerpt, all()) {
        Ok(claimed) => Ok((claimed.formats[0], claimed.start)),
        Err(near) => Err(Unrecognised { looks_like: recognise::looks_like(excerpt.head()), near }),
    }
}

/// Reads a stream, which need not be buffered, to its end. Without a `format`, the content decides: if `options` names
/// columns, it is a table or JSON lines of no tool. Gzip is unpacked, and UTF-16 is converted.
///
/// # Errors
/// [`ImportError`], if the format is not recognised, no part of the file can be used, or it cannot be read.
pub fn read(
    input: &mut dyn Read,
    format: Option<&'static dyn Format>,
    options: &ImportOptions,
    sink: &mut RequestSink<'_>,
) -> Result<ForeignRun, ImportError> {
    read_opened(input, &[], format, options, sink)
}

/// Reads a file as [`read`] does, and also recognises its format by `later`: pieces of its middle and end
/// ([`container::Opened`]).
///
/// # Errors
/// Those of [`read`].
pub fn read_opened(
    input: &mut dyn Read,
    later: &[Vec<u8>],
    format: Option<&'static dyn Format>,
    options: &ImportOptions,
    sink: &mut RequestSink<'_>,
) -> Result<ForeignRun, ImportError> {
    let head = read_head(input)?;
    container::refuse_piped(&head)?;
    let packed = head.starts_with(gzip::MAGIC);
    // A binary format may begin with the same two bytes.
    let utf16 = utf16::order(&head).filter(|_| recognise(&head).is_err());
    let mut whole = Cursor::new(head).chain(BufReader::with_capacity(BLOCK, input));
    if packed {
        let mut unpacked = gzip::Unpacked::new(whole);
        let mut run = read_text(&mut unpacked, &[], format, options, sink)?;
        unpacked.report(&mut run);
        return Ok(run);
    }
    let Some(from_bytes) = utf16 else { return read_text(&mut whole, later, format, options, sink) };
    let mut converted = utf16::Converted::new(whole, from_bytes);
    let mut run = read_text(&mut converted, &[], format, options, sink)?;
    converted.report(&mut run);
    Ok(run)
}

fn read_text(
    input: &mut dyn Read,
    later: &[Vec<u8>],
    format: Option<&'static dyn Format>,
    options: &ImportOptions,
    sink: &mut RequestSink<'_>,
) -> Result<ForeignRun, ImportError> {
    let mut head = read_head(input)?;
    let excerpt = Excerpt::with_later(&head, later);
    let (format, start) = match format {
        Some(format) => (format, recognise::claims(&excerpt, &[format]).map_or(0, |claimed| claimed.start)),
        None if options.columns.is_empty() => recognised(&excerpt)?,
        None if excerpt.first_line().trim_ascii_start().starts_with(b"{") => {
            (&Rows(user::UserJson) as &'static dyn Format, 0)
        }
        None => (&Rows(user::UserCsv) as &'static dyn Format, 0),
    };
    format.check(options)?;
    let in_front = InFront::before(&head, start, format);
    if in_front.is_some() {
        recognise::blank(&mut head[..start]);
    }
    let mut whole = Cursor::new(head).chain(BufReader::with_capacity(BLOCK, input));
    let mut run = format.read(&mut whole, options, sink)?;
    in_front.into_iter().for_each(|lines| lines.report(&mut run));
    Ok(ForeignRun { habits: habits::for_tool(run.tool.unwrap_or(run.format)), ..run })
}

/// Bytes of the rest of a file that are read at once.
const BLOCK: usize = 64 << 10;

fn read_head(input: &mut dyn Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    input.take(HEAD as u64).read_to_end(&mut head)?;
    Ok(head)
}
