//! The answer of a gRPC call: its messages and its status (PROTOCOL-HTTP2.md of gRPC).

use truetail_model::record::{Cause, GrpcStatus};
use truetail_run::GrpcKind;

/// Largest message that is accepted. It is not kept.
const LARGEST_MESSAGE: u32 = 64 * 1024 * 1024;
/// Bytes before each message: whether it is compressed, and its length.
const PREFIX: usize = 5;

/// Relevant fields of gRPC in a head or in trailers.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct CallFields {
    /// The content type is that of gRPC.
    pub(super) is_grpc: bool,
    /// The messages may be compressed.
    pub(super) may_compress: bool,
    pub(super) status: Option<GrpcStatus>,
}

/// Progress within the message that is arriving.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct MessageReader {
    prefix: [u8; PREFIX],
    /// Bytes of the prefix that have arrived.
    prefix_length: u8,
    /// Bytes of the message that are missing after its prefix.
    missing: u32,
}

impl MessageReader {
    /// Takes the bytes up to the end of the message, or all. Returns their number, and true at the end of the message.
    ///
    /// # Errors
    /// [`Cause::BadGrpcMessage`] and [`Cause::MessageTooLarge`].
    pub(crate) fn feed(&mut self, bytes: &[u8], may_compress: bool) -> Result<(usize, bool), Cause> {
        let have = usize::from(self.prefix_length);
        let of_prefix = (PREFIX - have).min(bytes.len());
        if of_prefix > 0 {
            self.prefix[have..have + of_prefix].copy_from_slice(&bytes[..of_prefix]);
            self.prefix_length += of_prefix as u8;
            if have + of_prefix < PREFIX {
                return Ok((of_prefix, false));
            }
            self.missing = self.stated_length(may_compress)?;
        }
        let content = (self.missing as usize).min(bytes.len() - of_prefix);
        self.missing -= content as u32;
        let ends = self.missing == 0;
        if ends {
            self.prefix_length = 0;
        }
        Ok((of_prefix + content, ends))
    }

    fn stated_length(&self, may_compress: bool) -> Result<u32, Cause> {
        let [flag, length @ ..] = self.prefix;
        let length = u32::from_be_bytes(length);
        match flag {
            0 | 1 if length > LARGEST_MESSAGE => Err(Cause::MessageTooLarge),
            0 => Ok(length),
            1 if may_compress => Ok(length),
            _ => Err(Cause::BadGrpcMessage),
        }
    }

    fn is_in_message(&self) -> bool {
        self.prefix_length > 0
    }
}

/// The answer of a call, as far as it has arrived.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct CallAnswer {
    fields: CallFields,
    reader: MessageReader,
    /// Messages that are complete.
    messages: u64,
}

/// Part of a body that belongs to one message, prefix included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct MessagePart<'a> {
    pub(super) bytes: &'a [u8],
    /// True if the message is complete with it.
    pub(super) ends: bool,
}

impl CallAnswer {
    /// Takes the fields of the head, or of the trailers.
    pub(super) fn add_fields(&mut self, fields: CallFields) {
        self.fields.is_grpc |= fields.is_grpc;
        self.fields.may_compress |= fields.may_compress;
        self.fields.status = self.fields.status.or(fields.status);
    }

    pub(super) fn is_grpc(&self) -> bool {
        self.fields.is_grpc
    }

    /// Takes bytes of the body, and tells the parts of its messages.
    ///
    /// # Errors
    /// [`Cause::BadGrpcMessage`] and [`Cause::MessageTooLarge`].
    pub(super) fn take(&mut self, bytes: &[u8], mut told: impl FnMut(MessagePart<'_>)) -> Result<(), Cause> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let (length, ends) = self.reader.feed(rest, self.fields.may_compress)?;
            let (part, after) = rest.split_at(length);
            told(MessagePart { bytes: part, ends });
            self.messages += u64::from(ends);
            rest = after;
        }
        Ok(())
    }

    /// Returns the status to record for an answer with this status of HTTP. `call` is the kind of the call; `None` for
    /// a plain request. The answer to a plain request is read as gRPC only if its content type says so.
    ///
    /// # Errors
    /// [`Cause::NoGrpcStatus`], and [`Cause::BadGrpcMessage`] if the call succeeded without all of its answer.
    pub(super) fn settle(&self, call: Option<GrpcKind>, http: u16) -> Result<u16, Cause> {
        if call.is_none() && !self.fields.is_grpc {
            return Ok(http);
        }
        match self.fields.status {
            Some(status) if status != GrpcStatus::OK => Ok(status.recorded()),
            _ if http != 200 => Ok(GrpcStatus::of_http(http).recorded()),
            None => Err(Cause::NoGrpcStatus),
            Some(_) if self.reader.is_in_message() => Err(Cause::BadGrpcMessage),
            Some(_) if call.is_some_and(|kind| !kind.server_streams()) && self.messages != 1 => {
                Err(Cause::BadGrpcMessage)
            }
            Some(status) => Ok(status.recorded()),
        }
    }
}

/// Appends a message with its prefix, not compressed. It must be shorter than 4 GiB.
pub(crate) fn put_message(message: &[u8], out: &mut Vec<u8>) {
    out.push(0);
    out.extend_from_slice(&(message.len() as u32).to_be_bytes());
    out.extend_from_slice(message);
}

/// Returns the content of a message with its prefix.
pub(crate) fn content_of(message: &[u8]) -> &[u8] {
    message.get(PREFIX..).unwrap_or_default()
}

/// Returns the end of the message that begins at `from` in the body of a request.
pub(super) fn end_of_message(body: &[u8], from: usize) -> usize {
    let length =
        body.get(from + 1..).and_then(|rest| rest.first_chunk()).map_or(0, |length| u32::from_be_bytes(*length));
    body.len().min(from + PREFIX + length as usize)
}

/// Returns true if a content type is that of gRPC; `application/grpc-web` is another protocol.
pub(super) fn is_grpc(content_type: &[u8]) -> bool {
    const NAME: &[u8] = b"application/grpc";
    let Some((name, rest)) = content_type.split_at_checked(NAME.len()) else { return false };
    name.eq_ignore_ascii_case(NAME) && matches!(rest.first(), None | Some(b'+' | b';' | b' '))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn message(flag: u8, content: &[u8]) -> Vec<u8> {
        [&[flag], &(content.len() as u32).to_be_bytes()[..], content].concat()
    }

    fn answer(status: Option<u64>, may_compress: bool) -> CallAnswer {
        let status = status.map(GrpcStatus::from_code);
        CallAnswer { fields: CallFields { is_grpc: true, may_compress, status }, ..CallAnswer::default() }
    }

    /// Returns the messages told of these pieces, and whether the last one is incomplete.
    fn split(answer: &mut CallAnswer, pieces: &[&[u8]]) -> Result<(Vec<Vec<u8>>, bool), Cause> {
        let mut all = vec![Vec::new()];
        for piece in pieces {
            answer.take(piece, |part| {
                all.last_mut().unwrap().extend_from_slice(part.bytes);
                if part.ends {
                    all.push(Vec::new());
                }
            })?;
        }
        let is_partial = all.pop().is_some_and(|last| !last.is_empty());
        Ok((all, is_partial))
    }

    proptest! {
        #[test]
        fn messages_are_the_same_over_cuts_of_every_size(
            contents in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..6),
            size in 1..60usize,
            missing in 0..50usize,
        ) {
            let messages: Vec<_> = contents.iter().map(|content| message(0, content)).collect();
            let all = messages.concat();
            let all = &all[..all.len().saturating_sub(missing)];
            let pieces: Vec<_> = all.chunks(size).collect();
            let (told, is_partial) = split(&mut answer(None, false), &pieces).unwrap();
            let whole = told.concat();
            prop_assert_eq!(&told[..], &messages[..told.len()]);
            prop_assert_eq!((&all[..whole.len()], is_partial), (&whole[..], whole.len() < all.len()));
        }

        #[test]
        fn any_bytes_are_told_in_order_or_refused(bytes: Vec<u8>, size in 1..20usize) {
            let mut told = Vec::new();
            let mut answer = answer(None, true);
            let taken = bytes.chunks(size).try_for_each(|piece| answer.take(piece, |part| told.extend_from_slice(part.bytes)));
            prop_assert!(bytes.starts_with(&told));
            prop_assert!(taken.is_err() || told == bytes);
        }
    }

    #[test]
    fn a_prefix_that_breaks_the_rules_is_refused_when_it_is_complete() {
        let too_large = [&[0][..], &(LARGEST_MESSAGE + 1).to_be_bytes()].concat();
        for (bytes, may_compress, wanted) in [
            (message(1, b"x"), true, Ok(())),
            (message(1, b"x"), false, Err(Cause::BadGrpcMessage)),
            (message(2, b"x"), true, Err(Cause::BadGrpcMessage)),
            (too_large, false, Err(Cause::MessageTooLarge)),
        ] {
            for size in 1..=bytes.len() {
                let pieces: Vec<_> = bytes.chunks(size).collect();
                let told = split(&mut answer(None, may_compress), &pieces).map(|_| ());
                assert_eq!(told, wanted, "{bytes:?} in pieces of {size}");
            }
        }
    }

    #[test]
    fn status_is_settled_as_the_specification_says() {
        let unary = Some(GrpcKind::Unary);
        let streaming = Some(GrpcKind::ServerStreaming);
        let [one, two, half] = [message(0, b"ab"), message(0, b"ab").repeat(2), message(0, b"ab")[..6].to_vec()];
        let missing = Err(Cause::NoGrpcStatus);
        let broken = Err(Cause::BadGrpcMessage);
        for (call, http, status, body, wanted) in [
            (unary, 200, Some(0), &one[..], Ok(200)),
            (unary, 200, Some(14), &one, Ok(1014)),
            (unary, 200, Some(14), b"", Ok(1014)),
            (unary, 200, Some(99), b"", Ok(1002)),
            (unary, 200, Some(5), &half, Ok(1005)),
            (unary, 200, Some(0), b"", broken),
            (unary, 200, Some(0), &two, broken),
            (unary, 200, Some(0), &half, broken),
            (unary, 200, None, &one, missing),
            (unary, 503, None, b"", Ok(1014)),
            (unary, 503, Some(0), b"", Ok(1014)),
            (unary, 503, Some(8), b"", Ok(1008)),
            (streaming, 200, Some(0), b"", Ok(200)),
            (streaming, 200, Some(0), &two, Ok(200)),
            (streaming, 200, Some(0), &half, broken),
            (None, 200, Some(0), &two, Ok(200)),
            (None, 200, Some(7), b"", Ok(1007)),
            (None, 200, None, b"", missing),
        ] {
            let mut answer = answer(status, false);
            answer.take(body, |_| {}).unwrap();
            assert_eq!(answer.settle(call, http), wanted, "{call:?} {http} {status:?} {body:?}");
        }
        let plain = CallAnswer::default();
        assert_eq!([plain.settle(None, 503), plain.settle(None, 200)], [Ok(503), Ok(200)]);
        assert_eq!(plain.settle(unary, 200), missing, "a page of HTML is no answer to a call");
    }

    #[test]
    fn content_types_of_grpc() {
        let all = ["application/grpc", "application/grpc+proto", "Application/gRPC;charset=x"];
        assert!(all.iter().all(|name| is_grpc(name.as_bytes())));
        let others = ["application/grpc-web+proto", "application/json", "", "application/grpcs"];
        assert!(!others.iter().any(|name| is_grpc(name.as_bytes())));
    }
}
