//! Scanner of a JSON document in pieces, without I/O. It keeps the values of a few members at the top.

use memchr::memchr2;

/// Limit on the bytes that a value holds on to between documents.
const MAX_ROOM_BYTES: usize = 4 << 10;
/// Limit on the brackets that are open at once. Deeper documents are broken.
pub(crate) const MAX_DEPTH: u32 = u128::BITS;
/// Limit on the bytes of a member's name that are kept.
const MAX_NAME_BYTES: usize = 32;
/// Bytes that are looked at together.
const STEP: usize = 64;

/// Reads a document piece by piece. The result does not depend on how it is cut into pieces. At the top the grammar is
/// that of JSON. Values below it are skipped: only their strings and brackets are followed.
///
/// Memory is bounded by `max_value_bytes` for each member that is kept. Names with escapes are not recognised.
#[derive(Debug)]
pub(crate) struct JsonScanner {
    place: Place,
    is_list: bool,
    /// Open brackets, the innermost in the lowest bit. Objects are ones.
    open: u128,
    depth: u32,
    /// The next byte of a string follows a backslash.
    is_escaped: bool,
    /// Name of the member at the top.
    name: Vec<u8>,
    /// Member whose value is read, if it is kept.
    current: Option<usize>,
    kept: Vec<KeptValue>,
    /// Limit on the bytes of a value that are kept.
    max_value_bytes: usize,
}

/// State of a document.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum DocumentState {
    /// It has not ended.
    Unfinished,
    /// It is an object or a list, and nothing follows.
    Whole,
    /// It is neither, or no JSON, or too deep.
    Broken,
}

/// Value of a member at the top.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct KeptValue {
    name: &'static str,
    /// The value, or its beginning.
    bytes: Vec<u8>,
    /// The value is longer.
    is_cut: bool,
}

impl KeptValue {
    /// Returns the value; `None` if it is too long.
    pub(crate) fn whole(&self) -> Option<&[u8]> {
        (!self.is_cut).then_some(&*self.bytes)
    }

    /// Returns true if the value is too long.
    pub(crate) fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Returns the value or its beginning.
    pub(crate) fn beginning(&self) -> &[u8] {
        &self.bytes
    }

    fn add(&mut self, bytes: &[u8], max_bytes: usize) {
        let room = max_bytes - self.bytes.len();
        self.is_cut |= bytes.len() > room;
        self.bytes.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.is_cut = false;
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    BeforeDocument,
    BeforeFirstName,
    BeforeName,
    AfterName,
    BeforeValue,
    /// In a number or a word at the top.
    Scalar,
    AfterValue,
    /// In a bracket below the top, or in a list at the top.
    Below,
    String(StringOf),
    AfterDocument,
    Broken,
}

/// Use of a string.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum StringOf {
    Name,
    Value,
    Below,
}

impl JsonScanner {
    /// Creates a scanner that keeps the members with these names, at most `max_value_bytes` of each value. If a name is
    /// there twice, it keeps the last.
    pub(crate) fn new(names: &[&'static str], max_value_bytes: usize) -> JsonScanner {
        let kept = names.iter().map(|name| KeptValue { name, bytes: Vec::new(), is_cut: false }).collect();
        JsonScanner {
            place: Place::BeforeDocument,
            is_list: false,
            open: 0,
            depth: 0,
            is_escaped: false,
            name: Vec::new(),
            current: None,
            kept,
            max_value_bytes,
        }
    }

    /// Begins another document.
    pub(crate) fn restart(&mut self) {
        self.place = Place::BeforeDocument;
        self.is_list = false;
        (self.open, self.depth) = (0, 0);
        self.is_escaped = false;
        self.name.clear();
        self.current = None;
        self.kept.iter_mut().for_each(KeptValue::clear);
    }

    /// Frees memory that a large document needed.
    pub(crate) fn give_back_room(&mut self) {
        let large = self.kept.iter_mut().filter(|kept| kept.bytes.capacity() > MAX_ROOM_BYTES);
        large.for_each(|kept| kept.bytes = Vec::new());
    }

    /// Returns the state of the document.
    pub(crate) fn state(&self) -> DocumentState {
        match self.place {
            Place::AfterDocument => DocumentState::Whole,
            Place::Broken => DocumentState::Broken,
            _ => DocumentState::Unfinished,
        }
    }

    /// Returns true if the document is a list.
    pub(crate) fn is_list(&self) -> bool {
        self.is_list
    }

    /// Returns the value of a member at the top, if it has begun.
    pub(crate) fn value(&self, name: &str) -> Option<&KeptValue> {
        self.kept.iter().find(|kept| kept.name == name && !kept.bytes.is_empty())
    }

    /// Returns the members that are kept and not too long, as an object.
    pub(crate) fn object(&self) -> Vec<u8> {
        let mut text = vec![b'{'];
        for KeptValue { name, bytes, .. } in self.kept.iter().filter(|kept| !kept.is_cut && !kept.bytes.is_empty()) {
            if text.len() > 1 {
                text.push(b',');
            }
            [b"\"", name.as_bytes(), b"\":", bytes].iter().for_each(|part| text.extend_from_slice(part));
        }
        text.push(b'}');
        text
    }

    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let [first, ..] = rest {
            let taken = match self.place {
                Place::Broken => return,
                Place::Below => self.below(rest),
                Place::String(of) => self.string(of, rest),
                _ => {
                    self.at_top(*first);
                    1
                }
            };
            rest = &rest[taken..];
        }
    }

    /// Takes a byte at the top.
    fn at_top(&mut self, byte: u8) {
        if matches!(byte, b' ' | b'\t' | b'\r' | b'\n') {
            if self.place == Place::Scalar {
                self.end_value();
            }
            return;
        }
        match (self.place, byte) {
            (Place::BeforeDocument, b'{' | b'[') => {
                self.is_list = byte == b'[';
                self.open_bracket(byte);
                self.place = if self.is_list { Place::Below } else { Place::BeforeFirstName };
            }
            (Place::BeforeFirstName, b'}') | (Place::AfterValue | Place::Scalar, b'}') => {
                self.place = Place::AfterDocument;
            }
            (Place::BeforeFirstName | Place::BeforeName, b'"') => {
                self.name.clear();
                self.place = Place::String(StringOf::Name);
            }
            (Place::AfterName, b':') => self.begin_value(),
            (Place::AfterValue | Place::Scalar, b',') => self.place = Place::BeforeName,
            (Place::BeforeValue, b'"') => {
                self.keep(b"\"");
                self.place = Place::String(StringOf::Value);
            }
            (Place::BeforeValue, b'{' | b'[') => {
                self.keep(&[byte]);
                self.place = Place::Below;
                self.open_bracket(byte);
            }
            (Place::BeforeValue | Place::Scalar, b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'-' | b'+' | b'.') => {
                self.keep(&[byte]);
                self.place = Place::Scalar;
            }
            _ => self.place = Place::Broken,
        }
    }

    fn begin_value(&mut self) {
        self.place = Place::BeforeValue;
        self.current = self.kept.iter().position(|kept| kept.name.as_bytes() == self.name);
        if let Some(current) = self.current {
            self.kept[current].clear();
        }
    }

    fn end_value(&mut self) {
        self.place = Place::AfterValue;
    }

    fn keep(&mut self, bytes: &[u8]) {
        if let Some(current) = self.current {
            self.kept[current].add(bytes, self.max_value_bytes);
        }
    }

    fn open_bracket(&mut self, bracket: u8) {
        if self.depth == MAX_DEPTH {
            self.place = Place::Broken;
            return;
        }
        self.depth += 1;
        self.open = self.open << 1 | u128::from(bracket == b'{');
    }

    fn close_bracket(&mut self, bracket: u8) {
        if self.open & 1 != u128::from(bracket == b'}') {
            self.place = Place::Broken;
            return;
        }
        self.depth -= 1;
        self.open >>= 1;
        match self.depth {
            0 => self.place = Place::AfterDocument,
            1 if !self.is_list => self.end_value(),
            _ => {}
        }
    }

    /// Takes bytes below the top, at most until a string begins or a bracket. Returns their number.
    fn below(&mut self, bytes: &[u8]) -> usize {
        let Some(at) = find_mark(bytes) else {
            self.keep(bytes);
            return bytes.len();
        };
        self.keep(&bytes[..=at]);
        match bytes[at] {
            b'"' => self.place = Place::String(StringOf::Below),
            bracket @ (b'[' | b'{') => self.open_bracket(bracket),
            bracket => self.close_bracket(bracket),
        }
        at + 1
    }

    /// Takes bytes of a string, at most until its end or an escape. Returns their number.
    fn string(&mut self, of: StringOf, bytes: &[u8]) -> usize {
        let (taken, is_end) = if self.is_escaped {
            self.is_escaped = false;
            (1, false)
        } else {
            match memchr2(b'"', b'\\', bytes) {
                None => (bytes.len(), false),
                Some(at) => {
                    self.is_escaped = bytes[at] == b'\\';
                    (at + 1, !self.is_escaped)
                }
            }
        };
        if of == StringOf::Name {
            let name = &bytes[..taken - usize::from(is_end)];
            let room = MAX_NAME_BYTES - self.name.len();
            self.name.extend_from_slice(&name[..name.len().min(room)]);
        } else {
            self.keep(&bytes[..taken]);
        }
        match of {
            _ if !is_end => {}
            StringOf::Name => self.place = Place::AfterName,
            StringOf::Value => self.end_value(),
            StringOf::Below => self.place = Place::Below,
        }
        taken
    }
}

/// Returns the place of the first quote or bracket. Lists of numbers have few of them, so a step is first asked whether
/// it has any, without a branch for each byte.
fn find_mark(bytes: &[u8]) -> Option<usize> {
    // Bit 5 is the only difference between [ and {, and between ] and }.
    let is_mark = |byte: u8| (byte == b'"') | (byte | 0x20 == b'{') | (byte | 0x20 == b'}');
    // With bytes in place of truth values the compiler uses vectors, which are twenty times as fast.
    let has_mark = |step: &&[u8; STEP]| step.iter().fold(0, |found, byte| found | u8::from(is_mark(*byte))) != 0;
    let (steps, _) = bytes.as_chunks::<STEP>();
    let clean = STEP * steps.iter().take_while(|step| !has_mark(step)).count();
    bytes[clean..].iter().position(|byte| is_mark(*byte)).map(|at| clean + at)
}

#[cfg(test)]
mod tests;
