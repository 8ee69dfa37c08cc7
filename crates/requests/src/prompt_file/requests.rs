//! Requests of a file, and their rows.

use std::fmt;

use truetail_model::arrival::Trace;
use truetail_model::time::Timestamp;

use super::bodies::row;
use super::left_out::LeftOut;
use super::lengths::{self, RecordedLengths};
use super::values::{BYTES_OF_TOKEN, tokens_of};
use crate::synthetic::{MadePrompts, TokensOfWords, trial_row};

/// Requests of a file.
#[derive(Clone, PartialEq, Debug)]
pub struct FilePrompts {
    /// When they came, if the file says so. The first came at 0.
    pub arrivals: Option<Trace>,
    /// Path that the file sends them to, if it says so.
    pub path: Option<String>,
    requests: FileRequests,
    left_out: LeftOut,
}

#[derive(Clone, PartialEq, Debug)]
pub(super) enum FileRequests {
    /// Lengths, for which prompts are made.
    Lengths(RecordedLengths),
    /// Prompts, each with the tokens of its recorded answer.
    Texts(Vec<(String, u32)>),
    /// Bodies, as JSON.
    Bodies(Vec<String>),
}

impl FileRequests {
    fn len(&self) -> usize {
        match self {
            FileRequests::Lengths(lengths) => lengths.len(),
            FileRequests::Texts(texts) => texts.len(),
            FileRequests::Bodies(bodies) => bodies.len(),
        }
    }
}

impl FilePrompts {
    /// Creates requests without arrivals.
    pub(super) fn new(requests: FileRequests, left_out: LeftOut) -> FilePrompts {
        FilePrompts { arrivals: None, path: None, requests, left_out }
    }

    /// Adds the path that the file sends the requests to.
    pub(super) fn to(self, path: Option<String>) -> FilePrompts {
        FilePrompts { path, ..self }
    }

    /// Adds the instants of the requests, ascending from any origin.
    pub(super) fn at(self, mut instants: Vec<Timestamp>) -> FilePrompts {
        let first = instants.first().map_or(0, |first| first.0);
        instants.iter_mut().for_each(|instant| instant.0 -= first);
        FilePrompts { arrivals: Trace::new(instants).ok(), ..self }
    }

    /// Returns why there is no request; `None` if there is one.
    pub(super) fn why_empty(&self) -> Option<String> {
        let why = self.left_out.to_string();
        let why = if why.is_empty() { "it is empty".to_owned() } else { why };
        (self.requests.len() == 0).then_some(why)
    }

    /// Returns the number of requests, at least 1.
    pub fn count(&self) -> u64 {
        self.requests.len() as u64
    }

    /// Returns the mean input length of the first `count` requests, if prompts are made for them.
    pub fn typical_input(&self, count: u64) -> Option<u32> {
        match &self.requests {
            FileRequests::Lengths(lengths) => Some(lengths.mean(count).0.round() as u32),
            FileRequests::Texts(_) | FileRequests::Bodies(_) => None,
        }
    }

    /// Returns one row for a request before the load: the first one, or one with a prompt of `words` words if prompts
    /// are made.
    pub fn row_before(&self, words: u32, seed: u64) -> Vec<u8> {
        match &self.requests {
            FileRequests::Lengths(_) => trial_row(words, seed),
            FileRequests::Texts(_) | FileRequests::Bodies(_) => {
                self.make(1, u64::MAX, seed, TokensOfWords::default()).json_lines
            }
        }
    }

    /// Makes rows of the first `count` requests, fewer if they would have more than `max_bytes`. If prompts are made,
    /// the same seed makes the same ones, and the result has the lengths that they were made for.
    pub fn make(&self, count: u64, max_bytes: u64, seed: u64, tokens: TokensOfWords) -> MadePrompts {
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let mut made = MadePrompts { json_lines: Vec::new(), asked: Vec::new() };
        let fits = |made: &MadePrompts| made.json_lines.len() as u64 <= max_bytes;
        match &self.requests {
            FileRequests::Lengths(lengths) => return lengths.make(count, max_bytes, seed, tokens),
            FileRequests::Texts(texts) => {
                for (text, output) in texts.iter().take(count) {
                    let before = made.json_lines.len();
                    lengths::push_row(text, tokens_of(text), *output, &mut made.json_lines);
                    if !fits(&made) {
                        made.json_lines.truncate(before);
                        break;
                    }
                }
            }
            FileRequests::Bodies(bodies) => {
                for body in bodies.iter().take(count) {
                    if (made.json_lines.len() + body.len()) as u64 > max_bytes {
                        break;
                    }
                    made.json_lines.extend_from_slice(row(body).as_bytes());
                }
            }
        }
        made
    }
}

/// The requests that were read, and the reasons for the others.
impl fmt::Display for FilePrompts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.requests.len();
        write!(f, "{count} request{}", if count == 1 { "" } else { "s" })?;
        if let Some(last) = self.arrivals.as_ref().and_then(|trace| trace.instants().last().copied()) {
            write!(f, " in {:.1} s", last.as_secs_f64())?;
        }
        match &self.requests {
            FileRequests::Lengths(lengths) => {
                let (input, output) = lengths.mean(u64::MAX);
                write!(f, ", with {input:.1} input and {output:.1} output tokens in the mean")?;
                if let Some(shared) = lengths.shared() {
                    write!(f, "; {shared:.1} % of their blocks came before")?;
                }
            }
            FileRequests::Texts(texts) => {
                let mean = |of: &dyn Fn(&(String, u32)) -> u64| texts.iter().map(of).sum::<u64>() as f64 / count as f64;
                let input = mean(&|(text, _)| u64::from(tokens_of(text)));
                let output = mean(&|(_, output)| u64::from(*output));
                write!(
                    f,
                    ", with about {input:.1} input and {output:.1} output tokens in the mean, at {BYTES_OF_TOKEN} bytes of \
                     text a token"
                )?;
            }
            FileRequests::Bodies(_) => {}
        }
        let left_out = self.left_out.to_string();
        if left_out.is_empty() { Ok(()) } else { write!(f, "; left out: {left_out}") }
    }
}
