use std::collections::{BTreeMap, BTreeSet};

use crate::exchange::NoExchange;
use crate::ways::listed;

/// Reason why an entry is not a step.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Cause {
    /// It is not a valid HAR entry.
    Damaged,
    /// It was no exchange over the network, such as a WebSocket.
    NoExchange(NoExchange),
    /// Its method cannot be sent.
    Method,
    /// It has no answer: the browser blocked it or gave up.
    NoAnswer,
    /// It had a body, which the archive does not have.
    NoBody,
    /// It is an image, a style sheet, a script or a font.
    Asset,
}

impl Cause {
    fn text(self) -> &'static str {
        match self {
            Cause::Damaged => "not understood",
            Cause::NoExchange(why) => why.text(),
            Cause::Method => "with a method that cannot be sent",
            Cause::NoAnswer => "without an answer",
            Cause::NoBody => "whose body was not recorded",
            Cause::Asset => "images, style sheets, scripts and fonts (--assets keeps them)",
        }
    }
}

/// Number of entries that are not steps, by cause.
#[derive(Default)]
pub(super) struct LeftOut {
    causes: BTreeMap<Cause, u64>,
    origins: BTreeSet<String>,
    of_origins: u64,
}

impl LeftOut {
    pub(super) fn count(&mut self, cause: Cause) {
        *self.causes.entry(cause).or_default() += 1;
    }

    pub(super) fn count_origin(&mut self, origin: &str) {
        self.of_origins += 1;
        self.origins.insert(origin.to_owned());
    }

    /// Returns `3 without an answer, 2 of other origins (https://a)`, or `None` if nothing was left out.
    pub(super) fn text(&self) -> Option<String> {
        let causes = self.causes.iter().map(|(cause, count)| format!("{count} {}", cause.text()));
        let named = || listed(self.origins.iter().cloned());
        let origins = (self.of_origins > 0).then(|| format!("{} of other origins ({})", self.of_origins, named()));
        let parts: Vec<String> = causes.chain(origins).collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}
