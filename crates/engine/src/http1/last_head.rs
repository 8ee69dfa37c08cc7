//! The head that was read last. Servers say the same again and again, so the next one is often the same bytes.

use truetail_model::record::Cause;

use super::response::{Head, parse_head};

/// Longer heads are not kept.
const LONGEST: usize = 1024;

/// A head that was read, and what it said. The default knows none.
#[derive(Default, Debug)]
pub struct LastHead {
    bytes: Vec<u8>,
    said: Option<(bool, Head)>,
}

impl LastHead {
    /// One that remembers; the default does only when it was given room by this.
    pub fn remembering() -> LastHead {
        LastHead { bytes: Vec::with_capacity(LONGEST), said: None }
    }

    /// Reads the head at the beginning of `bytes`, the answer to a HEAD request or not. `None`: it has no end yet.
    ///
    /// # Errors
    /// The cause, when it is none.
    pub(super) fn read(&mut self, bytes: &[u8], is_head_request: bool) -> Result<Option<Head>, Cause> {
        if let Some((to, head)) = self.said
            && to == is_head_request
            && bytes.starts_with(&self.bytes)
        {
            return Ok(Some(head));
        }
        let head = parse_head(bytes, is_head_request)?;
        if let Some(head) = head.filter(|head| head.length <= self.bytes.capacity()) {
            self.bytes.clear();
            self.bytes.extend_from_slice(&bytes[..head.length]);
            self.said = Some((is_head_request, head));
        }
        Ok(head)
    }
}
