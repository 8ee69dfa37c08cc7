//! Checks an answer against the expectations of its step, and takes its captures.

use truetail_grpc::message_in;
use truetail_model::record::GrpcStatus;
use truetail_run::EarlyEnd;

use crate::evaluate::answer::Answer;
use crate::evaluate::query::Query;
use crate::parse::JSON;
use crate::scope::Scope;
use crate::step::Step;
use crate::syntax::{Assert, Body, Expected, ExpectedBody, QueryChain};
use crate::template::Template;
use crate::value::Value;

/// Limit on the bytes of a kept value. A JSONPath may find the same part many times.
const MAX_CAPTURED_BYTES: usize = 4 << 20;

/// Reason why an answer ends its session.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct EarlyEndReason {
    pub(crate) cause: EarlyEnd,
    /// The line of the flow that was not met, and what was found instead.
    pub(crate) why: String,
}

impl EarlyEndReason {
    fn new(cause: EarlyEnd, line: usize, why: impl std::fmt::Display) -> EarlyEndReason {
        EarlyEndReason { cause, why: format!("line {line}: {why}") }
    }
}

/// Limit on the characters of a server's message that are shown.
const MAX_SHOWN: usize = 200;

/// Judges an answer in the order of Hurl: status, captures, asserts.
pub(crate) fn judge(step: &Step, answer: &Answer<'_>, scope: &mut Scope) -> Result<(), EarlyEndReason> {
    call_status(step, answer)?;
    let Some(expected) = &step.expected else { return Ok(()) };
    head(expected, answer, scope)?;
    for capture in &expected.captures {
        let failed = |why: String| EarlyEndReason::new(EarlyEnd::Capture, capture.line, why);
        let found = look(&capture.look, answer, scope).map_err(failed)?;
        let found = found.ok_or_else(|| failed("the capture found nothing".to_owned()))?;
        if found.weight() > MAX_CAPTURED_BYTES {
            return Err(failed("what was captured is too large to be kept".to_owned()));
        }
        scope.values[capture.variable] = Some(found);
    }
    expected.asserts.iter().try_for_each(|assert| holds(assert, answer, scope))?;
    expected.body.as_ref().map_or(Ok(()), |expected| judge_body(expected, answer, scope))
}

/// Compares JSON bodies as JSON, other bodies as text or bytes.
fn judge_body(expected: &ExpectedBody, answer: &Answer<'_>, scope: &mut Scope) -> Result<(), EarlyEndReason> {
    let failed = |line, why: &str| EarlyEndReason::new(EarlyEnd::Assert, line, why);
    answer.check_body().map_err(|why| failed(expected.line, &why))?;
    let another = "the body is another one";
    match &expected.body {
        Body::Bytes(bytes) if bytes == answer.body => Ok(()),
        Body::Bytes(_) | Body::File(_) => Err(failed(expected.line, another)),
        Body::Text(template, content_type) => {
            let wanted = template.render(scope).map_err(|_| failed(expected.line, "a variable has no text"))?;
            if *content_type == Some(JSON) {
                let json: Option<serde_json::Value> = serde_json::from_str(&wanted).ok();
                let is_it = json.is_some() && json.as_ref() == answer.json();
                return if is_it { Ok(()) } else { Err(failed(expected.line, another)) };
            }
            let found = answer.text().map_err(|why| failed(expected.line, &why))?;
            if found == wanted {
                return Ok(());
            }
            Err(failed(expected.text_line + different_line(&wanted, &found), another))
        }
    }
}

/// Returns the index of the first line of `wanted` that `found` lacks. If it lacks none, returns the last line.
fn different_line(wanted: &str, found: &str) -> usize {
    let same = wanted.lines().zip(found.lines()).take_while(|(one, other)| one == other).count();
    same.min(wanted.lines().count().saturating_sub(1))
}

/// Judges an answer in virtual time, which only has a status and a duration. Asserts on the duration are judged, and
/// the status (of HTTP or of a call) unless `is_good`. All other expectations count as met.
pub(crate) fn judge_simulated(
    step: &Step,
    answer: &Answer<'_>,
    is_good: bool,
    scope: &mut Scope,
) -> Result<(), EarlyEndReason> {
    if !is_good {
        call_status(step, answer)?;
    }
    let Some(expected) = &step.expected else { return Ok(()) };
    if !is_good && step.call().is_none() {
        status(expected, answer)?;
    }
    let judged = |assert: &&Assert| match &assert.look.query {
        Query::Status => !is_good,
        query if query.is_call_status() => !is_good && step.call().is_some(),
        Query::Duration => true,
        _ => false,
    };
    expected.asserts.iter().filter(judged).try_for_each(|assert| holds(assert, answer, scope))
}

fn holds(assert: &Assert, answer: &Answer<'_>, scope: &mut Scope) -> Result<(), EarlyEndReason> {
    let failed = |why: String| EarlyEndReason::new(EarlyEnd::Assert, assert.line, why);
    let found = look(&assert.look, answer, scope).map_err(failed)?;
    // A predicate that cannot be evaluated does not hold, with or without `not`.
    match assert.predicate.holds(found.as_ref(), scope).map_err(failed)? == assert.not {
        true => Err(failed("the assert does not hold".to_owned())),
        false => Ok(()),
    }
}

/// Judges the status of a call: it must be OK, unless the step has an expectation on it.
fn call_status(step: &Step, answer: &Answer<'_>) -> Result<(), EarlyEndReason> {
    let is_judged = step.call().is_some_and(|call| !call.expects_status);
    match answer.call_status.filter(|status| is_judged && *status != GrpcStatus::OK) {
        None => Ok(()),
        Some(status) => {
            let line = step.expected.as_ref().map_or(step.line, |expected| expected.line);
            let said: String = message_in(answer.fields).unwrap_or_default().chars().take(MAX_SHOWN).collect();
            let said = if said.is_empty() { said } else { format!(": {said}") };
            let why = format!("the call ended with {}, not OK{said}", status.name());
            Err(EarlyEndReason::new(EarlyEnd::Status, line, why))
        }
    }
}

fn status(expected: &Expected, answer: &Answer<'_>) -> Result<(), EarlyEndReason> {
    match expected.status.filter(|status| *status != answer.status) {
        None => Ok(()),
        Some(status) => {
            let why = format!("the status is {}, not {status}", answer.status);
            Err(EarlyEndReason::new(EarlyEnd::Status, expected.line, why))
        }
    }
}

fn head(expected: &Expected, answer: &Answer<'_>, scope: &mut Scope) -> Result<(), EarlyEndReason> {
    status(expected, answer)?;
    if let Some(version) = expected.version.filter(|version| *version != answer.version) {
        let why = format!("the version of HTTP is {}, not {version}", answer.version);
        return Err(EarlyEndReason::new(EarlyEnd::Assert, expected.line, why));
    }
    for (line, (name, value)) in &expected.headers {
        let mut text = |template: &Template| {
            let missing = |_| EarlyEndReason::new(EarlyEnd::Assert, *line, "a variable has no text");
            template.render(scope).map_err(missing)
        };
        let name = text(name)?;
        let value = text(value)?;
        if !answer.header(&name).any(|found| found == value) {
            return Err(EarlyEndReason::new(EarlyEnd::Assert, *line, format!("the header {name} is another one")));
        }
    }
    Ok(())
}

fn look(look: &QueryChain, answer: &Answer<'_>, scope: &mut Scope) -> Result<Option<Value>, String> {
    let mut value = look.query.ask(answer, scope)?;
    for filter in &look.filters {
        let Some(found) = value else { return Ok(None) };
        value = filter.apply(found, scope)?;
    }
    Ok(value)
}
