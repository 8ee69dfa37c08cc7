//! The requests of a session.

use std::collections::{BTreeMap, BTreeSet};

use super::step::Step;
use super::text::{Part, seconds};
use crate::ImportError;
use crate::whole::file::place_of;

/// Limit on the bytes of a flow.
const MAX_FLOW_BYTES: usize = 64 << 20;

/// A session: its requests, and what is known of it.
#[derive(Debug, Default)]
pub(in crate::ways) struct Session {
    pub(in crate::ways) steps: Vec<Step>,
    /// The pause after the last request. A flow ends without one.
    pub(in crate::ways) pause: Option<String>,
    /// Comments after the last request.
    pub(in crate::ways) comments: Vec<String>,
    /// Number of parts that are not read.
    pub(in crate::ways) marked: usize,
    /// Variables that no answer gives.
    pub(in crate::ways) needed: BTreeSet<String>,
    /// Values of variables.
    pub(in crate::ways) given: BTreeMap<String, String>,
}

impl Session {
    /// Changes the session so that a flow can have it. A value that is made once and used several times gets a
    /// variable. A pause before the first request is removed.
    pub(in crate::ways) fn settled(mut self) -> Self {
        if let Some((first, delay)) =
            self.steps.first_mut().and_then(|first| first.delay.take().map(|delay| (first, delay)))
        {
            first
                .marks
                .push(format!("changed: no pause ({delay}) before the first request: sessions arrive on a schedule"));
        }
        self.keep_values();
        self
    }

    fn keep_values(&mut self) {
        let mut uses: BTreeMap<usize, usize> = BTreeMap::new();
        for part in self.steps.iter_mut().flat_map(Step::texts).flatten() {
            if let Part::Made(made) = part {
                *uses.entry(made.id).or_default() += 1;
            }
        }
        let mut kept: BTreeMap<usize, String> = BTreeMap::new();
        for step in &mut self.steps {
            let mut variables = Vec::new();
            for part in step.texts().flatten() {
                let Part::Made(made) = part else { continue };
                if uses[&made.id] < 2 {
                    continue;
                }
                let number = kept.len() + 1;
                let name = kept.entry(made.id).or_insert_with(|| {
                    let kind = made.expression.split(' ').next().unwrap_or_default();
                    variables.push((format!("{kind}_{number}"), made.expression.clone()));
                    format!("{kind}_{number}")
                });
                *part = Part::Variable(name.clone());
            }
            step.variables = variables;
        }
    }

    pub(super) fn hurl(&self, max_redirects: Option<u64>) -> Result<String, ImportError> {
        let mut text = String::new();
        for step in &self.steps {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(&step.hurl(max_redirects));
            if text.len() > MAX_FLOW_BYTES {
                return Err(ImportError::content(place_of(&[], 0), "its flow has more than 64 MiB".to_owned()));
            }
        }
        if !self.comments.is_empty() {
            text.push('\n');
        }
        self.comments.iter().for_each(|comment| text.push_str(&format!("# {comment}\n")));
        Ok(text)
    }

    /// Returns the seconds that it pauses in all, if that is constant.
    pub(super) fn pauses(&self) -> Option<f64> {
        let all = self.steps.iter().map(|step| &step.delay).chain([&self.pause]).flatten();
        all.map(|delay| seconds(delay)).sum()
    }
}
