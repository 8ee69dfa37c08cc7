//! Messages of `truetail k8s run` during the run.

use std::time::{Duration, Instant};

use truetail_cluster::{Event, Progress};
use truetail_model::time::Nanos;
use truetail_report::{RunProgress, Style, progress_line, progress_text};

use crate::resolve::stripe::seconds;
use crate::{output, progress};

/// Time from one progress line to the next if standard error is no terminal.
const NEXT_LINE: Duration = Duration::from_secs(10);

/// Messages for the user, and what they need to know.
pub(super) struct Telling {
    pub(super) job: String,
    pub(super) shards: u32,
    /// Length of the load and number of its requests, as far as known.
    pub(super) total: Option<Nanos>,
    pub(super) requests: Option<u64>,
    pub(super) quiet: bool,
    pub(super) last_line: Option<Instant>,
}

impl Telling {
    pub(super) fn tell(&mut self, event: Event) {
        if let Event::Progress(progress) = event {
            return self.show(progress);
        }
        progress::clear_line();
        let is_news_only = matches!(event, Event::Created | Event::Waiting { .. } | Event::Begins(_));
        if self.quiet && is_news_only {
            return;
        }
        output::note(&self.said(event));
    }

    fn said(&self, event: Event) -> String {
        let of = self.shards;
        match event {
            Event::Created => format!("created job/{} with {of} pods", self.job),
            Event::Waiting { ready, why } => format!("{ready} of {of} pods are ready; {why}"),
            Event::Begins(lead) => format!("all {of} pods are ready; beginning in {}", seconds(lead)),
            Event::Lost(why) => format!("lost: {why}"),
            Event::Trouble(why) => format!("{why}; trying again"),
            Event::Stopping => {
                "stopping: no more requests, waiting for answers; Ctrl-C again to give up what is not there".to_owned()
            }
            Event::Left(left) => format!("may still be there: {}; remove it with kubectl delete", left.join(", ")),
            Event::Progress(_) => String::new(),
        }
    }

    fn show(&mut self, progress: Progress) {
        if self.quiet || progress.sent.planned == 0 {
            return;
        }
        let now = RunProgress {
            elapsed: Nanos(progress.sent.elapsed_ns),
            total: self.total,
            requests: self.requests,
            planned: progress.sent.planned,
            sent: progress.sent.sent,
            answered: progress.sent.answered,
            failed: progress.sent.failed,
            in_flight: progress.sent.in_flight,
            sent_per_second: progress.sent.sent_per_second,
            ..RunProgress::default()
        };
        let results = format!("{} of {} results", progress.gathered, progress.of);
        match output::stderr_terminal() {
            Some(style) => {
                let room = Style { width: style.width.saturating_sub(results.len() + 2), ..style };
                output::write_stderr(&format!("\r\x1b[K{}  {results}", progress_line(&now, room)));
            }
            None if self.last_line.is_none_or(|last| last.elapsed() >= NEXT_LINE) => {
                self.last_line = Some(Instant::now());
                let style = Style { color: false, width: 80, unicode: output::stdout_style().unicode };
                output::write_stderr(&format!("{}  {results}\n", progress_text(&now, style)));
            }
            None => {}
        }
    }
}
