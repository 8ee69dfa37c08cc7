//! The conversation with one client.

use std::collections::VecDeque;

use serde::Deserialize;
use serde_json::{Value, json};
use truetail_model::time::Nanos;

use crate::job::{Job, JobOutput};
use crate::limits::{Files, Limits};
use crate::message::{self, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, Message, Refusal};
use crate::tools::{self, Plan, Tool};

/// Versions of the protocol that a client may choose, the newest last. 2025-03-26 demands batches, which are refused.
const VERSIONS: [&str; 3] = ["2024-11-05", "2025-06-18", "2025-11-25"];
/// Limit on the calls that wait for the one that runs.
const MAX_WAITING: usize = 16;

/// An order to the caller.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// Write this line to the client.
    Send(String),
    /// Run this command, and hand its output to [`Session::ended`].
    Start(Job),
    /// End the running command.
    Stop,
}

/// A call of a tool.
struct Call {
    id: Value,
    tool: &'static Tool,
    arguments: Value,
    /// Token of the client's progress notifications, if it wants them.
    progress: Option<Value>,
}

/// The call that runs.
struct Running {
    call: Call,
    plan: Plan,
    is_cancelled: bool,
}

/// State of the conversation. One call runs at a time, because two loads would disturb each other; others wait.
pub struct Session<F> {
    limits: Limits,
    files: F,
    waiting: VecDeque<Call>,
    running: Option<Running>,
}

impl<F: Files> Session<F> {
    /// Returns a session that has heard nothing yet.
    pub fn new(limits: Limits, files: F) -> Session<F> {
        Session { limits, files, waiting: VecDeque::new(), running: None }
    }

    /// Takes a line of the client, without its end.
    pub fn receive(&mut self, line: &[u8]) -> Vec<Step> {
        match message::parse(line) {
            Ok(Message::Request { id, method, params }) => self.answer(id, &method, params),
            Ok(Message::Notification { method, params }) if method == "notifications/cancelled" => self.cancel(&params),
            Ok(Message::Notification { .. } | Message::Answer) => Vec::new(),
            Err(refusal) => vec![Step::Send(refusal.to_line())],
        }
    }

    fn answer(&mut self, id: Value, method: &str, params: Value) -> Vec<Step> {
        let result = match method {
            "initialize" => initialized(&params),
            "ping" => json!({}),
            "tools/list" => json!({"tools": tools::listed(&self.limits)}),
            "tools/call" => {
                return self.call(id, params).unwrap_or_else(|refusal| vec![Step::Send(refusal.to_line())]);
            }
            _ => {
                let method: String = method.chars().filter(|letter| !letter.is_control()).take(60).collect();
                let refusal = Refusal::new(id, METHOD_NOT_FOUND, format!("there is no method '{method}'"));
                return vec![Step::Send(refusal.to_line())];
            }
        };
        vec![Step::Send(message::answer(&id, &result))]
    }

    fn call(&mut self, id: Value, params: Value) -> Result<Vec<Step>, Refusal> {
        let asked = CallParams::deserialize(params)
            .map_err(|error| Refusal::new(id.clone(), INVALID_PARAMS, format!("no call of a tool: {error}")))?;
        let tool = tools::find(&asked.name).ok_or_else(|| {
            let help = "tools/list names the tools";
            Refusal::new(id.clone(), INVALID_PARAMS, format!("there is no tool of this name; {help}"))
        })?;
        if self.ids().any(|used| *used == id) {
            return Err(Refusal::new(id, INVALID_REQUEST, "a call with this id has not ended"));
        }
        if self.waiting.len() >= MAX_WAITING {
            let text = format!("{MAX_WAITING} calls wait already; wait for their results");
            return Ok(vec![Step::Send(message::answer(&id, &failure(&text)))]);
        }
        let progress = asked.meta.and_then(|meta| meta.progress_token).filter(message::is_id);
        self.waiting.push_back(Call { id, tool, arguments: asked.arguments, progress });
        Ok(self.start_next())
    }

    fn ids(&self) -> impl Iterator<Item = &Value> {
        self.waiting.iter().chain(self.running.iter().map(|running| &running.call)).map(|call| &call.id)
    }

    /// Starts the next call that can be carried out, and refuses those before it.
    fn start_next(&mut self) -> Vec<Step> {
        let mut steps = Vec::new();
        while self.running.is_none() {
            let Some(call) = self.waiting.pop_front() else { break };
            match (call.tool.plan)(&call.arguments, &self.limits, &self.files) {
                Ok(plan) => {
                    steps.push(Step::Start(plan.job.clone()));
                    self.running = Some(Running { call, plan, is_cancelled: false });
                }
                Err(text) => steps.push(Step::Send(message::answer(&call.id, &failure(&text)))),
            }
        }
        steps
    }

    /// Takes the output of the command that ran.
    pub fn ended(&mut self, output: &JobOutput) -> Vec<Step> {
        let Some(Running { call, plan, is_cancelled }) = self.running.take() else { return Vec::new() };
        let mut steps = Vec::new();
        // A client that cancelled a call expects no answer to it.
        if !is_cancelled {
            let result = (plan.read)(output).map_or_else(|text| failure(&text), |result| success(&result));
            steps.push(Step::Send(message::answer(&call.id, &result)));
        }
        steps.extend(self.start_next());
        steps
    }

    fn cancel(&mut self, params: &Value) -> Vec<Step> {
        let id = &params["requestId"];
        self.waiting.retain(|call| call.id != *id);
        match &mut self.running {
            Some(running) if running.call.id == *id && !running.is_cancelled => {
                running.is_cancelled = true;
                vec![Step::Stop]
            }
            _ => Vec::new(),
        }
    }

    /// Forgets the calls that wait, and ends the one that runs: the client is gone.
    pub fn close(&mut self) -> Vec<Step> {
        self.waiting.clear();
        let id = self.running.as_ref().map(|running| running.call.id.clone());
        id.map_or_else(Vec::new, |id| self.cancel(&json!({"requestId": id})))
    }

    /// Returns true while a command runs.
    pub fn is_busy(&self) -> bool {
        self.running.is_some()
    }

    /// Returns the line that tells the client how long its call has run, if it wants that.
    pub fn progress(&self, elapsed: Nanos) -> Option<String> {
        let running = self.running.as_ref().filter(|running| !running.is_cancelled)?;
        let token = running.call.progress.as_ref()?;
        let seconds = elapsed.as_secs_f64();
        let load = running.plan.job.load.as_secs_f64();
        let mut params = json!({"progressToken": token, "progress": seconds});
        if seconds <= load {
            params["total"] = json!(load);
            params["message"] = json!(format!("{seconds:.0} s of at most {load:.0} s of load"));
        }
        Some(message::notification("notifications/progress", &params))
    }
}

/// Parameters of `tools/call`.
#[derive(Deserialize)]
struct CallParams {
    name: String,
    #[serde(default)]
    arguments: Value,
    #[serde(rename = "_meta")]
    meta: Option<Meta>,
}

#[derive(Deserialize)]
struct Meta {
    #[serde(rename = "progressToken")]
    progress_token: Option<Value>,
}

fn initialized(params: &Value) -> Value {
    let wanted = params["protocolVersion"].as_str().unwrap_or_default();
    let version = VERSIONS.into_iter().find(|version| *version == wanted).unwrap_or(VERSIONS[VERSIONS.len() - 1]);
    json!({
        "protocolVersion": version,
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "truetail", "title": "truetail load tester", "version": env!("CARGO_PKG_VERSION")},
        "instructions": "Measures response times of HTTP services under a load that does not wait for the server. Times end in \
            _ns and are nanoseconds. Believe a number only with its verdict: call 'explain' for a run that is not VALID. One \
            call runs at a time."
    })
}

fn success(result: &Value) -> Value {
    // Clients of older versions read only the text.
    let text = result.to_string();
    json!({"content": [{"type": "text", "text": text}], "structuredContent": result, "isError": false})
}

fn failure(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}], "isError": true})
}
