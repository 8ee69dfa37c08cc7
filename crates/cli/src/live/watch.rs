//! `run --watch`: full-screen view of a run, and its keys.

use std::env;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::{Duration, Instant};

use signal_hook::consts::SIGINT;
use signal_hook::low_level::raise;
use truetail_engine::Control;
use truetail_watch::{Buffer, History, Key, KeyParser, Palette, ScreenState, TerminalStyle, View, paint};

use super::states::LiveStates;
use super::terminal::FullScreen;
use crate::background::BackgroundThread;
use crate::error::{Result, runtime_error, usage_error};
use crate::output;
use crate::progress::Figures;

/// Time from one redraw to the next.
const REDRAW_INTERVAL: Duration = Duration::from_millis(250);
/// Longest wait for keys in one call. It bounds the time until the end of the run is noticed.
const KEY_INTERVAL: Duration = Duration::from_millis(100);
/// A second `q` within this time is the same press, because a held key repeats.
const SAME_PRESS: Duration = Duration::from_millis(500);

/// Refuses a terminal that cannot be drawn on.
///
/// # Errors
/// If standard error is no terminal, or one that cannot move its cursor.
pub(super) fn check_terminal() -> Result<()> {
    if output::stderr_terminal().is_none() {
        return Err(usage_error(
            "--watch draws on standard error, which is not a terminal here; leave it out, or do not redirect standard \
             error",
        ));
    }
    if env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb") {
        let term = env::var("TERM").unwrap_or_default();
        return Err(usage_error(format!(
            "--watch needs a terminal that can move its cursor, and $TERM is '{term}'; leave it out, or set TERM"
        )));
    }
    Ok(())
}

/// View of a run, which ends on drop.
pub(crate) struct Watch {
    _thread: BackgroundThread,
    stopped_by_key: Arc<AtomicBool>,
}

impl Watch {
    /// Key that ends the run.
    pub(crate) const STOP_KEY: &str = "q";

    /// Fills the terminal with the run of `control`, on a thread with a lower priority than the workers. `signals`
    /// counts the signals that asked the run to end.
    ///
    /// # Errors
    /// If this process has no terminal to read keys from, or no thread can be started.
    pub(crate) fn start(
        figures: Figures,
        control: &Control,
        states: LiveStates,
        signals: Arc<AtomicU32>,
    ) -> Result<Watch> {
        let screen = FullScreen::enter().map_err(|error| {
            runtime_error(format!("--watch cannot use the terminal of this process: {error}; leave it out"))
        })?;
        let stopped_by_key = Arc::new(AtomicBool::new(false));
        let screen = Screen {
            screen,
            figures,
            control: control.clone(),
            states,
            look: look(),
            history: History::default(),
            choice: ScreenState::default(),
            shown: None,
            stops: Stops { last_q: None, signals, by_key: Arc::clone(&stopped_by_key) },
        };
        let thread = BackgroundThread::start_behind_workers("watch", |ended| screen.show_until(ended));
        let thread = thread.map_err(|error| runtime_error(format!("--watch cannot start a thread: {error}")))?;
        Ok(Watch { _thread: thread, stopped_by_key })
    }

    /// Returns true if the key `q` raised the first signal that asked the run to end.
    pub(crate) fn stopped_by_key(&self) -> bool {
        self.stopped_by_key.load(Ordering::Relaxed)
    }
}

/// State of the view's thread.
struct Screen {
    screen: FullScreen,
    figures: Figures,
    control: Control,
    states: LiveStates,
    look: TerminalStyle,
    history: History,
    choice: ScreenState,
    shown: Option<Buffer>,
    stops: Stops,
}

impl Screen {
    /// Draws until `ended`, then leaves the screen.
    fn show_until(mut self, ended: &Receiver<()>) {
        let mut keys = KeyParser::default();
        loop {
            self.draw();
            let until = Instant::now() + REDRAW_INTERVAL;
            while Instant::now() < until {
                if ended.try_recv() == Err(TryRecvError::Disconnected) {
                    return;
                }
                let left = until.saturating_duration_since(Instant::now()).min(KEY_INTERVAL);
                let Ok(bytes) = self.screen.read(left) else {
                    // The terminal is gone. The run ends by SIGHUP, or continues if SIGHUP is ignored.
                    let _ = ended.recv();
                    return;
                };
                let pressed = if bytes.is_empty() { keys.pause().into_iter().collect() } else { keys.parse(&bytes) };
                pressed.into_iter().for_each(|key| self.press(key));
            }
        }
    }

    fn draw(&mut self) {
        self.history.add(self.figures.now());
        let state = self.states.latest();
        let note = output::latest_held_note();
        let view = View {
            state: state.as_deref(),
            history: &self.history,
            stopping: self.control.was_stopped(),
            note: note.as_deref(),
            choice: self.choice,
            look: self.look,
        };
        let mut next = Buffer::empty(self.screen.size());
        view.draw(&mut next);
        self.screen.write(&paint(self.shown.as_ref(), &next));
        self.shown = Some(next);
    }

    fn press(&mut self, key: Key) {
        match key {
            Key::Interrupt => self.stops.interrupt(),
            Key::Stop => self.stops.stop(Instant::now()),
            Key::NextPage | Key::PreviousPage | Key::Help | Key::Back => self.choice = self.choice.after(key),
        }
    }
}

/// Keys that end the run. They raise SIGINT, so that they act like Ctrl-C.
struct Stops {
    last_q: Option<Instant>,
    /// Number of signals that asked the run to end.
    signals: Arc<AtomicU32>,
    by_key: Arc<AtomicBool>,
}

impl Stops {
    fn interrupt(&self) {
        let _ = raise(SIGINT);
    }

    /// Raises a signal for `q`, but never the third, which would end the process without a report.
    fn stop(&mut self, now: Instant) {
        let is_held = self.last_q.replace(now).is_some_and(|last| now - last < SAME_PRESS);
        let before = self.signals.load(Ordering::SeqCst);
        if is_held || before >= 2 {
            return;
        }
        if before == 0 {
            self.by_key.store(true, Ordering::Relaxed);
        }
        let _ = raise(SIGINT);
    }
}

/// Returns what the terminal can show according to its environment.
fn look() -> TerminalStyle {
    let style = output::stderr_terminal().unwrap_or_default();
    let has = |name: &str, part: &str| env::var(name).is_ok_and(|value| value.contains(part));
    let has_many_colors = has("TERM", "256") || has("TERM", "direct") || env::var_os("COLORTERM").is_some();
    let palette = match (style.color, has_many_colors) {
        (false, _) => Palette::Monochrome,
        (true, false) => Palette::Basic,
        (true, true) => Palette::Indexed,
    };
    TerminalStyle { palette, unicode: style.unicode }
}
