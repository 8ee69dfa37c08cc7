//! Parser of the calls of agents: a JSON object per line.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Deserialize;
use serde_json::value::RawValue;
use truetail_model::time::Nanos;
use truetail_requests::{refuses_stream, with_json_members};

use super::graph::{AgentGraphs, Call, Graph};
use super::template::{MAX_BODY_BYTES, Piece, pieces, too_long};
use crate::error::FlowError;

/// Limit on the calls of one session.
const MAX_CALLS: usize = 1_000;
/// Limit on the sessions of a file.
const MAX_SESSIONS: usize = 100_000;
/// Limit on the bytes of the name of a session or a call.
const MAX_NAME_BYTES: usize = 200;
/// Longest think time in seconds: a day.
const MAX_THINK: f64 = 86_400.0;

/// Form of the requests of calls.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AgentForm {
    /// Member of a body that has the prompt; `None` if calls must have a body.
    pub prompt: Option<PromptMember>,
    /// Member of a body that limits the output tokens.
    pub limit: &'static str,
    /// Members that each body gets unless it has them: name and value in JSON.
    pub shared: Vec<(String, String)>,
    /// True if a body that refuses a stream is a mistake.
    pub must_be_streams: bool,
}

/// Member of a body that has the prompt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PromptMember {
    /// `messages`, with one message of the user.
    Messages,
    /// A text under this name.
    Text(&'static str),
}

/// A line of the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line<'a> {
    #[serde(default)]
    session: String,
    id: String,
    #[serde(default)]
    after: Vec<String>,
    #[serde(default)]
    think: f64,
    #[serde(borrow)]
    prompt: Option<&'a RawValue>,
    #[serde(borrow)]
    messages: Option<&'a RawValue>,
    #[serde(borrow)]
    body: Option<&'a RawValue>,
    max_tokens: Option<u64>,
    #[serde(default = "yes")]
    template: bool,
}

const fn yes() -> bool {
    true
}

/// A call whose predecessors are known by name only.
struct ReadCall {
    call: Call,
    after: Vec<String>,
    body: String,
    is_template: bool,
}

impl AgentGraphs {
    /// Reads a file. `name` is shown in reports.
    ///
    /// # Errors
    /// The first line that is wrong, and what helps.
    pub fn parse(name: &str, text: &str, form: &AgentForm) -> Result<AgentGraphs, FlowError> {
        let mut sessions: Vec<(String, Vec<ReadCall>)> = Vec::new();
        let mut places = HashMap::new();
        let mut ids = BTreeSet::new();
        for (nth, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let wrong = |problem: String| FlowError::new(nth + 1, problem);
            let (session, read) = read_line(nth + 1, line, form).map_err(wrong)?;
            let place = *places.entry(session.clone()).or_insert(sessions.len());
            if place == sessions.len() {
                if place == MAX_SESSIONS {
                    return Err(wrong(format!("more than {MAX_SESSIONS} sessions, the limit; use fewer")));
                }
                sessions.push((session, Vec::new()));
            }
            let (session, calls) = &mut sessions[place];
            if !ids.insert((place, read.call.id.clone())) {
                let id = &read.call.id;
                let first = calls.iter().find(|call| call.call.id == *id).map_or(0, |call| call.call.line);
                return Err(wrong(format!("{} has a call '{id}' in line {first} already", of_session(session))));
            }
            if calls.len() == MAX_CALLS {
                return Err(wrong(format!("{} has more than {MAX_CALLS} calls, the limit", of_session(session))));
            }
            calls.push(read);
        }
        if sessions.is_empty() {
            return Err(FlowError::new(
                1,
                "there is no call; write a JSON object per line, such as {\"id\": \"a\", \"prompt\": \"Hi\"}",
            ));
        }
        let graphs = sessions.into_iter().map(|(name, calls)| graph(name, calls)).collect::<Result<_, _>>()?;
        Ok(AgentGraphs { name: name.to_owned(), graphs })
    }
}

fn of_session(name: &str) -> String {
    if name.is_empty() { "the session".to_owned() } else { format!("session '{name}'") }
}

/// Reads a line: the name of its session, and its call.
fn read_line(line: usize, text: &str, form: &AgentForm) -> Result<(String, ReadCall), String> {
    let read: Line<'_> = serde_json::from_str(text).map_err(|error| {
        // The line of the error is that of the file, and not 1.
        let what = error.to_string();
        let what = what.split(" at line ").next().unwrap_or_default().to_owned();
        format!("{what}; a call is a JSON object with id, after, think, prompt (or messages, or body) and max_tokens")
    })?;
    check_name("session", &read.session, true)?;
    check_name("id", &read.id, false)?;
    if !(0.0..=MAX_THINK).contains(&read.think) {
        return Err(format!("think is {} seconds; write 0 to {MAX_THINK}", read.think));
    }
    let body = body(&read, form)?;
    let think = Nanos((read.think * 1e9).round() as u64);
    let call = Call {
        id: read.id,
        line,
        depth: 0,
        think,
        waits_for: read.after.len() as u32,
        followers: Vec::new(),
        is_said: false,
        body: Vec::new(),
    };
    Ok((read.session, ReadCall { call, after: read.after, body, is_template: read.template }))
}

fn check_name(what: &str, name: &str, may_be_empty: bool) -> Result<(), String> {
    if (name.is_empty() && !may_be_empty) || name.len() > MAX_NAME_BYTES || name.contains(char::is_control) {
        let least = if may_be_empty { 0 } else { 1 };
        return Err(format!(
            "{what} is {name:?}; write a name of {least} to {MAX_NAME_BYTES} bytes without control characters"
        ));
    }
    Ok(())
}

/// Returns the body of a call in JSON.
fn body(read: &Line<'_>, form: &AgentForm) -> Result<String, String> {
    let given = [read.prompt.is_some(), read.messages.is_some(), read.body.is_some()];
    if given.iter().filter(|given| **given).count() != 1 {
        return Err(format!("call '{}' needs one of prompt, messages and body", read.id));
    }
    let own = match (read.prompt, read.messages, read.body) {
        (Some(prompt), ..) => {
            let prompt = prompt.get();
            if !prompt.starts_with('"') {
                return Err("prompt is no text; write messages or body for anything else".to_owned());
            }
            match form.prompt {
                Some(PromptMember::Messages) => {
                    format!("{{\"messages\":[{{\"role\":\"user\",\"content\":{prompt}}}]}}")
                }
                Some(PromptMember::Text(name)) => format!("{{\"{name}\":{prompt}}}"),
                None => return Err("prompt has no place that is known in this API; write body".to_owned()),
            }
        }
        (None, Some(messages), _) => format!("{{\"messages\":{}}}", messages.get()),
        (None, None, body) => body.map_or("", RawValue::get).to_owned(),
    };
    if !own.starts_with('{') {
        return Err("body is no JSON object".to_owned());
    }
    let limit = read.max_tokens.map(|limit| limit.to_string());
    let limit = limit.iter().map(|limit| (form.limit, limit.as_str()));
    let shared = form.shared.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    // Of two members with one name, the first counts.
    let mut members: Vec<(&str, &str)> = Vec::new();
    for (name, value) in limit.chain(shared) {
        if members.iter().all(|(there, _)| *there != name) {
            members.push((name, value));
        }
    }
    let body = with_json_members(own.as_bytes(), &members)?;
    if form.must_be_streams && refuses_stream(&body) {
        return Err(format!(
            "call '{}', or --data for all, says \"stream\": false, and its answer is read as a stream; leave \"stream\" out",
            read.id
        ));
    }
    String::from_utf8(body).map_err(|error| error.to_string())
}

/// Checks the calls of a session and connects them.
fn graph(name: String, read: Vec<ReadCall>) -> Result<Graph, FlowError> {
    let numbers: BTreeMap<&str, u32> = read.iter().map(|of| of.call.id.as_str()).zip(0..).collect();
    let mut calls: Vec<Call> = read.iter().map(|of| of.call.clone()).collect();
    for (nth, of) in read.iter().enumerate() {
        let wrong = |problem: String| FlowError::new(of.call.line, problem);
        let mut before = BTreeSet::new();
        for id in &of.after {
            let Some(other) = numbers.get(id.as_str()) else {
                return Err(wrong(format!(
                    "call '{}' is after '{id}', which {} does not have",
                    of.call.id,
                    of_session(&name)
                )));
            };
            if !before.insert(*other) {
                return Err(wrong(format!("call '{}' is after '{id}' twice", of.call.id)));
            }
            calls[*other as usize].followers.push(nth as u32);
        }
    }
    let order = in_order(&mut calls).map_err(|stuck| circle(&read, &numbers, &stuck))?;
    check_beginning(&name, &calls)?;
    fill_bodies(&read, &numbers, &order, &mut calls)?;
    Ok(Graph { name, calls })
}

/// Sets the depths. Returns the calls in an order in which each comes after all that it waits for.
///
/// # Errors
/// Calls that wait for each other, and the calls behind them: true at their places.
fn in_order(calls: &mut [Call]) -> Result<Vec<u32>, Vec<bool>> {
    let mut waits: Vec<u32> = calls.iter().map(|call| call.waits_for).collect();
    let mut order: Vec<u32> = (0..calls.len() as u32).filter(|nth| waits[*nth as usize] == 0).collect();
    order.iter().for_each(|nth| calls[*nth as usize].depth = 1);
    let mut next = 0;
    while let Some(nth) = order.get(next).copied() {
        next += 1;
        let Call { depth, followers, .. } = calls[nth as usize].clone();
        for follower in followers {
            let at = follower as usize;
            calls[at].depth = calls[at].depth.max(depth + 1);
            waits[at] -= 1;
            if waits[at] == 0 {
                order.push(follower);
            }
        }
    }
    if order.len() == calls.len() { Ok(order) } else { Err(waits.into_iter().map(|count| count > 0).collect()) }
}

/// Describes a circle among the calls that are `stuck`.
fn circle(read: &[ReadCall], numbers: &BTreeMap<&str, u32>, stuck: &[bool]) -> FlowError {
    const SHOWN: usize = 5;
    let before = |nth: usize| {
        let others = read[nth].after.iter().filter_map(|id| numbers.get(id.as_str()));
        others.map(|other| *other as usize).find(|other| stuck[*other])
    };
    // Each stuck call is after another one, so that going back leads into a circle.
    let mut at = stuck.iter().position(|is_stuck| *is_stuck).unwrap_or(0);
    let mut seen = vec![at];
    while let Some(other) = before(at) {
        if let Some(begin) = seen.iter().position(|there| *there == other) {
            seen.drain(..begin);
            break;
        }
        seen.push(other);
        at = other;
    }
    let first = seen[0];
    let names: Vec<String> = seen.iter().take(SHOWN).map(|nth| format!("'{}'", read[*nth].call.id)).collect();
    let more = if seen.len() > SHOWN { " after …" } else { "" };
    let back = &read[first].call.id;
    let problem = format!("the calls wait for each other: {}{more} after '{back}'", names.join(" after "));
    FlowError::new(read[first].call.line, problem)
}

/// Checks that a session does something when it arrives.
fn check_beginning(name: &str, calls: &[Call]) -> Result<(), FlowError> {
    let first = calls.iter().filter(|call| call.waits_for == 0).min_by_key(|call| call.think);
    match first.filter(|call| call.think > Nanos::ZERO) {
        Some(call) => Err(FlowError::new(
            call.line,
            format!(
                "{} begins with think time, which would only move its arrival; leave think out of its first call",
                of_session(name)
            ),
        )),
        None => Ok(()),
    }
}

/// Divides the bodies at their places. A place names a call that is behind the one that says it.
fn fill_bodies(
    read: &[ReadCall],
    numbers: &BTreeMap<&str, u32>,
    order: &[u32],
    calls: &mut [Call],
) -> Result<(), FlowError> {
    // By call: a bit for each call before it.
    let words = calls.len().div_ceil(64);
    let mut before = vec![0_u64; words * calls.len()];
    for nth in order {
        let from = *nth as usize * words;
        let mut own = before[from..from + words].to_vec();
        own[*nth as usize / 64] |= 1 << (nth % 64);
        for follower in &calls[*nth as usize].followers {
            let at = *follower as usize * words;
            before[at..at + words].iter_mut().zip(&own).for_each(|(bits, more)| *bits |= more);
        }
    }
    let mut said = BTreeSet::new();
    for (nth, of) in read.iter().enumerate() {
        let is_before = |other: u32| before[nth * words + other as usize / 64] & (1 << (other % 64)) != 0;
        let call_of = |name: &str| match numbers.get(name) {
            Some(other) if is_before(*other) => Ok(*other),
            Some(_) => {
                Err(format!("call '{}' says {{{{{name}}}}}, which is not before it; add '{name}' to after", of.call.id))
            }
            None => Err(format!(
                "call '{}' says {{{{{name}}}}}, which is no call of its session; \"template\": false sends the text as it is",
                of.call.id
            )),
        };
        let body = match of.is_template {
            true => pieces(&of.body, call_of).map_err(|problem| FlowError::new(of.call.line, problem))?,
            false => vec![Piece::Text(of.body.as_bytes().into())],
        };
        let texts = body.iter().map(|piece| if let Piece::Text(text) = piece { text.len() } else { 0 });
        if texts.sum::<usize>() > MAX_BODY_BYTES {
            let problem = format!("call '{}' cannot be made: {}", of.call.id, too_long());
            return Err(FlowError::new(of.call.line, problem));
        }
        said.extend(body.iter().filter_map(|piece| if let Piece::Said(call) = piece { Some(*call) } else { None }));
        calls[nth].body = body;
    }
    said.into_iter().for_each(|call| calls[call as usize].is_said = true);
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::graph::Pieces;
    use super::*;

    fn form() -> AgentForm {
        let shared = [("model", "\"m\""), ("max_tokens", "9"), ("stream", "true")];
        let shared = shared.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        AgentForm { prompt: Some(PromptMember::Messages), limit: "max_tokens", shared, must_be_streams: true }
    }

    fn parsed(lines: &[&str]) -> Result<AgentGraphs, FlowError> {
        AgentGraphs::parse("a.jsonl", &lines.join("\n"), &form())
    }

    #[test]
    fn calls_are_connected_and_have_their_bodies() {
        let agents = parsed(&[
            r#"{"session":"s","id":"d","after":["b","c"],"think":0.5,"prompt":"{{b}} or {{a}}?","max_tokens":3}"#,
            "",
            r#"{"session":"t","id":"a","messages":[{"role":"user","content":"{{ a }}"}]}"#,
            r#"{"session":"s","id":"a","prompt":"Hi \"you\""}"#,
            r#"{"session":"s","id":"b","after":["a"],"body":{"model":"other","prompt":1}}"#,
            r#"{"session":"s","id":"c","after":["a"],"think":1,"prompt":"{{x}}","template":false}"#,
        ])
        .unwrap();
        let names: Vec<&str> = agents.graphs.iter().map(|graph| graph.name.as_str()).collect();
        assert_eq!((names, agents.most_calls(), agents.step_count()), (vec!["s", "t"], 4, 3));
        let calls = &agents.graphs[0].calls;
        let shape: Vec<_> = calls
            .iter()
            .map(|call| (call.depth, call.think.0, call.waits_for, &call.followers[..], call.is_said))
            .collect();
        let expected: [(u32, u64, u32, &[u32], bool); 4] = [
            (3, 500_000_000, 2, &[], false),
            (1, 0, 0, &[2, 3], true),
            (2, 0, 1, &[0], true),
            (2, 1_000_000_000, 1, &[0], false),
        ];
        assert_eq!(shape, expected);
        let body = |nth: usize| -> Value { serde_json::from_slice(&calls[nth].body.concat_text()).unwrap() };
        let message = |text: &str| json!([{"role": "user", "content": text}]);
        assert_eq!(body(0), json!({"max_tokens": 3, "model": "m", "stream": true, "messages": message(" or ?")}));
        assert_eq!(body(1), json!({"max_tokens": 9, "model": "m", "stream": true, "messages": message("Hi \"you\"")}));
        assert_eq!(body(2), json!({"max_tokens": 9, "model": "other", "stream": true, "prompt": 1}));
        assert_eq!(body(3)["messages"], message("{{x}}"));
        assert_eq!((0..5).map(|number| agents.of_session(number)).collect::<Vec<_>>(), [0, 1, 0, 1, 0]);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let a = r#"{"id":"a","prompt":"x"}"#;
        for (lines, line, says) in [
            (&[""][..], 1, "there is no call"),
            (&["", "[]"], 2, "a call is a JSON object"),
            (&[a, r#"{"id":"b","promt":"x"}"#], 2, "unknown field `promt`"),
            (&[r#"{"prompt":"x"}"#], 1, "missing field `id`"),
            (&[r#"{"id":"","prompt":"x"}"#], 1, "id is \"\""),
            (&[r#"{"id":"a"}"#], 1, "needs one of prompt, messages and body"),
            (&[r#"{"id":"a","prompt":"x","body":{}}"#], 1, "needs one of prompt, messages and body"),
            (&[r#"{"id":"a","prompt":["x"]}"#], 1, "prompt is no text"),
            (&[r#"{"id":"a","body":"x"}"#], 1, "body is no JSON object"),
            (&[r#"{"id":"a","prompt":"x","think":-1}"#], 1, "think is -1 seconds"),
            (&[r#"{"id":"a","prompt":"x","think":1e9}"#], 1, "think is 1000000000 seconds"),
            (&[r#"{"id":"a","prompt":"x","think":0.1}"#], 1, "the session begins with think time"),
            (&[a, a], 2, "the session has a call 'a' in line 1 already"),
            (&[a, r#"{"id":"b","after":["c"],"prompt":"x"}"#], 2, "is after 'c', which the session does not have"),
            (&[a, r#"{"session":"s","id":"b","after":["a"],"prompt":"x"}"#], 2, "which session 's' does not have"),
            (&[a, r#"{"id":"b","after":["a","a"],"prompt":"x"}"#], 2, "is after 'a' twice"),
            (&[r#"{"id":"a","after":["a"],"prompt":"x"}"#], 1, "wait for each other: 'a' after 'a'"),
            (
                &[
                    a,
                    r#"{"id":"d","after":["c"],"prompt":"x"}"#,
                    r#"{"id":"b","after":["a","c"],"prompt":"x"}"#,
                    r#"{"id":"c","after":["b"],"prompt":"x"}"#,
                ],
                4,
                "wait for each other: 'c' after 'b' after 'c'",
            ),
            (&[a, r#"{"id":"b","prompt":"{{a}}"}"#], 2, "says {{a}}, which is not before it; add 'a' to after"),
            (&[a, r#"{"id":"b","after":["a"],"prompt":"{{b}}"}"#], 2, "says {{b}}, which is not before it"),
            (&[r#"{"id":"b","prompt":"{{user}}"}"#], 1, "says {{user}}, which is no call of its session"),
        ] {
            let error = parsed(lines).expect_err(says);
            assert!(error.line == line && error.problem.contains(says), "{lines:?}: {error}");
            assert!(!error.problem.contains('\n'), "{error}");
        }
    }

    #[test]
    fn a_session_has_a_largest_size() {
        let line = |nth: usize| format!("{{\"id\":\"{nth}\",\"prompt\":\"x\"}}\n");
        let text: String = (0..=MAX_CALLS).map(line).collect();
        let error = AgentGraphs::parse("a", &text, &form()).unwrap_err();
        assert_eq!((error.line, error.problem.as_str()), (1_001, "the session has more than 1000 calls, the limit"));
        let long = format!("{{\"id\":\"a\",\"prompt\":\"{}\"}}\n", "x".repeat(MAX_BODY_BYTES));
        let error = AgentGraphs::parse("a", &long, &form()).unwrap_err();
        assert_eq!(error.problem, "call 'a' cannot be made: its body has more than 16 MiB");
        let chain: String = (0..MAX_CALLS)
            .map(|nth| match nth {
                0 => line(0),
                _ => format!("{{\"id\":\"{nth}\",\"after\":[\"{}\"],\"prompt\":\"{{{{0}}}}\"}}\n", nth - 1),
            })
            .collect();
        let agents = AgentGraphs::parse("a", &chain, &form()).unwrap();
        assert_eq!((agents.step_count(), agents.steps().last().unwrap().as_str()), (51, "depth 51 and more"));
    }
}
