//! Requests that scripts make during the run.

use crate::target::request_set::RequestId;

const HEAD: &[u8] = b"HEAD ";

/// The current request of each user, in HTTP/1.1. The row of a request is its user.
#[derive(Clone, Default, Debug)]
pub(crate) struct MadeInRun {
    of_users: Vec<Vec<u8>>,
}

impl MadeInRun {
    pub(crate) fn bytes(&self, id: RequestId) -> &[u8] {
        &self.of_users[id.row as usize]
    }

    /// Returns true for a HEAD request, whose answer has no body. The script's method may differ from the target's.
    pub(crate) fn is_head_request(&self, id: RequestId) -> bool {
        self.bytes(id).starts_with(HEAD)
    }

    /// Returns the buffer for the next request of a user.
    pub(crate) fn request_of(&mut self, user: u32) -> &mut Vec<u8> {
        let user = user as usize;
        if self.of_users.len() <= user {
            self.of_users.resize_with(user + 1, Vec::new);
        }
        &mut self.of_users[user]
    }
}
