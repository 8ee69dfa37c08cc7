//! Frames on the wire (RFC 9113, sections 4 and 6).

/// Bytes of the header before each payload.
pub(crate) const HEAD: usize = 9;
/// Longest payload that is sent or accepted: the protocol's default, which every peer must accept.
pub(crate) const LONGEST: usize = 16_384;
/// First bytes of a client.
pub(crate) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

pub(crate) mod kind {
    pub(crate) const DATA: u8 = 0;
    pub(crate) const HEADERS: u8 = 1;
    pub(crate) const PRIORITY: u8 = 2;
    pub(crate) const RST_STREAM: u8 = 3;
    pub(crate) const SETTINGS: u8 = 4;
    pub(crate) const PUSH_PROMISE: u8 = 5;
    pub(crate) const PING: u8 = 6;
    pub(crate) const GOAWAY: u8 = 7;
    pub(crate) const WINDOW_UPDATE: u8 = 8;
    pub(crate) const CONTINUATION: u8 = 9;
}

pub(crate) mod flag {
    pub(crate) const ACK: u8 = 1;
    pub(crate) const END_STREAM: u8 = 1;
    pub(crate) const END_HEADERS: u8 = 4;
    pub(crate) const PADDED: u8 = 8;
    pub(crate) const PRIORITY: u8 = 0x20;
}

pub(crate) mod setting {
    pub(crate) const HEADER_TABLE_SIZE: u16 = 1;
    pub(crate) const ENABLE_PUSH: u16 = 2;
    pub(crate) const MAX_CONCURRENT_STREAMS: u16 = 3;
    pub(crate) const INITIAL_WINDOW_SIZE: u16 = 4;
    pub(crate) const MAX_FRAME_SIZE: u16 = 5;
    pub(crate) const MAX_HEADER_LIST_SIZE: u16 = 6;
    /// RFC 8441, section 3.
    pub(crate) const ENABLE_CONNECT_PROTOCOL: u16 = 8;
}

/// Error codes (RFC 9113, section 7).
pub(crate) mod code {
    pub(crate) const NO_ERROR: u32 = 0;
    pub(crate) const PROTOCOL_ERROR: u32 = 1;
    pub(crate) const FLOW_CONTROL_ERROR: u32 = 3;
    pub(crate) const STREAM_CLOSED: u32 = 5;
    pub(crate) const FRAME_SIZE_ERROR: u32 = 6;
    pub(crate) const REFUSED_STREAM: u32 = 7;
    pub(crate) const CANCEL: u32 = 8;
    pub(crate) const COMPRESSION_ERROR: u32 = 9;
    pub(crate) const ENHANCE_YOUR_CALM: u32 = 11;
}

/// The header before a payload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FrameHeader {
    pub(crate) length: usize,
    pub(crate) kind: u8,
    pub(crate) flags: u8,
    /// The stream; 0: the whole connection.
    pub(crate) stream: u32,
}

impl FrameHeader {
    /// Reads the first [`HEAD`] bytes; `None` if there are fewer.
    pub(crate) fn read(bytes: &[u8]) -> Option<FrameHeader> {
        let [a, b, c, kind, flags, stream @ ..] = bytes.first_chunk::<HEAD>()?;
        let length = u32::from_be_bytes([0, *a, *b, *c]) as usize;
        Some(FrameHeader { length, kind: *kind, flags: *flags, stream: u32::from_be_bytes(*stream) & 0x7fff_ffff })
    }

    pub(crate) fn put(self, out: &mut Vec<u8>) {
        let [_, a, b, c] = (self.length as u32).to_be_bytes();
        let [s, t, u, v] = self.stream.to_be_bytes();
        out.extend_from_slice(&[a, b, c, self.kind, self.flags, s, t, u, v]);
    }

    pub(crate) fn has(self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// Appends a whole frame to `out`. `payload` must not be longer than [`LONGEST`].
pub(crate) fn put(out: &mut Vec<u8>, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
    FrameHeader { length: payload.len(), kind, flags, stream }.put(out);
    out.extend_from_slice(payload);
}

pub(crate) fn put_number(out: &mut Vec<u8>, kind: u8, stream: u32, number: u32) {
    put(out, kind, 0, stream, &number.to_be_bytes());
}

/// Reads a payload of one 32-bit number; `None`: it has another length.
pub(crate) fn number(payload: &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(payload.try_into().ok()?))
}
