//! Prompts made for a load (`--prompts`), and the calls before it that tell how many tokens their words have.

use std::path::Path;
use std::sync::{Arc, PoisonError};

use truetail_engine::{MAX_REQUEST_SET_BYTES, preflight_observed};
use truetail_model::time::Nanos;
use truetail_model::workload::Workload;
use truetail_requests::{SyntheticPrompts, TokensOfWords};
use truetail_stream::{AskedPrompts, StreamOptions, first_answer};

use super::load::DEFAULT_SEED;
use super::{input, request, stream, tls};
use crate::args::run::RunArgs;
use crate::error::{Result, runtime_error, usage_error};
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

/// Checks `--prompts` and sets one row, with which a request before the load can be made.
///
/// # Errors
/// If the option contradicts others or is not valid, or a file of lengths cannot be read.
pub(super) fn prepare(args: &mut RunArgs) -> Result<Option<SyntheticPrompts>> {
    let Some(text) = &args.prompts else { return Ok(None) };
    let refused = |problem: String| usage_error(format!("--prompts: {problem}"));
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
    let prompts: SyntheticPrompts = text.parse().map_err(refused)?;
    let read = |file: &str| input::text(Path::new(file)).map_err(|error| error.message);
    let prompts = prompts.with_files(&read).map_err(refused)?;
    args.made_rows = Some(row(&prompts, FEW_WORDS, args));
    Ok(Some(prompts))
}

/// Makes the rows of the load. Asks the server before how many tokens their words have. Returns a note about it.
///
/// # Errors
/// If no request has a place for the prompt, or the server does not answer.
pub(super) fn make(args: &mut RunArgs, prompts: &SyntheticPrompts, workload: &Workload) -> Result<String> {
    let (tokens, how) = if args.no_preflight {
        (TokensOfWords::default(), "one token a word is assumed, because --no-preflight asks nothing".to_owned())
    } else {
        calibrated(args, prompts)?
    };
    let planned = workload.model.schedule().and_then(|schedule| schedule.count());
    let planned = planned.or(workload.model.horizon().requests);
    let planned = args.prompt_rows.or(planned).unwrap_or(DEFAULT_ROWS);
    let rows = prompts.rows(planned, MAX_BYTES);
    let made = prompts.make(rows, args.seed.unwrap_or(DEFAULT_SEED), tokens);
    args.made_rows = Some(made.json_lines.into());
    let lengths = made.asked.iter().map(|asked| (asked.input, asked.output)).collect();
    args.streams.asked = Some(Arc::new(AskedPrompts { name: prompts.to_string(), lengths }));
    Ok(format!("--prompts: {rows} rows; {how}"))
}

fn row(prompts: &SyntheticPrompts, words: u32, args: &RunArgs) -> Arc<[u8]> {
    prompts.trial(words, args.seed.unwrap_or(DEFAULT_SEED)).into()
}

/// Asks with prompts of two lengths, and of the typical length until the count is near. Returns the tokens of words,
/// and how they were found.
fn calibrated(args: &RunArgs, prompts: &SyntheticPrompts) -> Result<(TokensOfWords, String)> {
    let options = stream::options(args.streams.clone(), Vec::new(), None, false)?;
    let options = options.ok_or_else(|| usage_error("--prompts needs --llm"))?;
    let typical = prompts.typical_input();
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
fn ask(args: &RunArgs, prompts: &SyntheticPrompts, words: u32, options: &StreamOptions) -> Result<Option<u64>> {
    let mut asking = args.clone();
    asking.made_rows = Some(row(prompts, words, args));
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
