//! Recorded lengths, and the prompts that are made for them.

use std::collections::HashSet;
use std::fmt::Write as _;

use truetail_model::random::{Random, mix64};

pub(super) use crate::synthetic::MAX_TOKENS;
use crate::synthetic::{AskedLengths, MadePrompts, TokensOfWords, push_words};

/// Streams of random numbers of a seed: of texts that one request has, and of blocks that several may have.
const TEXTS: u64 = 0x7472_6163_6574_7301;
const BLOCKS: u64 = 0x7472_6163_6574_7302;

/// Tokens of a block of Mooncake.
pub(super) const BLOCK: u32 = 512;
/// Limit on the blocks of all requests.
const MAX_BLOCKS: usize = 20_000_000;

/// Lengths of requests, and the blocks that their prompts begin with.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct RecordedLengths {
    lengths: Vec<AskedLengths>,
    /// Tokens of a block.
    block: u32,
    /// Hashes of the blocks of all requests, one after the other.
    hashes: Vec<u64>,
    /// By request: the end of its blocks.
    ends: Vec<u32>,
}

impl RecordedLengths {
    pub(super) fn new(block: u32) -> RecordedLengths {
        RecordedLengths { lengths: Vec::new(), block, hashes: Vec::new(), ends: Vec::new() }
    }

    /// Adds a request.
    ///
    /// # Errors
    /// It has more blocks than its length allows, or all requests together have too many.
    pub(super) fn push(&mut self, asked: AskedLengths, hashes: &[u64]) -> Result<(), String> {
        let most = asked.input.div_ceil(self.block) as usize;
        if hashes.len() > most {
            return Err(format!(
                "{} blocks, and {} tokens have {most} of {} tokens; say how many a block has, such as mooncake:FILE,block=64",
                hashes.len(),
                asked.input,
                self.block
            ));
        }
        if self.hashes.len() + hashes.len() > MAX_BLOCKS {
            return Err(format!("more than {MAX_BLOCKS} blocks up to here; use a part of the file"));
        }
        self.lengths.push(asked);
        self.hashes.extend_from_slice(hashes);
        self.ends.push(self.hashes.len() as u32);
        Ok(())
    }

    pub(super) fn len(&self) -> usize {
        self.lengths.len()
    }

    /// Returns the mean input and output length of the first `count` requests.
    pub(super) fn mean(&self, count: u64) -> (f64, f64) {
        let count = self.len().min(usize::try_from(count).unwrap_or(usize::MAX)).max(1);
        let of = |length: &dyn Fn(&AskedLengths) -> u32| {
            self.lengths.iter().take(count).map(|asked| u64::from(length(asked))).sum::<u64>() as f64 / count as f64
        };
        (of(&|asked| asked.input), of(&|asked| asked.output))
    }

    /// Returns how many of the blocks an earlier request has too, in percent; `None` without blocks.
    pub(super) fn shared(&self) -> Option<f64> {
        let mut seen = HashSet::new();
        let again = self.hashes.iter().filter(|hash| !seen.insert(**hash)).count();
        (!self.hashes.is_empty()).then(|| again as f64 * 100.0 / self.hashes.len() as f64)
    }

    fn blocks(&self, nth: usize) -> &[u64] {
        let begin = nth.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.hashes[begin as usize..self.ends[nth] as usize]
    }

    /// Makes rows of the first `count` requests, fewer if they would have more than `max_bytes`.
    pub(super) fn make(&self, count: usize, max_bytes: u64, seed: u64, tokens: TokensOfWords) -> MadePrompts {
        let words_of_block = (f64::from(self.block) / tokens.each).round().max(1.0) as u32;
        let mut made = MadePrompts { json_lines: Vec::new(), asked: Vec::new() };
        let mut prompt = String::new();
        for (nth, asked) in self.lengths.iter().enumerate().take(count) {
            prompt.clear();
            let mut left = tokens.words(asked.input);
            let blocks = self.blocks(nth);
            // What rounding left over goes to the last block, if the hashes cover the whole prompt.
            let last = if blocks.len() == asked.input.div_ceil(self.block) as usize { blocks.len() } else { 0 };
            for (number, hash) in (1..).zip(blocks) {
                let words = if number == last { left } else { left.min(words_of_block) };
                push_words(words, &mut Random::new(seed, mix64(BLOCKS ^ mix64(*hash))), &mut prompt);
                left -= words;
            }
            push_words(left, &mut Random::new(seed, mix64(TEXTS ^ nth as u64)), &mut prompt);
            let before = made.json_lines.len();
            push_row(&prompt, asked.input, asked.output, &mut made.json_lines);
            if made.json_lines.len() as u64 > max_bytes {
                made.json_lines.truncate(before);
                break;
            }
            made.asked.push(*asked);
        }
        made
    }
}

/// Appends a row.
pub(super) fn push_row(prompt: &str, input: u32, output: u32, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"prompt\":\"");
    crate::json_text::escape(prompt, out);
    let mut end = String::new();
    // Writing to a text does not fail.
    let _ = writeln!(end, "\",\"input_tokens\":{input},\"output_tokens\":{output}}}");
    out.extend_from_slice(end.as_bytes());
}
