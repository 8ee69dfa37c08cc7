//! A file to write.

/// Name and content of a file, which the caller writes to the user's folder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OutputFile {
    /// Name, without a folder.
    pub name: String,
    /// The whole content.
    pub content: Vec<u8>,
}

impl OutputFile {
    /// Returns a text file.
    pub fn text(name: impl Into<String>, content: impl Into<String>) -> OutputFile {
        OutputFile { name: name.into(), content: content.into().into_bytes() }
    }
}
