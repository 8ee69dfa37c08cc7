//! Capabilities of the terminal. The caller states them: this crate does not detect them.

use crate::text::is_of_a_line;

/// Capabilities of the terminal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Style {
    /// ANSI colours may be used. Without them, the text is the same.
    pub color: bool,
    /// Columns of the terminal. Text is at most 80 wide. A table that is too wide omits its least important columns.
    pub width: usize,
    /// Characters beyond ASCII may be used.
    pub unicode: bool,
}

impl Default for Style {
    fn default() -> Style {
        Style { color: false, width: 80, unicode: true }
    }
}

/// Highest number of columns for text, even in a wider terminal.
const WIDEST: usize = 80;
const NARROWEST: usize = 40;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Emphasis {
    Bold,
    Faint,
    Good,
    Doubt,
    Bad,
}

impl Style {
    /// Returns the number of columns for text.
    pub fn columns(self) -> usize {
        self.width.clamp(NARROWEST, WIDEST)
    }

    pub(crate) fn emphasize(self, emphasis: Emphasis, text: &str) -> String {
        if !self.color || text.is_empty() {
            return text.to_owned();
        }
        let code = match emphasis {
            Emphasis::Bold => "1",
            Emphasis::Faint => "2",
            Emphasis::Good => "1;32",
            Emphasis::Doubt => "1;33",
            Emphasis::Bad => "1;31",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }

    /// Returns `text` as one line, without the characters that let untrusted text, such as a URL, control the terminal
    /// or disguise itself. Without Unicode, it is transliterated to ASCII.
    pub fn printable(self, text: &str) -> String {
        let mut printable = String::with_capacity(text.len());
        for c in text.chars().filter(|c| is_of_a_line(*c)) {
            match c {
                _ if self.unicode || c.is_ascii() => printable.push(c),
                '≥' => printable.push_str(">="),
                'µ' => printable.push('u'),
                '…' => printable.push_str(".."),
                '·' => printable.push('|'),
                '×' => printable.push('x'),
                '±' => printable.push_str("+-"),
                '–' => printable.push('-'),
                _ => printable.push('?'),
            }
        }
        printable
    }

    /// Wraps `text` at spaces into lines of at most `columns`. It never breaks a word, or a number and its unit.
    pub fn wrap(self, text: &str, columns: usize) -> Vec<String> {
        let mut lines = vec![String::new()];
        for word in words(&self.printable(text)) {
            let line = lines.last_mut().expect("there is always one");
            let length = line.chars().count();
            if length > 0 && length + 1 + word.chars().count() > columns {
                lines.push(word);
            } else {
                if length > 0 {
                    line.push(' ');
                }
                line.push_str(&word);
            }
        }
        lines
    }
}

/// Splits a text into words; `60 000` and `2.00 s` are one word each.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        match words.last_mut() {
            Some(last) if continues_number(last, word) => {
                last.push(' ');
                last.push_str(word);
            }
            _ => words.push(word.to_owned()),
        }
    }
    words
}

/// Returns true if `word` continues the number at the end of `before`: three more digits, or a unit.
fn continues_number(before: &str, word: &str) -> bool {
    let bare = word.trim_end_matches(|c: char| !c.is_alphanumeric() && c != '%');
    let digits = word.chars().take_while(char::is_ascii_digit).count();
    let is_number = before.ends_with(|c: char| c.is_ascii_digit());
    is_number && (digits == 3 || matches!(bare, "ns" | "µs" | "us" | "ms" | "s" | "%"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_outside_cannot_command_the_terminal() {
        assert_eq!(Style::default().printable("a\x1b[2Jb\r\n"), "a[2Jb");
        assert_eq!(Style::default().printable("a\u{9b}31m\u{202e}b\u{2066}\u{200b}\x07\x08"), "a31mb");
    }

    #[test]
    fn wrapped_lines_fit_and_lose_no_word() {
        let text = "the quick brown fox jumps over an unbelievablylongwordindeed and rests";
        let lines = Style::default().wrap(text, 16);
        assert!(lines.iter().all(|line| line.len() <= 16 || !line.contains(' ')), "{lines:?}");
        assert_eq!(lines.join(" "), text);
    }

    #[test]
    fn a_number_stays_with_its_unit() {
        let lines = Style::default().wrap("it took 2.00 s: 60 000 of 70 000/s, not 3 or 400 x", 9);
        assert_eq!(lines, ["it took", "2.00 s:", "60 000 of", "70 000/s,", "not 3 or", "400 x"]);
    }

    #[test]
    fn ascii_where_there_is_no_unicode() {
        let ascii = Style { unicode: false, ..Style::default() };
        assert_eq!(ascii.printable("≥3µs · 2× … – ±1"), ">=3us | 2x .. - +-1");
        assert!(ascii.printable("日本").is_ascii());
    }
}
