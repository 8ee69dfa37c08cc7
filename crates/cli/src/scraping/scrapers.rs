//! All services of a run that are read.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use truetail_engine::Control;
use truetail_model::time::Nanos;
use truetail_run::Run;

use super::scraper::Scraper;
use crate::args::scrape::ScrapeArgs;
use crate::background::BackgroundThread;
use crate::error::{Result, runtime_error, usage_error};
use crate::output;

/// Limit on the services of a run.
const MOST: usize = 16;

/// Services that were read once, before the run.
#[derive(Debug, Default)]
pub(crate) struct Scrapers(Vec<Scraper>);

impl Scrapers {
    /// Checks the options.
    ///
    /// # Errors
    /// If two services have one name, or if there are too many.
    pub(crate) fn check(args: &ScrapeArgs) -> Result<()> {
        if args.scrape.len() > MOST {
            return Err(usage_error(format!("--scrape reads at most {MOST} services, not {}", args.scrape.len())));
        }
        let mut names = HashSet::new();
        match args.scrape.iter().find(|target| !names.insert(&target.name)) {
            Some(twice) => Err(usage_error(format!(
                "--scrape has two services with the name '{}'; add =NAME to the URL of one",
                twice.name
            ))),
            None => Ok(()),
        }
    }

    /// Reads each service once, so that a wrong address ends the command before anything is sent.
    ///
    /// # Errors
    /// If a service cannot be read, or does not publish metrics.
    pub(crate) fn prepare(args: &ScrapeArgs) -> Result<Scrapers> {
        let scraper = |target| {
            Scraper::new(target, &args.scrape_show).map_err(|problem| {
                runtime_error(format!(
                    "--scrape {}: no metrics could be read, because {problem}; give the address of a page in the text format of \
                     Prometheus",
                    target.url
                ))
            })
        };
        args.scrape.iter().map(scraper).collect::<Result<_>>().map(Scrapers)
    }

    /// Returns the number of open files that reading needs during the run.
    pub(crate) fn files(args: &ScrapeArgs) -> u64 {
        args.scrape.len() as u64
    }

    /// Reads the services again, and then each in a thread behind the workers of the run.
    pub(crate) fn start(self, control: &Control, warmup: Nanos) -> RunningScrapers {
        let start = |mut scraper: Scraper| {
            scraper.begin();
            let shared = Arc::new(Mutex::new(Some(scraper)));
            let of_thread = Arc::clone(&shared);
            let control = control.clone();
            let thread = BackgroundThread::start_behind_workers("scraper", move |ended| {
                let mut scraper = of_thread.lock().unwrap_or_else(PoisonError::into_inner);
                scraper.iter_mut().for_each(|scraper| scraper.read_until(ended, &control, warmup));
            });
            if let Err(error) = &thread {
                output::note(&format!("--scrape: cannot read during the run, only before and after it: {error}"));
            }
            (thread.ok(), shared)
        };
        RunningScrapers { threads: self.0.into_iter().map(start).collect(), control: control.clone() }
    }
}

/// A scraper that a thread holds until it ends.
type Shared = Arc<Mutex<Option<Scraper>>>;

/// Services that are read during a run.
#[derive(Debug)]
pub(crate) struct RunningScrapers {
    threads: Vec<(Option<BackgroundThread>, Shared)>,
    control: Control,
}

impl RunningScrapers {
    /// Reads the services a last time, and adds what they published to the run.
    pub(crate) fn end(self, run: &mut Run) {
        for (thread, shared) in self.threads {
            drop(thread);
            let scraper = shared.lock().unwrap_or_else(PoisonError::into_inner).take();
            let at = self.control.elapsed().unwrap_or(Nanos(run.facts.elapsed_ns));
            run.facts.scrapes.extend(scraper.map(|scraper| scraper.end(at, &run.snapshot.tally)));
        }
    }
}
