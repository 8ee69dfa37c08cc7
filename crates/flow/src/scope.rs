use std::sync::Arc;
use std::time::Duration;

use truetail_requests::{BuiltIn, ValueSource};

use crate::value::Value;

/// The number of a variable among the variables of a flow.
pub(crate) type VariableId = usize;

/// The variables of a session, and the source of its built-in values.
#[derive(Clone, Default, Debug)]
pub(crate) struct Scope {
    pub(crate) values: Vec<Option<Value>>,
    /// Built-in values by the names of variables that the flow itself does not set.
    pub(crate) built_ins: Arc<[(VariableId, BuiltIn)]>,
    pub(crate) random: u64,
    /// The number of the session.
    pub(crate) number: u64,
    /// True for values that stand for all: their time is 1970.
    pub(crate) is_sample: bool,
}

impl Scope {
    /// Creates the scope of a session that stands for all.
    pub(crate) fn sample(values: Vec<Option<Value>>, built_ins: Arc<[(VariableId, BuiltIn)]>) -> Scope {
        Scope { values, built_ins, random: 1, number: 0, is_sample: true }
    }

    /// Returns the built-in value that a variable without a value names.
    pub(crate) fn built_in(&mut self, id: VariableId) -> Option<Value> {
        let built_ins = Arc::clone(&self.built_ins);
        built_ins.iter().find(|(named, _)| *named == id).map(|(_, value)| self.value_of(value))
    }

    /// Returns a built-in value as a text.
    pub(crate) fn value_of(&mut self, value: &BuiltIn) -> Value {
        let mut text = Vec::new();
        value.write(self, &mut text);
        Value::text(String::from_utf8_lossy(&text).into_owned())
    }
}

impl ValueSource for Scope {
    fn number(&self) -> u64 {
        self.number
    }

    fn draw(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        truetail_model::random::mix64(self.random)
    }

    fn now(&self) -> Duration {
        if self.is_sample { Duration::ZERO } else { truetail_requests::unix_time() }
    }
}
