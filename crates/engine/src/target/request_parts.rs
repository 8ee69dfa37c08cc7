//! A request in its parts, which each protocol encodes in its own way.

use std::ops::Range;

/// Separators of HTTP/1.1 between the parts of a request.
const AFTER_METHOD: &[u8] = b" ";
const AFTER_PATH: &[u8] = b" HTTP/1.1\r\n";
const AFTER_NAME: &[u8] = b": ";
const AFTER_VALUE: &[u8] = b"\r\n";
const AFTER_FIELDS: &[u8] = b"\r\n";

/// A request in its parts: method, path, header fields and body. A message has only a body. Authority and scheme belong
/// to the origin that the request goes to; the field `Host` is one of the fields.
///
/// All parts lie in one buffer, with the separators of HTTP/1.1 between them. HTTP/1.1 sends the buffer as it is, and
/// other protocols encode the parts. Making the next request in the same place allocates nothing.
///
/// A request is made in this order: [`begin`](RequestParts::begin), the path, [`end_path`](RequestParts::end_path), the
/// fields, and [`end_head`](RequestParts::end_head) with the body.
#[derive(PartialEq, Eq, Default, Debug)]
pub struct RequestParts {
    bytes: Vec<u8>,
    /// See [`RequestView::ends`].
    ends: Vec<u32>,
}

/// A borrowed [`RequestParts`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RequestView<'a> {
    bytes: &'a [u8],
    /// Ends in `bytes` of the method, of the path, and of the name and value of each field; empty for a message.
    ends: &'a [u32],
}

impl Clone for RequestParts {
    fn clone(&self) -> RequestParts {
        self.view().to_parts()
    }

    fn clone_from(&mut self, other: &RequestParts) {
        self.bytes.clone_from(&other.bytes);
        self.ends.clone_from(&other.ends);
    }
}

impl RequestParts {
    /// Returns a message.
    pub fn message(bytes: impl Into<Vec<u8>>) -> RequestParts {
        RequestParts { bytes: bytes.into(), ends: Vec::new() }
    }

    /// Begins a request anew, with its method. The path follows.
    pub fn begin(&mut self, method: &[u8]) {
        self.message_buffer().extend_from_slice(method);
        self.end_part(AFTER_METHOD);
    }

    /// Returns the buffer of a message, emptied. Text of HTTP/1.1 may also stand here, if nothing but HTTP/1.1 is spoken.
    pub fn message_buffer(&mut self) -> &mut Vec<u8> {
        self.bytes.clear();
        self.ends.clear();
        &mut self.bytes
    }

    /// Returns the buffer, to append to the part that is being written.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Ends the path. Fields follow.
    pub fn end_path(&mut self) {
        self.end_part(AFTER_PATH);
    }

    /// Adds a field. Neither name nor value may have a line break; see [`is_header_value`](crate::is_header_value).
    pub fn field(&mut self, name: &[u8], value: &[u8]) {
        self.bytes.extend_from_slice(name);
        self.end_name();
        self.bytes.extend_from_slice(value);
        self.end_value();
    }

    /// Adds a field whose value `write` appends, unless it appends nothing.
    pub fn field_unless_empty<E>(
        &mut self,
        name: &[u8],
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(), E> {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(name);
        self.end_name();
        let value = self.bytes.len();
        write(&mut self.bytes)?;
        if self.bytes.len() > value {
            self.end_value();
        } else {
            self.bytes.truncate(start);
            self.ends.pop();
        }
        Ok(())
    }

    /// Ends the name of a field. Its value follows.
    pub fn end_name(&mut self) {
        self.end_part(AFTER_NAME);
    }

    /// Ends the value of a field. Returns name and value.
    pub fn end_value(&mut self) -> (&[u8], &[u8]) {
        self.end_part(AFTER_VALUE);
        self.view().fields().next_back().expect("a field that was just written")
    }

    /// Returns the number of fields.
    pub fn field_count(&self) -> usize {
        self.view().field_count()
    }

    /// Ends the head and appends the body.
    pub fn end_head(&mut self, body: &[u8]) {
        self.bytes.extend_from_slice(AFTER_FIELDS);
        self.bytes.extend_from_slice(body);
    }

    /// Adds a field to a whole request, after its other fields. A message stays as it is.
    pub fn insert_field(&mut self, name: &str, value: &str) {
        if self.ends.is_empty() {
            return;
        }
        let end = self.view().end_of_fields();
        self.bytes.splice(end..end, [name.as_bytes(), AFTER_NAME, value.as_bytes(), AFTER_VALUE].concat());
        let name_end = end + name.len();
        self.push_end(name_end);
        self.push_end(name_end + AFTER_NAME.len() + value.len());
    }

    /// Reads a request from text in HTTP/1.1, for tests.
    #[cfg(test)]
    pub(crate) fn of_text(text: &str) -> RequestParts {
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
        let mut lines = head.split("\r\n");
        let mut words = lines.next().unwrap_or_default().split(' ');
        let mut parts = RequestParts::default();
        parts.begin(words.next().unwrap_or_default().as_bytes());
        parts.buffer().extend_from_slice(words.next().unwrap_or_default().as_bytes());
        parts.end_path();
        for (name, value) in lines.filter_map(|line| line.split_once(": ")) {
            parts.field(name.as_bytes(), value.as_bytes());
        }
        parts.end_head(body.as_bytes());
        parts
    }

    /// Returns the parts.
    #[inline]
    pub fn view(&self) -> RequestView<'_> {
        RequestView { bytes: &self.bytes, ends: &self.ends }
    }

    fn end_part(&mut self, separator: &[u8]) {
        self.push_end(self.bytes.len());
        self.bytes.extend_from_slice(separator);
    }

    fn push_end(&mut self, end: usize) {
        self.ends.push(u32::try_from(end).expect("a head of less than 4 GiB"));
    }
}

impl<'a> RequestView<'a> {
    /// Returns a request that was taken apart: its bytes and its ends.
    #[inline]
    pub(super) fn new(bytes: &'a [u8], ends: &'a [u32]) -> RequestView<'a> {
        RequestView { bytes, ends }
    }

    pub(super) fn ends(&self) -> &'a [u32] {
        self.ends
    }

    /// Returns a copy.
    pub fn to_parts(self) -> RequestParts {
        RequestParts { bytes: self.bytes.to_vec(), ends: self.ends.to_vec() }
    }

    /// Returns head and body in HTTP/1.1, or the bytes of a message.
    #[inline]
    pub fn http1_bytes(self) -> &'a [u8] {
        self.bytes
    }

    /// Returns the method; empty for a message.
    pub fn method(self) -> &'a [u8] {
        &self.bytes[..self.end(0)]
    }

    /// Returns path and query; empty for a message.
    pub fn path(self) -> &'a [u8] {
        match self.ends {
            [method, path, ..] => &self.bytes[*method as usize + AFTER_METHOD.len()..*path as usize],
            _ => &[],
        }
    }

    /// Returns name and value of the fields, in the order of sending.
    pub fn fields(self) -> impl DoubleEndedIterator<Item = (&'a [u8], &'a [u8])> + ExactSizeIterator {
        (0..self.field_count()).map(move |nth| {
            let Range { start, end } = self.name(nth);
            (&self.bytes[start..end], &self.bytes[end + AFTER_NAME.len()..self.end(2 * nth + 3)])
        })
    }

    /// Returns the value of the first field with this name, in any case.
    pub fn value(self, name: &str) -> Option<&'a [u8]> {
        let mut of_name = self.fields().filter(|(other, _)| other.eq_ignore_ascii_case(name.as_bytes()));
        of_name.next().map(|(_, value)| value)
    }

    /// Returns the body, or the bytes of a message.
    #[inline]
    pub fn body(self) -> &'a [u8] {
        if self.ends.is_empty() { self.bytes } else { &self.bytes[self.end_of_fields() + AFTER_FIELDS.len()..] }
    }

    fn field_count(self) -> usize {
        (self.ends.len() / 2).saturating_sub(1)
    }

    fn name(self, nth: usize) -> Range<usize> {
        let before = if nth == 0 { AFTER_PATH } else { AFTER_VALUE };
        self.end(2 * nth + 1) + before.len()..self.end(2 * nth + 2)
    }

    /// Returns the place of the separator after the fields.
    #[inline]
    fn end_of_fields(self) -> usize {
        let before = if self.ends.len() > 2 { AFTER_VALUE } else { AFTER_PATH };
        self.end(self.ends.len() - 1) + before.len()
    }

    fn end(self, nth: usize) -> usize {
        self.ends.get(nth).map_or(0, |end| *end as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(fields: &[(&str, &str)]) -> RequestParts {
        let mut parts = RequestParts::message(b"left over");
        parts.begin(b"POST");
        parts.buffer().extend_from_slice(b"/a?b");
        parts.end_path();
        fields.iter().for_each(|(name, value)| parts.field(name.as_bytes(), value.as_bytes()));
        parts.end_head(b"\r\n\r\nbody");
        parts
    }

    fn texts<'a>(view: RequestView<'a>) -> Vec<(&'a str, &'a str)> {
        let text = |bytes| std::str::from_utf8(bytes).unwrap();
        view.fields().map(|(name, value)| (text(name), text(value))).collect()
    }

    #[test]
    fn parts_lie_as_http1_sends_them() {
        let fields = [("Host", "a.test"), ("X", ": \t"), ("Empty", "")];
        for count in 0..=fields.len() {
            let parts = parts(&fields[..count]);
            let view = parts.view();
            assert_eq!((view.method(), view.path(), view.body()), (&b"POST"[..], &b"/a?b"[..], &b"\r\n\r\nbody"[..]));
            assert_eq!(texts(view), fields[..count]);
            assert_eq!(view.to_parts(), parts);
            let lines: String = fields[..count].iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
            let text = format!("POST /a?b HTTP/1.1\r\n{lines}\r\n\r\n\r\nbody");
            assert_eq!(String::from_utf8_lossy(view.http1_bytes()), text);
        }
        assert_eq!(parts(&fields).view().value("hOST"), Some(&b"a.test"[..]));
    }

    #[test]
    fn a_message_is_only_a_body() {
        let mut message = RequestParts::message(b"GET / HTTP/1.1\r\n\r\n");
        message.insert_field("X", "1");
        let view = message.view();
        assert_eq!((view.method(), view.path(), view.fields().count()), (&b""[..], &b""[..], 0));
        assert_eq!((view.body(), view.http1_bytes()), (&b"GET / HTTP/1.1\r\n\r\n"[..], view.body()));
        assert_eq!(view.value("X"), None);
    }

    #[test]
    fn fields_may_be_added_later_and_left_out() {
        for fields in [&[("Host", "a.test")][..], &[]] {
            let mut parts = parts(fields);
            parts.insert_field("X-One", "1");
            parts.insert_field("X-Two", "2");
            let view = parts.view();
            assert_eq!(texts(view), [fields, &[("X-One", "1"), ("X-Two", "2")]].concat());
            assert_eq!(view.body(), b"\r\n\r\nbody");
        }
        let mut parts = RequestParts::default();
        parts.begin(b"GET");
        parts.buffer().push(b'/');
        parts.end_path();
        for value in ["", "a=1", ""] {
            let write = |out: &mut Vec<u8>| {
                out.extend_from_slice(value.as_bytes());
                Ok::<_, ()>(())
            };
            parts.field_unless_empty(b"Cookie", write).unwrap();
        }
        parts.end_head(b"");
        assert_eq!(texts(parts.view()), [("Cookie", "a=1")]);
        assert_eq!(parts.view().http1_bytes(), b"GET / HTTP/1.1\r\nCookie: a=1\r\n\r\n");
    }
}
