//! Rows that `--prompts` makes.

use std::sync::Arc;

/// Rows of `--prompts`, as JSON lines.
#[derive(Clone, Debug)]
pub(crate) struct MadeRows {
    pub json_lines: Arc<[u8]>,
    /// Each row has the whole body of its request.
    pub are_bodies: bool,
}
