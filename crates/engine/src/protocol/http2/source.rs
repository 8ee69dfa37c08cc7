//! Sources of the fields of requests.

use std::fmt::Debug;
use std::sync::Arc;

use super::field_blocks::{FieldBlock, FieldBlocks, PlainBlock, TableUse};
use crate::target::request_parts::RequestParts;
use crate::target::request_set::RequestId;

/// Source of the fields of requests, chosen at compile time: blocks that were made before the run cost nothing extra.
pub(crate) trait FieldSource: Clone + Debug + Send + 'static {
    type Block<'a>: RequestBlock<'a>
    where
        Self: 'a;

    fn get(&self, id: RequestId) -> Self::Block<'_>;

    /// Returns the place of the request that begins next, which has this row.
    fn request_of(&mut self, row: u32) -> &mut RequestParts {
        unreachable!("requests were made before the run, and row {row} has none of its own")
    }
}

/// One request: its fields, and the body that follows them.
pub(crate) trait RequestBlock<'a>: Copy {
    fn body(&self) -> &'a [u8];

    /// Returns true if the answer has no body.
    fn is_head_request(&self) -> bool;

    /// Appends the fields to `out` in this form. Returns the form of the next block on the connection.
    fn put(&self, form: TableUse, out: &mut Vec<u8>) -> TableUse;
}

impl FieldSource for Arc<FieldBlocks> {
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

impl<'a> RequestBlock<'a> for PlainBlock<'a> {
    fn body(&self) -> &'a [u8] {
        &[]
    }

    fn is_head_request(&self) -> bool {
        false
    }

    fn put(&self, form: TableUse, out: &mut Vec<u8>) -> TableUse {
        out.extend_from_slice(self.0);
        form
    }
}
