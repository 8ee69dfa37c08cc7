//! Prompts of a load (`--prompts`), made or from a file. Calls before the load tell how many tokens the words of made
//! prompts have.

use std::path::Path;
use std::sync::{Arc, PoisonError};

use truetail_engine::{MAX_REQUEST_SET_BYTES, preflight_observed};
use truetail_model::arrival::Trace;
use truetail_model::random::mix64;
use truetail_model::time::Nanos;
use truetail_model::workload::Workload;
use truetail_requests::{BaseUrl, FilePrompts, MadePrompts, PromptFile, SyntheticPrompts, TokensOfWords};
use truetail_stream::{AskedPrompts, StreamOptions, first_answer};

use super::load::DEFAULT_SEED;
use super::{input, replay, request, stream, tls};
use crate::args::prompts::MadeRows;
use crate::args::run::{ModelName, RunArgs};
use crate::error::{CliError, Result, refuse_beside, runtime_error, usage_error};
use crate::unanswered::preflight_error;

/// Time for each answer before the load, which has one token.
const TIMEOUT: Nanos = Nanos::from_secs(60);
/// Words of the short prompt before the load, and the least of the long one.
const FEW_WORDS: u32 = 16;
const MANY_WORDS: u32 = 128;
/// Calls with a prompt of the typical length, until its count is near.
const MAX_CORRECTIONS: u32 = 3;
/// Difference from the typical length that is near, as a share.
const NEAR: f64 = 0.005;
/// Rows of a load whose number of requests is not known before.
const DEFAULT_ROWS: u64 = 1_000;
/// Prompts may have this part of what all requests may have.
const MAX_BYTES: u64 = MAX_REQUEST_SET_BYTES / 4;
/// With recorded arrivals the prompts of all requests are needed.
const MAX_BYTES_OF_ARRIVALS: u64 = MAX_REQUEST_SET_BYTES / 4 * 3;
/// Body of requests that come whole from a file.
const WHOLE_BODY: &str = "{{body}}";

/// Prompts of a load.
pub(crate) enum Prompts {
    Synthetic(SyntheticPrompts),
    OfFile(PromptFile, FilePrompts),
}

impl Prompts {
    /// Returns the recorded arrivals.
    pub(super) fn arrivals(&self) -> Option<&Trace> {
        match self {
            Prompts::Synthetic(_) => None,
            Prompts::OfFile(_, prompts) => prompts.arrivals.as_ref(),
        }
    }

    /// Returns the name for people and for the result.
    fn name(&self) -> String {
        match self {
            Prompts::Synthetic(prompts) => prompts.to_string(),
            Prompts::OfFile(file, _) => file.to_string(),
        }
    }

    fn are_bodies(&self) -> bool {
        matches!(self, Prompts::OfFile(file, _) if file.format.has_bodies())
    }

    /// Returns the typical length of the first `count` prompts, if they are made.
    fn typical_input(&self, count: u64) -> Option<u32> {
        match self {
            Prompts::Synthetic(prompts) => Some(prompts.typical_input()),
            Prompts::OfFile(_, prompts) => prompts.typical_input(count),
        }
    }

    /// Returns a row for a request before the load.
    fn row_before(&self, words: u32, args: &RunArgs) -> MadeRows {
        let seed = args.seed.unwrap_or(DEFAULT_SEED);
        let row = match self {
            Prompts::Synthetic(prompts) => prompts.trial(words, seed),
            Prompts::OfFile(_, prompts) => prompts.row_before(words, seed),
        };
        MadeRows { json_lines: row.into(), are_bodies: self.are_bodies() }
    }
}

/// Checks `--prompts`, reads its file, and sets one row, with which a request before the load can be made.
///
/// # Errors
/// If the option contradicts others or is not valid, or a file cannot be read.
pub(super) fn prepare(args: &mut RunArgs) -> Result<Option<Prompts>> {
    let Some(text) = args.prompts.clone() else { return Ok(None) };
    let others = [
        ("--data-from", args.data_from.is_some()),
        ("--flow", !args.flow.flow.is_empty()),
        ("--script", args.script.script.is_some()),
        ("--replay", args.replay.replay.is_some()),
    ];
    if let Some((option, _)) = others.iter().find(|(_, given)| *given) {
        return Err(refused(format!("{option} contradicts it: prompts are the rows of plain requests; leave one out")));
    }
    if !args.streams.reads_llm() {
        return Err(usage_error("--prompts makes prompts for language models; add --llm openai-chat"));
    }
    let prompts = match PromptFile::named(&text) {
        Some(file) => {
            let file = file.map_err(refused)?;
            let prompts = of_file(args, &file)?;
            Prompts::OfFile(file, prompts)
        }
        None => {
            refuse_speed(args, "made prompts have no arrivals")?;
            let prompts: SyntheticPrompts = text.parse().map_err(refused)?;
            let read = |file: &str| input::text(Path::new(file)).map_err(|error| error.message);
            Prompts::Synthetic(prompts.with_files(&read).map_err(refused)?)
        }
    };
    if let Prompts::OfFile(_, FilePrompts { path: Some(path), .. }) = &prompts {
        send_bodies(args, path)?;
    }
    args.made_rows = Some(prompts.row_before(FEW_WORDS, args));
    Ok(Some(prompts))
}

fn refused(problem: String) -> CliError {
    usage_error(format!("--prompts: {problem}"))
}

fn refuse_speed(args: &RunArgs, why: &str) -> Result<()> {
    refuse_beside("--prompts", &[("--speed", args.replay.speed.is_some(), why)])
}

/// Returns the arrivals of the file of `--prompts`, if it has any, without preparing anything else.
///
/// # Errors
/// As [`prepare`].
pub(crate) fn arrivals(args: &RunArgs) -> Result<Option<Trace>> {
    let named = args.prompts.as_deref().and_then(PromptFile::named).transpose().map_err(refused)?;
    match named.filter(|file| file.format.has_arrivals()) {
        Some(file) => Ok(of_file(args, &file)?.arrivals),
        None => Ok(None),
    }
}

/// Reads a file of prompts, and brings its arrivals to the speed of `--speed`.
fn of_file(args: &RunArgs, file: &PromptFile) -> Result<FilePrompts> {
    if file.format.has_arrivals() {
        refuse_other_arrivals(args, file)?;
    } else {
        refuse_speed(args, "this file has no arrivals")?;
    }
    let mut prompts = file.read(&input::recording(Path::new(&file.file))?).map_err(request::wrong)?;
    prompts.arrivals = prompts.arrivals.map(|trace| replay::at_speed(trace, args.replay.speed));
    Ok(prompts)
}

/// Refuses options that the arrivals of the file set, as beside `--replay`.
fn refuse_other_arrivals(args: &RunArgs, file: &PromptFile) -> Result<()> {
    let option = format!("--prompts {file}");
    if args.prompt_rows.is_some() {
        let help = "take its lengths alone, with synthetic:input=file:…,output=file:…";
        return Err(usage_error(format!("{option} has arrivals of its own, and a search sets the rate; {help}")));
    }
    let when =
        "the file says when requests are sent; --speed sends them faster or slower, and -d ends the load earlier";
    let others = [
        ("--rate", args.rate.is_some(), when),
        ("--profile", args.profile.is_some(), when),
        ("--spacing", args.spacing.is_some(), when),
        ("--model", args.model.is_some_and(|model| model != ModelName::Open), "recorded arrivals are an open load"),
        ("--feed", args.feed.is_some(), "the file says what is sent"),
    ];
    refuse_beside(&option, &others)
}

/// Makes requests with whole bodies to the URL of the arguments, which gets `path` unless it has one.
fn send_bodies(args: &mut RunArgs, path: &str) -> Result<()> {
    let what = "the file has the bodies";
    let others = [
        ("--data", args.data.is_some(), what),
        ("--data-file", args.data_file.is_some(), what),
        ("--targets", args.targets.is_some(), what),
        ("--curl", args.curl.is_some(), what),
        ("a command after --", !args.command.is_empty(), what),
        ("--cache-bust", args.streams.cache_bust, "bodies are sent as they are"),
    ];
    refuse_beside("--prompts batch:FILE", &others)?;
    let Some(url) = &args.url else {
        return Err(refused("a batch needs a URL that says where to, such as http://127.0.0.1:8000".to_owned()));
    };
    let after_scheme = url.split_once("://").map_or(url.as_str(), |(_, rest)| rest);
    let has_path = after_scheme.find(['/', '?', '#']).is_some_and(|at| after_scheme[at..] != *"/");
    if !has_path && let Some(joined) = BaseUrl::parse(url.trim()).ok().and_then(|base| base.join(path)) {
        args.url = Some(joined.to_string());
    }
    args.data = Some(WHOLE_BODY.to_owned());
    Ok(())
}

/// Returns a hash of the body and the headers that made prompts are put into. A body from standard input, which can be
/// read only once, is left out.
///
/// # Errors
/// If a file cannot be read.
pub(crate) fn hash_of_template(args: &RunArgs) -> Result<u64> {
    let is_typed = args.data_file.as_deref().is_some_and(|file| file == Path::new("-"));
    let body = if is_typed { Vec::new() } else { request::body(args)? };
    let parts = args.header.iter().map(String::as_bytes).chain([&body[..]]);
    let of_part = |hash: u64, part: &[u8]| {
        part.iter().fold(mix64(hash ^ part.len() as u64), |hash, byte| mix64(hash ^ u64::from(*byte)))
    };
    Ok(parts.fold(0, of_part))
}

/// Returns true if the prompts of the load are made, so that calls before it have other prompts.
pub(crate) fn are_made(args: &RunArgs) -> bool {
    let file = args.prompts.as_deref().map(PromptFile::named);
    file.is_some_and(|file| file.is_none_or(|file| file.is_ok_and(|file| file.format.has_arrivals())))
}

/// Makes the rows of the load. For made prompts, asks the server before how many tokens their words have. Returns a
/// note about it.
///
/// # Errors
/// If no request has a place for the prompt, the server does not answer, or the prompts need too much memory.
pub(super) fn make(args: &mut RunArgs, prompts: &Prompts, workload: &Workload) -> Result<String> {
    let planned = workload.model.schedule().and_then(|schedule| schedule.count());
    let planned = planned.or(workload.model.horizon().requests);
    let planned = args.prompt_rows.or(planned).unwrap_or(DEFAULT_ROWS);
    let (tokens, how) = match prompts.typical_input(planned) {
        None => (TokensOfWords::default(), None),
        Some(_) if args.no_preflight => {
            let how = "one token a word is assumed, because --no-preflight asks nothing";
            (TokensOfWords::default(), Some(how.to_owned()))
        }
        Some(typical) => {
            let (tokens, how) = calibrated(args, prompts, typical)?;
            (tokens, Some(how))
        }
    };
    let seed = args.seed.unwrap_or(DEFAULT_SEED);
    let (made, rows) = match prompts {
        Prompts::Synthetic(prompts) => {
            let rows = prompts.rows(planned, MAX_BYTES);
            (prompts.make(rows, seed, tokens), u64::from(rows))
        }
        Prompts::OfFile(file, of_file) => rows_of_file(file, of_file, planned, seed, tokens)?,
    };
    args.made_rows = Some(MadeRows { json_lines: made.json_lines.into(), are_bodies: prompts.are_bodies() });
    let lengths: Vec<_> = made.asked.iter().map(|asked| (asked.input, asked.output)).collect();
    if !lengths.is_empty() {
        args.streams.asked = Some(Arc::new(AskedPrompts { name: prompts.name(), lengths }));
    }
    let of_file = match prompts {
        Prompts::Synthetic(_) => String::new(),
        Prompts::OfFile(file, read) => format!(" {file}: {read}{}", speed(args)),
    };
    let used = if of_file.is_empty() { format!(": {rows} rows") } else { format!("; the load takes {rows} of them") };
    Ok(format!("--prompts{of_file}{used}{}", how.map_or(String::new(), |how| format!("; {how}"))))
}

fn speed(args: &RunArgs) -> String {
    args.replay.speed.map_or_else(String::new, |speed| format!("; at {speed} times the recorded speed"))
}

/// Makes the rows of a file for `planned` requests. Returns them, and their number.
fn rows_of_file(
    file: &PromptFile,
    prompts: &FilePrompts,
    planned: u64,
    seed: u64,
    tokens: TokensOfWords,
) -> Result<(MadePrompts, u64)> {
    let wanted = planned.min(prompts.count());
    let most = if file.format.has_arrivals() { MAX_BYTES_OF_ARRIVALS } else { MAX_BYTES };
    let made = prompts.make(wanted, most, seed, tokens);
    let rows = made.json_lines.iter().filter(|byte| **byte == b'\n').count() as u64;
    if rows == 0 || (rows < wanted && file.format.has_arrivals()) {
        return Err(usage_error(format!(
            "--prompts {file}: the prompts of the first {} requests need more than {} MiB; end the load earlier with -d or -n",
            rows + 1,
            most >> 20
        )));
    }
    Ok((made, rows))
}

/// Asks with prompts of two lengths, and of the typical length until the count is near. Returns the tokens of words,
/// and how they were found.
fn calibrated(args: &RunArgs, prompts: &Prompts, typical: u32) -> Result<(TokensOfWords, String)> {
    let options = stream::options(args.streams.clone(), Vec::new(), None, false)?;
    let options = options.ok_or_else(|| usage_error("--prompts needs --llm"))?;
    let few = ask(args, prompts, FEW_WORDS, &options)?;
    let long = typical.max(MANY_WORDS);
    let many = ask(args, prompts, long, &options)?;
    let line = few.zip(many).and_then(|(few, many)| TokensOfWords::through((FEW_WORDS, few), (long, many)));
    let (Some(few), Some(mut tokens)) = (few, line) else {
        let why =
            "one token a word is assumed, because the server did not count the tokens of two prompts before the load";
        return Ok((TokensOfWords::default(), why.to_owned()));
    };
    let mut asked = vec![FEW_WORDS, long];
    for _ in 0..MAX_CORRECTIONS {
        let words = tokens.words(typical);
        if words <= FEW_WORDS || asked.contains(&words) {
            break;
        }
        asked.push(words);
        let Some(count) = ask(args, prompts, words, &options)? else { break };
        if (count as f64 - f64::from(typical)).abs() <= NEAR * f64::from(typical) {
            break;
        }
        tokens = TokensOfWords::through((FEW_WORDS, few), (words, count)).unwrap_or(tokens);
    }
    let how = format!(
        "by the server's count in {} calls before the load, a word has {:.3} tokens, and {:.0} are around a prompt",
        asked.len(),
        tokens.each,
        tokens.around
    );
    Ok((tokens, how))
}

/// Sends a prompt of `words` words. Returns the tokens of the request by the server's count, if it counts.
fn ask(args: &RunArgs, prompts: &Prompts, words: u32, options: &StreamOptions) -> Result<Option<u64>> {
    let mut asking = args.clone();
    asking.made_rows = Some(prompts.row_before(words, args));
    let mut target = request::target(&asking)?;
    tls::secure(&mut target, &asking)?;
    let (observer, answer) = first_answer();
    preflight_observed(&mut target, TIMEOUT, &observer).map_err(|error| preflight_error(&target, &error))?;
    let answer = answer.lock().unwrap_or_else(PoisonError::into_inner);
    answer.input_tokens(options).map_err(|seen| {
        runtime_error(format!(
            "{}: --prompts asked with {words} words before the load: {seen}; check the request, or skip this with --no-preflight",
            target.first_requests()
        ))
    })
}
