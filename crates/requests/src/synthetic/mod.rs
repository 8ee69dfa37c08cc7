//! Prompts of given lengths, made of words (`--prompts synthetic:…`).

mod lengths;
mod words;

use std::fmt;
use std::str::FromStr;

use truetail_model::random::{Random, mix64};

pub use lengths::Lengths;
pub(crate) use lengths::MAX_TOKENS;
use words::WORDS;

/// Streams of random numbers of a seed.
const LENGTHS: u64 = 0x7072_6f6d_7074_7301;
const TEXTS: u64 = 0x7072_6f6d_7074_7302;
const PREFIXES: u64 = 0x7072_6f6d_7074_7303;
const TRIALS: u64 = 0x7072_6f6d_7074_7304;
/// Approximate bytes of a word with its blank.
const BYTES_OF_WORD: u64 = 6;

/// Prompts to make: `synthetic:input=512±128,output=128,prefix=1024,groups=8`.
#[derive(Clone, PartialEq, Debug)]
pub struct SyntheticPrompts {
    input: Lengths,
    output: Lengths,
    /// Tokens that all prompts of a group begin with.
    prefix: u32,
    groups: u32,
    rows: Option<u32>,
}

/// Lengths that a row was made for, in tokens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AskedLengths {
    /// Tokens of the prompt, with its prefix and what the server puts around it.
    pub input: u32,
    /// Tokens of the answer.
    pub output: u32,
}

/// Tokens of a prompt: some for each word, and some around it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TokensOfWords {
    /// Tokens of a word.
    pub each: f64,
    /// Tokens around the prompt.
    pub around: f64,
}

impl Default for TokensOfWords {
    /// One token a word and none around, as is nearly so of usual tokenizers.
    fn default() -> TokensOfWords {
        TokensOfWords { each: 1.0, around: 0.0 }
    }
}

impl TokensOfWords {
    /// Returns the line through two counts, each of words and tokens; `None` if they cannot be true.
    pub fn through((words, tokens): (u32, u64), (more_words, more_tokens): (u32, u64)) -> Option<TokensOfWords> {
        let each = (more_tokens as f64 - tokens as f64) / (f64::from(more_words) - f64::from(words));
        let around = tokens as f64 - each * f64::from(words);
        (each.is_finite() && each > 0.05 && each < 50.0).then_some(TokensOfWords { each, around: around.max(0.0) })
    }

    /// Returns the number of words of a prompt with this number of tokens, at least one.
    pub fn words(self, tokens: u32) -> u32 {
        ((f64::from(tokens) - self.around) / self.each).round().max(1.0) as u32
    }
}

/// Rows of prompts, as JSON lines with `prompt`, `input_tokens`, `output_tokens` and `group`.
#[derive(Clone, PartialEq, Debug)]
pub struct MadePrompts {
    /// The rows.
    pub json_lines: Vec<u8>,
    /// Lengths asked for, by row.
    pub asked: Vec<AskedLengths>,
}

impl SyntheticPrompts {
    /// Reads the files of lengths.
    ///
    /// # Errors
    /// A file cannot be read, or a line is no length.
    pub fn with_files(self, read: &dyn Fn(&str) -> Result<String, String>) -> Result<SyntheticPrompts, String> {
        let input = self.input.with_file(read)?;
        let output = self.output.with_file(read)?;
        Ok(SyntheticPrompts { input, output, ..self })
    }

    /// Returns the number of rows for a load of `requests`: fewer if they would have more than `max_bytes`.
    pub fn rows(&self, requests: u64, max_bytes: u64) -> u32 {
        let each = (u64::from(self.typical_input()) + 16) * BYTES_OF_WORD;
        let most = (max_bytes / each).clamp(1, u64::from(u32::MAX));
        self.rows.map_or(requests, u64::from).clamp(1, most) as u32
    }

    /// Returns the typical length of a prompt, with its prefix.
    pub fn typical_input(&self) -> u32 {
        self.prefix.saturating_add(self.input.typical())
    }

    /// Makes rows. The same seed makes the same ones.
    pub fn make(&self, rows: u32, seed: u64, tokens: TokensOfWords) -> MadePrompts {
        let mut lengths = Random::new(seed, LENGTHS);
        let words_of_prefix = (f64::from(self.prefix) / tokens.each).round() as u32;
        let prefix = |group: u32| text(words_of_prefix, &mut Random::new(seed, mix64(PREFIXES ^ u64::from(group))));
        let prefixes: Vec<String> = (0..self.groups).map(prefix).collect();
        let mut made = MadePrompts { json_lines: Vec::new(), asked: Vec::with_capacity(rows as usize) };
        for row in 0..rows {
            let own = self.input.draw(u64::from(row), &mut lengths);
            let output = self.output.draw(u64::from(row), &mut lengths);
            let group = row % self.groups;
            let input = self.prefix.saturating_add(own);
            let words = tokens.words(input).saturating_sub(words_of_prefix).max(1);
            let own = text(words, &mut Random::new(seed, mix64(TEXTS ^ u64::from(row))));
            let prefix = &prefixes[group as usize];
            let blank = if prefix.is_empty() { "" } else { " " };
            let line = format!(
                "{{\"prompt\":\"{prefix}{blank}{own}\",\"input_tokens\":{input},\"output_tokens\":{output},\"group\":{group}}}\n"
            );
            made.json_lines.extend_from_slice(line.as_bytes());
            made.asked.push(AskedLengths { input, output });
        }
        made
    }

    /// Makes one row with a prompt of `words` words that no row of the load has, and an answer of one token.
    pub fn trial(&self, words: u32, seed: u64) -> Vec<u8> {
        trial_row(words, seed)
    }
}

/// Makes a row with a prompt of `words` words that no row of a load has, and an answer of one token.
pub(crate) fn trial_row(words: u32, seed: u64) -> Vec<u8> {
    let text = text(words, &mut Random::new(seed, mix64(TRIALS ^ u64::from(words))));
    format!("{{\"prompt\":\"{text}\",\"input_tokens\":{words},\"output_tokens\":1,\"group\":0}}\n").into_bytes()
}

/// Returns random words with blanks between them.
fn text(words: u32, random: &mut Random) -> String {
    let mut text = String::with_capacity(words as usize * BYTES_OF_WORD as usize);
    push_words(words, random, &mut text);
    text
}

/// Appends random words, with a blank before each but the first of the text.
pub(crate) fn push_words(words: u32, random: &mut Random, text: &mut String) {
    for _ in 0..words {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(WORDS[(random.next_u64() % WORDS.len() as u64) as usize]);
    }
}

impl FromStr for SyntheticPrompts {
    type Err = String;

    fn from_str(text: &str) -> Result<SyntheticPrompts, String> {
        const HELP: &str = "write synthetic:input=512±128,output=128";
        let items = text.strip_prefix("synthetic:").ok_or_else(|| format!("'{text}' makes no prompts; {HELP}"))?;
        let mut made =
            SyntheticPrompts { input: Lengths::Fixed(0), output: Lengths::Fixed(0), prefix: 0, groups: 1, rows: None };
        for item in items.split(',') {
            let (key, value) = item.split_once('=').ok_or_else(|| format!("'{item}' has no value; {HELP}"))?;
            let of = |problem: String| format!("{key}: {problem}");
            let number = |most: u32| {
                let number = value.parse().ok().filter(|number| (1..=most).contains(number));
                number.ok_or_else(|| of(format!("'{value}' is no number from 1 to {most}")))
            };
            match key.trim() {
                "input" => made.input = value.parse().map_err(of)?,
                "output" => made.output = value.parse().map_err(of)?,
                "prefix" => made.prefix = number(MAX_TOKENS)?,
                "groups" => made.groups = number(10_000)?,
                "rows" => made.rows = Some(number(10_000_000)?),
                _ => return Err(format!("unknown key '{key}'; use input, output, prefix, groups and rows")),
            }
        }
        let missing = [("input", &made.input), ("output", &made.output)];
        if let Some((key, _)) = missing.iter().find(|(_, lengths)| **lengths == Lengths::Fixed(0)) {
            return Err(format!("'{text}' has no {key}; {HELP}"));
        }
        if made.groups > 1 && made.prefix == 0 {
            return Err("groups share a prefix, and there is none; add prefix=1024".to_owned());
        }
        if u64::from(made.prefix) * u64::from(made.groups) > 20_000_000 {
            return Err("prefix times groups is above 20000000 tokens; use fewer groups".to_owned());
        }
        Ok(made)
    }
}

/// The lengths as users write them.
impl fmt::Display for SyntheticPrompts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "synthetic:input={},output={}", self.input, self.output)?;
        if self.prefix > 0 {
            write!(f, ",prefix={},groups={}", self.prefix, self.groups)?;
        }
        self.rows.map_or(Ok(()), |rows| write!(f, ",rows={rows}"))
    }
}

#[cfg(test)]
mod tests;
