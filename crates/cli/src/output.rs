//! Results go to standard output, everything else to standard error. A reader that went away is no error.

use std::env;
use std::io::{self, IsTerminal, Write};

use truetail_report::Style;

use crate::outcome::{Result, could_not};

/// Writes a result to standard output.
///
/// # Errors
/// When it cannot be written, such as to a full disk; not when nobody reads it any more.
pub fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(could_not(format!("cannot write the result to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// One line on standard error that begins with the program's name. Line breaks in it become spaces.
pub fn note(message: &str) {
    let line = message.split_whitespace().collect::<Vec<_>>().join(" ");
    say(&format!("truetail: {line}\n"));
}

/// Raw text on standard error. Where that cannot be written there is nobody to tell.
pub fn say(text: &str) {
    let mut err = io::stderr().lock();
    let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
}

/// The style that suits standard output.
pub fn stdout_style() -> Style {
    style(io::stdout().is_terminal())
}

/// The style that suits standard error; `None` where it is no terminal.
pub fn stderr_terminal() -> Option<Style> {
    io::stderr().is_terminal().then(|| style(true))
}

fn style(terminal: bool) -> Style {
    let plain = Style::default();
    let width = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    Style {
        color: terminal && colors_wanted(),
        width: width.filter(|width| terminal && *width > 0).unwrap_or(if terminal { plain.width } else { 100 }),
        unicode: unicode_understood(),
    }
}

/// See no-color.org: any value that is not empty means no.
fn colors_wanted() -> bool {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
    set("NO_COLOR").is_none() && set("TERM").is_none_or(|term| term != "dumb")
}

/// UTF-8 unless the locale names another encoding. Where it names none, as in most containers, UTF-8 is what they have.
fn unicode_understood() -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|name| env::var(name).ok().filter(|v| !v.is_empty()));
    locale.and_then(|locale| Some(locale.split_once('.')?.1.to_ascii_lowercase())).is_none_or(|encoding| {
        let encoding = encoding.split('@').next().unwrap_or_default();
        encoding == "utf-8" || encoding == "utf8"
    })
}
