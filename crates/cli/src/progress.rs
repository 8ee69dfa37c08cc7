//! How a run stands, on standard error: one line that is redrawn on a terminal, a plain line now and then elsewhere.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use truetail_engine::{Control, Plan};
use truetail_model::arrival::{RateProfile, Spacing};
use truetail_model::time::Nanos;
use truetail_model::workload::LoadModel;
use truetail_report::{RunProgress, Style, progress_line, progress_text};

use crate::output;

/// Between two pictures on a terminal.
const REDRAW: Duration = Duration::from_millis(200);
/// Before the first plain line …
const FIRST_LINE: Duration = Duration::from_secs(1);
/// … and between two of them.
const NEXT_LINE: Duration = Duration::from_secs(10);
/// The rate that is shown is that of so long.
const RATE_WINDOW: Duration = Duration::from_secs(1);
/// A request that was due less long ago is not yet told as waiting: the run begins a moment after it was asked for.
const GRACE: Nanos = Nanos::from_millis(50);
/// Goes to the start of the line and empties it.
const CLEAR: &str = "\r\x1b[K";

/// Tells how a run stands until it is dropped.
pub struct Teller {
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Teller {
    /// Tells of the run that `control` watches, in a thread of its own. Where no thread can be had, nobody tells.
    pub fn start(plan: &Plan, control: Control) -> Teller {
        Teller::of(plan.workload.model.clone(), control)
    }

    /// The same, of whatever is offered by `model`.
    pub fn of(model: LoadModel, control: Control) -> Teller {
        let (end, ended) = channel();
        let figures = Figures::new(model, control);
        let tell = move || match output::stderr_terminal() {
            Some(style) => redraw(figures, style, &ended),
            None => write_lines(figures, &ended),
        };
        let thread = thread::Builder::new().name("truetail-progress".to_owned()).spawn(tell).ok();
        Teller { end: Some(end), thread }
    }
}

impl Drop for Teller {
    fn drop(&mut self) {
        self.end.take();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Makes room for a note where a line is being redrawn.
pub fn make_room() {
    if output::stderr_terminal().is_some() {
        output::say(CLEAR);
    }
}

fn over_within(time: Duration, ended: &Receiver<()>) -> bool {
    ended.recv_timeout(time) != Err(RecvTimeoutError::Timeout)
}

fn redraw(mut figures: Figures, style: Style, ended: &Receiver<()>) {
    while !over_within(REDRAW, ended) {
        output::say(&format!("{CLEAR}{}", progress_line(&figures.now(), style)));
    }
    output::say(CLEAR);
}

fn write_lines(mut figures: Figures, ended: &Receiver<()>) {
    let style = Style { color: false, width: 100, unicode: output::stdout_style().unicode };
    let mut wait = FIRST_LINE;
    while !over_within(wait, ended) {
        output::say(&format!("{}\n", progress_text(&figures.now(), style)));
        wait = NEXT_LINE;
    }
}

/// What the line is made of.
struct Figures {
    model: LoadModel,
    control: Control,
    began: Instant,
    /// When how many requests had been begun, as far back as the rate that is shown.
    begun: VecDeque<(Instant, u64)>,
}

impl Figures {
    fn new(model: LoadModel, control: Control) -> Figures {
        let began = Instant::now();
        Figures { model, control, began, begun: VecDeque::from([(began, 0)]) }
    }

    fn now(&mut self) -> RunProgress {
        let now = Instant::now();
        let seen = self.control.progress();
        let elapsed = Nanos::from(now - self.began);
        let horizon = self.model.horizon();
        RunProgress {
            elapsed,
            total: horizon.duration,
            requests: horizon.requests,
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

    /// Known beforehand for a metronome only; elsewhere what was begun says more than an expectation.
    fn planned_by(&self, elapsed: Nanos) -> u64 {
        let LoadModel::Open(schedule) = &self.model else { return 0 };
        if schedule.spacing != Spacing::Even || self.control.was_stopped() {
            return 0;
        }
        let due = elapsed.saturating_sub(GRACE);
        let until = schedule.horizon.duration.map_or(due, |end| end.min(due));
        let planned = schedule.profile.cumulative(until.as_secs_f64()) as u64;
        schedule.horizon.requests.map_or(planned, |most| most.min(planned))
    }

    /// Requests begun per second over the last [`RATE_WINDOW`], or since the line before where that is longer ago.
    fn rate(&mut self, now: Instant, begun: u64) -> f64 {
        while self.begun.len() > 1 && now - self.begun[1].0 >= RATE_WINDOW {
            self.begun.pop_front();
        }
        let (then, before) = *self.begun.front().expect("there is always one");
        self.begun.push_back((now, begun));
        begun.saturating_sub(before) as f64 / (now - then).as_secs_f64().max(1e-9)
    }
}
