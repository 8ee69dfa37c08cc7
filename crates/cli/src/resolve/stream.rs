//! Streams of a run.

use std::path::Path;
use std::sync::Arc;

use truetail_analysis::gates::ReadingMode;
use truetail_engine::{Plan, RequestId, RequestSet, TargetRequests, WireProtocol};
use truetail_flow::{AgentGraphs, Flows};
use truetail_model::time::Timestamp;
use truetail_requests::{
    TargetSpec, asking_for_stream, asks_for_echo, bodies_asking, first_refusing_stream, refuses_stream,
    with_distinct_prompts,
};
use truetail_run::{LlmApi, StampBooks, StreamKind};
use truetail_stream::{DescribedDialect, LlmOptions, Objective, StreamOptions, StreamRun, Tokenizer};

use super::input;
use crate::args::stream::{LlmName, StreamArgs, StreamName};
use crate::error::{Result, usage_error};

/// Returns the streams of a run, and adds their observer to the plan; `None` if no answer is read as a stream. With
/// `flows`, only steps marked as streams are. With `agents`, the observer of sessions has that of streams. `cut_warmup`
/// means that the warm-up is found after the run.
pub(crate) fn streams(
    args: StreamArgs,
    stamps: Option<StampBooks>,
    objectives: Vec<Objective>,
    plan: &mut Plan,
    flows: Option<&Flows>,
    agents: Option<&AgentGraphs>,
    cut_warmup: bool,
) -> Result<Option<StreamRun>> {
    let Some(options) = options(args, objectives, flows, cut_warmup)? else { return Ok(None) };
    let forms = match plan.target.protocol() {
        WireProtocol::Messages(messages) => messages.forms.clone(),
        WireProtocol::Http(_) | WireProtocol::Calls(_) => None,
    };
    let options = StreamOptions { stamps, forms, ..options };
    let repeats_prompts = options
        .llm
        .as_ref()
        .is_some_and(|llm| matches!(llm.api, LlmApi::OpenaiChat | LlmApi::OpenaiCompletions | LlmApi::Described));
    let mut streams = StreamRun::new(options, Timestamp(plan.workload.warmup.0));
    if let Some(flows) = flows {
        streams = streams.with_steps(flows.streams());
    }
    if let Some(agents) = agents {
        let steps: Vec<String> = agents.steps().collect();
        streams = streams.with_steps(steps.iter().map(|step| (step.as_str(), true)));
    }
    if repeats_prompts {
        streams = streams.with_echoes(match (flows, agents) {
            (Some(flows), _) => flows.echoes().collect(),
            (None, Some(agents)) => vec![agents.asks_for_echo(); agents.steps().count()],
            (None, None) => echoes(plan.target.requests()),
        });
    }
    // The observer of agents has that of the streams.
    if agents.is_none() {
        plan.observe(streams.observer_factory());
    }
    Ok(Some(streams))
}

/// Tells of each target whether one of its requests asks the server to repeat the prompt.
fn echoes(requests: &RequestSet) -> Vec<bool> {
    let targets = requests.targets().iter().zip(0..);
    let asks = |(of, target): (&TargetRequests, u32)| {
        (0..of.len() as u32).any(|row| asks_for_echo(requests.view(RequestId { target, row }).body()))
    };
    targets.map(asks).collect()
}

/// Returns a note if the answers may begin with their prompts.
pub(crate) fn note_on_echo(streams: &StreamRun) -> Option<String> {
    streams.asks_for_echo().then(|| {
        "the body asks the server to repeat the prompt (\"echo\"), and nothing tells where the prompt ends in the answer: TTFT, ITL and \
         TPOT of these answers are unknown; leave echo out to measure them"
            .to_owned()
    })
}

/// Returns how answers are read as streams; `None` if they are not.
///
/// # Errors
/// If options contradict each other, or no step of the flows is a stream.
pub(crate) fn options(
    args: StreamArgs,
    objectives: Vec<Objective>,
    flows: Option<&Flows>,
    cut_warmup: bool,
) -> Result<Option<StreamOptions>> {
    refuse_without_streams(&args, &objectives)?;
    refuse_with_whole_answers(&args)?;
    let llm = llm(&args, objectives)?;
    if let Some(objection) = llm.as_ref().and_then(LlmOptions::objection_to_slo) {
        return Err(usage_error(format!("--slo {objection}")));
    }
    let Some(kind) = kind(&args, llm.as_ref())? else { return Ok(None) };
    if flows.is_some_and(|flows| !flows.streams().any(|(_, is_stream)| is_stream)) {
        return Err(usage_error(
            "no step of the flow is a stream; write '# truetail: stream' before each request whose answer is one",
        ));
    }
    if cut_warmup {
        return Err(usage_error(
            "--stream and --warmup auto contradict each other: gaps between events are not kept by the second, so that none \
             can be left out afterwards; use --warmup TIME",
        ));
    }
    if args.end_mark.is_some() && matches!(kind, StreamKind::Chunks | StreamKind::Messages | StreamKind::Pushes) {
        return Err(usage_error("--end-mark is the data of a server-sent event; use it with --stream sse"));
    }
    if args.idle_timeout.is_some() && kind == StreamKind::Pushes {
        return Err(usage_error(
            "--idle-timeout gives up answers, and a push is none; count silence with --stall TIME",
        ));
    }
    let plain = match llm {
        Some(llm) => {
            let tokenizer = args.tokenizer.as_deref().map(tokenizer).transpose()?;
            StreamOptions::for_llm(LlmOptions { tokenizer, ..llm })
        }
        None => StreamOptions::new(kind),
    };
    let options = StreamOptions { stall: args.stall, idle_timeout: args.idle_timeout, ..plain };
    options.with_end_mark(args.end_mark).map(Some).map_err(|problem| usage_error(format!("--end-mark: {problem}")))
}

/// Refuses `--cache-bust` for requests that a flow, a recording or a script makes.
pub(crate) fn refuse_cache_bust(args: &StreamArgs, made_by: Option<&str>) -> Result<()> {
    match made_by.filter(|_| args.cache_bust) {
        Some(option) => Err(usage_error(format!(
            "--cache-bust changes the body of --data, and with {option} there is none; a flow can say {{{{seq}}}} in its prompts"
        ))),
        None => Ok(()),
    }
}

/// Returns how answers are read, to check which gates fit.
pub(crate) fn reading(args: &StreamArgs) -> ReadingMode {
    match (args.reads_llm(), args.stream) {
        (true, _) => args.llm.and_then(LlmName::api).map_or(ReadingMode::Llm, ReadingMode::of_llm),
        (false, Some(_)) => ReadingMode::Streams,
        (false, None) => ReadingMode::Whole,
    }
}

/// Loads a tokenizer from a file.
fn tokenizer(file: &Path) -> Result<Tokenizer> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let read = Tokenizer::from_bytes(&name, &input::bytes(file)?);
    read.map_err(|problem| usage_error(format!("--tokenizer {}: {problem}", file.display())))
}

/// Refuses options that have no effect without streams, or without language models.
fn refuse_without_streams(args: &StreamArgs, objectives: &[Objective]) -> Result<()> {
    let of_streams = [
        ("--stall", args.stall.is_some()),
        ("--idle-timeout", args.idle_timeout.is_some()),
        ("--end-mark", args.end_mark.is_some()),
    ];
    let given = of_streams.iter().find(|(_, given)| *given);
    if let Some((flag, _)) = given.filter(|_| args.stream.is_none() && !args.reads_llm()) {
        return Err(usage_error(format!(
            "{flag} is about streams; add --stream sse, --stream chunks or --llm, or --subscribe on a channel"
        )));
    }
    let of_llm = [
        ("--slo", !objectives.is_empty()),
        ("--cache-bust", args.cache_bust),
        ("--tokenizer", args.tokenizer.is_some()),
    ];
    match of_llm.iter().find(|(_, given)| *given && !args.reads_llm()) {
        Some((flag, _)) => {
            Err(usage_error(format!("{flag} is about answers of language models; add --llm openai-chat")))
        }
        None => Ok(()),
    }
}

/// Refuses options that have no effect on answers that come whole.
fn refuse_with_whole_answers(args: &StreamArgs) -> Result<()> {
    let Some(api) = args.whole_api() else { return Ok(()) };
    let api = api.name();
    let of_pieces = [
        ("--stream", args.stream.is_some()),
        ("--stall", args.stall.is_some()),
        ("--end-mark", args.end_mark.is_some()),
        ("--tokenizer", args.tokenizer.is_some()),
        ("--agents", args.agents.is_some()),
    ];
    match of_pieces.iter().find(|(_, given)| *given) {
        Some((option, _)) => Err(usage_error(format!(
            "{option} is about answers that come token by token, and those of --llm {api} come whole; leave it out"
        ))),
        None => Ok(()),
    }
}

/// Returns the kind of stream; `None` if answers are read as a whole.
fn kind(args: &StreamArgs, llm: Option<&LlmOptions>) -> Result<Option<StreamKind>> {
    match (args.stream, llm) {
        (Some(StreamName::Chunks), Some(_)) => Err(usage_error(
            "--llm and --stream chunks contradict each other: language models send server-sent events; leave --stream out",
        )),
        (Some(StreamName::Chunks), None) => Ok(Some(StreamKind::Chunks)),
        (Some(StreamName::Sse), Some(llm)) if llm.stream_kind() != StreamKind::Sse => {
            let option = match &args.llm_dialect {
                Some(file) => format!("--llm-dialect {}", file.display()),
                None => format!("--llm {}", llm.api.name()),
            };
            Err(usage_error(format!("{option} reads lines of JSON, and contradicts --stream sse; leave --stream out")))
        }
        (_, Some(llm)) => Ok(Some(llm.stream_kind())),
        (Some(StreamName::Sse), None) => Ok(Some(StreamKind::Sse)),
        (Some(StreamName::Messages), _) => Ok(Some(StreamKind::Messages)),
        (Some(StreamName::Pushes), _) => Ok(Some(StreamKind::Pushes)),
        (None, None) => Ok(None),
    }
}

/// Returns the form of a language model's answers; `None` if answers are not read as such.
fn llm(args: &StreamArgs, objectives: Vec<Objective>) -> Result<Option<LlmOptions>> {
    let asked = args.asked.clone();
    if let Some(file) = &args.llm_dialect {
        return Ok(Some(LlmOptions { asked, ..LlmOptions::described(described(file)?, objectives) }));
    }
    let Some(api) = args.llm.and_then(LlmName::api) else { return Ok(None) };
    let is_recognised = args.recognised.is_some();
    Ok(Some(LlmOptions { is_recognised, asked, ..LlmOptions::new(api, objectives) }))
}

/// Reads the file of a dialect.
fn described(file: &Path) -> Result<DescribedDialect> {
    let name = file.display().to_string();
    if name == "-" {
        return Err(usage_error("--llm-dialect -: the file is read more than once; write it to a file"));
    }
    DescribedDialect::parse(&name, &input::text(file)?).map_err(|error| usage_error(format!("--llm-dialect: {error}")))
}

/// Returns the members of a request's body that ask a language model for a stream, with their values in JSON.
pub(super) fn request_members(args: &StreamArgs) -> Result<Option<Vec<(String, String)>>> {
    let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    if let Some(file) = &args.llm_dialect {
        return Ok(Some(described(file)?.request_members().map(owned).collect()));
    }
    let members = args.llm.and_then(LlmName::api).map(LlmApi::request_members);
    let refuses_count = args.recognised.is_some_and(|recognised| recognised.refuses_count);
    let is_sent = |name: &str| name == "stream" || !refuses_count;
    Ok(members.map(|members| members.iter().copied().filter(|(name, _)| is_sent(name)).map(owned).collect()))
}

/// Says that a request refuses the stream that its answer is read as.
const NO_STREAM: &str = "says \"stream\": false, so answers come whole and have no first token; read them with --llm whole, or \
                         leave \"stream\" out";

/// Returns true if requests that refuse a stream are mistakes. An API that was recognised may know no streams, and
/// answer with one.
pub(super) fn must_be_streams(members: &[(String, String)], args: &StreamArgs) -> bool {
    args.recognised.is_none() && members.iter().any(|(name, _)| name == "stream")
}

/// Returns rows of whole bodies that ask a language model for a stream, unless they have these members.
///
/// # Errors
/// If a body refuses a stream.
pub(super) fn bodies_asking_for_streams(json_lines: &[u8], args: &StreamArgs) -> Result<Arc<[u8]>> {
    let members = request_members(args)?.unwrap_or_default();
    if must_be_streams(&members, args)
        && let Some(place) = first_refusing_stream(json_lines)
    {
        return Err(usage_error(format!("--prompts: request {} {NO_STREAM}", place + 1)));
    }
    let members: Vec<_> = members.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    Ok(bodies_asking(json_lines, &members).into())
}

/// Converts requests into streaming requests to a language model, if answers are read as its own, and gives them
/// distinct prompts with `--cache-bust`.
///
/// # Errors
/// If a body is no JSON object, refuses a stream, or has no prompt to change.
pub(crate) fn ask_for_streams(specs: Vec<TargetSpec>, args: &StreamArgs) -> Result<Vec<TargetSpec>> {
    let Some(members) = request_members(args)? else { return Ok(specs) };
    let must_be_streams = must_be_streams(&members, args);
    let members: Vec<_> = members.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let asking = |spec: TargetSpec| {
        let location = spec.location.clone();
        let refused = |option: &str, problem: String| usage_error(format!("{location}{option}: {problem}"));
        let option = if args.llm_dialect.is_some() { "--llm-dialect" } else { "--llm" };
        if must_be_streams && refuses_stream(&spec.body) {
            return Err(refused(option, format!("the body {NO_STREAM}")));
        }
        let spec = asking_for_stream(spec, &members).map_err(|problem| refused(option, problem))?;
        if !args.cache_bust {
            return Ok(spec);
        }
        with_distinct_prompts(spec).map_err(|problem| refused("--cache-bust", problem))
    };
    specs.into_iter().map(asking).collect()
}
