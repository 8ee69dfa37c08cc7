//! Commands for cmd, the Windows shell, as browsers copy them. A caret escapes a character or continues the line.

use crate::shell::{ShellError, split_into_bytes};

/// Splits a curl command, written for a POSIX shell or for cmd, into words.
pub fn words_of_curl(command: &str) -> Result<Vec<Vec<u8>>, ShellError> {
    if is_for_cmd(command) { words(command) } else { split_into_bytes(command) }
}

/// Returns true if a command that starts with `text` is for cmd. A POSIX shell would send each of these carets.
pub(crate) fn is_for_cmd(text: &str) -> bool {
    let line = text.lines().next().unwrap_or_default();
    !line.contains('\'')
        && (line.trim_end().ends_with('^') || ["^\"", "^&", "^%", "^{"].iter().any(|mark| line.contains(mark)))
}

/// Returns the length in bytes of the first command of `text`, including the line break that ends it.
pub(crate) fn first_command(text: &str) -> usize {
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            '^' => {
                chars.next_if(|(_, next)| *next == '\r');
                // A doubled line break is part of a word.
                if chars.next().is_some_and(|(_, escaped)| escaped == '\n') {
                    chars.next_if(|(_, next)| *next == '\n');
                }
            }
            '\n' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Splits a command as cmd and the started program do: first carets, then quotes and backslashes.
fn words(command: &str) -> Result<Vec<Vec<u8>>, ShellError> {
    let plain = without_carets(command);
    let mut words = Vec::new();
    let mut word = None::<String>;
    let mut is_quoted = false;
    let mut chars = plain.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if is_quoted && chars.next_if_eq(&'"').is_some() => word.get_or_insert_default().push('"'),
            '"' => {
                is_quoted = !is_quoted;
                word.get_or_insert_default();
            }
            '\\' if chars.peek().is_some_and(|next| "\"\\".contains(*next)) => {
                word.get_or_insert_default().extend(chars.next());
            }
            c if c.is_ascii_whitespace() && !is_quoted => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    if is_quoted {
        return Err(ShellError::Open);
    }
    words.extend(word);
    Ok(words.into_iter().map(String::into_bytes).collect())
}

fn without_carets(command: &str) -> String {
    let mut plain = String::new();
    let mut chars = command.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '^' {
            plain.push(c);
            continue;
        }
        chars.next_if_eq(&'\r');
        match chars.next() {
            Some('\n') => plain.extend(chars.next_if_eq(&'\n')),
            escaped => plain.extend(escaped),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(command: &str) -> Vec<String> {
        let words = words_of_curl(command).unwrap_or_else(|error| panic!("{error}: {command}"));
        words.into_iter().map(|word| String::from_utf8(word).expect("text")).collect()
    }

    #[test]
    fn commands_of_browsers_on_windows() {
        for (command, words) in [
            (
                "curl \"http://a/?a=1^&b=2\" -H \"accept: */*\" --data-raw \"x=1^&y=2\"",
                &["curl", "http://a/?a=1&b=2", "-H", "accept: */*", "--data-raw", "x=1&y=2"][..],
            ),
            (
                "curl ^\"http://a/?a=^%^20^\" ^\n  -H ^\"x: y^\" ^\r\n  --data-raw ^\"^{^\\^\"a^\\^\":1^}^\"",
                &["curl", "http://a/?a=%20", "-H", "x: y", "--data-raw", "{\"a\":1}"],
            ),
            ("curl ^\"http://a^\" -d ^\"one^\n\ntwo^\"", &["curl", "http://a", "-d", "one\ntwo"]),
            ("curl \"http://a\" -d \"say \"\"x\"\" ^& y\"", &["curl", "http://a", "-d", "say \"x\" & y"]),
            ("curl 'http://a/^&'", &["curl", "http://a/^&"]),
        ] {
            assert_eq!(read(command), words, "{command}");
        }
        assert_eq!(words_of_curl("curl ^\"http://a"), Err(ShellError::Open));
    }

    #[test]
    fn a_command_ends_with_a_line_that_has_no_caret() {
        for (text, first) in [
            ("a ^\n b\nc", "a ^\n b\n"),
            ("a ^\r\n b\r\nc", "a ^\r\n b\r\n"),
            ("^\"a^\n\nb^\"\nc", "^\"a^\n\nb^\"\n"),
            ("a", "a"),
        ] {
            assert_eq!(&text[..first_command(text)], first);
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in r#"[\^"\\a-c& \n\r%]{0,40}"#) {
            prop_assert!(text.is_char_boundary(first_command(&text)));
            let _ = words(&text);
        }
    }
}
