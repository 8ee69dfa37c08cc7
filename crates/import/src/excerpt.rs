//! The parts of a file that formats are recognised by: several lines from several places, within a bound of bytes.

use std::borrow::Cow;
use std::cell::OnceCell;

use crate::rows::lines::MAX_ROW;

/// Bytes at the start of a file that are looked at.
pub(crate) const HEAD: usize = 1 << 20;
/// Bytes of the head that are searched for marks. Pieces of the rest are searched too.
const MARKS: usize = 64 << 10;
/// Length of a piece of the middle or the end, in bytes.
pub(crate) const PIECE: usize = 16 << 10;
/// Number of pieces of the rest of the head.
const PIECES: usize = 4;
/// Limit on the lines in front of the content: banners, and log lines of shells and tools.
const MAX_LINES_IN_FRONT: usize = 40;

pub(crate) const UTF_8_MARK: &[u8] = b"\xef\xbb\xbf";

/// The head of a file, and pieces of its middle and of its end.
pub struct Excerpt<'f> {
    head: &'f [u8],
    /// Offset of the head in the file.
    start: usize,
    later: &'f [Vec<u8>],
    text: OnceCell<String>,
    /// The first line is a whole JSON value.
    is_json_line: OnceCell<bool>,
}

impl<'f> Excerpt<'f> {
    /// Returns the excerpt of a file: the whole of a short one, or else at least its first mebibyte.
    pub fn new(bytes: &'f [u8]) -> Excerpt<'f> {
        Excerpt::with_later(bytes, &[])
    }

    /// Returns the excerpt of a file with pieces of its middle and its end.
    pub fn with_later(bytes: &'f [u8], later: &'f [Vec<u8>]) -> Excerpt<'f> {
        let marked = if bytes.starts_with(UTF_8_MARK) { UTF_8_MARK.len() } else { 0 };
        Excerpt { head: &bytes[marked..], start: marked, later, text: OnceCell::new(), is_json_line: OnceCell::new() }
    }

    /// Returns the first bytes of the file, without a UTF-8 byte order mark.
    pub(crate) fn head(&self) -> &'f [u8] {
        self.head
    }

    /// Returns the first line that is not empty, without its line break.
    pub(crate) fn first_line(&self) -> &'f [u8] {
        let line =
            self.head.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty()).unwrap_or_default();
        let line = &line[..line.len().min(MAX_ROW)];
        line.strip_suffix(b"\r").unwrap_or(line)
    }

    /// Returns the offset of the first byte in the file, in bytes.
    pub(crate) fn start(&self) -> usize {
        self.start
    }

    /// Returns the head and the pieces as text, one after the other.
    pub(crate) fn text(&self) -> &str {
        self.text.get_or_init(|| {
            let (marks, rest) = self.head.split_at(self.head.len().min(MARKS));
            let places = (1..=PIECES).map(|place| rest.len().saturating_sub(PIECE) / PIECES * place);
            let pieces: Vec<&[u8]> = if rest.len() <= PIECES * PIECE {
                vec![rest]
            } else {
                places.map(|from| &rest[from..(from + PIECE).min(rest.len())]).collect()
            };
            // The head and a short rest are one text.
            let mut text = String::from_utf8_lossy(marks).into_owned();
            for piece in pieces.into_iter().chain(self.later.iter().map(Vec::as_slice)) {
                text.push_str(&String::from_utf8_lossy(piece));
            }
            text
        })
    }

    /// Returns the part of the text to search for the keys of a JSON document: the first line, if that line is a whole
    /// document, or else the whole text. Returns `None` if the text does not begin an object or a list of objects.
    pub(crate) fn document(&self) -> Option<Cow<'_, str>> {
        let mut beginning = self.head.iter().filter(|byte| !byte.is_ascii_whitespace());
        match (beginning.next()?, beginning.next()) {
            (b'{', Some(b'"' | b'}')) | (b'[', Some(b'{' | b'[' | b']')) => {}
            _ => return None,
        }
        let line = self.first_line();
        let is_json_line =
            self.is_json_line.get_or_init(|| serde_json::from_slice::<serde::de::IgnoredAny>(line).is_ok());
        Some(if *is_json_line { String::from_utf8_lossy(line) } else { Cow::Borrowed(self.text()) })
    }

    /// Returns the excerpt from its first line on that is not empty, and then from each of the next such lines on.
    pub(crate) fn beginnings(&self) -> impl Iterator<Item = Excerpt<'f>> {
        let mut at = 0;
        let Excerpt { head, start, later, .. } = *self;
        let lines = head.split_inclusive(|byte| *byte == b'\n').map(move |line| {
            let begins = at;
            at += line.len();
            (begins, line)
        });
        let lines = lines.filter(|(_, line)| !line.trim_ascii().is_empty());
        lines.take(MAX_LINES_IN_FRONT + 1).map(move |(begins, _)| Excerpt {
            head: &head[begins..],
            start: start + begins,
            later,
            text: OnceCell::new(),
            is_json_line: OnceCell::new(),
        })
    }
}
