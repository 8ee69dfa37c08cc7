//! A part of a list.

use super::saved_run::SavedRun;
use crate::VerdictState;

/// Conditions on a run. It must meet them all; without conditions, every run does.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct RunFilter {
    /// Text in the name or the URL, in any case of letters.
    pub target: Option<String>,
    /// The run began at this instant or later, nanoseconds since 1970 UTC. Runs in virtual time have no start.
    pub since_unix_ns: Option<u64>,
    /// The run began before this instant.
    pub before_unix_ns: Option<u64>,
    /// The verdict is one of these; any if empty.
    pub verdicts: Vec<VerdictState>,
    /// Labels.
    pub tags: Vec<TagFilter>,
}

/// A label that a run must have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TagFilter {
    /// Key of the label.
    pub key: String,
    /// Value; any if `None`.
    pub value: Option<String>,
}

impl RunFilter {
    /// Returns true if the filter has no condition.
    pub fn is_empty(&self) -> bool {
        *self == RunFilter::default()
    }

    /// Returns true if the run meets all conditions.
    pub fn keeps(&self, run: &SavedRun) -> bool {
        let began = |is: &dyn Fn(u64) -> bool| run.started_at_unix_ns.is_some_and(is);
        self.target.as_deref().is_none_or(|text| is_named(run, text))
            && self.since_unix_ns.is_none_or(|since| began(&|at| at >= since))
            && self.before_unix_ns.is_none_or(|before| began(&|at| at < before))
            && (self.verdicts.is_empty() || self.verdicts.contains(&run.verdict))
            && self.tags.iter().all(|tag| tag.is_on(run))
    }
}

impl TagFilter {
    fn is_on(&self, run: &SavedRun) -> bool {
        run.tags.get(&self.key).is_some_and(|value| self.value.as_ref().is_none_or(|wanted| wanted == value))
    }
}

fn is_named(run: &SavedRun, text: &str) -> bool {
    let text = text.to_lowercase();
    [&run.name, &run.url].into_iter().flatten().any(|name| name.to_lowercase().contains(&text))
}
