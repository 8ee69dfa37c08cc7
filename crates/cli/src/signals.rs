//! Ctrl-C, SIGTERM, and the end of the terminal (SIGHUP).

use std::io;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag::register_conditional_default;
use signal_hook::iterator::{Handle, Signals};
use signal_hook::low_level::emulate_default_handler;
use truetail_engine::Control;
use truetail_engine::host::ignores_signal;
use truetail_lab::CancelToken;

use crate::error::{Result, runtime_error};
use crate::live::terminal;
use crate::{output, progress};

/// Signals that end a process.
const TERMINATING: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];

/// True while the signals have their default action, false while they are captured. Unregistering a handler does not
/// restore the default action. It is therefore emulated, except for signals that this process was started to ignore.
static DEFAULT_ACTION: LazyLock<Arc<AtomicBool>> = LazyLock::new(|| {
    let default_action = Arc::new(AtomicBool::new(true));
    for signal in TERMINATING.into_iter().filter(|signal| !ignores_signal(*signal)) {
        // If this is refused, capturing is refused too, and reports why.
        let _ = register_conditional_default(signal, Arc::clone(&default_action));
    }
    default_action
});

/// Returns the name of a terminating signal for users.
pub(crate) fn name_of(signal: i32) -> &'static str {
    match signal {
        SIGINT => "Ctrl-C",
        SIGTERM => "SIGTERM",
        SIGHUP => "SIGHUP",
        _ => "a signal",
    }
}

/// Captures the terminating signals until it is dropped. Only one capture exists at a time.
struct Capture;

impl Capture {
    /// Leaves SIGHUP ignored if this process was started so, as by `nohup`.
    fn start() -> io::Result<(Signals, Capture)> {
        let default_action = &*DEFAULT_ACTION;
        let captured = TERMINATING.into_iter().filter(|signal| *signal != SIGHUP || !ignores_signal(SIGHUP));
        let signals = Signals::new(captured)?;
        default_action.store(false, Ordering::SeqCst);
        Ok((signals, Capture))
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        DEFAULT_ACTION.store(true, Ordering::SeqCst);
    }
}

/// Passes signals to a callback until it is dropped. After that they end the process again.
pub(crate) struct SignalHandler {
    handle: Handle,
    /// First signal; 0 before any.
    first: Arc<AtomicI32>,
    /// Number of signals.
    count: Arc<AtomicU32>,
    thread: Option<JoinHandle<()>>,
    _capture: Capture,
}

impl SignalHandler {
    /// Calls `on_signal` on a separate thread, with 1 for the first SIGINT, SIGTERM or SIGHUP, 2 for the second, and so
    /// on. If it returns false, the signal has its default action.
    fn start(on_signal: impl Fn(u32) -> bool + Send + 'static) -> Result<SignalHandler> {
        SignalHandler::try_start(on_signal).map_err(|error| runtime_error(format!("cannot watch for Ctrl-C: {error}")))
    }

    fn try_start(on_signal: impl Fn(u32) -> bool + Send + 'static) -> io::Result<SignalHandler> {
        let (mut signals, capture) = Capture::start()?;
        let handle = signals.handle();
        let first = Arc::new(AtomicI32::new(0));
        let count = Arc::new(AtomicU32::new(0));
        let seen = Arc::clone(&first);
        let counted = Arc::clone(&count);
        let thread = thread::Builder::new().name("truetail-signals".to_owned()).spawn(move || {
            for (number, signal) in (1..).zip(signals.forever()) {
                counted.store(number, Ordering::SeqCst);
                if number == 1 {
                    seen.store(signal, Ordering::SeqCst);
                }
                if !on_signal(number) {
                    let _ = emulate_default_handler(signal);
                }
            }
        })?;
        Ok(SignalHandler { handle, first, count, thread: Some(thread), _capture: capture })
    }

    /// Returns the number of signals, which continues to count.
    pub(crate) fn count(&self) -> Arc<AtomicU32> {
        Arc::clone(&self.count)
    }

    /// Returns the first signal, if any came.
    pub(crate) fn first_signal(&self) -> Option<i32> {
        Some(self.first.load(Ordering::SeqCst)).filter(|signal| *signal != 0)
    }
}

impl Drop for SignalHandler {
    fn drop(&mut self) {
        self.handle.close();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Stops the run of `control` on signals: the first stops sending, the second stops at once, the third ends the
/// process. After the second, the process also ends if the run does not end within 3 s.
pub(crate) fn stop_run_on_signal(control: &Control) -> Result<SignalHandler> {
    stop_runs_on_signal(&CurrentRun::new(control.clone()))
}

/// The run in progress, of several consecutive ones.
#[derive(Clone, Default)]
pub(crate) struct CurrentRun(Arc<Mutex<Control>>);

impl CurrentRun {
    pub(crate) fn new(control: Control) -> CurrentRun {
        CurrentRun(Arc::new(Mutex::new(control)))
    }

    /// Sets the run in progress.
    pub(crate) fn set(&self, control: Control) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = control;
    }

    fn control(&self) -> Control {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Stops the current one of several runs on signals, as [`stop_run_on_signal`] does. The caller must skip the remaining
/// runs if [`SignalHandler::first_signal`] returns a signal.
pub(crate) fn stop_runs_on_signal(current: &CurrentRun) -> Result<SignalHandler> {
    let current = current.clone();
    SignalHandler::start(move |number| {
        progress::clear_line();
        let control = current.control();
        match number {
            1 => {
                output::note("stopping: no more requests, waiting for answers; Ctrl-C again to stop at once");
                control.stop();
            }
            2 => {
                output::note("stopping at once");
                control.stop_now();
                // Without this thread, a third signal still ends the process.
                let _ = thread::Builder::new().spawn(move || end_process_unless_ended(&control));
            }
            _ => {
                // Returning false ends the process, so the terminal is restored first.
                terminal::leave();
                return false;
            }
        }
        true
    })
}

/// Time that a run stopped at once may take to close its books.
const TIME_TO_STOP: Duration = Duration::from_secs(3);

/// Ends the process if the run of `control` has not ended after [`TIME_TO_STOP`].
fn end_process_unless_ended(control: &Control) {
    let stopped = Instant::now();
    while !control.has_ended() {
        if stopped.elapsed() >= TIME_TO_STOP {
            terminal::leave();
            output::note("the run did not stop within 3s; its result is lost");
            let _ = emulate_default_handler(SIGTERM);
        }
        thread::sleep(Duration::from_millis(20));
    }
}

/// Calls `on_signal` with the number of each signal. The third signal ends the process.
pub(crate) fn tell_of_signals(on_signal: impl Fn(u32) + Send + 'static) -> Result<SignalHandler> {
    SignalHandler::start(move |number| {
        on_signal(number);
        number <= 2
    })
}

/// Stops a load tool on signals. The first ends the running tool. The second does nothing, because a tool that does not
/// react is killed after 3 s. The third kills the tool with its children, and ends this process.
pub(crate) fn end_tool_on_signal(stop: &CancelToken) -> Result<SignalHandler> {
    let stop = stop.clone();
    SignalHandler::start(move |number| {
        if number == 1 {
            output::note("stopping the tool that is running; the results of the others are kept");
            stop.cancel();
        }
        if number > 2 {
            stop.kill();
        }
        number <= 2
    })
}

/// The first SIGINT, SIGTERM or SIGHUP; later ones end the process.
pub(crate) struct TerminationSignal(Signals, Capture);

impl TerminationSignal {
    /// Captures these signals, so that they no longer end the process.
    pub(crate) fn capture() -> io::Result<TerminationSignal> {
        Capture::start().map(|(signals, capture)| TerminationSignal(signals, capture))
    }

    /// Waits for the signal; returns at once if it came since [`TerminationSignal::capture`].
    pub(crate) fn wait(mut self) {
        self.0.forever().next();
    }
}
