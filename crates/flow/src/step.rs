//! A step of a flow: everything made that can be made before the run.

use truetail_engine::Method;
use truetail_model::time::Nanos;

use crate::request::StepRequest;
use crate::scope::{Scope, VariableId};
use crate::syntax::{Delay, Expected, Setting};
use crate::value::Value;

/// Most bytes of a value that an option sets: one that is put into itself grows with each repetition.
const MAX_SET_BYTES: usize = 1 << 20;

/// A request of a flow, and what is expected of its answer.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) name: String,
    pub(crate) line: usize,
    pub(crate) method: Method,
    /// The URL for people.
    pub(crate) url: String,
    pub(crate) request: StepRequest,
    pub(crate) delay: Option<Delay>,
    pub(crate) settings: Vec<(VariableId, Setting)>,
    pub(crate) max_time: Option<Nanos>,
    /// The version of HTTP that is asked for.
    pub(crate) version: Option<&'static str>,
    pub(crate) expected: Option<Expected>,
    pub(crate) reading: Reading,
    pub(crate) further: Further,
}

/// How the answer of a step is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Reading {
    /// As a stream, where those are looked at.
    pub(crate) is_stream: bool,
    /// Something is asked of its body.
    pub(crate) needs_body: bool,
}

/// What further requests a step makes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Further {
    /// So many redirects are followed; `None`: a redirect is an answer like any other.
    pub(crate) most_redirects: Option<u32>,
    /// One to another origin takes `Authorization` with it.
    pub(crate) trusts_redirects: bool,
    /// So often it is tried again after it failed.
    pub(crate) retries: u32,
    /// How long after it failed.
    pub(crate) retry_interval: Nanos,
}

impl Further {
    /// There may be some.
    pub(crate) fn asks_again(self) -> bool {
        self.most_redirects.is_some() || self.retries > 0
    }
}

impl Step {
    /// An answer may lead to a further request of this step.
    pub(crate) fn asks_again(&self) -> bool {
        self.further.asks_again()
    }

    /// Does what its options say of variables; false where one has no text.
    pub(crate) fn set_variables(&self, scope: &mut Scope) -> bool {
        self.settings.iter().all(|(variable, setting)| {
            let value = match setting {
                Setting::Value(value) => Some(value.clone()),
                Setting::Text(template) => template.render(scope).ok().map(Value::text),
            };
            scope.values[*variable] = value.filter(|value| value.weight() <= MAX_SET_BYTES);
            scope.values[*variable].is_some()
        })
    }
}
