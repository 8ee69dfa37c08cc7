//! `truetail.toml`: runs and searches by name. Its keys are the long names of the options of `truetail run`.
//!
//! | module | content |
//! |---|---|
//! | `file` | the file as it is written: named runs, and their options |
//! | `layers` | options that are given in several places |

mod file;
mod layers;

use std::ffi::OsString;
use std::path::Path;

use truetail_engine::without_credentials;

use crate::args::capacity::CapacityArgs;
use crate::args::run::RunArgs;
use crate::args::run_options::{
    Given, check_needs, definition_of, given, given_in_run, parse_as, parse_run, typed as as_typed, words_of,
};
use crate::error::{CliError, Result, runtime_error, usage_error};
use file::{ConfigFile, is_name};
use layers::{URL, over};
use truetail_run::input;

/// File that is read by default.
const NAME: &str = "truetail.toml";

/// Completes the arguments of `run` from `truetail.toml`, unless the command line has a target and no `--config`.
///
/// # Errors
/// If the file is needed and cannot be read, is not valid, or has no run with this name.
pub(crate) fn complete(args: RunArgs) -> Result<RunArgs> {
    let name = args.url.clone().filter(|url| is_name(url));
    if name.is_none() && has_target(&args) && args.config.is_none() {
        check_needs(&given_in_run(args.typed.words.iter().skip(1))?)?;
        return Ok(args);
    }
    let (file, shown) = read(&args, name.as_deref())?;
    one_of(&file, &shown, name.as_deref(), typed(&args, name.is_some())?)
}

/// Returns several runs of `truetail.toml` in order, each with name and arguments. Options of the command line apply to
/// all of them, and `--out` is the parent of their folders.
///
/// # Errors
/// If the file cannot be read, is not valid, or has no run with one of these names.
pub(crate) fn complete_several(args: &RunArgs) -> Result<Vec<(String, RunArgs)>> {
    let named = || args.url.iter().chain(&args.several.more);
    if let Some(wrong) = named().find(|name| !is_name(name)) {
        let wrong = without_credentials(wrong);
        return Err(usage_error(format!("'{wrong}' is not the name of a run; several runs are those of {NAME}")));
    }
    if args.several.all && args.url.is_some() {
        return Err(usage_error("--all makes all runs; leave out the names, or --all"));
    }
    if let Some(twice) = named().enumerate().find_map(|(at, name)| named().take(at).find(|other| *other == name)) {
        return Err(usage_error(format!("'{twice}' is named twice")));
    }
    let (file, shown) = read(args, args.url.as_deref())?;
    let names: Vec<String> = if args.several.all { file.in_turn().to_vec() } else { named().cloned().collect() };
    if names.is_empty() {
        return Err(usage_error(format!("{shown} names no run; write one, such as [run.api] with url and rate")));
    }
    let (options, command) = typed(args, true)?;
    let of = |name: String| {
        let mut options = options.clone();
        if let Some(folder) = args.out.as_ref().filter(|_| options.contains_key("out")) {
            options.insert("out".to_owned(), words_of("out", [folder.join(&name).into_os_string()]));
        }
        Ok((name.clone(), one_of(&file, &shown, Some(&name), (options, command.clone()))?))
    };
    names.into_iter().map(of).collect()
}

/// Reads the file, which is needed for a run called `name`.
fn read(args: &RunArgs, name: Option<&str>) -> Result<(ConfigFile, String)> {
    let path = args.config.as_deref().unwrap_or(Path::new(NAME));
    let text = match input::text(path) {
        Ok(text) => text,
        Err(_) if args.config.is_none() && !path.exists() => return Err(missing(name)),
        Err(error) => return Err(runtime_error(format!("cannot read {}: {error}", path.display()))),
    };
    let shown = path.display().to_string();
    Ok((ConfigFile::parse(&text, &shown).map_err(usage_error)?, shown))
}

/// Returns the arguments of one run of the file.
fn one_of(
    file: &ConfigFile,
    shown: &str,
    name: Option<&str>,
    (typed, command): (Given, Vec<OsString>),
) -> Result<RunArgs> {
    let (run, options) = file.run(name).map_err(usage_error)?;
    let words = words(over(options, typed), command);
    let mut args =
        parse_run(words).map_err(|error| usage_error(format!("[run.{run}] of {shown}: {}", error.message)))?;
    args.labels.name = Some(run.to_owned());
    if !has_target(&args) {
        return Err(usage_error(format!("[run.{run}] of {shown} has no URL; add url = \"http://HOST:PORT/PATH\"")));
    }
    Ok(args)
}

/// Returns true if the arguments name a target.
fn has_target(args: &RunArgs) -> bool {
    args.url.is_some()
        || args.targets.is_some()
        || !args.flow.flow.is_empty()
        || args.curl.is_some()
        || !args.command.is_empty()
}

fn missing(name: Option<&str>) -> CliError {
    usage_error(match name {
        Some(name) => format!(
            "'{name}' is not a URL, and there is no {NAME} in this folder with a run of that name; write a URL, such as \
             http://127.0.0.1:8080/"
        ),
        None => format!(
            "no URL given, and there is no {NAME} in this folder; write truetail run URL -r RATE, such as truetail run \
             http://127.0.0.1:8080/ -r 100"
        ),
    })
}

/// Returns the options and the curl command of the command line. The name of a run is no option.
fn typed(args: &RunArgs, is_named: bool) -> Result<(Given, Vec<OsString>)> {
    let mut options = given_in_run(args.typed.words.iter().skip(1))?;
    options.remove("config");
    options.remove("all");
    if let Some(url) = args.url.as_ref().filter(|_| !is_named) {
        options.insert(URL.to_owned(), vec![url.into()]);
    }
    Ok((options, args.command.iter().map(OsString::from).collect()))
}

/// Completes the arguments of `capacity` from `truetail.toml` if a name is given instead of a URL.
///
/// # Errors
/// If the file or the search does not exist, or the file is not valid.
pub(crate) fn complete_capacity(args: CapacityArgs) -> Result<CapacityArgs> {
    let name = args.url.as_str();
    if !is_name(name) {
        return Ok(args);
    }
    let text = match input::text(Path::new(NAME)) {
        Ok(text) => text,
        Err(_) if !Path::new(NAME).exists() => return Err(missing(Some(name))),
        Err(error) => return Err(runtime_error(format!("cannot read {NAME}: {error}"))),
    };
    let mut options = ConfigFile::parse(&text, NAME).and_then(|file| file.search(name)).map_err(usage_error)?;
    let definition = definition_of::<CapacityArgs>();
    let own: Vec<_> = definition.get_arguments().cloned().collect();
    let matches = definition.try_get_matches_from(args.typed.words.iter().skip(1)).map_err(usage_error)?;
    // Options that exclude each other in a run stay here: `--max-time` is the time of the search.
    options.extend(given(&own, &matches));
    let url = options.remove(URL).unwrap_or_default();
    if url.is_empty() {
        return Err(usage_error(format!(
            "[capacity.{name}] of {NAME} has no URL; add url = \"http://HOST:PORT/PATH\""
        )));
    }
    let is_own = |option: &String| own.iter().any(|arg| arg.get_long() == Some(option.as_str()));
    let (own, requests): (Given, Given) = options.into_iter().partition(|(option, _)| is_own(option));
    let requests = over(requests, given_in_run(&args.run_options)?).into_values().flatten();
    let words: Vec<_> =
        url.into_iter().chain(own.into_values().flatten()).chain(["--".into()]).chain(requests).collect();
    let typed = as_typed("capacity", &words);
    let mut read: CapacityArgs = parse_as(words)
        .map_err(|error: CliError| usage_error(format!("[capacity.{name}] of {NAME}: {}", error.message)))?;
    read.typed.words = typed;
    Ok(read)
}

/// Returns the words of a command line.
fn words(mut options: Given, command: Vec<OsString>) -> Vec<OsString> {
    // A curl command names the target, so the URL is dropped.
    let url = options.remove(URL).filter(|_| command.is_empty()).unwrap_or_default();
    let command = if command.is_empty() { command } else { [vec!["--".into()], command].concat() };
    url.into_iter().chain(options.into_values().flatten()).chain(command).collect()
}
