//! Sessions of agents.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::value::RawValue;
use truetail_engine::{Plan, Request};
use truetail_flow::{AgentForm, AgentGraphs, AgentRun, PromptMember};
use truetail_model::time::Timestamp;
use truetail_run::LlmApi;
use truetail_stream::StreamRun;

use super::{flow, input, request, stream};
use crate::args::run::{ModelName, RunArgs, WarmupValue};
use crate::args::stream::LlmName;
use crate::error::{Result, refuse_beside, usage_error};

/// Agents, and the request of all their calls, without a body.
#[derive(Debug)]
pub(crate) struct Agents {
    pub(crate) graphs: AgentGraphs,
    pub(crate) base: Request,
}

/// Returns the agents of a run; `None` without `--agents`. Sets the load model and the session length in `args`.
///
/// # Errors
/// If the option contradicts others, or the file is not valid.
pub(crate) fn agents(args: &mut RunArgs) -> Result<Option<Agents>> {
    let Some(file) = args.streams.agents.clone() else {
        return match args.gates.gates().iter().find(|gate| gate.is_about_session_goodput()) {
            Some(gate) => Err(usage_error(format!("'{gate}' is about sessions of agents; add --agents FILE.jsonl"))),
            None => Ok(None),
        };
    };
    refuse_contradictions(args)?;
    let base = request::for_calls(args)?;
    let form = form(args)?;
    let graphs = AgentGraphs::parse(&short_name(&file), &input::text(&file)?, &form);
    let graphs = graphs.map_err(|error| flow::wrong(&file, &error))?;
    args.model = Some(ModelName::PartlyOpen);
    args.session_length = Some(graphs.most_calls());
    Ok(Some(Agents { graphs, base }))
}

/// Returns the agents of a simulation, which sends nothing.
///
/// # Errors
/// If the file is not valid.
pub(crate) fn for_simulation(file: &Path) -> Result<AgentGraphs> {
    let form = AgentForm {
        prompt: Some(PromptMember::Messages),
        limit: "max_tokens",
        shared: Vec::new(),
        must_be_streams: false,
    };
    let graphs = AgentGraphs::parse(&short_name(file), &input::text(file)?, &form);
    graphs.map_err(|error| flow::wrong(file, &error))
}

/// Returns the form of the bodies: all calls have the members of `--data`, and the members that ask for a stream.
fn form(args: &RunArgs) -> Result<AgentForm> {
    let data = request::body(args)?;
    let data = if data.trim_ascii().is_empty() { b"{}".to_vec() } else { data };
    let members: BTreeMap<String, Box<RawValue>> = serde_json::from_slice(&data).map_err(|error| {
        usage_error(format!(
            "--data: {error}; with --agents it has the members that all calls share, such as '{{\"model\": \"m\"}}'"
        ))
    })?;
    let asking = stream::request_members(&args.streams)?.unwrap_or_default();
    let must_be_streams = stream::must_be_streams(&asking, &args.streams);
    let shared = members.into_iter().map(|(name, value)| (name, value.get().to_owned()));
    let (prompt, limit) = match args.streams.llm.and_then(LlmName::api) {
        Some(LlmApi::OpenaiChat | LlmApi::Anthropic) => (Some(PromptMember::Messages), "max_tokens"),
        Some(LlmApi::OpenaiCompletions) => (Some(PromptMember::Text("prompt")), "max_tokens"),
        Some(LlmApi::OpenaiResponses) => (Some(PromptMember::Text("input")), "max_output_tokens"),
        Some(
            LlmApi::Gemini
            | LlmApi::Ollama
            | LlmApi::Tgi
            | LlmApi::Llamacpp
            | LlmApi::Sglang
            | LlmApi::Embeddings
            | LlmApi::Rerank
            | LlmApi::Whole
            | LlmApi::Described,
        )
        | None => (None, "max_tokens"),
    };
    Ok(AgentForm { prompt, limit, shared: shared.chain(asking).collect(), must_be_streams })
}

/// Returns the sessions of a run, and adds the observer of their answers and of `streams` to the plan.
pub(crate) fn sessions(agents: Agents, streams: &StreamRun, plan: &mut Plan) -> AgentRun {
    let measure_from = Timestamp(plan.workload.warmup.0);
    let sessions = AgentRun::new(agents.graphs, &agents.base, measure_from, streams.clone());
    plan.observe(sessions.observer_factory());
    sessions
}

fn short_name(file: &Path) -> String {
    file.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// Refuses options that the file sets, and options that cannot be combined with agents.
fn refuse_contradictions(args: &RunArgs) -> Result<()> {
    if !args.streams.reads_llm() {
        return Err(usage_error(
            "--agents makes calls of a language model; add --llm openai-chat, or the API of yours",
        ));
    }
    if args.url.is_none() {
        return Err(usage_error(
            "--agents needs the URL of the calls, such as http://127.0.0.1:8000/v1/chat/completions",
        ));
    }
    let in_the_file = "its file says what is sent";
    let not_yet = "the two cannot be used together";
    let others = [
        ("--flow", !args.flow.flow.is_empty(), not_yet),
        ("--setup", args.flow.setup.is_some(), not_yet),
        ("--script", args.script.script.is_some(), not_yet),
        ("--replay", args.replay.replay.is_some(), not_yet),
        ("--targets", args.targets.is_some(), in_the_file),
        ("--curl", args.curl.is_some(), in_the_file),
        ("a command after --", !args.command.is_empty(), in_the_file),
        ("--data-from", args.data_from.is_some(), in_the_file),
        ("--prompts", args.prompts.is_some(), in_the_file),
        ("--cache-bust", args.streams.cache_bust, in_the_file),
        ("--think-time", args.think_time.is_some(), "write think into its file"),
        ("--session-length", args.session_length.is_some(), "a session has as many calls as its file says"),
        ("--no-keepalive", args.no_keepalive, not_yet),
        ("--check", !args.checks.checks.is_empty(), not_yet),
        ("--tokenizer", args.streams.tokenizer.is_some(), "it counts after the run, and sessions are judged before"),
        (
            "--connection-per-session",
            args.connection_per_session,
            "calls of a session are in flight at the same time, on connections of their own",
        ),
        ("--llm auto", args.streams.llm == Some(LlmName::Auto), "name the API, such as --llm openai-chat"),
        ("--model", args.model.is_some_and(|model| model != ModelName::PartlyOpen), "sessions are partly open"),
        ("--warmup auto", args.warmup == Some(WarmupValue::Auto), "use --warmup TIME"),
    ];
    refuse_beside("--agents", &others)
}
