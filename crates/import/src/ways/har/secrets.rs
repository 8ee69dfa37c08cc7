//! What grants access, and cookies that the recording began with.

use std::collections::{BTreeMap, BTreeSet};

use truetail_requests::redacted_header;

use super::entry::Recorded;

/// Names of what may grant access, and of cookies that no recorded answer set.
pub(super) struct Secrets {
    names: BTreeMap<String, u64>,
    unset_cookies: BTreeSet<String>,
}

impl Secrets {
    pub(super) fn of(steps: &[Recorded]) -> Secrets {
        let (mut names, mut unset_cookies, mut set) = (BTreeMap::new(), BTreeSet::new(), BTreeSet::new());
        for step in steps {
            for name in step.names_of_secrets(is_telling) {
                *names.entry(name).or_default() += 1;
            }
            unset_cookies.extend(step.cookies().into_iter().filter(|name| !set.contains(name)));
            set.extend(step.cookies_set());
        }
        Secrets { names, unset_cookies }
    }

    /// What may grant access.
    pub(super) fn note(&self) -> Option<String> {
        let named: Vec<_> = self.names.iter().map(|(name, count)| format!("{name} ({count})")).collect();
        (!named.is_empty()).then(|| {
            format!(
                "it holds what may grant access: {}; put variables in their place before others read it",
                named.join(", ")
            )
        })
    }

    /// Cookies without which the recording cannot be repeated.
    pub(super) fn cookies_note(&self) -> Option<String> {
        let named: Vec<_> = self.unset_cookies.iter().map(String::as_str).collect();
        (!named.is_empty()).then(|| {
            format!(
                "cookies that no recorded answer set are left out: {}; the recording began inside a session, so record the login too",
                named.join(", ")
            )
        })
    }
}

/// The name is that of what may grant access.
fn is_telling(name: &str) -> bool {
    let header = format!("{name}: value");
    redacted_header(&header) != header
}
