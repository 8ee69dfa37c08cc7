//! Dialects that a file describes (`--llm-dialect`): paths of text, counts, ends and errors.

mod description;
mod file;
mod path;
mod read;
mod wanted;

pub use description::DescribedDialect;

#[cfg(test)]
mod tests;
