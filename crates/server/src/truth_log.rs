//! Truth logs: CSV, written by a separate thread so that a slow disk never delays an answer.
//!
//! A header line, then one row per request or per event of a stream, in the order in which requests *ended*. Sort by
//! `epoch, number` for the order of arrival. Times are in nanoseconds since the start of the epoch's fault clock.
//! Missing values are empty.

use std::io::{self, BufWriter, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

use truetail_model::time::{Nanos, Timestamp};

/// A record of a truth log.
pub(crate) trait LogRow: Send + 'static {
    const HEADER: &'static str;

    /// Writes the record as one or more lines.
    fn write(&self, out: &mut impl Write) -> io::Result<()>;
}

/// Maximum number of rows in a batch for the writer.
const BATCH_ROWS: usize = 4096;
/// Maximum age of a batch. An older batch is sent even if it is not full.
const BATCH_AGE: Nanos = Nanos::from_millis(250);

/// The event loop's end of the log.
#[derive(Debug)]
pub(crate) struct TruthLog<R> {
    batch: Vec<R>,
    batch_due: Option<Timestamp>,
    sender: Sender<Vec<R>>,
    writer: JoinHandle<io::Result<()>>,
}

impl<R: LogRow> TruthLog<R> {
    /// Writes the header and starts the writer. Fails if the header cannot be written or no thread can be started.
    pub(crate) fn start(sink: Box<dyn Write + Send>) -> io::Result<TruthLog<R>> {
        let mut out = BufWriter::new(sink);
        writeln!(out, "{}", R::HEADER)?;
        out.flush()?;
        let (sender, receiver) = channel();
        let writer =
            thread::Builder::new().name("truetail-truth".to_owned()).spawn(move || write_all(out, &receiver))?;
        Ok(TruthLog { batch: Vec::with_capacity(BATCH_ROWS), batch_due: None, sender, writer })
    }

    pub(crate) fn add(&mut self, row: R, now: Timestamp) {
        self.batch.push(row);
        self.batch_due.get_or_insert(now + BATCH_AGE);
        if self.batch.len() >= BATCH_ROWS {
            self.send_batch();
        }
    }

    /// Returns the time of the next call of [`TruthLog::flush_due`], if any.
    pub(crate) fn flush_at(&self) -> Option<Timestamp> {
        self.batch_due
    }

    /// Sends the batch if it has waited long enough.
    pub(crate) fn flush_due(&mut self, now: Timestamp) {
        if self.batch_due.is_some_and(|at| at <= now) {
            self.send_batch();
        }
    }

    /// Writes the rest, and waits until it is flushed. Returns the first write error.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.send_batch();
        drop(self.sender);
        self.writer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }

    fn send_batch(&mut self) {
        self.batch_due = None;
        let batch = std::mem::replace(&mut self.batch, Vec::with_capacity(BATCH_ROWS));
        // A writer that failed has ended, and returns its error when it is joined.
        let _ = self.sender.send(batch);
    }
}

fn write_all<R: LogRow>(mut out: BufWriter<Box<dyn Write + Send>>, batches: &Receiver<Vec<R>>) -> io::Result<()> {
    for batch in batches {
        for row in &batch {
            row.write(&mut out)?;
        }
        out.flush()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::truth::{Ending, TruthRow};
    use truetail_model::service::{FaultKind, FaultSet};

    fn row() -> TruthRow {
        TruthRow {
            epoch: 1,
            number: 7,
            arrived_ns: 1_000,
            due_ns: Some(2_000),
            answered_ns: Some(2_050),
            status: Some(200),
            ending: Ending::Answered,
            faults: FaultSet::NONE,
        }
    }

    fn line(row: &TruthRow) -> String {
        let mut out = Vec::new();
        row.write(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_row_as_text() {
        assert_eq!(line(&row()), "1,7,1000,2000,2050,200,answered,\n");
        let mut faults = FaultSet::NONE;
        faults.insert(FaultKind::Queue);
        faults.insert(FaultKind::Stall);
        let nothing = TruthRow { due_ns: None, answered_ns: None, status: None, ending: Ending::Held, faults, ..row() };
        assert_eq!(line(&nothing), "1,7,1000,,,,held,stall+queue\n");
    }

    /// Accepts the header and no more.
    struct FullDisk(u32);

    impl Write for FullDisk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += 1;
            if self.0 > 1 { Err(io::Error::from(io::ErrorKind::StorageFull)) } else { Ok(bytes.len()) }
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_sink_that_fails_is_told_at_the_end() {
        let mut log = TruthLog::start(Box::new(FullDisk(0))).unwrap();
        for _ in 0..3 * BATCH_ROWS {
            log.add(row(), Timestamp::ZERO);
        }
        assert_eq!(log.finish().unwrap_err().kind(), io::ErrorKind::StorageFull);
    }

    #[test]
    fn rows_are_handed_over_when_they_have_waited_long_enough() {
        let mut log = TruthLog::start(Box::new(io::sink())).unwrap();
        assert_eq!(log.flush_at(), None);
        log.add(row(), Timestamp(5));
        log.add(row(), Timestamp(50));
        assert_eq!(log.flush_at(), Some(Timestamp(5) + BATCH_AGE));
        log.flush_due(Timestamp(100));
        assert!(log.flush_at().is_some());
        log.flush_due(Timestamp(5) + BATCH_AGE);
        assert_eq!(log.flush_at(), None);
        log.finish().unwrap();
    }
}
