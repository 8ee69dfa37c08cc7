//! Recognition of a file's format by its content, whatever a shell or a tool printed in front of it.

use truetail_run::{FilePlace, ForeignRun};

use crate::excerpt::{Excerpt, UTF_8_MARK};
use crate::{Format, Likeness};

/// Formats that claim a file.
pub(crate) struct Claimed<'a> {
    /// At least one.
    pub formats: Vec<&'a dyn Format>,
    /// Start of the content in bytes.
    pub start: usize,
}

/// Similar formats, with the reason of each why the file does not match.
pub(crate) type Near = Vec<(&'static str, String)>;

/// Returns the formats that claim a file from the same line on: the first line with a claim. Without a claim, returns
/// the similar formats.
pub(crate) fn claims<'a>(excerpt: &Excerpt<'_>, formats: &[&'a dyn Format]) -> Result<Claimed<'a>, Near> {
    let mut near = Near::new();
    for beginning in excerpt.beginnings() {
        let mut claims = Vec::new();
        let is_near = !near.is_empty();
        for format in formats.iter().copied() {
            match format.likeness(&beginning) {
                Likeness::Yes => claims.push(format),
                Likeness::Near(why) if !is_near => near.push((format.info().name, why)),
                Likeness::Near(_) | Likeness::No => {}
            }
        }
        if !claims.is_empty() {
            return Ok(Claimed { formats: claims, start: beginning.start() });
        }
    }
    Err(near)
}

/// Returns the likeness of an excerpt that begins as a binary format does. Text in front of it is not passed over,
/// because places in a binary file are bytes.
pub(crate) fn binary_likeness(excerpt: &Excerpt<'_>) -> Likeness {
    match excerpt.start() {
        0 => Likeness::Yes,
        start => Likeness::Near(format!(
            "there is text in front of its binary content; remove it, for example with 'tail -c +{} FILE'",
            start + 1
        )),
    }
}

/// Lines in front of the content.
pub(crate) struct InFront {
    lines: u64,
    first: (FilePlace, String),
    /// The format also claims the second line of the content, so lines in front are damaged rows.
    are_rows: bool,
}

impl InFront {
    /// Returns the lines of `head` before the byte `start`, if one of them has text.
    pub(crate) fn before(head: &[u8], start: usize, format: &dyn Format) -> Option<InFront> {
        let (before, content) = head.split_at(start);
        let mut at = 0;
        let lines = before.split_inclusive(|byte| *byte == b'\n').enumerate().map(|(index, line)| {
            at += line.len();
            (FilePlace { byte: (at - line.len()) as u64, line: index as u64 + 1 }, line)
        });
        let is_text = |line: &[u8]| !line.strip_prefix(UTF_8_MARK).unwrap_or(line).trim_ascii().is_empty();
        let mut lines = lines.filter(|(_, line)| is_text(line));
        let (place, first) = lines.next()?;
        let first = (place, shortened(String::from_utf8_lossy(first).trim_matches(['\u{feff}', '\r', '\n', ' '])));
        let second = memchr::memchr(b'\n', content).map_or(&[][..], |end| &content[end + 1..]);
        let are_rows = format.likeness(&Excerpt::new(second)) == Likeness::Yes;
        Some(InFront { lines: 1 + lines.count() as u64, first, are_rows })
    }

    /// Records the lines in the run.
    pub(crate) fn report(self, run: &mut ForeignRun) {
        let (place, first) = self.first;
        if self.are_rows {
            run.damage.rows_left_out += self.lines;
            run.damage.first = Some((place, format!("it is not like the lines behind it: '{first}'")));
            run.claims.requests = None;
            return;
        }
        run.notes.push(match self.lines {
            1 => format!("a line in front of the content was passed over: '{first}'"),
            lines => format!("{lines} lines in front of the content were passed over, first '{first}'"),
        });
    }
}

/// Blanks what is in front of the content, so that places stay the same.
pub(crate) fn blank(in_front: &mut [u8]) {
    in_front.iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
}

/// Describes the start of a file for users.
pub(crate) fn looks_like(head: &[u8]) -> String {
    let excerpt = Excerpt::new(head);
    let line = excerpt.first_line();
    match line.first() {
        None => "the file is empty".to_owned(),
        _ if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") => {
            "it is text in UTF-16; convert it, for example with 'iconv -f UTF-16 -t UTF-8'".to_owned()
        }
        _ if head.starts_with(b"SQLite format 3\0") => "it is an SQLite database".to_owned(),
        _ if head.starts_with(b"PAR1") => "it is a Parquet file".to_owned(),
        _ if line.iter().any(|byte| *byte < b' ' && *byte != b'\t') => "it is a binary file".to_owned(),
        Some(b'{') => "it looks like JSON".to_owned(),
        Some(b'[') => "it looks like a JSON array or a log".to_owned(),
        Some(b'<') => "it looks like XML or HTML".to_owned(),
        Some(_) => table_or_text(line),
    }
}

fn table_or_text(line: &[u8]) -> String {
    const MOST: usize = 20;
    let header = crate::tables::Header::guess(line);
    match header.len() {
        0..=2 => format!("it looks like text that begins with '{}'", shortened(&String::from_utf8_lossy(line))),
        n => {
            let names: Vec<_> = header.names().take(MOST).map(|name| shortened(&name)).collect();
            let more = if n > MOST { " …" } else { "" };
            format!("it looks like a table of {n} columns: {}{more}", names.join(", "))
        }
    }
}

/// Returns at most 60 characters, without control characters.
fn shortened(text: &str) -> String {
    let clean: String = text.chars().map(|char| if char.is_control() { ' ' } else { char }).take(61).collect();
    match clean.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &clean[..end]),
        None => clean,
    }
}
