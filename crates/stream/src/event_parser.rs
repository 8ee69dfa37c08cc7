//! Parser of server-sent events, without I/O. It follows section 9.2.6 of the HTML standard.

use memchr::memchr2;

/// Limit on the bytes that are kept of the data of one event. Longer data is counted to its end.
pub const MAX_DATA_BYTES: usize = 64 * 1024;
/// Capacity in bytes that a parser keeps from one stream to the next.
pub(crate) const DATA_ROOM_KEPT: usize = 4 * 1024;
/// Bytes that are kept of a field name: one more than the longest known names have (`event`, `retry`).
const MAX_NAME_BYTES: usize = 6;
/// The type of events that report an error.
const ERROR_TYPE: &[u8] = b"error";
/// The beginning of most lines, which is read at once if it is in one piece.
const DATA_FIELD: &[u8] = b"data:";
/// Byte order mark of UTF-8, allowed before the first line.
const BYTE_ORDER_MARK: [u8; 3] = [0xEF, 0xBB, 0xBF];

/// A dispatched event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ServerSentEvent<'a> {
    /// The values of the event's `data` fields as they were sent, joined by line feeds. If the data is longer than
    /// [`MAX_DATA_BYTES`], only the first bytes are kept. Invalid UTF-8 is left as it is.
    pub data: &'a [u8],
    /// Length of the whole data in bytes, including bytes that were not kept.
    pub data_bytes: u64,
    /// The event has the type `error`, or a field `error`.
    pub is_error: bool,
}

impl ServerSentEvent<'_> {
    /// Returns true if all of the data was kept.
    pub fn is_whole(&self) -> bool {
        self.data_bytes == self.data.len() as u64
    }
}

/// Position of the next byte in a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum At {
    /// Before the first line, after this many bytes of a byte order mark.
    Mark(usize),
    LineStart,
    /// In the name of a field, after this many kept bytes.
    Name(usize),
    /// Right after the colon of a `data` field. A space here is not part of the value.
    ValueStart,
    Value,
    /// Right after the colon of an `event` field.
    TypeStart,
    /// In the value of an `event` field that so far is the first bytes of [`ERROR_TYPE`], as many as this.
    Type(usize),
    Comment,
    /// In the value of another field, of a type that is not [`ERROR_TYPE`], or in a name longer than any known name.
    Other,
}

/// Reads an event stream piece by piece. The events do not depend on how the stream is cut into pieces.
///
/// The parser keeps at most [`MAX_DATA_BYTES`] of the current event, and allocates only until it has room for the
/// longest data. It reports no errors: the standard gives a meaning to any bytes.
#[derive(Debug)]
pub struct EventParser {
    at: At,
    /// The last byte was a carriage return, so a line feed that follows belongs to it.
    after_return: bool,
    name: [u8; MAX_NAME_BYTES],
    data: Vec<u8>,
    /// Bytes of data, including a line feed after each `data` field.
    data_bytes: u64,
    /// The last `event` field of the current event says `error`, or it has a field `error`.
    is_error: bool,
}

impl Default for EventParser {
    fn default() -> EventParser {
        EventParser::new()
    }
}

impl EventParser {
    /// Creates a parser at the start of a stream.
    pub fn new() -> EventParser {
        EventParser {
            at: At::Mark(0),
            after_return: false,
            name: [0; MAX_NAME_BYTES],
            data: Vec::new(),
            data_bytes: 0,
            is_error: false,
        }
    }

    /// Prepares for another stream and keeps the capacity for data.
    pub fn restart(&mut self) {
        (self.at, self.after_return, self.data_bytes, self.is_error) = (At::Mark(0), false, 0, false);
        self.data.clear();
    }

    /// Ends the stream and releases most of the memory, because many streams may have been open at once.
    pub fn give_back_room(&mut self) {
        self.restart();
        self.data.shrink_to(DATA_ROOM_KEPT);
    }

    /// Returns true if the stream is inside an event. An event is lost if its stream ends inside it.
    pub fn is_inside_event(&self) -> bool {
        self.data_bytes > 0 || matches!(self.at, At::Name(_) | At::ValueStart | At::Value)
    }

    /// Returns the kept data of the event that the stream is inside of.
    pub fn unfinished_data(&self) -> &[u8] {
        self.data.strip_suffix(b"\n").unwrap_or(&self.data)
    }

    /// Returns the bytes of memory that the parser holds.
    pub fn held(&self) -> usize {
        self.data.capacity()
    }

    /// Reads the next bytes of the stream and calls `on_event` for each event that ends in them.
    pub fn feed(&mut self, bytes: &[u8], on_event: &mut impl FnMut(ServerSentEvent<'_>)) {
        let mut rest = bytes;
        while let Some(first) = rest.first() {
            if std::mem::take(&mut self.after_return) && *first == b'\n' {
                rest = &rest[1..];
                continue;
            }
            let used = match self.at {
                At::Mark(seen) => self.mark(seen, *first),
                At::LineStart if rest.starts_with(DATA_FIELD) => {
                    self.at = At::ValueStart;
                    DATA_FIELD.len()
                }
                At::LineStart | At::Name(_) => self.beginning(*first, on_event),
                At::ValueStart => {
                    self.at = At::Value;
                    usize::from(*first == b' ')
                }
                At::TypeStart => {
                    self.is_error = false;
                    self.at = At::Type(0);
                    usize::from(*first == b' ')
                }
                At::Type(same) => self.event_type(same, *first),
                At::Value | At::Comment | At::Other => self.line(rest),
            };
            rest = &rest[used..];
        }
    }

    /// Reads a byte that may belong to a byte order mark. An incomplete mark is the start of an unknown field name.
    fn mark(&mut self, seen: usize, byte: u8) -> usize {
        if byte != BYTE_ORDER_MARK[seen] {
            self.at = if seen == 0 { At::LineStart } else { At::Name(MAX_NAME_BYTES) };
            return 0;
        }
        self.at = if seen + 1 < BYTE_ORDER_MARK.len() { At::Mark(seen + 1) } else { At::LineStart };
        1
    }

    /// Reads one byte at the start of a line or in the name of a field.
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
        self.at = match &self.name[..length] {
            b"data" => At::ValueStart,
            b"event" => At::TypeStart,
            // Some versions of llama.cpp end an answer that failed with a line `error: {…}`.
            b"error" => {
                self.is_error = true;
                At::ValueStart
            }
            _ => At::Other,
        };
    }

    /// Compares a byte of the type of an event after `same` equal ones. Leaves the end of the line to [`Self::line`].
    fn event_type(&mut self, same: usize, byte: u8) -> usize {
        if matches!(byte, b'\r' | b'\n') {
            self.is_error = same == ERROR_TYPE.len();
            self.at = At::Other;
            return 0;
        }
        self.at = if ERROR_TYPE.get(same) == Some(&byte) { At::Type(same + 1) } else { At::Other };
        1
    }

    /// Reads what `bytes` has of the rest of a line whose kind is known.
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
        match self.at {
            At::ValueStart | At::Value => self.add(b"\n"),
            // A field without a colon has an empty value.
            At::TypeStart => self.is_error = false,
            _ => {}
        }
    }

    fn add(&mut self, bytes: &[u8]) {
        self.data_bytes += bytes.len() as u64;
        // One more byte than the limit: `dispatch` removes the last line feed.
        let room = (MAX_DATA_BYTES + 1).saturating_sub(self.data.len());
        self.data.extend_from_slice(&bytes[..room.min(bytes.len())]);
    }

    /// Ends an event at an empty line. An event without data is dropped.
    fn dispatch(&mut self, on_event: &mut impl FnMut(ServerSentEvent<'_>)) {
        let is_error = std::mem::take(&mut self.is_error);
        if self.data_bytes == 0 {
            return;
        }
        // The line feed after the last field does not count.
        let data_bytes = self.data_bytes - 1;
        let kept = data_bytes.min(MAX_DATA_BYTES as u64) as usize;
        on_event(ServerSentEvent { data: &self.data[..kept], data_bytes, is_error });
        self.data.clear();
        self.data_bytes = 0;
    }
}

#[cfg(test)]
mod tests;
