//! A file to be written.

/// The name and the content of a file, for the caller to write where the user wants it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OutputFile {
    /// Its name, without a folder.
    pub name: String,
    /// All of it.
    pub content: Vec<u8>,
}

impl OutputFile {
    /// A file of text.
    pub fn text(name: impl Into<String>, content: impl Into<String>) -> OutputFile {
        OutputFile { name: name.into(), content: content.into().into_bytes() }
    }
}
