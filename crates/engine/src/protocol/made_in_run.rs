//! Requests that are made while the run goes on, in the form in which scripts write them.

use crate::target::request_set::RequestId;

/// What a HEAD request begins with.
const HEAD: &[u8] = b"HEAD ";

/// The request under way of each user, in HTTP/1.1. The row of a request is its user.
#[derive(Clone, Default, Debug)]
pub(crate) struct MadeInRun {
    of_users: Vec<Vec<u8>>,
}

impl MadeInRun {
    /// Head and body of a request.
    pub(crate) fn bytes(&self, id: RequestId) -> &[u8] {
        &self.of_users[id.row as usize]
    }

    /// It is a HEAD request: its answer has no body. The script may ask in another way than the target of the step says.
    pub(crate) fn is_head_request(&self, id: RequestId) -> bool {
        self.bytes(id).starts_with(HEAD)
    }

    /// The place for the next request of a user.
    pub(crate) fn request_of(&mut self, user: u32) -> &mut Vec<u8> {
        let user = user as usize;
        if self.of_users.len() <= user {
            self.of_users.resize_with(user + 1, Vec::new);
        }
        &mut self.of_users[user]
    }
}
