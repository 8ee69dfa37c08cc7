use std::collections::BTreeMap;

/// Reason why an operation is left out.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Cause {
    NotSafe,
    Deprecated,
    /// It refers to another file, or its reference has no target.
    Reference,
    Body,
    /// Its path does not begin with a slash. Such a path could change the host.
    Path,
    /// It has a value that cannot be sent, such as a line break in a header.
    Unsendable,
}

impl Cause {
    fn text(self) -> &'static str {
        match self {
            Cause::NotSafe => "that may change data",
            Cause::Deprecated => "deprecated",
            Cause::Reference => "with references to other files or to nothing",
            Cause::Body => "with a body that is not JSON",
            Cause::Path => "with a path that does not begin with a slash",
            Cause::Unsendable => "with a value that cannot be sent",
        }
    }
}

/// Number of operations that are left out, by cause.
#[derive(Default)]
pub(super) struct LeftOut(BTreeMap<Cause, u64>);

impl LeftOut {
    pub(super) fn count(&mut self, cause: Cause) {
        *self.0.entry(cause).or_default() += 1;
    }

    /// Returns `3 deprecated, 2 with a body that is not JSON`, or `None` if nothing was left out.
    pub(super) fn text(&self) -> Option<String> {
        let parts: Vec<String> = self.0.iter().map(|(cause, count)| format!("{count} {}", cause.text())).collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}
