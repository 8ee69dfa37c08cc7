//! What comes in: reading it, and saying when each answer had arrived.

use truetail_model::record::{Cause, Outcome};
use truetail_model::time::{Clock, Timestamp};

use super::super::{Moment, READ_BUFFER, READS_IN_A_ROW, Worker};
use crate::connection::Phase;
use crate::http2::{Broken, Ended};
use crate::pool::Token;
use crate::stamps::WallTime;
use crate::transport::{self, Content};

/// How a connection came to its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum End {
    /// The other side closed it.
    Closed,
    /// The other side reset it.
    Reset,
    /// TLS cannot be read on.
    Broken(transport::Broken),
}

impl End {
    fn cause(self) -> Cause {
        match self {
            End::Closed => Cause::ClosedBeforeAnswer,
            End::Reset => Cause::ResetByPeer,
            End::Broken(_) => Cause::TlsBroken,
        }
    }

    /// In TLS 1.3 the client may speak before it is accepted: where the first that is heard is an alert, it was not.
    fn is_refusal(self) -> bool {
        matches!(self, End::Broken(transport::Broken { alert: true, heard: false }))
    }
}

impl Worker {
    pub(super) fn read_link_in_turn(&mut self, token: Token, may_have_ended: bool) {
        self.read_link(token, may_have_ended, READS_IN_A_ROW);
    }

    /// Reads on where others had to have their turn.
    pub(in super::super) fn go_on_reading_link(&mut self, token: Token) {
        let Some(link) = self.links().pool.find(token) else { return };
        link.connection.unread = false;
        self.read_link(token, true, READS_IN_A_ROW);
    }

    /// Reads what there is, `most` times at most.
    pub(super) fn read_link(&mut self, token: Token, may_have_ended: bool, most: u32) {
        for _ in 0..most {
            match self.read_once(token) {
                None => return,
                // A short read took all there was, unless the end came with it.
                Some(n) if n < READ_BUFFER && !may_have_ended => return,
                Some(_) => {}
            }
        }
        if let Some(link) = self.links().pool.find(token)
            && !std::mem::replace(&mut link.connection.unread, true)
        {
            self.unread.push(token);
        }
    }

    /// Reads once and takes up what came: so many bytes. `None`: nothing more is to be read now.
    fn read_once(&mut self, token: Token) -> Option<usize> {
        let slot = token.slot();
        let link = self.links.as_deref_mut().and_then(|links| links.pool.find(token))?;
        if link.connection.phase != Phase::Busy {
            return None;
        }
        let read = link.connection.read(&mut self.buffer, self.setting.stamped);
        let now = self.setting.clock.now();
        self.watch.awake(now);
        let (n, stamp) = match read {
            Ok(Some((n @ 1.., stamp))) => (n, stamp),
            Ok(None) => return None,
            Ok(Some(_)) => return self.no_more(slot, End::Closed, now),
            Err(_) => return self.no_more(slot, End::Reset, now),
        };
        let (content, broken) = link.connection.open_up(&self.buffer[..n], &mut self.opened);
        let end = match broken {
            Some(broken) => Some(End::Broken(broken)),
            None => link.connection.transport.has_ended().then_some(End::Closed),
        };
        let fed = match content {
            Content::AsRead => {
                let buffer = std::mem::take(&mut self.buffer);
                let fed = self.feed(slot, &buffer[..n], stamp, now);
                self.buffer = buffer;
                fed
            }
            Content::Opened => {
                let opened = std::mem::take(&mut self.opened);
                let fed = self.feed(slot, &opened, stamp, now);
                self.opened = opened;
                fed
            }
        };
        if let Err(broken) = fed {
            self.link_broke(slot, broken, now);
            return None;
        }
        self.links().pool.find(token)?;
        if let Some(end) = end {
            return self.no_more(slot, end, now);
        }
        self.links().touch(slot);
        Some(n)
    }

    fn no_more(&mut self, slot: u32, end: End, now: Timestamp) -> Option<usize> {
        self.link_ended(slot, end, now);
        None
    }

    /// Gives bytes that were read at `now` to the session, and ends the requests that ended by them.
    pub(super) fn feed(
        &mut self,
        slot: u32,
        bytes: &[u8],
        stamp: Option<WallTime>,
        now: Timestamp,
    ) -> Result<(), Broken> {
        let links = self.links();
        let mut ended = std::mem::take(&mut links.ended);
        let fed = links.pool.get(slot).session.feed(bytes, &mut ended);
        let arrived = if ended.is_empty() { None } else { self.arrival(slot, stamp, now) };
        let count = ended.len();
        for (nth, one) in ended.drain(..).enumerate() {
            // What the server says it has not taken up may be asked again, whatever it is (RFC 9113, 6.8).
            let not_taken_up = one.outcome == Outcome::Reset(Cause::GoneAway) && one.received == 0;
            if not_taken_up && self.links().may_be_asked_again(one.tag) {
                self.links().make_homeless(one.tag);
                continue;
            }
            let moment = self.stream_moment(one.tag, arrived, now, nth + 1 == count);
            self.end_stream(one.tag, moment, one.outcome, one.received);
        }
        self.links().ended = ended;
        if fed.is_ok() {
            self.tidy(slot, now);
        }
        fed
    }

    /// When the last segment of what was read at `now` had arrived, where that is known.
    fn arrival(&mut self, slot: u32, stamp: Option<WallTime>, now: Timestamp) -> Option<Timestamp> {
        let arrived = self.pairing.instant(&self.setting.clock, stamp, Timestamp::ZERO, now)?;
        let unasked = self.setting.unasked_age();
        let connection = &mut self.links().pool.get(slot).connection;
        (!connection.overtaken(now.since(arrived), unasked)).then_some(arrived)
    }

    /// When an answer had arrived that was read at `now` together with others, of which the last segment had `arrived`
    /// then. The kernel stamps what it reads last, so those before it were there at that time or earlier: with a worker
    /// that runs, by microseconds. For what came while it did not run its pause is taken off.
    fn stream_moment(&mut self, slot: u32, arrived: Option<Timestamp>, now: Timestamp, last: bool) -> Moment {
        let sent = self.links().stream(slot).exchange.actual_start;
        let unstamped = self.unstamped_stream_moment(slot, now);
        match arrived.filter(|arrived| *arrived >= sent) {
            Some(arrived) if last => Moment { arrived, read: now, stamped: true },
            Some(arrived) => Moment { arrived: arrived.min(unstamped.arrived), read: now, stamped: true },
            None => {
                self.unstamped += u64::from(self.setting.stamped);
                unstamped
            }
        }
    }

    /// When something arrived that was noticed at `now`, as far as the worker's own pauses tell.
    pub(super) fn unstamped_stream_moment(&mut self, slot: u32, now: Timestamp) -> Moment {
        let exchange = self.links().stream(slot).exchange;
        self.noticed(&exchange, now)
    }

    /// The server broke the rules: the connection is given up, and with it all that it carries.
    pub(super) fn link_broke(&mut self, slot: u32, broken: Broken, now: Timestamp) {
        let links = self.links();
        let mut ended = std::mem::take(&mut links.ended);
        let link = links.pool.get(slot);
        link.session.give_up(broken, &mut ended);
        link.session.say_goodbye(Some(broken));
        link.connection.exchange.written = 0;
        // It is told why, if it still listens.
        let _ = link.connection.write(link.session.to_send());
        link.connection.phase = Phase::Idle;
        self.drop_link(slot);
        self.fail_streams(&ended, now);
        ended.clear();
        self.links().ended = ended;
        self.tell_capacity(now);
    }

    /// The connection came to its end. What it had not taken a byte of was not asked, and goes out on another one.
    pub(super) fn link_ended(&mut self, slot: u32, end: End, now: Timestamp) {
        let links = self.links();
        let mut ended = std::mem::take(&mut links.ended);
        links.pool.get(slot).session.give_up(Broken::by_the_end(end.cause()), &mut ended);
        let (again, mut lost): (Vec<Ended>, Vec<Ended>) =
            ended.drain(..).partition(|one| links.may_go_elsewhere(one.tag));
        links.ended = ended;
        links.pool.get(slot).connection.phase = Phase::Idle;
        self.drop_link(slot);
        if end.is_refusal() {
            lost.iter_mut().for_each(|one| one.outcome = Outcome::ConnectFailed(Cause::Tls));
        }
        self.fail_streams(&lost, now);
        for one in again {
            self.links().make_homeless(one.tag);
        }
        self.tell_capacity(now);
    }
}
