//! The name of a file with requests, and its format.

use std::fmt;
use std::str::FromStr;

use super::lengths::{BLOCK, MAX_TOKENS};

/// Format of a file with requests to language models.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PromptFormat {
    /// Arrivals, lengths and hashes of blocks, as Mooncake published them: JSON lines.
    Mooncake,
    /// Arrivals and lengths, as BurstGPT published them: CSV.
    BurstGpt,
    /// Conversations, as ShareGPT has them: a JSON list, or JSON lines.
    ShareGpt,
    /// Requests of OpenAI's batches: JSON lines.
    Batch,
}

impl PromptFormat {
    const ALL: [PromptFormat; 4] =
        [PromptFormat::Mooncake, PromptFormat::BurstGpt, PromptFormat::ShareGpt, PromptFormat::Batch];

    /// Returns the name that users write before the file.
    pub fn name(self) -> &'static str {
        match self {
            PromptFormat::Mooncake => "mooncake",
            PromptFormat::BurstGpt => "burstgpt",
            PromptFormat::ShareGpt => "sharegpt",
            PromptFormat::Batch => "batch",
        }
    }

    /// Returns true if the file says when each request came.
    pub fn has_arrivals(self) -> bool {
        matches!(self, PromptFormat::Mooncake | PromptFormat::BurstGpt)
    }

    /// Returns true if requests have whole bodies.
    pub fn has_bodies(self) -> bool {
        self == PromptFormat::Batch
    }
}

/// A file with requests, as users name it: `mooncake:trace.jsonl`, `batch:file.jsonl,model=m`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PromptFile {
    /// Its format.
    pub format: PromptFormat,
    /// Its path.
    pub file: String,
    /// Model that replaces the recorded one, with [`PromptFormat::Batch`].
    model: Option<String>,
    /// Tokens of a block, with [`PromptFormat::Mooncake`].
    block: u32,
}

impl PromptFile {
    /// Returns the file that `text` names; `None` if it begins with no name of a format.
    pub fn named(text: &str) -> Option<Result<PromptFile, String>> {
        let (name, _) = text.split_once(':')?;
        PromptFormat::ALL.iter().any(|format| format.name() == name).then(|| text.parse())
    }

    /// Returns the model that replaces the recorded one.
    pub(super) fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    /// Returns the number of tokens of a block.
    pub(super) fn block(&self) -> u32 {
        self.block
    }
}

impl FromStr for PromptFile {
    type Err = String;

    fn from_str(text: &str) -> Result<PromptFile, String> {
        let (name, mut file) = text.split_once(':').unwrap_or((text, ""));
        let format = PromptFormat::ALL.into_iter().find(|format| format.name() == name);
        let format = format.ok_or_else(|| format!("'{name}' is no format of a file with requests"))?;
        let mut model = None;
        let mut block = BLOCK;
        if let (PromptFormat::Batch, Some((before, given))) = (format, file.rsplit_once(",model=")) {
            (file, model) = (before, Some(given.to_owned()));
        }
        if let (PromptFormat::Mooncake, Some((before, given))) = (format, file.rsplit_once(",block=")) {
            let number = given.parse().ok().filter(|number| (1..=MAX_TOKENS).contains(number));
            block = number.ok_or_else(|| format!("block: '{given}' is no number of tokens, such as block=512"))?;
            file = before;
        }
        if file.is_empty() || file == "-" {
            return Err(format!("'{text}' names no file; write {name}:FILE"));
        }
        Ok(PromptFile { format, file: file.to_owned(), model, block })
    }
}

/// The name of the file without its folder, behind its format.
impl fmt::Display for PromptFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = self.file.rsplit('/').next().unwrap_or_default();
        write!(f, "{}:{file}", self.format.name())?;
        if self.block != BLOCK {
            write!(f, ",block={}", self.block)?;
        }
        self.model.as_ref().map_or(Ok(()), |model| write!(f, ",model={model}"))
    }
}
