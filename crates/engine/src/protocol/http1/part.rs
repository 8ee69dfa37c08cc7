//! What a parser hands on of an answer.

/// A part of an answer, for whoever looks into it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part<'a> {
    /// The final head.
    Head {
        /// Its status.
        status: u16,
        /// The whole head, with the empty line at its end.
        bytes: &'a [u8],
    },
    /// Bytes of the body, without the transfer coding.
    Body(&'a [u8]),
    /// The end of a chunk, behind its last byte.
    ChunkEnd,
}
