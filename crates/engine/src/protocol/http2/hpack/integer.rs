//! Integers that begin inside a byte (RFC 7541, section 5.1).

use super::Unreadable;

/// Upper limit of a decoded integer, far above any meaningful value. The RFC has no limit.
const MOST: u64 = 1 << 28;

/// Reads an integer that begins in the last `bits` bits of the first byte.
pub(super) fn take(input: &mut &[u8], bits: u32) -> Result<usize, Unreadable> {
    let (first, mut rest) = input.split_first().ok_or(Unreadable)?;
    let full = (1u64 << bits) - 1;
    let mut value = u64::from(*first) & full;
    let mut shift = 0;
    while value >= full {
        let (byte, after) = rest.split_first().ok_or(Unreadable)?;
        rest = after;
        value += u64::from(byte & 0x7f) << shift;
        shift += 7;
        if value > MOST || shift > 35 {
            return Err(Unreadable);
        }
        if byte & 0x80 == 0 {
            break;
        }
    }
    *input = rest;
    Ok(value as usize)
}

/// Appends `value` to `out`. It begins in the last `bits` bits of a byte; `first` has the other bits.
pub(crate) fn put(out: &mut Vec<u8>, first: u8, bits: u32, value: usize) {
    let full = (1usize << bits) - 1;
    if value < full {
        return out.push(first | value as u8);
    }
    out.push(first | full as u8);
    let mut left = value - full;
    while left >= 0x80 {
        out.push(left as u8 | 0x80);
        left >>= 7;
    }
    out.push(left as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_standard() {
        for (value, bits, bytes) in [(10, 5, &[10][..]), (1337, 5, &[31, 154, 10]), (42, 8, &[42])] {
            let mut out = Vec::new();
            put(&mut out, 0, bits, value);
            assert_eq!(out, bytes);
        }
    }

    #[test]
    fn what_is_no_integer() {
        for bytes in
            [&[][..], &[0x1f], &[0x1f, 0x80], &[0x1f, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f], &[0x1f; 1].repeat(9)[..1]]
        {
            assert_eq!(take(&mut &bytes[..], 5), Err(Unreadable), "{bytes:?}");
        }
        let zeros = [&[0x1f][..], &[0x80; 20]].concat();
        assert_eq!(take(&mut &zeros[..], 5), Err(Unreadable), "zeros without end");
    }

    proptest::proptest! {
        #[test]
        fn what_is_written_is_read(value in 0usize..1 << 28, bits in 4u32..=7) {
            let mut out = Vec::new();
            put(&mut out, 0, bits, value);
            let mut rest = &out[..];
            proptest::prop_assert_eq!(take(&mut rest, bits), Ok(value));
            proptest::prop_assert!(rest.is_empty());
        }
    }
}
