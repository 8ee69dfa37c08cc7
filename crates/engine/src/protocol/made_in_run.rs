//! Requests that scripts make during the run.

use crate::target::request_parts::{RequestParts, RequestView};
use crate::target::request_set::RequestId;

const HEAD: &[u8] = b"HEAD ";

/// The current request of each user. The row of a request is its user.
#[derive(Clone, Default, Debug)]
pub(crate) struct MadeInRun {
    by_user: Vec<RequestParts>,
}

impl MadeInRun {
    pub(crate) fn view(&self, id: RequestId) -> RequestView<'_> {
        self.by_user[id.row as usize].view()
    }

    /// Returns true for a HEAD request, whose answer has no body. The script's method may differ from the target's.
    pub(crate) fn is_head_request(&self, id: RequestId) -> bool {
        self.view(id).http1_bytes().starts_with(HEAD)
    }

    /// Returns the place of the next request of a user.
    pub(crate) fn request_of(&mut self, user: u32) -> &mut RequestParts {
        let user = user as usize;
        if self.by_user.len() <= user {
            self.by_user.resize_with(user + 1, RequestParts::default);
        }
        &mut self.by_user[user]
    }
}
