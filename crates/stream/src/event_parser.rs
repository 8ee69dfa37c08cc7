//! Server-sent events, as the HTML standard reads an event stream (section 9.2.6), without I/O.

use memchr::memchr2;

/// Most bytes of the data of one event that are kept. Longer data is counted to its end.
pub const MAX_DATA_BYTES: usize = 64 * 1024;
/// Room for data that is kept from one stream to the next.
const DATA_ROOM_KEPT: usize = 4 * 1024;
/// Most bytes of the name of a field that are kept: those of `retry`, the longest but one, and one more that tells a longer
/// name from it.
const MAX_NAME_BYTES: usize = 6;
/// What may stand before the first line, and is no part of it.
const BYTE_ORDER_MARK: [u8; 3] = [0xEF, 0xBB, 0xBF];

/// An event that was dispatched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ServerSentEvent<'a> {
    /// Its data: the values of its `data` fields with line feeds between them, as they were sent. The first
    /// [`MAX_DATA_BYTES`] of it where it is longer. Bytes that are no UTF-8 are left as they are.
    pub data: &'a [u8],
    /// How many bytes of data it has, kept or not.
    pub data_bytes: u64,
}

impl ServerSentEvent<'_> {
    /// Its data is all there.
    pub fn is_whole(&self) -> bool {
        self.data_bytes == self.data.len() as u64
    }
}

/// Where in a line the next byte is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum At {
    /// Before the first line, after so many bytes of a byte order mark.
    Mark(usize),
    LineStart,
    /// In the name of a field, of which so many bytes are kept.
    Name(usize),
    /// Right behind the colon of a `data` field: one space there is no part of the value.
    ValueStart,
    /// In the value of a `data` field.
    Value,
    /// In a comment.
    Comment,
    /// In the value of a field that is not `data`, or in a name that is too long to be that of any.
    Other,
}

/// Reads an event stream piece by piece. Any cut of a stream into pieces gives the same events.
///
/// It keeps at most [`MAX_DATA_BYTES`] of the event under way, and allocates only until it has room for the longest data.
/// Nothing in a stream is an error: the standard gives a meaning to any bytes.
#[derive(Debug)]
pub struct EventParser {
    at: At,
    /// The last byte was a carriage return: a line feed that follows belongs to it.
    after_return: bool,
    name: [u8; MAX_NAME_BYTES],
    data: Vec<u8>,
    /// Bytes of data, and a line feed behind each of its fields.
    data_bytes: u64,
}

impl Default for EventParser {
    fn default() -> EventParser {
        EventParser::new()
    }
}

impl EventParser {
    /// At the beginning of a stream.
    pub fn new() -> EventParser {
        EventParser { at: At::Mark(0), after_return: false, name: [0; MAX_NAME_BYTES], data: Vec::new(), data_bytes: 0 }
    }

    /// At the beginning of another stream. The room for data is kept.
    pub fn restart(&mut self) {
        (self.at, self.after_return, self.data_bytes) = (At::Mark(0), false, 0);
        self.data.clear();
    }

    /// The stream has ended. Little room is kept for another one: many streams may have been open at once.
    pub fn give_back_room(&mut self) {
        self.restart();
        self.data.shrink_to(DATA_ROOM_KEPT);
    }

    /// The stream is inside an event: one that ends here has lost what there was of it.
    pub fn is_inside_event(&self) -> bool {
        self.data_bytes > 0 || matches!(self.at, At::Name(_) | At::ValueStart | At::Value)
    }

    /// Bytes of memory that it holds.
    pub fn held(&self) -> usize {
        self.data.capacity()
    }

    /// Takes the next bytes of the stream, and hands each event that ends in them to `on_event`.
    pub fn feed(&mut self, bytes: &[u8], on_event: &mut impl FnMut(ServerSentEvent<'_>)) {
        let mut rest = bytes;
        while let Some(first) = rest.first() {
            if std::mem::take(&mut self.after_return) && *first == b'\n' {
                rest = &rest[1..];
                continue;
            }
            let used = match self.at {
                At::Mark(seen) => self.mark(seen, *first),
                At::LineStart | At::Name(_) => self.beginning(*first, on_event),
                At::ValueStart => {
                    self.at = At::Value;
                    usize::from(*first == b' ')
                }
                At::Value | At::Comment | At::Other => self.line(rest),
            };
            rest = &rest[used..];
        }
    }

    /// Takes a byte that may belong to a byte order mark. One that breaks off is the beginning of a name that nobody knows.
    fn mark(&mut self, seen: usize, byte: u8) -> usize {
        if byte != BYTE_ORDER_MARK[seen] {
            self.at = if seen == 0 { At::LineStart } else { At::Name(MAX_NAME_BYTES) };
            return 0;
        }
        self.at = if seen + 1 < BYTE_ORDER_MARK.len() { At::Mark(seen + 1) } else { At::LineStart };
        1
    }

    /// Takes one byte at the start of a line or in the name of a field.
    fn beginning(&mut self, byte: u8, on_event: &mut impl FnMut(ServerSentEvent<'_>)) -> usize {
        let length = if let At::Name(length) = self.at { length } else { 0 };
        match byte {
            b'\r' | b'\n' => {
                if self.at == At::LineStart {
                    self.dispatch(on_event);
                } else {
                    self.end_of_name(length);
                    self.end_of_line();
                }
                self.after_return = byte == b'\r';
                self.at = At::LineStart;
            }
            b':' if self.at == At::LineStart => self.at = At::Comment,
            b':' => self.end_of_name(length),
            _ if length < MAX_NAME_BYTES => {
                self.name[length] = byte;
                self.at = At::Name(length + 1);
            }
            _ => {}
        }
        1
    }

    fn end_of_name(&mut self, length: usize) {
        self.at = if &self.name[..length] == b"data" { At::ValueStart } else { At::Other };
    }

    /// Takes what there is of a line whose kind is known.
    fn line(&mut self, bytes: &[u8]) -> usize {
        let end = memchr2(b'\r', b'\n', bytes);
        let length = end.unwrap_or(bytes.len());
        if self.at == At::Value {
            self.add(&bytes[..length]);
        }
        let Some(end) = end else { return length };
        self.end_of_line();
        self.after_return = bytes[end] == b'\r';
        self.at = At::LineStart;
        end + 1
    }

    fn end_of_line(&mut self) {
        if matches!(self.at, At::ValueStart | At::Value) {
            self.add(b"\n");
        }
    }

    fn add(&mut self, bytes: &[u8]) {
        self.data_bytes += bytes.len() as u64;
        // One more than is kept: the last line feed is taken off again.
        let room = (MAX_DATA_BYTES + 1).saturating_sub(self.data.len());
        self.data.extend_from_slice(&bytes[..room.min(bytes.len())]);
    }

    /// An empty line: what was gathered is an event, if it has data.
    fn dispatch(&mut self, on_event: &mut impl FnMut(ServerSentEvent<'_>)) {
        if self.data_bytes == 0 {
            return;
        }
        // Without the line feed behind the last field.
        let data_bytes = self.data_bytes - 1;
        let kept = data_bytes.min(MAX_DATA_BYTES as u64) as usize;
        on_event(ServerSentEvent { data: &self.data[..kept], data_bytes });
        self.data.clear();
        self.data_bytes = 0;
    }
}

#[cfg(test)]
mod tests;
