//! Full-screen mode of the terminal: alternate screen, no echo, single keys. It ends however the run ends.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::panic;
use std::sync::{Mutex, Once, TryLockError};
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};
use truetail_watch::Rect;

use crate::output;

/// Alternate screen, no cursor, no wrapping at the last column.
const ENTER: &[u8] = b"\x1b[?1049h\x1b[?25l\x1b[?7l";
/// Restores the screen, without colors or emphasis.
const LEAVE: &[u8] = b"\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l";
/// Columns and rows of a terminal that does not report its size.
const USUAL: (u16, u16) = (80, 24);
/// Limit on the columns and rows that are drawn.
const LARGEST: (u16, u16) = (500, 200);
/// Longest time that [`leave`] waits for a screen that is being written.
const PATIENCE: Duration = Duration::from_millis(500);

/// State to restore; `None` outside full-screen mode.
static ENTERED: Mutex<Option<Entered>> = Mutex::new(None);

struct Entered {
    screen: File,
    keys: File,
    before: Termios,
}

/// Full-screen mode, which ends on drop.
pub(crate) struct FullScreen {
    keys: File,
}

impl FullScreen {
    /// Draws on standard error, and reads keys from the terminal of this process.
    ///
    /// # Errors
    /// If standard error is closed, or this process has no terminal.
    pub(crate) fn enter() -> io::Result<FullScreen> {
        let keys = OpenOptions::new().read(true).write(true).open("/dev/tty")?;
        let screen = File::from(io::stderr().as_fd().try_clone_to_owned()?);
        FullScreen::enter_on(screen, keys)
    }

    fn enter_on(mut screen: File, keys: File) -> io::Result<FullScreen> {
        leave_on_panic();
        let before = tcgetattr(&keys)?;
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(&keys, OptionalActions::Now, &raw)?;
        let reader = keys.try_clone()?;
        output::hold_notes();
        let written = screen.write_all(ENTER);
        *ENTERED.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(Entered { screen, keys, before });
        // Restores the terminal on drop, also if entering failed.
        let entered = FullScreen { keys: reader };
        written.map(|()| entered)
    }

    /// Returns the columns and rows.
    pub(crate) fn size(&self) -> Rect {
        let size = tcgetwinsize(&self.keys).ok().map(|size| (size.ws_col, size.ws_row));
        let (columns, rows) = size.filter(|(columns, rows)| *columns > 0 && *rows > 0).unwrap_or(USUAL);
        Rect::new(0, 0, columns.min(LARGEST.0), rows.min(LARGEST.1))
    }

    /// Writes to the screen, unless full-screen mode has ended. Returns false if the terminal is gone.
    pub(crate) fn write(&self, text: &str) -> bool {
        let mut entered = ENTERED.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        entered.as_mut().is_none_or(|entered| entered.screen.write_all(text.as_bytes()).is_ok())
    }

    /// Returns the bytes of pressed keys, or no bytes after `time`. Returns as soon as a key is pressed.
    ///
    /// # Errors
    /// If the terminal is gone.
    pub(crate) fn read(&mut self, time: Duration) -> io::Result<Vec<u8>> {
        let time = Timespec { tv_sec: time.as_secs() as i64, tv_nsec: i64::from(time.subsec_nanos()) };
        let mut polled = [PollFd::new(&self.keys, PollFlags::IN)];
        match poll(&mut polled, Some(&time)) {
            Ok(0) => return Ok(Vec::new()),
            Err(rustix::io::Errno::INTR) => return Ok(Vec::new()),
            Err(error) => return Err(error.into()),
            Ok(_) => {}
        }
        let mut bytes = vec![0; 256];
        match self.keys.read(&mut bytes) {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => {
                bytes.truncate(read);
                Ok(bytes)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }
}

impl Drop for FullScreen {
    fn drop(&mut self) {
        leave();
    }
}

/// Restores the terminal and prints the held notes. Further calls do nothing.
pub(crate) fn leave() {
    let Some(mut entered) = take_entered() else { return };
    // The terminal itself failed, so an error cannot be shown.
    let _ = entered.screen.write_all(LEAVE);
    let _ = tcsetattr(entered.keys.as_fd(), OptionalActions::Now, &entered.before);
    output::release_notes();
}

/// Waits for a limited time: a terminal that accepts no more characters must not keep the process from ending.
fn take_entered() -> Option<Entered> {
    const STEP: Duration = Duration::from_millis(10);
    for _ in 0..PATIENCE.as_millis() / STEP.as_millis() {
        match ENTERED.try_lock() {
            Ok(mut entered) => return entered.take(),
            Err(TryLockError::Poisoned(poisoned)) => return poisoned.into_inner().take(),
            Err(TryLockError::WouldBlock) => thread::sleep(STEP),
        }
    }
    None
}

/// Installs a panic hook that leaves the screen before the message is printed.
fn leave_on_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let print = panic::take_hook();
        panic::set_hook(Box::new(move |message| {
            leave();
            print(message);
        }));
    });
}

#[cfg(test)]
mod tests {
    use nix::pty::openpty;
    use rustix::termios::LocalModes;

    use super::*;

    /// The tests share the terminal state of the process.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

    /// A pseudo-terminal. The master end receives what was drawn.
    struct Pty {
        master: File,
        slave: File,
    }

    impl Pty {
        fn open() -> Pty {
            let pty = openpty(None, None).expect("a pseudo-terminal");
            Pty { master: File::from(pty.master), slave: File::from(pty.slave) }
        }

        fn enter(&self) -> FullScreen {
            let clone = || self.slave.try_clone().expect("a descriptor");
            FullScreen::enter_on(clone(), clone()).expect("it can be entered")
        }

        fn is_raw(&self) -> bool {
            let modes = tcgetattr(&self.slave).expect("its modes").local_modes;
            !modes.intersects(LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG)
        }

        fn sent(&mut self) -> String {
            let mut all = Vec::new();
            loop {
                let mut polled = [PollFd::new(&self.master, PollFlags::IN)];
                if poll(&mut polled, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).expect("it can be polled") == 0 {
                    return String::from_utf8(all).expect("UTF-8");
                }
                let mut bytes = [0; 4096];
                let read = self.master.read(&mut bytes).expect("it can be read");
                all.extend_from_slice(&bytes[..read]);
            }
        }
    }

    fn all_of(parts: &[&[u8]]) -> String {
        String::from_utf8(parts.concat()).expect("UTF-8")
    }

    #[test]
    fn the_end_of_the_view_gives_the_terminal_back() {
        let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let mut pty = Pty::open();
        assert!(!pty.is_raw());
        let screen = pty.enter();
        assert!(pty.is_raw());
        output::note("kept for later");
        assert_eq!(output::latest_held_note().as_deref(), Some("kept for later"));
        drop(screen);
        assert!(!pty.is_raw() && !output::are_notes_held());
        assert_eq!(pty.sent(), all_of(&[ENTER, LEAVE]));
    }

    #[test]
    fn a_panic_in_any_thread_gives_the_terminal_back_first() {
        let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let mut pty = Pty::open();
        let screen = pty.enter();
        assert!(screen.write("drawn") && pty.is_raw());
        let panicked = thread::spawn(|| panic!("this message is part of a test")).join();
        assert!(panicked.is_err() && !pty.is_raw() && !output::are_notes_held());
        // The thread of the view may not know yet, and must not draw over the message.
        screen.write("too late");
        drop(screen);
        assert_eq!(pty.sent(), all_of(&[ENTER, b"drawn", LEAVE]));
    }

    #[test]
    fn keys_come_as_they_are_pressed_and_end_with_the_terminal() {
        let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let mut pty = Pty::open();
        let mut screen = pty.enter();
        assert_eq!(screen.read(Duration::ZERO).expect("nothing pressed"), b"");
        pty.master.write_all(b"q\x03").expect("keys");
        assert_eq!(screen.read(Duration::from_secs(20)).expect("keys"), b"q\x03");
        drop(pty);
        assert!(screen.read(Duration::from_secs(20)).is_err());
        assert!(!screen.write("into nothing"));
    }
}
