//! Readers for other tools' result files. They recognise files by content and read rows in bounded memory.
//!
//! A [`Format`] reads one kind of file. It passes each request to a sink as soon as its row is read, and returns what
//! the file states about the whole run ([`ForeignRun`]). The intact part of a damaged file is used, and the rest is
//! counted ([`Damage`](truetail_run::Damage)). Nothing is judged here. [`ways`] reads recordings as loads.

pub mod container;
mod error;
mod format;
mod gob;
mod gzip;
pub mod habits;
mod head;
mod json;
mod k6;
mod logs;
mod rows;
mod tables;
mod user;
mod utf16;
mod vegeta;
pub mod ways;
mod whole;

use std::io::{self, BufReader, Cursor, Read};
use std::sync::LazyLock;

use truetail_run::ForeignRun;

use head::HEAD;
use rows::Rows;

pub use error::{ImportError, Unrecognised};
pub use format::{Format, FormatInfo, ImportOptions, Likeness, RequestSink};

static STREAMED: [&dyn Format; 15] = [
    &gob::VegetaGob,
    &Rows(tables::JMeterCsv),
    &Rows(tables::K6Csv),
    &Rows(tables::VegetaCsv),
    &tables::HEY,
    &tables::AB,
    &Rows(tables::OhaTable),
    &tables::LOCUST,
    &Rows(json::K6Json),
    &Rows(json::VegetaJson),
    &Rows(logs::AccessJson),
    &logs::NGINX,
    &logs::ENVOY,
    &Rows(user::UserCsv),
    &Rows(user::UserJson),
];

/// Returns every format, the most specific first.
pub fn all() -> &'static [&'static dyn Format] {
    static ALL: LazyLock<Vec<&dyn Format>> = LazyLock::new(|| STREAMED.iter().chain(whole::all()).copied().collect());
    &ALL
}

/// Returns the format with this name.
pub fn by_name(name: &str) -> Option<&'static dyn Format> {
    all().iter().copied().find(|format| format.info().name == name)
}

/// Returns the first of [`all`] that matches `head`: the whole of a short file, or else at least its first 64 KiB.
///
/// # Errors
/// [`Unrecognised`], with a description of the file, and similar formats.
pub fn recognise(head: &[u8]) -> Result<&'static dyn Format, Unrecognised> {
    let mut near = Vec::new();
    for format in all().iter().copied() {
        match format.likeness(head) {
            Likeness::Yes => return Ok(format),
            Likeness::Near(why) => near.push((format.info().name, why)),
            Likeness::No => {}
        }
    }
    Err(Unrecognised { looks_like: head::looks_like(head), near })
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
    let head = read_head(input)?;
    container::refuse_piped(&head)?;
    let packed = head.starts_with(gzip::MAGIC);
    // A binary format may begin with the same two bytes.
    let utf16 = utf16::order(&head).filter(|_| recognise(&head).is_err());
    let mut whole = Cursor::new(head).chain(BufReader::with_capacity(HEAD, input));
    if packed {
        let mut unpacked = gzip::Unpacked::new(whole);
        let mut run = read_text(&mut unpacked, format, options, sink)?;
        unpacked.report(&mut run);
        return Ok(run);
    }
    let Some(from_bytes) = utf16 else { return read_text(&mut whole, format, options, sink) };
    let mut converted = utf16::Converted::new(whole, from_bytes);
    let mut run = read_text(&mut converted, format, options, sink)?;
    converted.report(&mut run);
    Ok(run)
}

fn read_text(
    input: &mut dyn Read,
    format: Option<&'static dyn Format>,
    options: &ImportOptions,
    sink: &mut RequestSink<'_>,
) -> Result<ForeignRun, ImportError> {
    let head = read_head(input)?;
    let format = match format {
        Some(format) => format,
        None if options.columns.is_empty() => recognise(&head)?,
        None if head::first_line(&head).trim_ascii_start().starts_with(b"{") => &Rows(user::UserJson),
        None => &Rows(user::UserCsv),
    };
    format.check(options)?;
    let mut whole = Cursor::new(head).chain(BufReader::with_capacity(HEAD, input));
    let run = format.read(&mut whole, options, sink)?;
    Ok(ForeignRun { habits: habits::of(run.tool.unwrap_or(run.format)), ..run })
}

fn read_head(input: &mut dyn Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(HEAD);
    input.take(HEAD as u64).read_to_end(&mut head)?;
    Ok(head)
}
