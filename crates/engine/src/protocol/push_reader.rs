//! Readers of what a peer sends without being asked.

use truetail_model::time::Timestamp;

/// Reader of the pushes on the subscribed channels of a worker. `channel` is a number that means one channel of the
/// worker for all of the run.
pub trait PushReader {
    /// Called when the subscription of a channel is complete, at `at`. Pushes follow.
    fn begin_channel(&mut self, channel: u32, at: Timestamp);
    /// Called with a part of a push.
    fn push_part(&mut self, channel: u32, part: &[u8]);
    /// Called when a push is complete. It was in the read that
    /// [`AnswerReader::arrive`](super::observer::AnswerReader::arrive) told last.
    fn end_push(&mut self, channel: u32);
    /// Tells the wall time of the origin of the run's clock, in nanoseconds since 1970; `None` if the wall clock
    /// was set. Called before each read.
    fn set_origin(&mut self, unix_ns: Option<u64>) {
        let _ = unix_ns;
    }
    /// Called when the load begins, if channels were opened before it. Earlier instants were of another clock. The
    /// channels that have begun go on.
    fn begin_load(&mut self) {}
    /// Called when a channel ended, at the instant that `arrive` told last. `is_lost`: the peer ended it, or broke its
    /// framing.
    fn end_channel(&mut self, channel: u32, is_lost: bool);
}
