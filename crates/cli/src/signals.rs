//! Ctrl-C, SIGTERM, and the end of the terminal (SIGHUP).

use std::fs;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::thread::{self, JoinHandle};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag::register_conditional_default;
use signal_hook::iterator::{Handle, Signals};
use signal_hook::low_level::emulate_default_handler;
use truetail_lab::CancelToken;

use crate::outcome::{Result, could_not};
use crate::output;

/// The signals that end things.
const ENDING: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];

/// Set while nobody hears the signals: then each does what it does by itself, but for those that this process was started
/// to ignore. A signal that was caught once would do nothing else ever after.
static UNHEARD: LazyLock<Arc<AtomicBool>> = LazyLock::new(|| {
    let unheard = Arc::new(AtomicBool::new(true));
    for signal in ENDING.into_iter().filter(|signal| !is_ignored(*signal)) {
        // Where this is refused, so is the catching that follows, which says why.
        let _ = register_conditional_default(signal, Arc::clone(&unheard));
    }
    unheard
});

/// Somebody hears the signals until this is dropped. One at a time.
struct Hearing;

impl Hearing {
    /// Where somebody has this process ignore the end of its terminal, as `nohup` does, it stays ignored.
    fn start() -> io::Result<(Signals, Hearing)> {
        let unheard = &*UNHEARD;
        let caught = ENDING.into_iter().filter(|signal| *signal != SIGHUP || !is_ignored(SIGHUP));
        let signals = Signals::new(caught)?;
        unheard.store(false, Ordering::SeqCst);
        Ok((signals, Hearing))
    }
}

impl Drop for Hearing {
    fn drop(&mut self) {
        UNHEARD.store(true, Ordering::SeqCst);
    }
}

/// Signals are handed to somebody until this is dropped. After that they are as before: they end the process.
pub struct Watch {
    handle: Handle,
    thread: Option<JoinHandle<()>>,
    _hearing: Hearing,
}

impl Watch {
    /// Calls `on_signal` with 1 for the first SIGINT, SIGTERM or SIGHUP, 2 for the second, and so on, in a thread of its
    /// own. It answers whether it wants to go on: when it does not, the signal does what it would have done by itself.
    ///
    /// # Errors
    /// When the system does not allow to catch signals.
    pub fn start(on_signal: impl Fn(u32) -> bool + Send + 'static) -> io::Result<Watch> {
        let (mut signals, hearing) = Hearing::start()?;
        let handle = signals.handle();
        let thread = thread::Builder::new().name("truetail-signals".to_owned()).spawn(move || {
            for (number, signal) in (1..).zip(signals.forever()) {
                if !on_signal(number) {
                    let _ = emulate_default_handler(signal);
                }
            }
        })?;
        Ok(Watch { handle, thread: Some(thread), _hearing: hearing })
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.handle.close();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Hands Ctrl-C to a laboratory until what is returned is dropped: the first ends the tool that runs, the second is
/// patient, since a tool that does not hear is ended after 3 s, the third ends the tool and its children, and this process.
///
/// # Errors
/// When the system does not allow to catch signals.
pub fn end_tool_on_signal(stop: &CancelToken) -> Result<Watch> {
    let stop = stop.clone();
    let on_signal = move |number: u32| {
        if number == 1 {
            output::note("ending the tool that runs; what others left is kept");
            stop.cancel();
        }
        if number > 2 {
            stop.kill();
        }
        number <= 2
    };
    Watch::start(on_signal).map_err(|error| could_not(format!("cannot watch for Ctrl-C: {error}")))
}

/// SIGINT, SIGTERM or SIGHUP, whichever comes first; those that come after it end the process.
pub struct Ending(Signals, Hearing);

impl Ending {
    /// From now on none of them ends the process by itself.
    ///
    /// # Errors
    /// When the system does not allow to catch signals.
    pub fn expect() -> io::Result<Ending> {
        Hearing::start().map(|(signals, hearing)| Ending(signals, hearing))
    }

    /// Waits for it, however long ago it came.
    pub fn wait(mut self) {
        self.0.forever().next();
    }
}

/// Read from Linux's `/proc/self/status`, whose `SigIgn` has signal n in bit n - 1; `false` where that is not there.
fn is_ignored(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask & (1 << (signal - 1)) != 0)
}
