//! An origin, as the flow names it.

/// An origin, and the variable that stands for it in the flow.
#[derive(Debug)]
pub(super) struct Host<'a> {
    pub(super) variable: String,
    pub(super) origin: &'a str,
}

impl Host<'_> {
    /// Its variable and what follows, if a text is a URL of it.
    pub(super) fn in_front_of<'v>(&self, text: &'v str) -> Option<(&str, &'v str)> {
        let rest = text.strip_prefix(self.origin).filter(|rest| rest.is_empty() || rest.starts_with('/'))?;
        Some((&self.variable, rest))
    }
}
