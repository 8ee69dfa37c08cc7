//! The API of a language model, recognised by an answer before the load (`--llm auto`).

use std::sync::PoisonError;

use truetail_engine::{PreflightError, Target, preflight_observed};
use truetail_model::time::Nanos;
use truetail_run::LlmApi;
use truetail_stream::{FirstAnswer, first_answer};

use super::load::DEFAULT_SEED;
use super::{prompts, request, tls};
use crate::args::run::RunArgs;
use crate::args::stream::{LlmName, RecognisedApi, StreamArgs};
use crate::error::{CliError, Result, runtime_error, usage_error};
use crate::unanswered::preflight_error;

/// Time for the answer. What came of it until then is enough.
const TIMEOUT: Nanos = Nanos::from_secs(30);
/// Other seeds give the request before the load another text with `--cache-bust` than any request of the load.
const OTHER_SEED: u64 = 0x7472_6961_6c00_0000;
/// Advice if no API fits.
const HELP: &str = "name the API with --llm NAME (embeddings, rerank and whole for answers that come whole), or describe it with --llm-dialect FILE";

/// Replaces `auto` by an API, to check other options without sending anything.
pub(crate) fn stand_in(args: &mut StreamArgs) {
    if args.llm == Some(LlmName::Auto) {
        args.llm = Some(LlmName::OpenaiChat);
    }
}

/// With `--llm auto`, sends one request and replaces `auto` by the API of its answer. Returns a note about it.
///
/// # Errors
/// If the load has no request that could be sent, the server does not answer, or no API fits the answer.
pub(super) fn recognise(args: &mut RunArgs) -> Result<Option<String>> {
    if args.streams.llm != Some(LlmName::Auto) {
        return Ok(None);
    }
    refuse_contradictions(args)?;
    let likely = likely(args);
    let mut refuses_count = false;
    let (mut target, mut answer) = ask(args, likely, refuses_count)?;
    // Some servers know no stream_options.
    if matches!(answer.status, Some(400 | 422)) && asks_for_count(likely) {
        refuses_count = true;
        (target, answer) = ask(args, likely, refuses_count)?;
    }
    let recognised = answer.recognise().map_err(|seen| {
        runtime_error(format!("{}: --llm auto recognises no API: {seen}; {HELP}", target.first_requests()))
    })?;
    args.streams.llm = LlmName::of(recognised.api);
    args.streams.recognised = Some(RecognisedApi { refuses_count });
    let name = recognised.api.name();
    let doubt = match recognised.not_understood {
        0 => String::new(),
        count => format!("; {count} of its {} events were not understood", recognised.events),
    };
    let count = if refuses_count && !recognised.api.comes_whole() {
        "; the server refuses stream_options, so it is not asked to count tokens"
    } else {
        ""
    };
    let cached = if args.streams.cache_bust || prompts::are_made(args) {
        ""
    } else {
        "; its prompt is that of the first request of the load"
    };
    Ok(Some(format!(
        "--llm auto took --llm {name}, by the answer to one request before the load{cached}{doubt}{count}"
    )))
}

fn refuse_contradictions(args: &RunArgs) -> Result<()> {
    let others = [
        ("--flow", !args.flow.flow.is_empty(), "a flow has several requests"),
        ("--script", args.script.script.is_some(), "a script makes its requests during the load"),
        ("--replay", args.replay.replay.is_some(), "a recording has the answers of its own time"),
        ("--no-preflight", args.no_preflight, "without a request before the load there is no answer to recognise"),
    ];
    match others.iter().find(|(_, given, _)| *given) {
        Some((option, _, why)) => Err(usage_error(format!(
            "--llm auto and {option} contradict each other: {why}; name the API, such as --llm openai-chat"
        ))),
        None => Ok(()),
    }
}

/// Returns the API that the path of the URL names, for the members that ask it for a stream. Others get `stream` only.
fn likely(args: &RunArgs) -> LlmApi {
    let url = args.url.as_deref().unwrap_or_default();
    let path = url.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
    if path.ends_with("/chat/completions") {
        LlmApi::OpenaiChat
    } else if path.ends_with("/v1/completions") {
        LlmApi::OpenaiCompletions
    } else if path.ends_with(":streamGenerateContent") {
        LlmApi::Gemini
    } else if path.ends_with("/embeddings") || path.ends_with("/embed") {
        LlmApi::Embeddings
    } else if path.ends_with("/rerank") {
        LlmApi::Rerank
    } else {
        LlmApi::Anthropic
    }
}

fn asks_for_count(api: LlmApi) -> bool {
    api.request_members().len() > 1
}

/// Sends the request of the first arrival, as `api` is asked.
fn ask(args: &RunArgs, api: LlmApi, refuses_count: bool) -> Result<(Target, FirstAnswer)> {
    let mut asking = args.clone();
    asking.streams.llm = LlmName::of(api);
    asking.streams.recognised = Some(RecognisedApi { refuses_count });
    asking.seed = Some(args.seed.unwrap_or(DEFAULT_SEED) ^ OTHER_SEED);
    let mut target = request::target(&asking)?;
    tls::secure(&mut target, &asking)?;
    let (observer, answer) = first_answer();
    let got = preflight_observed(&mut target, TIMEOUT, &observer);
    let answer = answer.lock().unwrap_or_else(PoisonError::into_inner).clone();
    match got {
        Ok(_) => Ok((target, answer)),
        // A long answer that has begun says enough.
        Err(error) if is_timeout(&error) && answer.has_body() => Ok((target, answer)),
        Err(error) => Err(unanswered(&target, &error)),
    }
}

fn is_timeout(error: &PreflightError) -> bool {
    matches!(error.innermost(), PreflightError::TimedOut { .. })
}

fn unanswered(target: &Target, error: &PreflightError) -> CliError {
    match error.innermost() {
        PreflightError::Connect { .. } | PreflightError::TimedOut { .. } => runtime_error(format!(
            "{}: {error}; is the server running? --llm auto sends it a request first, unless you name the API",
            error.asked_for(target)
        )),
        _ => preflight_error(target, error),
    }
}
