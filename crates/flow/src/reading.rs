use truetail_engine::{AnswerHead, FieldList, Trailers};
use truetail_model::time::Timestamp;

/// Limit on the bytes that are kept of a body for captures and asserts: 1 MiB.
pub const MAX_BODY_BYTES: usize = 1 << 20;
/// Capacity in bytes that a body keeps from one answer to the next.
const BODY_ROOM_KEPT: usize = 4 * 1024;

/// The answer to a request while it is read. Later requests reuse its memory.
#[derive(Debug)]
pub(crate) struct PendingAnswer {
    /// The user who sent the request.
    pub(crate) user: u32,
    /// `None` until the head has come.
    pub(crate) status: Option<u16>,
    /// `1.0`, `1.1` or `2`.
    pub(crate) version: &'static str,
    pub(crate) fields: FieldList,
    /// The part of the body that is kept.
    pub(crate) body: Vec<u8>,
    body_bytes: u64,
    keeps_body: bool,
    /// Deadline of the request.
    pub(crate) limit: Option<Timestamp>,
}

impl PendingAnswer {
    fn new() -> PendingAnswer {
        PendingAnswer {
            user: 0,
            status: None,
            version: "1.1",
            fields: FieldList::default(),
            body: Vec::new(),
            body_bytes: 0,
            keeps_body: false,
            limit: None,
        }
    }

    /// Returns true if all of the body was kept.
    pub(crate) fn is_whole(&self) -> bool {
        self.body_bytes == self.body.len() as u64
    }

    /// Clears the answer.
    pub(crate) fn clear(&mut self) {
        (self.status, self.body_bytes) = (None, 0);
        self.fields.clear();
        self.body.clear();
        self.body.shrink_to(BODY_ROOM_KEPT);
    }
}

/// The answers that are being read, by request.
#[derive(Default, Debug)]
pub(crate) struct Readings(Vec<PendingAnswer>);

impl Readings {
    /// Starts a request of `user`.
    pub(crate) fn begin(&mut self, request: u32, user: u32, keeps_body: bool, limit: Option<Timestamp>) {
        let at = request as usize;
        if self.0.len() <= at {
            self.0.resize_with(at + 1, PendingAnswer::new);
        }
        let reading = &mut self.0[at];
        reading.clear();
        (reading.user, reading.keeps_body, reading.limit) = (user, keeps_body, limit);
    }

    pub(crate) fn head(&mut self, request: u32, head: AnswerHead<'_>) {
        let reading = self.get_mut(request);
        reading.status = head.status;
        reading.version = head.version().unwrap_or("1.1");
        head.copy_fields(&mut reading.fields);
    }

    pub(crate) fn body(&mut self, request: u32, part: &[u8]) {
        let reading = self.get_mut(request);
        reading.body_bytes += part.len() as u64;
        if reading.keeps_body {
            let kept = part.len().min(MAX_BODY_BYTES - reading.body.len());
            reading.body.extend_from_slice(&part[..kept]);
        }
    }

    /// Adds the trailers to the fields of the head.
    pub(crate) fn trailers(&mut self, request: u32, trailers: Trailers<'_>) {
        let mut fields = FieldList::default();
        trailers.copy_fields(&mut fields);
        let read = &mut self.get_mut(request).fields;
        fields.iter().for_each(|(name, value)| read.push(name, value));
    }

    /// Returns the answer to a request that has begun.
    pub(crate) fn get_mut(&mut self, request: u32) -> &mut PendingAnswer {
        &mut self.0[request as usize]
    }
}
