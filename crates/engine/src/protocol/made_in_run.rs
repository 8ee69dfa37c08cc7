//! Requests that scripts make during the run.

use crate::target::request_set::RequestId;

const HEAD: &[u8] = b"HEAD ";

/// The current request of each user, in HTTP/1.1. The row of a request is its user.
#[derive(Clone, Default, Debug)]
pub(crate) struct MadeInRun {
    by_user: Vec<Vec<u8>>,
}

impl MadeInRun {
    pub(crate) fn bytes(&self, id: RequestId) -> &[u8] {
        &self.by_user[id.row as usize]
    }

    /// Returns true for a HEAD request, whose answer has no body. The script's method may differ from the target's.
    pub(crate) fn is_head_request(&self, id: RequestId) -> bool {
        self.bytes(id).starts_with(HEAD)
    }

    /// Returns the buffer for the next request of a user.
    pub(crate) fn request_of(&mut self, user: u32) -> &mut Vec<u8> {
        let user = user as usize;
        if self.by_user.len() <= user {
            self.by_user.resize_with(user + 1, Vec::new);
        }
        &mut self.by_user[user]
    }
}
