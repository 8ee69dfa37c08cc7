//! A step of a flow, with all parts that can be made before the run.

use truetail_engine::Method;
use truetail_model::time::Nanos;

use crate::call::StepCall;
use crate::request::StepRequest;
use crate::scope::{Scope, VariableId};
use crate::syntax::{Coming, Expected, Setting};
use crate::value::Value;

/// Limit on the bytes of a value that an option sets. A value that contains itself grows with each repetition.
const MAX_SET_BYTES: usize = 1 << 20;

/// A request of a flow, and its expected answer.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) name: String,
    pub(crate) line: usize,
    pub(crate) method: Method,
    /// The URL for display.
    pub(crate) url: String,
    pub(crate) request: StepRequest,
    pub(crate) protocol: StepProtocol,
    pub(crate) coming: Coming,
    pub(crate) settings: Vec<(VariableId, Setting)>,
    pub(crate) max_time: Option<Nanos>,
    pub(crate) expected: Option<Expected>,
    pub(crate) reading: AnswerReading,
    pub(crate) further: FollowUps,
}

/// The protocol of a step.
#[derive(Clone, Debug)]
pub(crate) enum StepProtocol {
    /// HTTP, in any version or in the given one.
    Http(Option<&'static str>),
    /// gRPC.
    Call(Box<StepCall>),
}

/// Options for reading the answer of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct AnswerReading {
    /// The answer is a stream, if the run measures streams.
    pub(crate) is_stream: bool,
    /// A capture or an assert needs the body.
    pub(crate) needs_body: bool,
}

/// Further requests that a step may make.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FollowUps {
    /// Limit on the redirects that are followed. `None` means that a redirect is treated like any other answer.
    pub(crate) most_redirects: Option<u32>,
    /// A redirect to another origin keeps `Authorization`.
    pub(crate) trusts_redirects: bool,
    /// Limit on the retries after failures.
    pub(crate) retries: u32,
    /// Time from a failure to the retry.
    pub(crate) retry_interval: Nanos,
}

impl FollowUps {
    /// Returns true if further requests are possible.
    pub(crate) fn asks_again(self) -> bool {
        self.most_redirects.is_some() || self.retries > 0
    }
}

impl Step {
    /// Returns its call; `None` for a request of HTTP.
    pub(crate) fn call(&self) -> Option<&StepCall> {
        match &self.protocol {
            StepProtocol::Call(call) => Some(call),
            StepProtocol::Http(_) => None,
        }
    }

    /// Returns true if an answer may lead to a further request of this step.
    pub(crate) fn asks_again(&self) -> bool {
        self.further.asks_again()
    }

    /// Returns true if a session with these variables comes to this step.
    pub(crate) fn is_wanted(&self, scope: &Scope) -> bool {
        self.coming.only_while.is_none_or(|variable| {
            let text = scope.values[variable].as_ref().and_then(Value::rendered);
            text.is_some_and(|text| !text.is_empty())
        })
    }

    /// Sets the variables of its options. Returns false if a value has no text or is too long.
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
