//! The parts of an answer that a parser passes on.

/// A part of an answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part<'a> {
    /// The final head.
    Head {
        /// HTTP status.
        status: u16,
        /// The whole head, including the empty line at its end.
        bytes: &'a [u8],
    },
    /// Bytes of the body, without the transfer coding.
    Body(&'a [u8]),
    /// The end of a chunk, after its last byte.
    ChunkEnd,
    /// The lines of all trailers, with their line ends and without the empty line.
    Trailers(&'a [u8]),
}
