//! Columns of short texts.

/// Type of a text in numpy.
pub(crate) const TEXT: &str = "=U16";
/// Length of the longest text, in characters.
const TEXT_CHARS: usize = 16;

/// Writes a text. Characters beyond the limit are left out.
pub(crate) fn write_text(bytes: &mut Vec<u8>, text: &str) {
    let letters = text.chars().map(u32::from).chain(std::iter::repeat(0));
    letters.take(TEXT_CHARS).for_each(|letter| bytes.extend(letter.to_ne_bytes()));
}
