//! Columns of short texts.

/// Type of a text in numpy.
pub(crate) const TEXT: &str = "=U16";
/// Length of the longest text, in characters.
const TEXT_CHARS: usize = 16;

/// Type of a trace id in numpy.
pub(crate) const TRACE_ID: &str = "=U32";
/// Length of a trace id, in characters.
const TRACE_ID_CHARS: usize = 32;

/// Writes a text. Characters beyond the limit are left out.
pub(crate) fn write_text(bytes: &mut Vec<u8>, text: &str) {
    write_letters(bytes, text, TEXT_CHARS);
}

/// Writes a trace id.
pub(crate) fn write_trace_id(bytes: &mut Vec<u8>, id: &str) {
    write_letters(bytes, id, TRACE_ID_CHARS);
}

fn write_letters(bytes: &mut Vec<u8>, text: &str, count: usize) {
    let letters = text.chars().map(u32::from).chain(std::iter::repeat(0));
    letters.take(count).for_each(|letter| bytes.extend(letter.to_ne_bytes()));
}
