//! Progress of a run on standard error: a redrawn line on a terminal, occasional plain lines elsewhere.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use truetail_cluster::{ShardLine, ShardProgress};
use truetail_engine::Control;
use truetail_model::arrival::{RateProfile, Spacing};
use truetail_model::driver::Stripe;
use truetail_model::time::Nanos;
use truetail_model::workload::LoadModel;
use truetail_report::{RunProgress, Style, progress_line, progress_text};

use crate::background::BackgroundThread;
use crate::output;

/// Time from one redraw on a terminal to the next.
const REDRAW_INTERVAL: Duration = Duration::from_millis(200);
/// Time from the start to the first plain line.
const FIRST_LINE: Duration = Duration::from_secs(1);
/// Time from one plain line to the next.
const NEXT_LINE: Duration = Duration::from_secs(10);
/// Lines for programs come at intervals of the elapsed time divided by this, or [`FIRST_LINE`]: about 800 lines a day.
const LINES_EVER: u32 = 100;
/// Window over which the shown rate is averaged.
const RATE_WINDOW: Duration = Duration::from_secs(1);
/// Requests overdue by less than this are not shown as waiting, because the workers start a moment after the run.
const GRACE: Nanos = Nanos::from_millis(50);
/// Moves to the start of the line and clears it.
const CLEAR_LINE: &str = "\r\x1b[K";

/// Shows the progress of a run until it is dropped.
pub(crate) struct ProgressReporter {
    _thread: Option<BackgroundThread>,
}

impl ProgressReporter {
    /// Shows the progress of the run of `control`. If no thread can be started, shows nothing.
    pub(crate) fn start(model: LoadModel, control: Control) -> ProgressReporter {
        ProgressReporter::showing(Figures::new(model, control))
    }

    /// Shows the progress in existing figures.
    pub(crate) fn showing(figures: Figures) -> ProgressReporter {
        ProgressReporter::spawn(move |ended| match output::stderr_terminal() {
            Some(style) => redraw(figures, style, ended),
            None => write_lines(figures, ended),
        })
    }

    /// Writes progress as lines of JSON for programs, at growing intervals.
    pub(crate) fn for_machines(figures: Figures) -> ProgressReporter {
        ProgressReporter::spawn(move |ended| write_shard_lines(figures, ended))
    }

    fn spawn(show: impl FnOnce(&Receiver<()>) + Send + 'static) -> ProgressReporter {
        ProgressReporter { _thread: BackgroundThread::start("progress", show).ok() }
    }
}

/// Clears the redrawn line before a note is written.
pub(crate) fn clear_line() {
    if output::stderr_terminal().is_some() && !output::are_notes_held() {
        output::write_stderr(CLEAR_LINE);
    }
}

fn ends_within(time: Duration, ended: &Receiver<()>) -> bool {
    ended.recv_timeout(time) != Err(RecvTimeoutError::Timeout)
}

fn redraw(mut figures: Figures, style: Style, ended: &Receiver<()>) {
    while !ends_within(REDRAW_INTERVAL, ended) {
        output::write_stderr(&format!("{CLEAR_LINE}{}", progress_line(&figures.now(), style)));
    }
    output::write_stderr(CLEAR_LINE);
}

fn write_lines(mut figures: Figures, ended: &Receiver<()>) {
    let style = Style { color: false, width: 80, unicode: output::stdout_style().unicode };
    let mut wait = FIRST_LINE;
    while !ends_within(wait, ended) {
        output::write_stderr(&format!("{}\n", progress_text(&figures.now(), style)));
        wait = NEXT_LINE;
    }
}

fn write_shard_lines(mut figures: Figures, ended: &Receiver<()>) {
    let mut wait = FIRST_LINE;
    while !ends_within(wait, ended) {
        let now = figures.now();
        let sent = ShardProgress {
            elapsed_ns: now.elapsed.0,
            planned: now.planned,
            sent: now.sent,
            answered: now.answered,
            failed: now.failed,
            in_flight: now.in_flight,
            sent_per_second: now.sent_per_second,
        };
        output::write_stderr(&format!("{}\n", ShardLine::Running(sent).to_line()));
        wait = FIRST_LINE.max(Duration::from(now.elapsed) / LINES_EVER);
    }
}

/// Figures of the progress line, cheap to read.
pub(crate) struct Figures {
    model: LoadModel,
    control: Control,
    stripe: Stripe,
    began: Instant,
    /// Instants and the number of requests begun by then, as far back as [`RATE_WINDOW`].
    begun: VecDeque<(Instant, u64)>,
}

impl Figures {
    /// Observes the run of `control` from now on.
    pub(crate) fn new(model: LoadModel, control: Control) -> Figures {
        let began = Instant::now();
        Figures { model, control, stripe: Stripe::WHOLE, began, begun: VecDeque::from([(began, 0)]) }
    }

    /// Sets the stripe of the load that the run has.
    #[must_use]
    pub(crate) fn for_stripe(self, stripe: Stripe) -> Figures {
        Figures { stripe, ..self }
    }

    /// Returns the current progress.
    pub(crate) fn now(&mut self) -> RunProgress {
        let now = Instant::now();
        let seen = self.control.progress();
        let elapsed = match self.control.elapsed() {
            Some(elapsed) => elapsed,
            None if self.control.is_preparing() => Nanos::ZERO,
            None => Nanos::from(now - self.began),
        };
        let horizon = self.model.horizon();
        RunProgress {
            elapsed,
            total: horizon.duration,
            requests: horizon.requests.map(|all| self.stripe.share_of(all)),
            planned: self.planned_by(elapsed).max(seen.issued),
            sent: seen.issued,
            answered: seen.responses,
            failed: seen.unanswered + seen.error_status,
            in_flight: seen.in_flight,
            sent_per_second: self.rate(now, seen.issued),
            p50: seen.p50,
            p99: seen.p99,
        }
    }

    /// Returns the arrivals planned by `elapsed` for even spacing. Otherwise 0, so that begun requests are shown.
    fn planned_by(&self, elapsed: Nanos) -> u64 {
        let LoadModel::Open(schedule) = &self.model else { return 0 };
        if schedule.spacing != Spacing::Even || self.control.was_stopped() {
            return 0;
        }
        let planned_before = |due: Nanos| {
            let until = schedule.horizon.duration.map_or(due, |end| end.min(due));
            let planned = schedule.profile.cumulative(until.as_secs_f64()) as u64;
            self.stripe.share_of(schedule.horizon.requests.map_or(planned, |most| most.min(planned)))
        };
        planned_before(elapsed.saturating_sub(GRACE)).saturating_sub(planned_before(self.control.begins_after()))
    }

    /// Returns the requests begun per second in the last [`RATE_WINDOW`], or since the previous line if it is older.
    fn rate(&mut self, now: Instant, begun: u64) -> f64 {
        while self.begun.len() > 1 && now - self.begun[1].0 >= RATE_WINDOW {
            self.begun.pop_front();
        }
        let (then, before) = *self.begun.front().expect("there is always one");
        self.begun.push_back((now, begun));
        begun.saturating_sub(before) as f64 / (now - then).as_secs_f64().max(1e-9)
    }
}
