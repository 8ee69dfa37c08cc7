//! Options of the command line in error messages, as Python writes them.

/// Options whose argument in Python has another name, or another sense.
const NAMES: [(&str, &str); 6] = [
    ("header", "headers"),
    ("check", "checks"),
    ("no-preflight", "preflight=False"),
    ("no-keepalive", "keepalive=False"),
    ("http2", "http2=True"),
    ("insecure", "insecure=True"),
];
/// Options whose argument in Python is a list.
const LISTS: [&str; 3] = ["check", "fail-if", "slo"];
/// Values that are told from words of the sentence by their names only.
const VALUES: [&str; 9] = ["none", "line", "fix", "order", "ping", "sse", "chunks", "openai-chat", "-"];

/// Returns the message with `--clock-bound 2ms` as `clock_bound='2ms'`, and without advice to see the help.
pub(crate) fn in_python(message: &str) -> String {
    let message = message.strip_suffix("; see --help").unwrap_or(message);
    let mut text = String::with_capacity(message.len());
    let mut rest = message;
    while let Some(place) = next_option(rest) {
        let (before, option) = rest.split_at(place);
        text.push_str(before.strip_suffix('\'').unwrap_or(before));
        let is_quoted = before.ends_with('\'');
        let option = &option[2..];
        let end = option.find(|letter: char| !is_of_name(letter)).unwrap_or(option.len());
        let (name, after) = option.split_at(end);
        // Clap quotes an option with the name of its value.
        rest = if is_quoted { after.split_once('\'').map_or(after, |(_, after)| after) } else { after };
        text.push_str(&argument(name));
        if let Some((value, after)) = rest.strip_prefix(' ').and_then(value).filter(|_| !is_quoted) {
            let is_list = LISTS.contains(&name);
            text.push_str(&if is_list { format!("=['{value}']") } else { format!("='{value}'") });
            rest = after;
        }
    }
    text + rest
}

/// Returns the message as [`in_python`] does, with `-n 50` as `requests=50` or `sessions=50`, and `-d 5s` as
/// `duration='5s'`.
pub(crate) fn in_python_with(message: &str, requests: &str) -> String {
    let mut text = in_python(message);
    for (option, name, quote) in [(" -n ", requests, ""), (" -d ", "duration", "'")] {
        if let Some((before, after)) = text.split_once(option) {
            let (value, rest) = after.split_at(after.find([' ', ',']).unwrap_or(after.len()));
            text = format!("{before} {name}={quote}{value}{quote}{rest}");
        }
    }
    text
}

/// Returns the place of the next option: two dashes at the beginning of a word, and a letter.
fn next_option(text: &str) -> Option<usize> {
    let begins = |place: &usize| {
        let is_at_word = text[..*place].chars().next_back().is_none_or(|letter| " '(".contains(letter));
        is_at_word && text[place + 2..].starts_with(|letter: char| letter.is_ascii_lowercase())
    };
    text.match_indices("--").map(|(place, _)| place).find(begins)
}

fn is_of_name(letter: char) -> bool {
    letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-'
}

fn argument(name: &str) -> String {
    let known = NAMES.iter().find(|(option, _)| *option == name);
    known.map_or_else(|| name.replace('-', "_"), |(_, argument)| (*argument).to_owned())
}

/// Splits the value of an option off the text behind it, if there is one.
fn value(text: &str) -> Option<(&str, &str)> {
    if let Some(quoted) = text.strip_prefix('\'') {
        return quoted.split_once('\'');
    }
    let end = text.find([' ', ',', ';', ')']).unwrap_or(text.len());
    let word = &text[..end];
    let word_ends = word.trim_end_matches(['.', ':']);
    let is_value = VALUES.contains(&word_ends)
        || (word_ends.len() > 1 && word_ends.chars().all(|letter| letter.is_ascii_uppercase()))
        || word_ends.contains([':', '{'])
        || word_ends.starts_with(|letter: char| letter.is_ascii_digit());
    is_value.then(|| (word_ends, &text[word_ends.len()..]))
}
