//! Flows of gRPC calls: the methods of their steps, and the messages before the run.

use std::collections::BTreeSet;

use truetail_grpc::{CallMethod, GrpcUrl};
use truetail_run::GrpcKind;

use crate::error::FlowError;
use crate::flow::Flow;
use crate::request::StepBody;
use crate::scope::{Scope, VariableId};
use crate::step::{Step, StepProtocol};
use crate::template::{Expression, Piece, Source, Template};

impl Flow {
    /// Returns true if its steps are gRPC calls; otherwise they are requests of HTTP.
    pub fn makes_calls(&self) -> bool {
        self.steps.first().is_some_and(|step| step.call().is_some())
    }

    /// Returns the line and the URL of each call.
    pub fn calls(&self) -> impl Iterator<Item = (usize, &GrpcUrl)> {
        self.steps.iter().filter_map(|step| Some((step.line, &step.call()?.url)))
    }

    /// Returns the flow with the methods of its calls, in the order of [`Flow::calls`]. Each call also gets the header
    /// fields in `fields` that it does not have; a field is a name and a value. Messages that are the same in all
    /// sessions are encoded now. Without `has_values`, variables have placeholder values, which are not checked.
    ///
    /// # Errors
    /// A method has a stream of messages, or a message is wrong, as far as it is known before the run.
    pub fn with_methods(
        mut self,
        methods: &[CallMethod],
        fields: &[(&str, &str)],
        has_values: bool,
    ) -> Result<Flow, FlowError> {
        let changing = self.changing();
        let scope = self.sample_scope();
        for (step, method) in self.steps.iter_mut().zip(methods) {
            let known = has_values.then(|| KnownValues { changing: &changing, scope: scope.clone() });
            step.use_method(method, known).map_err(|problem| FlowError::new(step.line, problem))?;
            for (name, value) in fields {
                if !step.has_header(name) {
                    step.request.fixed.0.push(name.as_bytes(), value.as_bytes());
                }
            }
        }
        if has_values {
            self.check_first_request()?;
        }
        Ok(self)
    }

    /// Refuses steps that are not all of the same protocol.
    pub(crate) fn check_protocol(&self) -> Result<(), FlowError> {
        let Some(first) = self.steps.first() else { return Ok(()) };
        match self.steps.iter().find(|step| step.call().is_some() != first.call().is_some()) {
            None => Ok(()),
            Some(other) => {
                let (here, there) = match other.call() {
                    Some(_) => ("a gRPC call", "a request of HTTP"),
                    None => ("a request of HTTP", "a gRPC call"),
                };
                let problem = format!("this is {here}, and line {} has {there}: a run has one protocol", first.line);
                Err(FlowError::new(other.line, format!("{problem}; what comes first may be in a --setup")))
            }
        }
    }

    /// Returns the variables that differ between sessions or change within one.
    pub(crate) fn changing(&self) -> BTreeSet<VariableId> {
        let set = self.steps.iter().flat_map(|step| step.settings.iter().map(|(variable, _)| *variable));
        let expected = self.steps.iter().filter_map(|step| step.expected.as_ref());
        let captured = expected.flat_map(|expected| expected.captures.iter().map(|capture| capture.variable));
        let of_rows = self.rows.iter().flat_map(|rows| rows.variables.iter().copied());
        let built_in = self.built_ins.iter().map(|(variable, _)| *variable);
        set.chain(captured).chain(of_rows).chain(built_in).collect()
    }
}

impl Expression {
    /// Returns true if the value is the same in all sessions, given the variables that are not.
    pub(crate) fn is_known(&self, changing: &BTreeSet<VariableId>) -> bool {
        !matches!(self.source, Source::BuiltIn(_))
            && self.variables().iter().all(|variable| !changing.contains(variable))
    }
}

/// Values that are the same in all sessions.
struct KnownValues<'a> {
    changing: &'a BTreeSet<VariableId>,
    scope: Scope,
}

impl KnownValues<'_> {
    /// Returns the text of a template, if it is the same in all sessions.
    fn text(mut self, template: &Template) -> Option<String> {
        let is_known = |piece: &Piece| match piece {
            Piece::Text(_) => true,
            Piece::Value(value) => value.is_known(self.changing),
        };
        template.0.iter().all(is_known).then(|| template.render(&mut self.scope).ok())?
    }
}

impl Step {
    fn use_method(&mut self, method: &CallMethod, known: Option<KnownValues<'_>>) -> Result<(), String> {
        let StepProtocol::Call(call) = &mut self.protocol else { return Ok(()) };
        if method.kind() != GrpcKind::Unary {
            let help = "a step sends one message and waits for one; call it without a flow";
            return Err(format!("{} has a stream of messages, and {help}", method.full_name()));
        }
        call.method = Some(method.clone());
        let message = match &self.request.body {
            StepBody::Bytes(json) => StepBody::Message(method.body_of_json(json)?),
            StepBody::Text(json) => {
                check_message(json, method, known)?;
                StepBody::JsonMessage(json.clone(), method.clone())
            }
            _ => return Ok(()),
        };
        self.request.body = message;
        Ok(())
    }
}

/// Checks a message, as far as it is known: all of it, or the names of its fields.
fn check_message(json: &Template, method: &CallMethod, known: Option<KnownValues<'_>>) -> Result<(), String> {
    if let Some(text) = known.and_then(|known| known.text(json)) {
        return method.body_of_json(text.as_bytes()).map(drop);
    }
    // Any field takes an object here, and as names these two differ.
    let problem = |value: &str| {
        let pieces = json.0.iter().map(|piece| if let Piece::Text(text) = piece { text } else { value });
        method.check_names(pieces.collect::<String>().as_bytes())
    };
    match (problem("{}"), problem("{ }")) {
        (Err(one), Err(other)) if one == other => Err(one),
        _ => Ok(()),
    }
}
