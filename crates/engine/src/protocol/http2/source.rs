//! Where the fields of requests come from.

use std::fmt::Debug;
use std::sync::Arc;

use super::field_blocks::{FieldBlock, FieldBlocks, TableUse};
use crate::target::request_set::RequestId;

/// Where the fields of requests come from. It is chosen when the program is compiled: blocks that were made before the run cost
/// nothing more because others can be made in it.
pub(crate) trait FieldSource: Clone + Debug + Send + 'static {
    /// They are made while the run goes on.
    const IS_MADE_IN_RUN: bool;

    /// One request.
    type Block<'a>: RequestBlock<'a>
    where
        Self: 'a;

    /// The request that `id` means.
    fn get(&self, id: RequestId) -> Self::Block<'_>;

    /// The place for the next request of a user.
    fn request_of(&mut self, user: u32) -> &mut Vec<u8> {
        unreachable!("requests were made before the run, and user {user} has none of its own")
    }
}

/// One request: its fields, and what is sent behind them.
pub(crate) trait RequestBlock<'a>: Copy {
    /// Its body.
    fn body(&self) -> &'a [u8];

    /// Its answer has no body.
    fn is_head_request(&self) -> bool;

    /// Adds the fields to `out`, in this form. Returns the form of the next block on the connection.
    fn put(&self, form: TableUse, out: &mut Vec<u8>) -> TableUse;
}

impl FieldSource for Arc<FieldBlocks> {
    const IS_MADE_IN_RUN: bool = false;

    type Block<'a> = FieldBlock<'a>;

    #[inline]
    fn get(&self, id: RequestId) -> FieldBlock<'_> {
        FieldBlocks::get(self, id)
    }
}

impl<'a> RequestBlock<'a> for FieldBlock<'a> {
    #[inline]
    fn body(&self) -> &'a [u8] {
        self.body
    }

    #[inline]
    fn is_head_request(&self) -> bool {
        self.is_head_request
    }

    #[inline]
    fn put(&self, form: TableUse, out: &mut Vec<u8>) -> TableUse {
        FieldBlock::put(self, form, out)
    }
}
