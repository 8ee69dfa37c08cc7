use truetail_model::random::mix64;
use truetail_model::record::Cause;

use super::super::limits::MAX_MESSAGE;
use super::deflate::{DeflateTerms, Deflater, Inflater};
use super::utf8::Utf8Check;

/// Longest payload of a control frame (RFC 6455, section 5.5).
const MAX_CONTROL: usize = 125;
/// The bit of a message's first frame that says that it is compressed (RFC 7692, section 7.2.3.1).
const COMPRESSED: u8 = 0x40;

/// Kind of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::protocol::messages) enum Opcode {
    Continuation = 0,
    Text = 1,
    Binary = 2,
    Close = 8,
    Ping = 9,
    Pong = 10,
}

impl Opcode {
    fn from_bits(bits: u8) -> Option<Opcode> {
        use Opcode::{Binary, Close, Continuation, Ping, Pong, Text};
        [Continuation, Text, Binary, Close, Ping, Pong].into_iter().find(|opcode| *opcode as u8 == bits)
    }

    fn is_control(self) -> bool {
        self as u8 >= Opcode::Close as u8
    }
}

/// Masking keys (section 5.3). They are random enough that no intermediary takes a payload for a request, and cost a
/// few instructions.
#[derive(Clone, Copy, Debug)]
pub(in crate::protocol::messages) struct Masks(u64);

impl Masks {
    pub(in crate::protocol::messages) fn new(seed: u64) -> Masks {
        Masks(mix64(seed))
    }

    fn next(&mut self) -> [u8; 4] {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        (mix64(self.0) as u32).to_ne_bytes()
    }
}

/// Appends a whole message as one frame of a client.
#[inline]
pub(in crate::protocol::messages) fn put_frame(opcode: Opcode, payload: &[u8], masks: &mut Masks, out: &mut Vec<u8>) {
    put(opcode as u8, payload, masks, out);
}

/// Appends a whole message as one compressed frame of a client.
pub(in crate::protocol::messages) fn put_compressed_frame(
    opcode: Opcode,
    message: &[u8],
    (deflater, masks): (&mut Deflater, &mut Masks),
    out: &mut Vec<u8>,
) {
    put(COMPRESSED | opcode as u8, deflater.compress(message), masks, out);
}

fn put(first: u8, payload: &[u8], masks: &mut Masks, out: &mut Vec<u8>) {
    const MASKED: u8 = 0x80;
    out.push(0x80 | first);
    match payload.len() {
        length @ 0..=125 => out.push(MASKED | length as u8),
        length @ 126..=0xffff => {
            out.push(MASKED | 126);
            out.extend_from_slice(&(length as u16).to_be_bytes());
        }
        length => {
            out.push(MASKED | 127);
            out.extend_from_slice(&(length as u64).to_be_bytes());
        }
    }
    let key = masks.next();
    out.extend_from_slice(&key);
    let from = out.len();
    out.extend_from_slice(payload);
    for four in out[from..].chunks_mut(4) {
        four.iter_mut().zip(key).for_each(|(byte, key)| *byte ^= key);
    }
}

/// End of a frame or of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::protocol::messages) enum Happened {
    /// The message is complete.
    MessageEnded,
    /// A frame that asks for these bytes back.
    Ping,
    /// The peer closes the channel, with this code; 1005 without a code.
    Close(u16),
}

/// Frames that a client receives.
#[derive(Debug)]
pub(in crate::protocol::messages) struct FrameReader {
    head: Head,
    /// The frame whose payload is being received: its kind, if it is the last of its message, and what is missing.
    payload: Option<Payload>,
    /// Kind of the message that is being received, over its frames; `None` between messages.
    message: Option<Opcode>,
    /// Bytes of the message so far.
    length: u64,
    text: Utf8Check,
    /// The message is compressed.
    is_compressed: bool,
    /// Decompresses messages, if both sides agreed that they may be compressed.
    inflater: Option<Box<Inflater>>,
    control: [u8; MAX_CONTROL],
    control_length: usize,
}

/// The head of a frame, as far as it was received.
#[derive(Clone, Copy, Default, Debug)]
struct Head {
    bytes: [u8; 10],
    length: usize,
}

#[derive(Clone, Copy, Debug)]
struct Payload {
    opcode: Opcode,
    is_last: bool,
    is_compressed: bool,
    missing: u64,
}

impl Default for FrameReader {
    fn default() -> FrameReader {
        FrameReader {
            head: Head::default(),
            payload: None,
            message: None,
            length: 0,
            text: Utf8Check::default(),
            is_compressed: false,
            inflater: None,
            control: [0; MAX_CONTROL],
            control_length: 0,
        }
    }
}

impl FrameReader {
    /// Returns true if bytes of a message have arrived, and not yet its end.
    pub(in crate::protocol::messages) fn is_in_message(&self) -> bool {
        self.message.is_some()
    }

    /// Returns the payload of the control frame that ended last.
    pub(in crate::protocol::messages) fn control(&self) -> &[u8] {
        &self.control[..self.control_length]
    }

    /// Lets the peer compress messages on these terms.
    pub(in crate::protocol::messages) fn inflate(&mut self, terms: DeflateTerms) {
        self.inflater = Some(Box::new(Inflater::new(terms)));
    }

    /// Takes bytes up to the end of a head or of a frame, or all. Tells `told` the content of the message in them.
    /// Returns their number, and what ended.
    ///
    /// # Errors
    /// [`Cause::BadMessage`] for what RFC 6455 and RFC 7692 forbid, and [`Cause::MessageTooLarge`].
    pub(in crate::protocol::messages) fn feed(
        &mut self,
        bytes: &[u8],
        told: &mut impl FnMut(&[u8]),
    ) -> Result<(usize, Option<Happened>), Cause> {
        let Some(payload) = &mut self.payload else { return self.feed_head(bytes, told) };
        let taken = payload.missing.min(bytes.len() as u64) as usize;
        payload.missing -= taken as u64;
        let is_over = payload.missing == 0;
        let Payload { opcode, is_last, .. } = *payload;
        let part = &bytes[..taken];
        if opcode.is_control() {
            self.control[self.control_length..self.control_length + taken].copy_from_slice(part);
            self.control_length += taken;
        } else {
            self.take_content(part, told)?;
        }
        let happened = if is_over { self.end_frame(opcode, is_last, told)? } else { None };
        Ok((taken, happened))
    }

    /// Takes a part of the message as it was sent.
    fn take_content(&mut self, part: &[u8], told: &mut impl FnMut(&[u8])) -> Result<(), Cause> {
        let FrameReader { text, inflater, message, .. } = self;
        let is_text = *message == Some(Opcode::Text);
        let mut checked = |content: &[u8]| {
            if is_text && !text.take(content) {
                return Err(Cause::BadMessage);
            }
            told(content);
            Ok(())
        };
        match inflater {
            Some(inflater) if self.is_compressed => inflater.take(part, &mut checked),
            _ => checked(part),
        }
    }

    /// Takes the end of the message.
    fn end_message(&mut self, told: &mut impl FnMut(&[u8])) -> Result<(), Cause> {
        let FrameReader { text, inflater, message, .. } = self;
        let is_text = message.take() == Some(Opcode::Text);
        if let Some(inflater) = inflater
            && self.is_compressed
        {
            inflater.end(&mut |content| {
                if is_text && !text.take(content) {
                    return Err(Cause::BadMessage);
                }
                told(content);
                Ok(())
            })?;
        }
        if is_text && !text.is_complete() { Err(Cause::BadMessage) } else { Ok(()) }
    }

    fn feed_head(&mut self, bytes: &[u8], told: &mut impl FnMut(&[u8])) -> Result<(usize, Option<Happened>), Cause> {
        let mut taken = 0;
        while taken < bytes.len() {
            self.head.bytes[self.head.length] = bytes[taken];
            self.head.length += 1;
            taken += 1;
            if let Some(payload) = self.head.payload(self.inflater.is_some())? {
                let happened = self.begin_frame(payload, told)?;
                return Ok((taken, happened));
            }
        }
        Ok((taken, None))
    }

    fn begin_frame(&mut self, payload: Payload, told: &mut impl FnMut(&[u8])) -> Result<Option<Happened>, Cause> {
        self.head = Head::default();
        match (payload.opcode, self.message) {
            (opcode, _) if opcode.is_control() => {
                if !payload.is_last || payload.missing > MAX_CONTROL as u64 {
                    return Err(Cause::BadMessage);
                }
                self.control_length = 0;
            }
            (Opcode::Continuation, None) => return Err(Cause::BadMessage),
            (Opcode::Continuation, Some(_)) => self.add_length(payload.missing)?,
            (_, Some(_)) => return Err(Cause::BadMessage),
            (opcode, None) => {
                self.message = Some(opcode);
                self.is_compressed = payload.is_compressed;
                self.length = 0;
                self.text = Utf8Check::default();
                self.add_length(payload.missing)?;
            }
        }
        if payload.missing == 0 {
            return self.end_frame(payload.opcode, payload.is_last, told);
        }
        self.payload = Some(payload);
        Ok(None)
    }

    fn add_length(&mut self, length: u64) -> Result<(), Cause> {
        self.length = self.length.saturating_add(length);
        if self.length > MAX_MESSAGE { Err(Cause::MessageTooLarge) } else { Ok(()) }
    }

    fn end_frame(
        &mut self,
        opcode: Opcode,
        is_last: bool,
        told: &mut impl FnMut(&[u8]),
    ) -> Result<Option<Happened>, Cause> {
        self.payload = None;
        Ok(match opcode {
            Opcode::Ping => Some(Happened::Ping),
            Opcode::Pong => None,
            Opcode::Close => Some(Happened::Close(close_code(self.control())?)),
            Opcode::Continuation | Opcode::Text | Opcode::Binary if is_last => {
                self.end_message(told)?;
                Some(Happened::MessageEnded)
            }
            Opcode::Continuation | Opcode::Text | Opcode::Binary => None,
        })
    }
}

impl Head {
    /// Returns the frame once its head is complete.
    fn payload(&self, may_compress: bool) -> Result<Option<Payload>, Cause> {
        let [first, second, ..] = self.bytes;
        if self.length < 2 {
            return Ok(None);
        }
        let opcode = Opcode::from_bits(first & 0x0f).ok_or(Cause::BadMessage)?;
        // The first frame of a message says whether it is compressed. Nothing uses the other reserved bits.
        // A server does not mask.
        let is_compressed = first & COMPRESSED != 0;
        let may_say_so = may_compress && matches!(opcode, Opcode::Text | Opcode::Binary);
        if first & 0x30 != 0 || is_compressed && !may_say_so || second & 0x80 != 0 {
            return Err(Cause::BadMessage);
        }
        let number = &self.bytes[2..self.length];
        let missing = match (second, number) {
            (126, [a, b]) => u64::from(u16::from_be_bytes([*a, *b])),
            (127, [a, b, c, d, e, f, g, h]) => u64::from_be_bytes([*a, *b, *c, *d, *e, *f, *g, *h]),
            (126 | 127, _) => return Ok(None),
            (length, _) => u64::from(length),
        };
        // Lengths have one form, the shortest, and the highest bit is 0 (section 5.2).
        let least = match second {
            126 => 126,
            127 => 1 << 16,
            _ => 0,
        };
        if missing < least || missing >> 63 != 0 {
            return Err(Cause::BadMessage);
        }
        Ok(Some(Payload { opcode, is_last: first & 0x80 != 0, is_compressed, missing }))
    }
}

/// Returns the code of a Close frame, 1005 without one (section 7.4).
fn close_code(payload: &[u8]) -> Result<u16, Cause> {
    let (code, reason) = match payload {
        [] => return Ok(1005),
        [a, b, reason @ ..] => (u16::from_be_bytes([*a, *b]), reason),
        [_] => return Err(Cause::BadMessage),
    };
    let is_allowed = matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999);
    if is_allowed && std::str::from_utf8(reason).is_ok() { Ok(code) } else { Err(Cause::BadMessage) }
}
