//! Standard output for results, standard error for everything else. A reader that went away is no error.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{env, fs};

use truetail_report::Style;
use truetail_report::text::visible;

use crate::error::{CliError, Result, runtime_error};

/// Writes a result to standard output.
///
/// # Errors
/// If it cannot be written, for example to a full disk. A closed pipe is no error.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(runtime_error(format!("cannot write the result to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes a file.
///
/// # Errors
/// If it cannot be written.
pub(crate) fn write_file(file: &Path, content: impl AsRef<[u8]>) -> Result<()> {
    fs::write(file, content).map_err(|error| cannot_write(file, &error))
}

/// Returns the error of a file that cannot be written.
pub(crate) fn cannot_write(file: &Path, error: &dyn Display) -> CliError {
    runtime_error(format!("cannot write {}: {error}", file.display()))
}

/// Notes held back in full-screen mode; `None` while notes are printed at once.
static HELD: Mutex<Option<Vec<String>>> = Mutex::new(None);

fn held() -> MutexGuard<'static, Option<Vec<String>>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes one line to standard error, after the program name. Line breaks become spaces, and control characters become
/// visible.
pub(crate) fn note(message: &str) {
    let line = one_line(message);
    match held().as_mut() {
        Some(notes) => notes.push(line),
        None => write_note(&line),
    }
}

/// Makes a message safe for the terminal: it may quote a server or a file, whose characters must not act as commands.
fn one_line(message: &str) -> String {
    visible(&message.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn write_note(line: &str) {
    write_stderr(&format!("truetail: {line}\n"));
}

/// Holds back notes from now on.
pub(crate) fn hold_notes() {
    held().get_or_insert_default();
}

/// Prints the notes that were held back, and later ones at once.
pub(crate) fn release_notes() {
    let notes = held().take().unwrap_or_default();
    notes.iter().for_each(|line| write_note(line));
}

/// Returns true while notes are held back.
pub(crate) fn are_notes_held() -> bool {
    held().is_some()
}

/// Returns the latest note that was held back.
pub(crate) fn latest_held_note() -> Option<String> {
    held().as_ref()?.last().cloned()
}

/// Writes raw text to standard error. An error is ignored, because it could not be reported.
pub(crate) fn write_stderr(text: &str) {
    let mut err = io::stderr().lock();
    let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
}

/// Returns the style of standard output.
pub(crate) fn stdout_style() -> Style {
    style(io::stdout().is_terminal())
}

/// Returns the style of standard error; `None` if it is no terminal.
pub(crate) fn stderr_terminal() -> Option<Style> {
    io::stderr().is_terminal().then(|| style(true))
}

fn style(terminal: bool) -> Style {
    let plain = Style::default();
    let terminal_width = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    let width = columns_wanted().or_else(|| terminal_width().filter(|width| terminal && *width > 0));
    Style { color: terminal && colors_wanted(), width: width.unwrap_or(plain.width), unicode: unicode_understood() }
}

/// Returns `COLUMNS`, which takes precedence over the terminal's own width.
fn columns_wanted() -> Option<usize> {
    env::var("COLUMNS").ok()?.parse().ok().filter(|columns| *columns > 0)
}

/// Returns true if colors are wanted. See no-color.org: any value that is not empty means no colors.
fn colors_wanted() -> bool {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
    set("NO_COLOR").is_none() && set("TERM").is_none_or(|term| term != "dumb")
}

/// Returns true unless the locale names an encoding other than UTF-8. Most containers name none at all.
fn unicode_understood() -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|name| env::var(name).ok().filter(|v| !v.is_empty()));
    locale.and_then(|locale| Some(locale.split_once('.')?.1.to_ascii_lowercase())).is_none_or(|encoding| {
        let encoding = encoding.split('@').next().unwrap_or_default();
        encoding == "utf-8" || encoding == "utf8"
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_cannot_command_the_terminal() {
        let body = "the answer is\n\x1b]0;OWNED\x07\x1b[31mred\u{9b}0m \u{202e}gnp.exe\x08\r\u{200b}";
        let line = one_line(body);
        assert_eq!(line, "the answer is ␛]0;OWNED␇␛[31mred\u{fffd}0m \u{fffd}gnp.exe␈ \u{fffd}");
    }
}
