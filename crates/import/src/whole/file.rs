use std::borrow::Cow;
use std::io::{BufRead, Read};

use truetail_model::workload::LoadModelKind;
use truetail_run::{Claims, FilePlace, ForeignClock, ForeignLoad, ForeignRequest, ForeignRun, ForeignView, UnusedRows};
use truetail_tools::{ParseError, ReportedRequest, ToolReport};

use crate::exchange::{NoExchange, NoExchanges};
use crate::recognise::claims;
use crate::{Excerpt, Format, FormatInfo, ImportError, ImportOptions, Likeness, RequestSink};

/// Limit on a file that is read whole, in bytes.
pub(crate) const MAX_BYTES: u64 = 512 << 20;
/// Limit on the memory of the values of a file, in bytes.
const MAX_VALUE_BYTES: u64 = 2 << 30;
/// Memory of a JSON value, and additional memory of an object with a field, in bytes.
const BYTES_OF_A_VALUE: u64 = 32;
const BYTES_OF_AN_OBJECT: u64 = 640;

const UTF_16_MARKS: [&[u8]; 2] = [b"\xff\xfe", b"\xfe\xff"];

/// Reads the bytes of a file, and passes its requests to the sink.
pub(crate) type Parse = fn(&[u8], &mut RequestSink<'_>) -> Result<ForeignRun, ImportError>;

/// A format of small files, or of files that can only be read as a whole.
pub(crate) struct WholeFile {
    pub info: &'static FormatInfo,
    /// The load model, if the tool has only one.
    pub model: Option<LoadModelKind>,
    /// Compares the start of a file with this format.
    pub likeness: fn(&Excerpt<'_>) -> Likeness,
    pub parse: Parse,
}

impl Format for WholeFile {
    fn info(&self) -> &'static FormatInfo {
        self.info
    }

    fn likeness(&self, excerpt: &Excerpt<'_>) -> Likeness {
        (self.likeness)(excerpt)
    }

    fn read(
        &self,
        input: &mut dyn BufRead,
        _options: &ImportOptions,
        sink: &mut RequestSink<'_>,
    ) -> Result<ForeignRun, ImportError> {
        let checked = Checked::read(self, input)?;
        let run = checked.parse(|bytes| counted(self.info, sink, |sink| (self.parse)(bytes, sink)))?;
        let model = run.load.model.or(self.model);
        Ok(ForeignRun { load: ForeignLoad { model, ..run.load }, ..run })
    }
}

/// A file of the right format.
pub(crate) struct Checked {
    bytes: Vec<u8>,
    /// Start of its content in bytes.
    start: usize,
}

impl Checked {
    /// Reads a file. Fails if its content does not match the format, or if it is too long.
    pub(crate) fn read(format: &dyn Format, input: &mut dyn BufRead) -> Result<Checked, ImportError> {
        let bytes = all_bytes(input, MAX_BYTES)?;
        let start = check(format, &bytes)?;
        check_values(&bytes[start..], MAX_VALUE_BYTES)?;
        Ok(Checked { bytes, start })
    }

    /// Parses the content. Places that `parse` finds in it become places in the file.
    pub(crate) fn parse(
        &self,
        parse: impl FnOnce(&[u8]) -> Result<ForeignRun, ImportError>,
    ) -> Result<ForeignRun, ImportError> {
        let (in_front, rest) = self.bytes.split_at(self.start);
        let lines = line_ends(in_front);
        let in_file = |place: FilePlace| FilePlace {
            byte: place.byte + in_front.len() as u64,
            // A binary file has no lines.
            line: if place.line == 0 { 0 } else { place.line + lines },
        };
        match parse(rest) {
            Ok(mut run) => {
                run.damage.first.iter_mut().for_each(|(place, _)| *place = in_file(*place));
                run.damage.truncated_at = run.damage.truncated_at.map(in_file);
                Ok(run)
            }
            Err(ImportError::Content { place, what }) => Err(content(in_file(place), what)),
            Err(error) => Err(error),
        }
    }
}

/// Reads a run without what was no exchange, and fills in the facts about the format and the number of requests.
pub(crate) fn counted(
    info: &'static FormatInfo,
    sink: &mut RequestSink<'_>,
    read: impl FnOnce(&mut RequestSink<'_>) -> Result<ForeignRun, ImportError>,
) -> Result<ForeignRun, ImportError> {
    let mut requests = 0;
    let mut no_exchanges = NoExchanges::default();
    let mut counting = |request: &ForeignRequest| match NoExchange::for_request(request) {
        Some(why) => no_exchanges.add(why),
        None => {
            requests += 1;
            sink(request);
        }
    };
    let mut run = read(&mut counting)?;
    run.notes.extend(no_exchanges.note());
    // Counts of rows do not contain what is left out; counts that the file states stay.
    let of_rows = Some(requests + no_exchanges.count());
    for count in [&mut run.claims.measured, &mut run.claims.requests] {
        *count = if *count == of_rows && requests > 0 { Some(requests) } else { *count };
    }
    Ok(ForeignRun { format: info.name, tool: info.tool, requests, ..run })
}

/// Returns the start of the content. Refuses a file that does not match the format, which the user named then.
fn check(format: &dyn Format, bytes: &[u8]) -> Result<usize, ImportError> {
    let refused = |why: &str| {
        let what = format!("this does not begin like {}{why}", format.info().about);
        Err(ImportError::Content { place: FilePlace { byte: 0, line: 1 }, what })
    };
    if UTF_16_MARKS.iter().any(|mark| bytes.starts_with(mark)) {
        return refused(": it is in UTF-16; convert it with 'iconv -f UTF-16 -t UTF-8'");
    }
    match claims(&Excerpt::new(bytes), &[format]) {
        Ok(claimed) => Ok(claimed.start),
        Err(near) => refused(&near.first().map(|(_, why)| format!(": {why}")).unwrap_or_default()),
    }
}

/// Reads a file of at most `most` bytes.
fn all_bytes(input: &mut dyn BufRead, most: u64) -> Result<Vec<u8>, ImportError> {
    let mut bytes = Vec::new();
    input.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 <= most {
        return Ok(bytes);
    }
    let what = format!("the file goes on here, but of this format at most {} MiB are read", most >> 20);
    Err(ImportError::Content { place: place_of(&bytes, most as usize), what })
}

/// Refuses JSON whose values would need more than `most` bytes. A text of 512 MiB can hold many GiB of values.
/// Characters in quotes count too, which makes little difference.
fn check_values(bytes: &[u8], most: u64) -> Result<(), ImportError> {
    if !matches!(bytes.trim_ascii_start(), [b'{' | b'[', ..]) {
        return Ok(());
    }
    let mut taken = 0;
    for (at, byte) in bytes.iter().enumerate() {
        taken += match byte {
            b'{' => BYTES_OF_AN_OBJECT,
            b',' | b'[' => BYTES_OF_A_VALUE,
            _ => 0,
        };
        if taken > most {
            let what =
                format!("up to here it has so many values that they take more than {} MiB of memory", most >> 20);
            return Err(ImportError::Content { place: place_of(bytes, at), what });
        }
    }
    Ok(())
}

pub(crate) fn place_of(bytes: &[u8], byte: usize) -> FilePlace {
    let before = &bytes[..byte.min(bytes.len())];
    FilePlace { byte: before.len() as u64, line: 1 + line_ends(before) }
}

pub(crate) fn line_ends(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

/// Returns the offset of line `line`, counted from 1, in bytes, or the end if the line does not exist.
pub(crate) fn start_of_line(bytes: &[u8], line: u64) -> usize {
    bytes.split_inclusive(|byte| *byte == b'\n').take(line.saturating_sub(1) as usize).map(<[u8]>::len).sum()
}

pub(crate) fn content(place: FilePlace, what: impl Into<String>) -> ImportError {
    ImportError::Content { place, what: what.into() }
}

/// Converts the error of a tool's parser. An error without a line is placed at the end.
pub(crate) fn refused(bytes: &[u8], error: &ParseError) -> ImportError {
    let byte = error.line.map_or(bytes.len(), |line| start_of_line(bytes, line));
    let ParseError { tool, tested, what, .. } = error;
    content(place_of(bytes, byte), format!("{what} (this importer was tested with {tool} {tested})"))
}

/// Returns a run with figures and nothing else.
pub(crate) fn run(claims: Claims) -> ForeignRun {
    ForeignRun {
        format: "",
        tool: None,
        version: None,
        claims,
        histogram: None,
        requests: 0,
        clock: ForeignClock::default(),
        load: ForeignLoad::default(),
        view: ForeignView::Client,
        damage: UnusedRows::default(),
        notes: Vec::new(),
        habits: &[],
    }
}

/// Passes on the requests of a tool parser, and returns its run.
pub(crate) fn run_of(report: ToolReport, sink: &mut RequestSink<'_>) -> ForeignRun {
    let ToolReport { version, claims, requests, histogram, notes, .. } = report;
    requests.iter().for_each(|one| sink(&request(one, None)));
    ForeignRun { version, histogram: histogram.map(Into::into), notes, ..run(claims) }
}

/// Converts a request of a tool parser.
pub(crate) fn request(one: &ReportedRequest, worker: Option<u32>) -> ForeignRequest {
    let ReportedRequest { start_ns, latency, outcome } = *one;
    ForeignRequest { worker, ..ForeignRequest::new(start_ns, latency, outcome) }
}

/// Counts a row that cannot be used.
pub(crate) fn leave_out(damage: &mut UnusedRows, what: impl FnOnce() -> (FilePlace, String)) {
    damage.rows_left_out += 1;
    damage.first.get_or_insert_with(what);
}

pub(crate) fn text(head: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(head)
}

/// Looks for lines that begin with `marks` in the start of a file. A file with the first mark but not all of them is
/// similar.
pub(crate) fn all_marks(excerpt: &Excerpt<'_>, marks: &[&str]) -> Likeness {
    let head = excerpt.text();
    // Text that quotes the output is not the output.
    let begins_a_line = |mark: &&&str| head.lines().any(|line| line.trim_start().starts_with(**mark));
    let Some(first) = marks.first().filter(begins_a_line) else { return Likeness::No };
    match marks.iter().find(|mark| !begins_a_line(mark)) {
        None => Likeness::Yes,
        Some(missing) => Likeness::Near(format!("it has '{}', but '{}' is missing", first.trim(), missing.trim())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_too_long_is_refused_where_it_goes_on() {
        let mut input: &[u8] = b"one\ntwo\nthree";
        assert!(all_bytes(&mut input, 13).is_ok());
        let mut input: &[u8] = b"one\ntwo\nthree";
        let error = all_bytes(&mut input, 9).expect_err("too long");
        assert_eq!(error.to_string(), "line 3: the file goes on here, but of this format at most 0 MiB are read");
    }

    #[test]
    fn many_small_values_are_refused_where_they_take_too_much() {
        let text = format!("{{\"a\": [\n{}{{}}]}}", "{},".repeat(10_000));
        assert!(check_values(text.as_bytes(), 16 << 20).is_ok());
        let error = check_values(text.as_bytes(), 1 << 20).expect_err("too many").to_string();
        assert_eq!(error, "line 2: up to here it has so many values that they take more than 1 MiB of memory");
        let as_text = format!("a,b\n{}", "1,2\n".repeat(100_000));
        assert!(check_values(as_text.as_bytes(), 1 << 20).is_ok(), "it is no JSON");
    }

    #[test]
    fn places_and_lines_are_the_same() {
        let bytes = b"a\nbc\n\nd";
        for (byte, line) in [(0, 1), (2, 2), (5, 3), (6, 4)] {
            assert_eq!((place_of(bytes, byte).line, start_of_line(bytes, line)), (line, byte));
        }
        assert_eq!(start_of_line(bytes, 99), bytes.len());
    }
}
