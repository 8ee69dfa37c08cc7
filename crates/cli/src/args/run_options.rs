//! Options of `truetail run` for other verbs and for configuration files. `run` itself parses them in both cases.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::marker::PhantomData;

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};

use super::clap_error;
use super::run::RunArgs;
use crate::error::{Result, usage_error};

/// Options of `run` that a verb leaves out.
pub(crate) trait Omits {
    /// Names of the omitted options and arguments, as fields of [`RunArgs`].
    const NAMES: &'static [&'static str];
}

/// Given options by long name, each with the words that give it again.
pub(crate) type Given = BTreeMap<String, Vec<OsString>>;

/// Options of `run` that a verb also takes, as words.
#[derive(Clone, Debug)]
pub(crate) struct RunOptions<O> {
    given: Given,
    omits: PhantomData<O>,
}

impl<O> RunOptions<O> {
    /// Returns the arguments of `run` for this URL. The (name, value) pairs in `more` replace options of the user.
    pub(crate) fn run_args(&self, url: &str, more: &[(&str, String)]) -> Result<RunArgs> {
        let mut given = self.given.clone();
        given.extend(more.iter().map(|(name, value)| ((*name).to_owned(), words_of(name, [OsString::from(value)]))));
        parse_run(std::iter::once(OsString::from(url)).chain(given.into_values().flatten()).collect())
    }

    /// Returns the words of the options whose long names `wanted` accepts.
    pub(crate) fn words(&self, wanted: impl Fn(&str) -> bool) -> Vec<OsString> {
        self.given.iter().filter(|(name, _)| wanted(name)).flat_map(|(_, words)| words.clone()).collect()
    }

    /// Returns the given value of an option.
    pub(crate) fn value_of(&self, option: &str) -> Option<String> {
        let words: Vec<_> = self.given.get(option)?.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        let after_equals = words[0].strip_prefix(&format!("--{option}=")).map(str::to_owned);
        after_equals.or_else(|| words.get(1).cloned())
    }
}

fn shared<O: Omits>() -> Vec<Arg> {
    let omitted = |arg: &&Arg| O::NAMES.contains(&arg.get_id().as_str());
    definition().get_arguments().filter(|arg| !omitted(arg)).cloned().collect()
}

impl<O: Omits> Args for RunOptions<O> {
    fn augment_args(command: Command) -> Command {
        command.args(shared::<O>())
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<O: Omits> FromArgMatches for RunOptions<O> {
    fn from_arg_matches(matches: &ArgMatches) -> std::result::Result<Self, clap::Error> {
        Ok(RunOptions { given: given(&shared::<O>(), matches), omits: PhantomData })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> std::result::Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Returns the definition of the arguments of `run`.
pub(crate) fn definition() -> Command {
    definition_of::<RunArgs>()
}

/// Returns the definition of the arguments of a verb.
pub(crate) fn definition_of<A: Args>() -> Command {
    A::augment_args(Command::new("truetail").no_binary_name(true))
}

/// Options that have no meaning unless one of some others is given, which may be in truetail.toml. So clap cannot check
/// it.
const NEEDS: [(&str, &[&str]); 14] = [
    ("setup", &["flow"]),
    ("variable", &["flow"]),
    ("file-root", &["flow"]),
    ("speed", &["replay", "prompts"]),
    ("event", &["event-at"]),
    ("event-at", &["event"]),
    ("scrape-show", &["scrape"]),
    ("script-allow", &["script"]),
    ("server-timing-order", &["server-timing"]),
    ("otlp-receive", &["trace"]),
    ("otlp-grace", &["otlp-receive"]),
    ("trace-header", &["trace"]),
    ("trace-sampled", &["trace"]),
    ("trace-link", &["trace"]),
];

/// Checks that each option has one that it needs.
///
/// # Errors
/// If an option lacks all that it may need.
pub(crate) fn check_needs(given: &Given) -> Result<()> {
    let is_there = |needed: &&str| given.contains_key(*needed);
    let missing = NEEDS.iter().find(|(name, needed)| given.contains_key(*name) && !needed.iter().any(is_there));
    missing.map_or(Ok(()), |(name, needed)| {
        Err(usage_error(format!("--{name} needs --{} too; see --help", needed.join(" or --"))))
    })
}

/// Parses the words after `truetail run`.
pub(crate) fn parse_run(words: Vec<OsString>) -> Result<RunArgs> {
    check_needs(&given_in_run(&words)?)?;
    let typed = typed("run", &words);
    let mut args: RunArgs = parse_as(words)?;
    args.typed.words = typed;
    Ok(args)
}

/// Parses the words after a verb with these arguments.
pub(crate) fn parse_as<A: Args>(words: Vec<OsString>) -> Result<A> {
    let read = definition_of::<A>().try_get_matches_from(words).and_then(|matches| A::from_arg_matches(&matches));
    read.map_err(|error| usage_error(clap_error::in_one_line(&error)))
}

/// Returns the words of a command line, as a user would type them.
pub(crate) fn typed(verb: &str, words: &[OsString]) -> Vec<String> {
    let words = words.iter().map(|word| word.to_string_lossy().into_owned());
    std::iter::once(verb.to_owned()).chain(words).collect()
}

/// Returns the options of `run` that these words give.
pub(crate) fn given_in_run<W: Into<OsString> + Clone>(words: impl IntoIterator<Item = W>) -> Result<Given> {
    let definition = definition().disable_help_flag(true);
    let arguments: Vec<_> = definition.get_arguments().cloned().collect();
    let matches = definition.try_get_matches_from(words);
    let matches = matches.map_err(|error| usage_error(clap_error::in_one_line(&error)))?;
    Ok(given(&arguments, &matches))
}

/// Returns the options among `args` that were given on the command line.
pub(crate) fn given(args: &[Arg], matches: &ArgMatches) -> Given {
    let words = |arg: &Arg| {
        let id = arg.get_id().as_str();
        let long = arg.get_long()?;
        let is_given = matches.value_source(id) == Some(ValueSource::CommandLine);
        let values = matches.get_raw(id).into_iter().flatten().map(OsString::from);
        let words = if arg.get_action().takes_values() { words_of(long, values) } else { vec![flag(long)] };
        is_given.then(|| (long.to_owned(), words))
    };
    args.iter().filter_map(words).collect()
}

/// Returns the words that give an option these values in turn.
pub(crate) fn words_of(long: &str, values: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    values.into_iter().flat_map(|value| value_words(long, value)).collect()
}

/// Returns the word of an option without a value.
pub(crate) fn flag(long: &str) -> OsString {
    format!("--{long}").into()
}

/// Returns two words, or one if the value could be taken for an option.
fn value_words(long: &str, value: OsString) -> Vec<OsString> {
    if !value.to_string_lossy().starts_with('-') {
        return vec![flag(long), value];
    }
    let mut word = flag(long);
    word.push("=");
    word.push(value);
    vec![word]
}
