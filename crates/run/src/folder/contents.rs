//! The files of a run, whether they go to a folder or into a text.

use std::io::{self, Write};

use super::{
    FAILED_ANSWERS, HISTOGRAMS, RUN, SAMPLES, SCRAPES, SERVER_TIMING, SESSIONS, STREAMS, TIMELINE, failed_answers,
    hlog, reported, samples, scraped, timeline,
};
use crate::TraceFacts;
use crate::wire::v1::{self, RunFile};
use crate::{Findings, Run, SampledSessions, ServerTiming, StreamDetail};

/// The files of a run. `run.json` is last: if it exists, the others do too.
pub(super) struct Contents<'a> {
    run: &'a Run,
    run_file: RunFile,
}

impl<'a> Contents<'a> {
    pub(super) fn new(run: &'a Run, findings: &Findings) -> Contents<'a> {
        Contents { run, run_file: v1::run_file(run, findings) }
    }

    pub(super) fn names(&self) -> Vec<&'static str> {
        let failed = (!self.run.facts.failed_answers.is_empty()).then_some(FAILED_ANSWERS);
        let streams = self.streams().map(|_| STREAMS);
        let sessions = self.sessions().map(|_| SESSIONS);
        let reported = self.reported().map(|_| SERVER_TIMING);
        let scraped = self.has_series().then_some(SCRAPES);
        failed
            .into_iter()
            .chain(reported)
            .chain(scraped)
            .chain(streams)
            .chain(sessions)
            .chain([HISTOGRAMS, TIMELINE, SAMPLES, RUN])
            .collect()
    }

    fn streams(&self) -> Option<&'a StreamDetail> {
        self.run.facts.stream.as_ref()?.detail.as_ref()
    }

    fn sessions(&self) -> Option<&'a SampledSessions> {
        self.run.facts.sessions.as_ref()?.sampled.as_ref()
    }

    fn has_series(&self) -> bool {
        self.run.facts.scrapes.iter().any(|scrape| !scrape.series.is_empty())
    }

    fn reported(&self) -> Option<&'a ServerTiming> {
        self.run.facts.server_timing.as_ref().filter(|timing| !timing.times.is_empty())
    }

    /// Writes the file of this name, one of [`Contents::names`].
    pub(super) fn write(&self, name: &str, mut out: impl Write) -> io::Result<()> {
        let Run { facts, snapshot } = self.run;
        match name {
            FAILED_ANSWERS => failed_answers::write(&mut out, &facts.failed_answers),
            SERVER_TIMING => self.reported().map_or(Ok(()), |timing| reported::write(out, timing)),
            SCRAPES => scraped::write(out, &facts.scrapes),
            STREAMS => serde_json::to_writer(out, &self.streams()).map_err(io::Error::from),
            SESSIONS => serde_json::to_writer(out, &self.sessions()).map_err(io::Error::from),
            HISTOGRAMS => hlog::write(out, facts, snapshot, self.run_file.recorded.intervals),
            TIMELINE => timeline::write(out, snapshot),
            SAMPLES => {
                let ids = facts.trace.as_ref().and_then(TraceFacts::ids);
                samples::write(out, &snapshot.samples, ids, facts.kept_headers.as_ref(), facts.stream.as_ref())
            }
            _ => out.write_all(self.run_file.to_json().as_bytes()),
        }
    }
}
