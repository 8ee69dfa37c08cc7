//! The open connections, and their limit.

use std::collections::BTreeMap;
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Maximum number of connections. A browser opens up to six, and Prometheus one.
pub(super) const MOST: usize = 64;

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
    /// True while a complete request is being answered.
    busy: bool,
}

impl Connections {
    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a connection, and returns its number. If all places are taken, closes the oldest connection that waits for
    /// a request, so that idle connections and partial requests lock out no client. Returns `None` if all are busy.
    pub(super) fn enter(&self, stream: &Arc<TcpStream>) -> Option<u64> {
        let mut open = self.open();
        if open.by_number.len() >= MOST {
            let (&idle, _) = open.by_number.iter().find(|(_, connection)| !connection.busy)?;
            close(open.by_number.remove(&idle));
        }
        let number = open.next;
        open.next += 1;
        open.by_number.insert(number, Connection { stream: Arc::clone(stream), busy: false });
        Some(number)
    }

    /// Marks a connection as busy or idle. Returns false if it must be closed.
    pub(super) fn set_busy(&self, number: u64, busy: bool) -> bool {
        let mut open = self.open();
        let ending = open.ending;
        let Some(connection) = open.by_number.get_mut(&number) else { return false };
        connection.busy = busy;
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
        open.by_number.values().filter(|connection| !connection.busy).for_each(|idle| shut(&idle.stream));
        let busy = |open: &mut Open| open.by_number.values().any(|connection| connection.busy);
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
