/// Longest message that is sent or accepted: 256 MiB.
pub(super) const MAX_MESSAGE: u64 = 256 << 20;
