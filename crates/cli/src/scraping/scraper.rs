//! The pages of a service over a run.

use std::mem;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use truetail_engine::{Control, host};
use truetail_model::record::Tally;
use truetail_model::time::Nanos;
use truetail_run::Scrape;
use truetail_scrape::{Exposition, Pattern, Watch};

use super::endpoint::Endpoint;
use crate::args::scrape::ScrapeTarget;
use crate::background::rest_after;

/// Shortest time from one page to the next.
const EVERY: Duration = Duration::from_secs(1);
/// Time to wait for the run to begin, if the end of its warm-up matters.
const LOOK: Duration = Duration::from_millis(50);
/// Time limits of a read: before and after the run, and during it.
const OUTSIDE: Duration = Duration::from_secs(5);
const DURING: Duration = Duration::from_secs(2);

/// Reads the metrics of a service.
#[derive(Debug)]
pub(super) struct Scraper {
    name: String,
    endpoint: Endpoint,
    shown: Vec<Pattern>,
    watch: Watch,
    reads: u64,
    failed: u64,
    problem: Option<String>,
    /// Time since the origin when counting began; `None` until the warm-up is over.
    counts_from: Option<Nanos>,
}

impl Scraper {
    /// Reads the first page. Fails with the reason in a line.
    pub(super) fn new(target: &ScrapeTarget, shown: &[Pattern]) -> Result<Scraper, String> {
        let endpoint = Endpoint::new(target.url.clone());
        let first = endpoint.read(OUTSIDE)?;
        Ok(Scraper {
            name: target.name.clone(),
            endpoint,
            shown: shown.to_vec(),
            watch: Watch::new(&first, shown.to_vec()),
            reads: 1,
            failed: 0,
            problem: None,
            counts_from: None,
        })
    }

    /// Reads the page again shortly before the run, so that requests before it are not counted.
    pub(super) fn begin(&mut self) {
        if let Some(page) = self.read(DURING) {
            self.watch = Watch::new(&page, mem::take(&mut self.shown));
        }
    }

    /// Reads pages until the run of `control` has ended. Requests count from the end of the warm-up.
    pub(super) fn read_until(&mut self, ended: &Receiver<()>, control: &Control, warmup: Nanos) {
        self.counts_from = warmup.is_zero().then_some(Nanos::ZERO);
        let mut wait = EVERY;
        while ended.recv_timeout(self.not_beyond(warmup, control, wait)) == Err(RecvTimeoutError::Timeout) {
            let Some(at) = control.elapsed().filter(|_| !control.has_ended()) else { continue };
            let before = host::thread_cpu_time();
            if let Some(page) = self.read(DURING) {
                self.add(at, &page, warmup);
            }
            wait = rest_after(host::thread_cpu_time().saturating_sub(before), EVERY);
        }
    }

    /// Returns the time to wait: not beyond the end of the warm-up, if that is still to come.
    fn not_beyond(&self, warmup: Nanos, control: &Control, wait: Duration) -> Duration {
        match (self.counts_from, control.elapsed()) {
            (Some(_), _) => wait,
            (None, None) => LOOK,
            (None, Some(now)) => wait.min(Duration::from(warmup.saturating_sub(now))).max(Duration::from_millis(1)),
        }
    }

    fn add(&mut self, at: Nanos, page: &Exposition, warmup: Nanos) {
        self.watch.add(at, page);
        if self.counts_from.is_none() && at >= warmup {
            self.watch.begin_measuring();
            self.counts_from = Some(at);
        }
    }

    fn read(&mut self, timeout: Duration) -> Option<Exposition> {
        match self.endpoint.read(timeout) {
            Ok(page) => {
                self.reads += 1;
                Some(page)
            }
            Err(problem) => {
                self.failed += 1;
                self.problem.get_or_insert(problem);
                None
            }
        }
    }

    /// Reads the last page, at this time since the origin, and returns what the pages say about the run.
    pub(super) fn end(mut self, at: Nanos, tally: &Tally) -> Scrape {
        if let Some(page) = self.read(OUTSIDE) {
            self.watch.add(at, &page);
        }
        Scrape {
            name: self.name,
            url: self.endpoint.url,
            reads: self.reads,
            failed: self.failed,
            problem: self.problem,
            from_ns: self.counts_from.unwrap_or(Nanos::ZERO).0,
            left_out: self.watch.left_out(),
            histograms: self.watch.histograms(tally),
            series: self.watch.series(),
        }
    }
}
