//! The Huffman code of HPACK (RFC 7541, section 5.2 and appendix B).
//!
//! The code is canonical: codes of one length are in the order of the symbols, and longer codes continue after the
//! shorter ones. So the lengths define the whole code.

use super::Unreadable;

/// Length in bits of the code of each byte, and of the end of a text.
#[rustfmt::skip]
const LENGTHS: [u8; 257] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
    6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
    13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
    15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
    20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
    22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
    20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
    30,
];

const LONGEST: usize = 30;
/// The symbol for the end of a text, which must not be sent.
const END: u16 = 256;

/// Lookup tables: codes of up to eight bits by the next byte, longer codes by length.
struct Code {
    /// Symbol and length for each byte that begins with a code of up to eight bits; length 0: the code is longer.
    short: [(u8, u8); 256],
    first: [u32; LONGEST + 1],
    count: [u32; LONGEST + 1],
    /// Start of the symbols of each length in `symbols`.
    start: [u32; LONGEST + 1],
    /// All symbols, by length and then by value.
    symbols: [u16; 257],
}

static CODE: Code = code();

const fn code() -> Code {
    let none = [0; LONGEST + 1];
    let mut code = Code { short: [(0, 0); 256], first: none, count: none, start: none, symbols: [0; 257] };
    let mut length = 1;
    let mut next = 0u32;
    let mut placed = 0;
    while length <= LONGEST {
        next <<= 1;
        code.first[length] = next;
        code.start[length] = placed as u32;
        let mut symbol = 0;
        while symbol < LENGTHS.len() {
            if LENGTHS[symbol] as usize == length {
                code.symbols[placed] = symbol as u16;
                placed += 1;
                if length <= 8 {
                    fill(&mut code.short, symbol as u8, length, next);
                }
                next += 1;
            }
            symbol += 1;
        }
        code.count[length] = next - code.first[length];
        length += 1;
    }
    code
}

/// Fills the entries of all bytes that begin with this code.
const fn fill(short: &mut [(u8, u8); 256], symbol: u8, length: usize, code: u32) {
    let first = (code as usize) << (8 - length);
    let mut byte = first;
    while byte < first + (1 << (8 - length)) {
        short[byte] = (symbol, length as u8);
        byte += 1;
    }
}

/// Replaces `out` by the decoded text.
pub(super) fn decode(coded: &[u8], out: &mut Vec<u8>) -> Result<(), Unreadable> {
    out.clear();
    // The unused bits, first bit highest, and their number.
    let mut bits = 0u64;
    let mut have = 0u32;
    let mut rest = coded.iter();
    loop {
        while have <= 56 {
            let Some(byte) = rest.next() else { break };
            bits |= u64::from(*byte) << (56 - have);
            have += 8;
        }
        let (symbol, length) = next_symbol(bits);
        if length > have {
            return ending(bits, have);
        }
        if symbol == END {
            return Err(Unreadable);
        }
        out.push(symbol as u8);
        bits <<= length;
        have -= length;
    }
}

/// Returns the first symbol of `bits`, and the length of its code.
fn next_symbol(bits: u64) -> (u16, u32) {
    let (symbol, length) = CODE.short[(bits >> 56) as usize];
    if length > 0 {
        return (symbol.into(), length.into());
    }
    let found = (9..=LONGEST).find_map(|length| {
        let nth = ((bits >> (64 - length)) as u32).wrapping_sub(CODE.first[length]);
        (nth < CODE.count[length]).then(|| (CODE.symbols[(CODE.start[length] + nth) as usize], length as u32))
    });
    found.unwrap_or((END, LONGEST as u32))
}

/// Accepts the rest of a text: fewer than eight bits, all ones.
fn ending(bits: u64, have: u32) -> Result<(), Unreadable> {
    if have < 8 && bits == !(u64::MAX >> have) { Ok(()) } else { Err(Unreadable) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encode(text: &[u8]) -> Vec<u8> {
        let mut bits = Vec::new();
        for byte in text {
            let length = LENGTHS[*byte as usize] as usize;
            let nth = CODE.symbols[CODE.start[length] as usize..].iter().position(|s| *s == u16::from(*byte)).unwrap();
            let code = CODE.first[length] + nth as u32;
            bits.extend((0..length).rev().map(|bit| code >> bit & 1 == 1));
        }
        bits.resize(bits.len().next_multiple_of(8), true);
        bits.chunks(8).map(|byte| byte.iter().fold(0, |sum, bit| sum << 1 | u8::from(*bit))).collect()
    }

    #[test]
    fn the_examples_of_the_standard() {
        for (coded, text) in [
            (&[0xf1, 0xe3, 0xc2, 0xe5, 0xf2, 0x3a, 0x6b, 0xa0, 0xab, 0x90, 0xf4, 0xff][..], "www.example.com"),
            (&[0xa8, 0xeb, 0x10, 0x64, 0x9c, 0xbf], "no-cache"),
            (&[0x64, 0x02], "302"),
        ] {
            let mut out = Vec::new();
            assert_eq!(decode(coded, &mut out), Ok(()));
            assert_eq!((out.as_slice(), encode(text.as_bytes()).as_slice()), (text.as_bytes(), coded));
        }
    }

    #[test]
    fn what_is_no_text() {
        let mut out = Vec::new();
        for coded in [&[0xff][..], &[0xff, 0xff, 0xff, 0xff], &[0xa8, 0xeb, 0x10, 0x64, 0x9c, 0xbf, 0xff], &[0x00]] {
            assert_eq!(decode(coded, &mut out), Err(Unreadable), "{coded:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn what_is_written_is_read(text in proptest::collection::vec(proptest::num::u8::ANY, 0..100)) {
            let mut out = Vec::new();
            proptest::prop_assert_eq!(decode(&encode(&text), &mut out), Ok(()));
            proptest::prop_assert_eq!(out, text);
        }

        #[test]
        fn any_bytes_are_a_text_or_none(coded in proptest::collection::vec(proptest::num::u8::ANY, 0..100)) {
            let mut out = Vec::new();
            let _ = decode(&coded, &mut out);
            proptest::prop_assert!(out.len() <= coded.len() * 8 / 5);
        }
    }
}
