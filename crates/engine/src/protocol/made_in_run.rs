//! Requests that scripts make during the run.

use crate::target::request_parts::{RequestParts, RequestView};
use crate::target::request_set::RequestId;

const HEAD: &[u8] = b"HEAD ";
/// Memory that a request leaves to the next one in its place: 1 MiB.
const MAX_KEPT_BYTES: usize = 1 << 20;

/// The requests in flight. The row of a request is its tag.
#[derive(Clone, Default, Debug)]
pub(crate) struct MadeInRun {
    by_row: Vec<RequestParts>,
}

impl MadeInRun {
    pub(crate) fn view(&self, id: RequestId) -> RequestView<'_> {
        self.by_row[id.row as usize].view()
    }

    /// Returns true for a HEAD request, whose answer has no body. The script's method may differ from the target's.
    pub(crate) fn is_head_request(&self, id: RequestId) -> bool {
        self.view(id).http1_bytes().starts_with(HEAD)
    }

    /// Returns the place of the request that begins next, which has this row.
    pub(crate) fn request_of(&mut self, row: u32) -> &mut RequestParts {
        let row = row as usize;
        if self.by_row.len() <= row {
            self.by_row.resize_with(row + 1, RequestParts::default);
        }
        // A large request does not keep its memory for each later one.
        if self.by_row[row].buffer().capacity() > MAX_KEPT_BYTES {
            self.by_row[row] = RequestParts::default();
        }
        &mut self.by_row[row]
    }
}
