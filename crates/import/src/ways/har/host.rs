/// An origin, and its variable in the flow.
#[derive(Debug)]
pub(super) struct Host<'a> {
    pub(super) variable: String,
    pub(super) origin: &'a str,
}

impl Host<'_> {
    /// Returns the variable and the rest of a URL, if `text` is a URL of this origin.
    pub(super) fn in_front_of<'v>(&self, text: &'v str) -> Option<(&str, &'v str)> {
        let rest = text.strip_prefix(self.origin).filter(|rest| rest.is_empty() || rest.starts_with('/'))?;
        Some((&self.variable, rest))
    }
}
