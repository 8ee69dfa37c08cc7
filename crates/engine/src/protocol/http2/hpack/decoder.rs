//! Decoder of field blocks.

use truetail_model::record::Cause;

use super::field_texts::FieldTexts;
use super::table::{Entry, Field, Name, Table, TableName};
use super::{OVERHEAD, Unreadable, huffman, integer};
use crate::protocol::fields::FieldList;
use crate::protocol::http2::call::CallFields;

/// Limit on the bytes of the fields of one head, counted as in HPACK.
const HEAD_LIMIT: usize = 64 * 1024;
const FIELD_LIMIT: u32 = 1024;

/// Relevant parts of the fields of one block.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct DecodedFields {
    /// The status; `None` without a status, as in trailers.
    pub(crate) status: Option<u16>,
    /// The stated length of the body.
    pub(crate) length: Option<u64>,
    /// The fields of gRPC.
    pub(crate) call: CallFields,
    /// The reason why the block is not the head of an answer; `None` if it is.
    pub(crate) wrong: Option<Cause>,
    fields: u32,
    size: usize,
}

impl DecodedFields {
    #[inline]
    fn add(&mut self, field: Field, size: usize) {
        self.fields += 1;
        self.size += size;
        match field {
            Field::Other => {}
            Field::Grpc => self.call.is_grpc = true,
            Field::GrpcEncoding { may_compress } => self.call.may_compress |= may_compress,
            Field::GrpcStatus(status) => self.call.status = Some(status),
            // Pseudo-headers come before other fields, and each only once.
            Field::Status(Some(status)) if self.fields == 1 => self.status = Some(status),
            Field::Status(_) | Field::Wrong | Field::WrongValue => self.refuse(Cause::BadHead),
            Field::Length(Some(length)) if self.length.is_none_or(|before| before == length) => {
                self.length = Some(length);
            }
            Field::Length(_) => self.refuse(Cause::BadLength),
        }
    }

    fn refuse(&mut self, cause: Cause) {
        self.wrong.get_or_insert(cause);
    }

    fn finish(mut self) -> DecodedFields {
        if self.size > HEAD_LIMIT || self.fields > FIELD_LIMIT {
            self.wrong = Some(Cause::HeadTooLarge);
        }
        self
    }
}

/// Decodes the blocks of one connection in order.
#[derive(Debug)]
pub(crate) struct Decoder {
    table: Table,
    /// A name or value that was decoded from Huffman code.
    text: Vec<u8>,
    texts: Option<Box<FieldTexts>>,
}

impl Decoder {
    pub(crate) fn new() -> Decoder {
        Decoder { table: Table::new(), text: Vec::new(), texts: None }
    }

    pub(crate) fn keeping_text() -> Decoder {
        Decoder { texts: Some(Box::default()), ..Decoder::new() }
    }

    /// Returns the fields of the last block without pseudo-headers; `None` if they are not kept. Large blocks are cut.
    pub(crate) fn fields(&self) -> Option<&FieldList> {
        self.texts.as_deref().map(FieldTexts::block)
    }

    /// Decodes a whole block. A block that is too large or not the head of an answer is still read to its end, because
    /// later blocks build on it.
    pub(crate) fn read(&mut self, block: &[u8]) -> Result<DecodedFields, Unreadable> {
        let mut head = DecodedFields::default();
        let mut rest = self.resize(block)?;
        while let Some(first) = rest.first() {
            if first & 0x80 != 0 {
                let index = integer::take(&mut rest, 7)?;
                let entry = self.table.get(index)?;
                if let Some(texts) = &mut self.texts {
                    texts.indexed(index);
                }
                head.add(entry.field, entry.size);
            } else if first & 0x40 != 0 {
                let entry = self.literal(&mut rest, 6)?;
                self.table.add(entry);
                if let Some(texts) = &mut self.texts {
                    texts.add_last_to_table(self.table.len());
                }
                head.add(entry.field, entry.size);
            } else if first & 0x20 != 0 {
                return Err(Unreadable);
            } else {
                let entry = self.literal(&mut rest, 4)?;
                head.add(entry.field, entry.size);
            }
        }
        Ok(head.finish())
    }

    /// Handles changes of the table's size at the start of a block.
    fn resize<'a>(&mut self, block: &'a [u8]) -> Result<&'a [u8], Unreadable> {
        let mut rest = block;
        if let Some(texts) = &mut self.texts {
            texts.begin_block();
        }
        while rest.first().is_some_and(|first| first & 0xe0 == 0x20) {
            let most = integer::take(&mut rest, 5)?;
            self.table.resize(most)?;
            if let Some(texts) = &mut self.texts {
                texts.evict_to(self.table.len());
            }
        }
        Ok(rest)
    }

    fn literal(&mut self, rest: &mut &[u8], bits: u32) -> Result<Entry, Unreadable> {
        let named = match integer::take(rest, bits)? {
            0 => {
                let name = text(rest, &mut self.text)?;
                if let Some(texts) = &mut self.texts {
                    texts.literal_name(name);
                }
                TableName { name: Name::classify(name), length: name.len() }
            }
            index => {
                let named = self.table.name(index)?;
                if let Some(texts) = &mut self.texts {
                    texts.indexed_name(index);
                }
                named
            }
        };
        let value = text(rest, &mut self.text)?;
        if let Some(texts) = &mut self.texts {
            texts.value(value);
        }
        let size = named.length + value.len() + OVERHEAD;
        Ok(Entry { field: Field::classify(named.name, value), name: named, size })
    }

    #[cfg(test)]
    pub(crate) fn table_len(&self) -> usize {
        self.table.len()
    }
}

fn text<'o, 'r: 'o>(rest: &mut &'r [u8], decoded: &'o mut Vec<u8>) -> Result<&'o [u8], Unreadable> {
    let is_coded = rest.first().is_some_and(|first| first & 0x80 != 0);
    let length = integer::take(rest, 7)?;
    let (text, after) = rest.split_at_checked(length).ok_or(Unreadable)?;
    *rest = after;
    if !is_coded {
        return Ok(text);
    }
    huffman::decode(text, decoded)?;
    Ok(decoded)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(hex: &str) -> Vec<u8> {
        let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
        digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
    }

    #[test]
    fn the_answers_of_the_standard() {
        // RFC 7541, appendix C.6, but with the default size of the table.
        let mut decoder = Decoder::new();
        let first = bytes(
            "4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7 \
             8f0b 97c8 e9ae 82ae 43d3",
        );
        let head = decoder.read(&first).unwrap();
        assert_eq!((head.status, head.wrong, head.fields, head.size), (Some(302), None, 4, 222));
        let head = decoder.read(&bytes("4883 640e ffc1 c0bf")).unwrap();
        assert_eq!((head.status, head.wrong, head.fields, head.size), (Some(307), None, 4, 222));
        assert_eq!(decoder.table_len(), 5);
        let third = bytes(
            "88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7 b335 \
             dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07",
        );
        let head = decoder.read(&third).unwrap();
        assert_eq!((head.status, head.wrong, head.fields), (Some(200), None, 6));
    }

    #[test]
    fn fields_are_kept_as_text_where_that_is_asked_for() {
        let mut decoder = Decoder::keeping_text();
        let mut fields_of = |block: &str| {
            decoder.read(&bytes(block)).unwrap();
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let fields = decoder.fields().unwrap();
            fields.iter().map(|(name, value)| (text(name), text(value))).collect::<Vec<_>>()
        };
        // RFC 7541, appendix C.6.
        let first = fields_of(
            "4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7 \
             8f0b 97c8 e9ae 82ae 43d3",
        );
        let expected = [
            ("cache-control", "private"),
            ("date", "Mon, 21 Oct 2013 20:13:21 GMT"),
            ("location", "https://www.example.com"),
        ];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(first, expected);
        assert_eq!(fields_of("4883 640e ffc1 c0bf"), expected);
    }

    #[test]
    fn a_head_that_is_none_of_an_answer() {
        let literal = |name: &str, value: &str| {
            [&[0, name.len() as u8], name.as_bytes(), &[value.len() as u8], value.as_bytes()].concat()
        };
        for (fields, wrong) in [
            (vec![literal("content-length", "3"), vec![0x88]], Cause::BadHead),
            (vec![vec![0x88], vec![0x88]], Cause::BadHead),
            (vec![vec![0x82]], Cause::BadHead),
            (vec![vec![0x88], literal(":other", "")], Cause::BadHead),
            (vec![vec![0x88], literal("Date", "")], Cause::BadHead),
            (vec![vec![0x88], literal("", "x")], Cause::BadHead),
            (vec![vec![0x88], literal("a b", "x")], Cause::BadHead),
            (vec![vec![0x88], literal("a:", "x")], Cause::BadHead),
            (vec![vec![0x88], literal("a\r\nb", "x")], Cause::BadHead),
            (vec![vec![0x88], literal("\u{e9}", "x")], Cause::BadHead),
            (vec![vec![0x88], literal("a", "x\r\nb: c")], Cause::BadHead),
            (vec![vec![0x88], literal("a", "x\rc")], Cause::BadHead),
            (vec![vec![0x88], literal("a", "\0")], Cause::BadHead),
            (vec![vec![0x88], literal("a", " x")], Cause::BadHead),
            (vec![vec![0x88], literal("a", "x\t")], Cause::BadHead),
            // A name of the static table, a value in Huffman code, and an entry of the dynamic table.
            (vec![vec![0x88], b"\x0f\x28\x03a\rb".to_vec()], Cause::BadHead),
            (vec![vec![0x88], b"\x0f\x28\x84\xff\xff\xff\xf3".to_vec()], Cause::BadHead),
            (vec![vec![0x88], b"\x40\x01a\x01\n\xbe".to_vec()], Cause::BadHead),
            (vec![literal(":status", "20")], Cause::BadHead),
            (vec![literal(":status", "+20")], Cause::BadHead),
            (vec![vec![0x88], literal("content-length", "-1")], Cause::BadLength),
            (vec![vec![0x88], literal("content-length", "1"), literal("content-length", "2")], Cause::BadLength),
            (vec![vec![0x88], literal("content-length", "18446744073709551616")], Cause::BadLength),
            (vec![vec![0x88], literal("a", "b").repeat(1024)], Cause::HeadTooLarge),
        ] {
            assert_eq!(Decoder::new().read(&fields.concat()).unwrap().wrong, Some(wrong), "{fields:?}");
        }
    }

    #[test]
    fn a_wrong_value_does_not_make_its_name_wrong() {
        let mut decoder = Decoder::new();
        assert_eq!(decoder.read(b"\x88\x40\x01a\x01\n").unwrap().wrong, Some(Cause::BadHead));
        // The name of that entry with another value, and values that other software uses.
        for block in
            [&b"\x88\x7e\x01x"[..], b"\x88\x00\x01a\x00", b"\x88\x00\x01a\x04\x01\t\x7fz", b"\x88\x00\x01a\x03a b"]
        {
            assert_eq!(decoder.read(block).unwrap().wrong, None, "{block:?}");
        }
        assert_eq!(decoder.read(b"\x88\xbf").unwrap().wrong, Some(Cause::BadHead), "its entry is wrong still");
    }

    #[test]
    fn a_bomb_is_measured_and_not_unpacked() {
        let mut decoder = Decoder::new();
        let mut block = vec![0x88, 0x40, 1, b'a', 0x7f, 0x81, 0x1e];
        block.extend(vec![b'x'; 4000]);
        block.extend(vec![0xbe; 10_000]);
        assert_eq!(decoder.read(&block).unwrap().wrong, Some(Cause::HeadTooLarge));
        assert!(decoder.text.capacity() == 0 && decoder.table_len() == 1);
    }

    #[test]
    fn what_cannot_be_read() {
        for block in ["80", "be", "ff80808080ff", "40", "400161", "4001610562", "3fe21f", "8820", "4081ff00"] {
            assert_eq!(Decoder::new().read(&bytes(block)), Err(Unreadable), "{block}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_leave_the_table_small(blocks in proptest::collection::vec(proptest::collection::vec(proptest::num::u8::ANY, 0..200), 0..20)) {
            let mut decoder = Decoder::new();
            let mut keeping = Decoder::keeping_text();
            for block in blocks {
                let read = decoder.read(&block);
                proptest::prop_assert_eq!(keeping.read(&block), read);
                proptest::prop_assert!(keeping.fields().unwrap().size() <= HEAD_LIMIT);
                proptest::prop_assert!(decoder.table_len() <= super::super::TABLE_SIZE / OVERHEAD);
                proptest::prop_assert!(decoder.text.capacity() <= 1024);
            }
        }
    }
}
