//! Requests that are made while the run goes on, in the form in which scripts write them.

use crate::target::request_set::{RequestId, RequestSet};

/// The request under way of each user, in HTTP/1.1. The row of a request is its user.
#[derive(Clone, Debug)]
pub(crate) struct MadeInRun {
    /// The methods of the steps.
    steps: RequestSet,
    of_users: Vec<Vec<u8>>,
}

impl MadeInRun {
    pub(crate) fn new(steps: RequestSet) -> MadeInRun {
        MadeInRun { steps, of_users: Vec::new() }
    }

    /// Head and body of a request.
    pub(crate) fn bytes(&self, id: RequestId) -> &[u8] {
        &self.of_users[id.row as usize]
    }

    /// It is a HEAD request: its answer has no body.
    pub(crate) fn is_head_request(&self, id: RequestId) -> bool {
        self.steps.is_head_request(id)
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
