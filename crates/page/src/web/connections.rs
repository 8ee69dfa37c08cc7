//! The open connections, and their limit.

use std::collections::BTreeMap;
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Maximum number of connections. A browser opens up to six, and Prometheus one.
pub(super) const MAX_CONNECTIONS: usize = 64;
/// Time that a response may take although another client needs its place. After that time the connection is closed; a
/// browser opens a stream of events again.
const KEPT_FOR: Duration = Duration::from_secs(1);

/// The open connections by number, the oldest first.
#[derive(Debug, Default)]
pub(super) struct Connections {
    open: Mutex<Open>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Open {
    next: u64,
    /// True if the server is ending, so that no new request begins.
    ending: bool,
    by_number: BTreeMap<u64, Connection>,
}

#[derive(Debug)]
struct Connection {
    stream: Arc<TcpStream>,
    /// Time at which the answer to a complete request began; `None` between two requests.
    busy_since: Option<Instant>,
}

impl Open {
    /// Closes a connection, so that a new one has its place. Closes the oldest idle connection. If all are busy, closes
    /// the one that has been busy longest, unless it began less than [`KEPT_FOR`] ago. Returns false if it closed none.
    fn make_room(&mut self, now: Instant) -> bool {
        // Of several, this is the first and therefore the oldest. An idle one has no instant, which is the least.
        let slowest = self.by_number.iter().min_by_key(|(_, connection)| connection.busy_since);
        let is_kept = |connection: &Connection| connection.busy_since.is_some_and(|since| now < since + KEPT_FOR);
        let number = slowest.filter(|(_, connection)| !is_kept(connection)).map(|(number, _)| *number);
        number.inspect(|number| close(self.by_number.remove(number))).is_some()
    }
}

impl Connections {
    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a connection, and returns its number. If all places are taken, it gets the place of an idle or slow client.
    /// So a client that sends nothing, half a request, or does not read never locks out another. Returns `None` if no
    /// connection may be closed.
    pub(super) fn enter(&self, stream: &Arc<TcpStream>, now: Instant) -> Option<u64> {
        let mut open = self.open();
        if open.by_number.len() >= MAX_CONNECTIONS && !open.make_room(now) {
            return None;
        }
        let number = open.next;
        open.next += 1;
        open.by_number.insert(number, Connection { stream: Arc::clone(stream), busy_since: None });
        Some(number)
    }

    /// Marks a connection as busy since an instant, or as idle. Returns false if it must be closed.
    pub(super) fn set_busy(&self, number: u64, since: Option<Instant>) -> bool {
        let mut open = self.open();
        let ending = open.ending;
        let Some(connection) = open.by_number.get_mut(&number) else { return false };
        connection.busy_since = since;
        self.changed.notify_all();
        !ending
    }

    pub(super) fn leave(&self, number: u64) {
        close(self.open().by_number.remove(&number));
        self.changed.notify_all();
    }

    pub(super) fn is_ending(&self) -> bool {
        self.open().ending
    }

    /// Closes idle connections, lets busy ones finish for at most `patience`, and then closes these too.
    pub(super) fn end(&self, patience: Duration) {
        let mut open = self.open();
        open.ending = true;
        open.by_number
            .values()
            .filter(|connection| connection.busy_since.is_none())
            .for_each(|idle| shut(&idle.stream));
        let busy = |open: &mut Open| open.by_number.values().any(|connection| connection.busy_since.is_some());
        let waited = self.changed.wait_timeout_while(open, patience, busy);
        let open = waited.unwrap_or_else(PoisonError::into_inner).0;
        open.by_number.values().for_each(|connection| shut(&connection.stream));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.open().by_number.is_empty()
    }

    /// Waits until all connections are closed, for at most `patience`.
    pub(super) fn wait_until_empty(&self, patience: Duration) {
        let left = |open: &mut Open| !open.by_number.is_empty();
        drop(self.changed.wait_timeout_while(self.open(), patience, left));
    }
}

fn close(connection: Option<Connection>) {
    connection.iter().for_each(|connection| shut(&connection.stream));
}

/// Wakes the thread of the connection. An error means that it is already closed.
fn shut(stream: &TcpStream) {
    let _ = stream.shutdown(Shutdown::Both);
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    /// Clients that read nothing keep their places for a second, and then the longest busy makes room.
    #[test]
    fn responses_that_are_not_read_lock_out_no_other_client() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = Arc::new(TcpStream::connect(listener.local_addr().unwrap()).unwrap());
        let connections = Connections::default();
        let begin = Instant::now();
        let at = |ms: u64| begin + Duration::from_millis(ms);
        for i in 0..MAX_CONNECTIONS as u64 {
            assert_eq!(connections.enter(&stream, at(0)), Some(i));
            assert!(connections.set_busy(i, Some(at(100 - i))));
        }
        assert_eq!(connections.enter(&stream, at(1_000)), None, "all are served, none for a second");
        let last = MAX_CONNECTIONS as u64 - 1;
        assert_eq!(connections.enter(&stream, at(1_050)), Some(last + 1));
        assert!(!connections.set_busy(last, None), "the longest busy one is closed");
        // An idle one makes room before any that is busy.
        assert_eq!(connections.enter(&stream, at(9_000)), Some(last + 2));
        assert!(connections.set_busy(last - 1, None) && !connections.set_busy(last + 1, None));
    }
}
