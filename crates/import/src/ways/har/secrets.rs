use std::collections::{BTreeMap, BTreeSet};

use truetail_requests::redacted_header;

use super::entry::Recorded;
use crate::ways::{listed, shortened};

/// Names of headers and fields that may grant access, and of cookies that no recorded answer set.
pub(super) struct Secrets {
    names: BTreeMap<String, u64>,
    unset_cookies: BTreeSet<String>,
}

impl Secrets {
    pub(super) fn in_steps(steps: &[Recorded]) -> Secrets {
        let mut names = BTreeMap::new();
        let mut unset_cookies = BTreeSet::new();
        let mut set = BTreeSet::new();
        for step in steps {
            for name in step.names_of_secrets(is_telling) {
                *names.entry(name).or_default() += 1;
            }
            unset_cookies.extend(step.cookies().into_iter().filter(|name| !set.contains(name)));
            set.extend(step.cookies_set());
        }
        Secrets { names, unset_cookies }
    }

    /// Returns a note about names that may grant access.
    pub(super) fn note(&self) -> Option<String> {
        let named = self.names.iter().map(|(name, count)| format!("{} ({count})", shortened(name.clone())));
        (!self.names.is_empty()).then(|| {
            format!(
                "it holds what may grant access: {}; put variables in their place before others read it",
                listed(named)
            )
        })
    }

    /// Returns a note about cookies without which the recording cannot be repeated.
    pub(super) fn cookies_note(&self) -> Option<String> {
        (!self.unset_cookies.is_empty()).then(|| {
            format!(
                "cookies that no recorded answer set are left out: {}; the recording began inside a session, so record the login too",
                listed(self.unset_cookies.iter().cloned())
            )
        })
    }
}

/// Returns true if the value of this name may grant access.
fn is_telling(name: &str) -> bool {
    let header = format!("{name}: value");
    redacted_header(&header) != header
}
