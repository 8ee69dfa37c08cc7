//! Readers for other tools' result files. They recognise files by content and read rows in bounded memory.
//!
//! A [`Format`] reads one kind of file. It passes each request to a sink as soon as its row is read, and returns what
//! the file states about the whole run ([`ForeignRun`]). The intact part of a damaged file is used, and the rest is
//! counted ([`UnusedRows`](truetail_run::UnusedRows)). Nothing is judged here. [`ways`] reads recordings as loads.

mod ab;
mod autocannon;
pub mod container;
mod error;
mod format;
mod fortio;
mod gatling;
mod guidellm;
mod gzip;
mod h2load;
pub mod habits;
mod har;
mod hdr;
mod head;
mod hey;
mod hyperfoil;
mod jmeter;
mod k6;
mod locust;
mod logs;
mod oha;
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

use head::HEAD;
use rows::Rows;

pub use error::{ImportError, Unrecognised};
pub use format::{Format, FormatInfo, ImportOptions, Likeness, RequestSink};

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
