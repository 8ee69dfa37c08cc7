//! Decoder for gob, as far as Vegeta's results need it. Go's documentation of `encoding/gob` describes the format.

/// Seconds from the year 1, when Go's times start, to 1970.
const YEAR_1_TO_1970: u64 = 62_135_596_800;
/// The number of `StructT` among the fields of a definition.
const STRUCT: u64 = 3;
/// Limit on the fields of a definition.
const MAX_FIELDS: u64 = 100;

/// Positions of the fields of a result. Their order differs between versions of Vegeta.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Layout {
    type_id: i64,
    fields: Vec<Field>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Field {
    role: Role,
    kind: Kind,
}

/// The fields that are used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Role {
    Timestamp,
    Latency,
    Code,
    BytesIn,
    Error,
    Other,
}

/// Encoding of a field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// A number, signed or not.
    Number,
    /// A length and bytes.
    Bytes,
    /// A type with a separate definition.
    Defined,
}

/// The used fields of a result. In gob, an omitted field is zero.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct ResultFields<'m> {
    pub start_ns: u64,
    pub latency_ns: u64,
    pub code: u64,
    pub bytes_in: u64,
    pub error: &'m [u8],
}

/// Returns true if a message defines a type, false if it is a value, and `None` if it is damaged.
pub(super) fn is_definition(message: &[u8]) -> Option<bool> {
    Some(Decoder { rest: message }.int()? < 0)
}

impl Layout {
    /// Reads the layout of a result, if the message is the definition of that type.
    pub(super) fn from_definition(message: &[u8]) -> Option<Layout> {
        let mut decoder = Decoder { rest: message };
        let type_id = decoder.int().filter(|id| *id < 0)?.checked_neg()?;
        (decoder.uint()? == STRUCT).then_some(())?;
        // The common part: the name of the type, and its number, which also begins the message.
        (decoder.uint()? == 1 && decoder.uint()? == 1 && decoder.bytes()? == b"Result").then_some(())?;
        (decoder.uint()? == 1 && decoder.int()? == type_id && decoder.uint()? == 0).then_some(())?;
        (decoder.uint()? == 1).then_some(())?;
        let count = decoder.uint().filter(|count| *count <= MAX_FIELDS)?;
        let fields = (0..count).map(|_| decoder.field()).collect::<Option<Vec<_>>>()?;
        let has = |role| fields.iter().any(|field| field.role == role);
        (has(Role::Timestamp) && has(Role::Latency) && has(Role::Code)).then_some(Layout { type_id, fields })
    }

    /// Returns the fields of a result, or `None` if the message is damaged or of another type.
    pub(super) fn result<'m>(&self, message: &'m [u8]) -> Option<ResultFields<'m>> {
        let mut decoder = Decoder { rest: message };
        (decoder.int()? == self.type_id).then_some(())?;
        let mut found = ResultFields::default();
        let mut has_timestamp = false;
        let mut next = 0usize;
        loop {
            let step = decoder.uint()?;
            if step == 0 {
                break;
            }
            next = next.checked_add(usize::try_from(step).ok()?)?;
            let Field { role, kind } = *self.fields.get(next - 1)?;
            match (role, kind) {
                (Role::Timestamp, _) => {
                    found.start_ns = timestamp(decoder.bytes()?)?;
                    has_timestamp = true;
                }
                (Role::Latency, _) => found.latency_ns = u64::try_from(decoder.int()?).ok()?,
                (Role::Code, _) => found.code = decoder.uint()?,
                (Role::BytesIn, _) => found.bytes_in = decoder.uint()?,
                (Role::Error, _) => found.error = decoder.bytes()?,
                (Role::Other, Kind::Number) => {
                    decoder.uint()?;
                }
                (Role::Other, Kind::Bytes) if decoder.skip_bytes()? => {}
                // All used fields come before a body that was not kept, and before the headers.
                (Role::Other, Kind::Bytes | Kind::Defined) => break,
            }
        }
        has_timestamp.then_some(found)
    }
}

/// Reads a time as `time.Time` marshals it: version, seconds since the year 1, nanoseconds, zone.
fn timestamp(bytes: &[u8]) -> Option<u64> {
    let (version, rest) = bytes.split_first()?;
    let (seconds, rest) = rest.split_first_chunk::<8>()?;
    let (nanos, _) = rest.split_first_chunk::<4>()?;
    let seconds = u64::from_be_bytes(*seconds).checked_sub(YEAR_1_TO_1970)?;
    let nanos = u64::from(u32::from_be_bytes(*nanos));
    matches!(version, 1 | 2).then_some(())?;
    seconds.checked_mul(1_000_000_000)?.checked_add(nanos).filter(|_| nanos < 1_000_000_000)
}

struct Decoder<'m> {
    rest: &'m [u8],
}

impl<'m> Decoder<'m> {
    /// Reads one byte below 128, or the negated number of bytes and then these bytes.
    fn uint(&mut self) -> Option<u64> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        if *first < 128 {
            return Some(u64::from(*first));
        }
        let count = usize::from(256 - u16::from(*first));
        let (bytes, rest) = rest.split_at_checked(count).filter(|_| count <= 8)?;
        self.rest = rest;
        Some(bytes.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte)))
    }

    /// Reads a signed number. Its lowest bit tells whether the other bits are inverted.
    fn int(&mut self) -> Option<i64> {
        let bits = self.uint()?;
        let half = (bits >> 1) as i64;
        Some(if bits & 1 == 1 { !half } else { half })
    }

    fn bytes(&mut self) -> Option<&'m [u8]> {
        let length = usize::try_from(self.uint()?).ok()?;
        let (bytes, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(bytes)
    }

    /// Skips bytes. Returns `false` if some of them were not kept.
    fn skip_bytes(&mut self) -> Option<bool> {
        let length = usize::try_from(self.uint()?).ok()?;
        let there = length <= self.rest.len();
        self.rest = self.rest.get(length..).unwrap_or_default();
        Some(there)
    }

    /// Reads a field of a definition: its name, and the number of its type.
    fn field(&mut self) -> Option<Field> {
        (self.uint()? == 1).then_some(())?;
        let name = self.bytes()?;
        (self.uint()? == 1).then_some(())?;
        let kind = match self.int()? {
            1..=3 => Kind::Number,
            5 | 6 => Kind::Bytes,
            _ => Kind::Defined,
        };
        (self.uint()? == 0).then_some(())?;
        let role = match (name, kind) {
            (b"Timestamp", Kind::Defined) => Role::Timestamp,
            (b"Latency", Kind::Number) => Role::Latency,
            (b"Code", Kind::Number) => Role::Code,
            (b"BytesIn", Kind::Number) => Role::BytesIn,
            (b"Error", Kind::Bytes) => Role::Error,
            _ => Role::Other,
        };
        Some(Field { role, kind })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the documentation of `encoding/gob`.
    #[test]
    fn numbers_are_those_of_the_documentation() {
        for (bytes, number) in [(&[0u8][..], 0), (&[7], 7), (&[0xfe, 0x01, 0x00], 256)] {
            assert_eq!(Decoder { rest: bytes }.uint(), Some(number));
        }
        for (bytes, number) in [(&[0x05u8][..], -3), (&[0xff, 0x81], -65), (&[0xff, 0x82], 65)] {
            assert_eq!(Decoder { rest: bytes }.int(), Some(number));
        }
    }
}
