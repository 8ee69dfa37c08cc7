//! What goes out: all that is due on a connection in one write.

use super::super::{READS_AT_LAST, Worker};
use super::reading::End;
use crate::connection::Phase;

impl Worker {
    /// Sends on every connection that may have something to send.
    pub(in super::super) fn send_all(&mut self) {
        let Some(links) = self.links.as_deref_mut() else { return };
        if links.dirty.is_empty() {
            return;
        }
        let mut dirty = std::mem::take(&mut links.dirty);
        for link in dirty.drain(..) {
            self.send_on(link);
        }
        // What has become dirty meanwhile is sent in the next turn.
        let links = self.links();
        dirty.append(&mut links.dirty);
        links.dirty = dirty;
    }

    /// Hands to the transport what a connection has to say, as much as it takes. The instant just before it took the first
    /// byte of a request is the actual start of that.
    pub(super) fn send_on(&mut self, link: u32) {
        if self.hand_over(link) {
            let links = self.links();
            // It may read again, after it had not.
            if links.pool.is_taken(link) && links.pool.get(link).session.has_changed() {
                let now = self.now();
                self.tidy(link, now);
            }
        } else {
            // What has come before may explain it, and some of it may be answers.
            let token = self.links().pool.token(link);
            self.read_link(token, true, READS_AT_LAST);
            if self.links().pool.find(token).is_some() {
                let now = self.now();
                self.link_ended(link, End::Reset, now);
            }
        }
    }

    /// Whether the connection can go on.
    fn hand_over(&mut self, slot: u32) -> bool {
        loop {
            let (now, paused) = (self.now(), self.watch.total());
            let links = self.links();
            if !links.pool.is_taken(slot) || links.pool.get(slot).connection.phase != Phase::Busy {
                return true;
            }
            let link = links.pool.get(slot);
            link.is_dirty = false;
            link.connection.exchange.written = 0;
            let written = link.connection.write(link.session.to_send());
            let taken = link.session.sent(link.connection.exchange.written);
            while let Some(stream) = links.next_sent(slot, taken) {
                (stream.exchange.actual_start, stream.exchange.paused_by_then) = (now, paused);
            }
            let link = links.pool.get(slot);
            let is_blocked = !link.session.to_send().is_empty() || link.connection.transport.has_more_to_send();
            if written.is_err() || is_blocked {
                return written.is_ok();
            }
            links.go_on_with_bodies(slot);
            if links.pool.get(slot).session.to_send().is_empty() {
                return true;
            }
        }
    }
}
