//! Requests to language models from public traces, data sets and batches (`--prompts mooncake:FILE` and others).
//!
//! | module | content |
//! |---|---|
//! | `file` | the name of a file, with its format |
//! | `mooncake`, `burst_gpt`, `share_gpt`, `batch` | a reader for each format |
//! | `values` | lines, instants, numbers of tokens |
//! | `requests` | what was read, and its rows |
//! | `lengths` | recorded lengths, and the prompts that are made for them |
//! | `bodies` | recorded bodies |
//! | `left_out` | requests that are not sent |

mod batch;
mod bodies;
mod burst_gpt;
mod file;
mod left_out;
mod lengths;
mod mooncake;
mod requests;
mod share_gpt;
mod values;

use crate::{InputError, Location};

pub use bodies::{bodies_asking, first_refusing_stream};
pub use file::{PromptFile, PromptFormat};
pub use requests::FilePrompts;

impl PromptFile {
    /// Reads the text of the file.
    ///
    /// # Errors
    /// The text is not valid, or has no request that can be sent. The error has its line.
    pub fn read(&self, text: &str) -> Result<FilePrompts, InputError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let read = match self.format {
            PromptFormat::Mooncake => mooncake::read(text, &self.file, self.block()),
            PromptFormat::BurstGpt => burst_gpt::read(text, &self.file),
            PromptFormat::ShareGpt => share_gpt::read(text, &self.file),
            PromptFormat::Batch => batch::read(text, &self.file, self.model()),
        }?;
        match read.why_empty() {
            Some(why) => Err(Location::named(&self.file).invalid(format!("no request of it can be sent: {why}"))),
            None => Ok(read),
        }
    }
}

#[cfg(test)]
mod tests;
