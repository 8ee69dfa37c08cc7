//! Sends requests, and determines the actual start of each: the instant just before the transport took its first byte.

use truetail_model::time::Timestamp;

use super::{Worker, receiver};
use crate::placement::Placement;
use crate::protocol::{Closed, Conversation, Protocol, Tag};
use crate::worker_instant::WorkerInstant;

impl<P: Protocol, L: Placement<P>> Worker<P, L> {
    /// Sends on every connection that may have something to send.
    pub(super) fn flush_all(&mut self) {
        // The second round is for requests that the first moved to another connection.
        for _ in 0..2 {
            self.place_waiting();
            let dirty = self.connections.take_dirty();
            if dirty.is_empty() {
                return;
            }
            for slot in &dirty {
                let now = self.clock.now();
                self.flush(*slot, now);
            }
            self.connections.restore_dirty(dirty);
        }
    }

    /// Hands a connection's output to the transport, starting at `now`, until the transport takes no more.
    #[inline]
    pub(super) fn flush(&mut self, slot: u32, mut now: Timestamp) {
        loop {
            let Some(connection) = self.connections.open(slot) else { return };
            connection.noted.is_dirty = false;
            let wanted = connection.conversation.output(&self.protocol).len();
            let (taken, written) = connection.write(&self.protocol);
            connection.conversation.sent(&self.protocol, taken, now, &mut self.events);
            self.handle_events(slot, now, None);
            if written.is_err() {
                return self.fail_sending(slot, taken == 0);
            }
            let since = self.clock.since(now);
            let Some(connection) = self.connections.open(slot) else { return };
            if taken < wanted || connection.transport.has_more_to_send() {
                return self.connections.block(slot, since);
            }
            let is_done = connection.conversation.output(&self.protocol).is_empty();
            if is_done && connection.conversation.waits_for_window() {
                self.connections.note_deadline(slot);
                return self.connections.block(slot, since);
            }
            self.connections.unblock(slot);
            self.connections.note_deadline(slot);
            if is_done {
                return;
            }
            now = self.clock.now();
        }
    }

    /// Handles a failed write. Unread bytes may explain the failure and may contain answers, so they are read first. No
    /// answer can exist for the first request on an idle connection that took no byte.
    #[cold]
    fn fail_sending(&mut self, slot: u32, took_nothing: bool) {
        let token = self.connections.pool.token(slot);
        let Some(connection) = self.connections.open(slot) else { return };
        let is_in_order = connection.conversation.answers_in_order();
        let is_unasked = is_in_order && took_nothing && connection.was_idle && connection.blocked.is_none();
        if !is_unasked {
            self.read(token, true, receiver::READS_AT_LAST);
        }
        if self.connections.pool.find(token).is_some() {
            let now = self.clock.now();
            self.handle_lost_connection(slot, Closed::Reset, now, None);
        }
    }

    /// Records that the transport took the first byte of a request at `now`. The time while the connection took no
    /// bytes, although the worker had tried to send, is connection wait.
    #[inline]
    pub(super) fn mark_started(&mut self, tag: Tag, now: WorkerInstant, blocked: Option<WorkerInstant>) {
        let exchange = self.in_flight.get(tag);
        if let Some(blocked) = blocked {
            let since = if blocked.instant > exchange.began.instant { blocked } else { exchange.began };
            exchange.connection_wait += since.elapsed_without_pauses(now);
        }
        self.in_flight.start(tag, now, self.config.share.workers == 1);
    }

    /// Records that the transport took the last byte of a request at `now`, after it had stopped in the middle.
    pub(super) fn request_sent(&mut self, tag: Tag, now: WorkerInstant) {
        let exchange = self.in_flight.get(tag);
        exchange.rare().send_wait = Some(exchange.started.elapsed_without_pauses(now));
    }
}
