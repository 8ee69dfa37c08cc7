//! `truetail.toml` as it is written: the runs that it names, and their options.

use std::collections::BTreeMap;

use clap::error::ErrorKind;
use clap::{Arg, ArgAction, Command};
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use truetail_model::toml_file::{TomlError, TomlFile, suggestion};

use super::layers::{URL, over};
use crate::args::capacity::{CapacityArgs, NOT_FOR_PROBES};
use crate::args::clap_error::in_one_line;
use crate::args::run_options::{Given, definition, definition_of, flag, words_of};

/// Options that a file cannot set: they locate the file, show help, or belong to one of several machines.
const NOT_IN_FILES: [&str; 7] = ["all", "config", "help", "pack", "start-at", "stripe", "version"];

/// Errors are one line: place, problem, help.
type Result<T, E = String> = std::result::Result<T, E>;

#[derive(Default, Debug)]
pub(super) struct ConfigFile {
    file: String,
    default: Option<String>,
    /// Options of every run.
    shared: Given,
    runs: BTreeMap<String, Given>,
    /// Names of the runs in the order of the file.
    order: Vec<String>,
    /// Searches for the capacity of a service.
    searches: BTreeMap<String, Given>,
}

impl ConfigFile {
    /// Parses the file, and checks each value of each run.
    pub(super) fn parse(text: &str, file: &str) -> Result<ConfigFile> {
        ConfigFile::read(TomlFile { name: file, text }).map_err(|error| error.to_string())
    }

    fn read(source: TomlFile<'_>) -> Result<ConfigFile, TomlError> {
        let document = source.parse()?;
        let known = ["capacity", "default", "run", "shared"];
        let options = Options::for_run();
        let mut default_place = 0;
        let mut read = ConfigFile { file: source.name.to_owned(), ..ConfigFile::default() };
        for (key, value) in in_order(document.get_ref()) {
            let place = key.span().start;
            match key.get_ref().as_ref() {
                "default" => {
                    let name = value.get_ref().as_str();
                    let name =
                        name.ok_or_else(|| source.error(place, "'default': write the name of a run in quotes"))?;
                    read.default = Some(name.to_owned());
                    default_place = place;
                }
                "shared" => read.shared = options.read(source, "[shared]", place, value)?,
                "run" => {
                    read.runs = tables(source, "run", place, value, &options)?;
                    let names = value.get_ref().as_table().map(in_order).unwrap_or_default();
                    read.order = names.into_iter().map(|(name, _)| name.get_ref().to_string()).collect();
                }
                "capacity" => {
                    read.searches = tables(source, "capacity", place, value, &Options::for_capacity())?;
                }
                other => {
                    let message = format!("unknown key '{other}'; {}", suggestion(other, &known));
                    return Err(source.error(place, message));
                }
            }
        }
        match read.default.as_ref().filter(|name| !read.runs.contains_key(*name)) {
            Some(name) => Err(source.error(default_place, format!("'default': {}", read.unknown(name)))),
            None => Ok(read),
        }
    }

    /// Returns a run and its options: the run called `name`, the default, or the only one.
    pub(super) fn run(&self, name: Option<&str>) -> Result<(&str, Given)> {
        let only = self.runs.keys().next().filter(|_| self.runs.len() == 1);
        let name = name.or(self.default.as_deref()).or(only.map(String::as_str));
        let Some(name) = name else {
            let names = self.names().join(", ");
            return Err(match self.runs.is_empty() {
                true => format!("{} names no run; write one, such as [run.api] with url and rate", self.file),
                false => format!("{} names several runs; choose one of {names}, or set default", self.file),
            });
        };
        match self.runs.get_key_value(name) {
            Some((name, options)) => Ok((name, over(self.shared.clone(), options.clone()))),
            None => Err(format!("{}: {}", self.file, self.unknown(name))),
        }
    }

    /// Returns the names of all runs, in the order of the file.
    pub(super) fn in_turn(&self) -> &[String] {
        &self.order
    }

    /// Returns the options of a search.
    pub(super) fn search(&self, name: &str) -> Result<Given> {
        self.searches.get(name).cloned().ok_or_else(|| {
            let names: Vec<_> = self.searches.keys().cloned().collect();
            let help = if names.is_empty() {
                format!("write [capacity.{name}] with url and slo")
            } else {
                suggestion(name, &names)
            };
            format!("{}: there is no search '{name}'; {help}", self.file)
        })
    }

    fn names(&self) -> Vec<String> {
        self.runs.keys().cloned().collect()
    }

    fn unknown(&self, name: &str) -> String {
        format!("there is no run '{name}'; {}", suggestion(name, &self.names()))
    }
}

/// Reads the tables `[KIND.NAME]`.
fn tables(
    source: TomlFile<'_>,
    kind: &str,
    place: usize,
    value: &Spanned<DeValue<'_>>,
    options: &Options,
) -> Result<BTreeMap<String, Given>, TomlError> {
    let table = value.get_ref().as_table();
    let table = table.ok_or_else(|| source.error(place, format!("'{kind}': write a name, such as [{kind}.api]")))?;
    let mut tables = BTreeMap::new();
    for (key, value) in in_order(table) {
        let name = key.get_ref();
        let place = key.span().start;
        if value.get_ref().as_table().is_none() {
            return Err(source.error(place, format!("'{name}' in [{kind}]: write a name, such as [{kind}.api]")));
        }
        if !is_name(name) {
            return Err(source.error(place, format!("'{name}': names have letters, digits, '-' and '_' only")));
        }
        tables.insert(name.to_string(), options.read(source, &format!("[{kind}.{name}]"), place, value)?);
    }
    Ok(tables)
}

/// Returns true if the text has only letters, digits, '-' and '_'. A URL has other characters too.
pub(super) fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c))
}

/// Returns the entries in the order of the file, so that the first error is the first in the file.
fn in_order<'a, 't>(table: &'a DeTable<'t>) -> Vec<(&'a Spanned<std::borrow::Cow<'t, str>>, &'a Spanned<DeValue<'t>>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

/// Options that a table may have, each with the command that checks its values.
struct Options(BTreeMap<String, (Arg, Command)>);

impl Options {
    fn for_run() -> Options {
        Options(named(&definition()))
    }

    /// Returns the options of the search and of its requests.
    fn for_capacity() -> Options {
        let mut options = named(&definition());
        options.retain(|name, _| !NOT_FOR_PROBES.contains(&name.as_str()));
        options.extend(named(&definition_of::<CapacityArgs>().mut_arg("url", |url| url.required(false))));
        Options(options)
    }

    fn read(
        &self,
        source: TomlFile<'_>,
        title: &str,
        place: usize,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<Given, TomlError> {
        let table = value.get_ref().as_table();
        let table = table.ok_or_else(|| source.error(place, format!("{title} is a table; write its keys below it")))?;
        let read = |(key, value): (&Spanned<std::borrow::Cow<'_, str>>, &Spanned<DeValue<'_>>)| {
            let name = key.get_ref().to_string();
            let error = |problem: String| source.error(key.span().start, problem);
            let words = self.words(&name, title, value.get_ref()).map_err(error)?;
            Ok((name, words))
        };
        in_order(table).into_iter().map(read).collect()
    }

    /// Returns the words of a key; no words for an option that is off.
    fn words(&self, name: &str, title: &str, value: &DeValue<'_>) -> Result<Vec<std::ffi::OsString>> {
        let of_key = |problem: &str| format!("'{name}' in {title}: {problem}");
        if name == URL {
            return text(value).map(|url| vec![url.into()]).ok_or_else(|| of_key("write a URL in quotes"));
        }
        let Some((arg, definition)) = self.0.get(name) else {
            // Reached only in a search: in a run, all options of this list that a file may set are known.
            if NOT_FOR_PROBES.contains(&name) && !NOT_IN_FILES.contains(&name) {
                return Err(of_key("a search sets this itself, or it has no effect in one; leave it out"));
            }
            let known: Vec<_> = std::iter::once(URL.to_owned()).chain(self.0.keys().cloned()).collect();
            return Err(format!("unknown key '{name}' in {title}; {}", suggestion(name, &known)));
        };
        if !arg.get_action().takes_values() {
            let is_on = value.as_bool().ok_or_else(|| of_key("write true or false"))?;
            return Ok(if is_on { vec![flag(name)] } else { Vec::new() });
        }
        let many = matches!(arg.get_action(), ArgAction::Append);
        let texts = match value.as_array().filter(|_| many) {
            Some(array) => array.iter().map(|item| text(item.get_ref())).collect(),
            None => text(value).map(|text| vec![text]),
        };
        let wanted =
            if many { "write text in quotes, or a list of texts" } else { "write text in quotes, or a number" };
        let texts = texts.ok_or_else(|| of_key(wanted))?;
        let words = words_of(name, texts.into_iter().map(Into::into));
        check(definition, &words).map_err(|problem| of_key(&problem))?;
        Ok(words)
    }
}

/// Returns text, or a number as it is written.
fn text(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => Some(number.to_string()),
        DeValue::Float(number) => Some(number.to_string()),
        DeValue::Boolean(_) | DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => None,
    }
}

/// Returns the options of a command that a file may set.
fn named(definition: &Command) -> BTreeMap<String, (Arg, Command)> {
    let named = |arg: &Arg| Some((arg.get_long()?.to_owned(), (arg.clone(), definition.clone())));
    let mut options: BTreeMap<_, _> = definition.get_arguments().filter_map(named).collect();
    NOT_IN_FILES.iter().for_each(|name| drop(options.remove(*name)));
    options
}

/// Checks a value. Conflicts between options show only when all options are known.
fn check(definition: &Command, words: &[std::ffi::OsString]) -> Result<()> {
    match definition.clone().try_get_matches_from(words) {
        Err(error) if matches!(error.kind(), ErrorKind::ValueValidation | ErrorKind::InvalidValue) => {
            let line = in_one_line(&error);
            let problem = line.split_once(": ").filter(|(option, _)| option.starts_with("--"));
            Err(problem.map_or(line.clone(), |(_, problem)| problem.to_owned()))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        ConfigFile::parse(text, "f").unwrap_err()
    }

    fn options(text: &str, name: Option<&str>) -> Vec<String> {
        let file = ConfigFile::parse(text, "f").unwrap();
        let (_, given) = file.run(name).unwrap();
        given.into_values().flatten().map(|word| word.into_string().unwrap()).collect()
    }

    #[test]
    fn keys_are_options() {
        let text = "[run.a]\nurl = \"u\"\nrate = 100\nhttp2 = true\ninsecure = false\nheader = [\"A: b\", \"C: d\"]\n\
                    data = \"-x\"\nfail-if = \"p99 > 5ms\"\n";
        let words = options(text, None).join("|");
        assert_eq!(words, "--data=-x|--fail-if|p99 > 5ms|--header|A: b|--header|C: d|--http2|--rate|100|u");
    }

    #[test]
    fn a_run_goes_before_what_is_shared() {
        let text = "default = \"b\"\n[shared]\nrate = 1\nhttp2 = true\n[run.a]\nprofile = \"ramp:1..2/3s\"\nhttp2 = false\n\
                    [run.b]\nduration = \"5s\"\n";
        assert_eq!(options(text, Some("a")), ["--profile", "ramp:1..2/3s"]);
        assert_eq!(options(text, None), ["--duration", "5s", "--http2", "--rate", "1"]);
    }

    #[test]
    fn what_is_wrong_has_a_place_and_a_suggestion() {
        for (text, line) in [
            ("[run.a]\nrat = 5\n", "f:2:1: unknown key 'rat' in [run.a]; did you mean 'rate'?"),
            ("[runs.a]\n", "f:1:2: unknown key 'runs'; did you mean 'run'?"),
            ("[run]\nrate = 5\n", "f:2:1: 'rate' in [run]: write a name, such as [run.api]"),
            ("[run.a]\n\n  rate = \"x\"\n", "f:3:3: 'rate' in [run.a]: 'x' is not a rate"),
            ("[shared]\nhttp2 = \"yes\"\n", "f:2:1: 'http2' in [shared]: write true or false"),
            ("[shared]\nrate = [1, 2]\n", "f:2:1: 'rate' in [shared]: write text in quotes, or a number"),
            ("[shared]\nfail-if = \"p99\"\n", "f:2:1: 'fail-if' in [shared]: "),
            ("[shared]\nspacing = \"evn\"\n", "f:2:1: 'spacing' in [shared]: "),
            ("[run.\"a b\"]\n", "f:1:6: 'a b': names have letters"),
            ("default = \"c\"\n[run.a]\n", "f:1:1: 'default': there is no run 'c'; did you mean 'a'?"),
            ("[run.a]\nrate = \n", "f:2:8: "),
            ("[run.a]\nconfig = \"x\"\n", "f:2:1: unknown key 'config' in [run.a]"),
        ] {
            let found = error(text);
            assert!(found.starts_with(line) && !found.contains('\n'), "{text:?}: {found}");
        }
    }

    #[test]
    fn a_search_has_options_of_its_own_and_those_of_its_requests() {
        let text = "[capacity.a]\nurl = \"u\"\nslo = \"p99 < 5ms\"\nmax-time = \"10m\"\nhttp2 = true\n";
        let words: Vec<_> =
            ConfigFile::parse(text, "f").unwrap().search("a").unwrap().into_values().flatten().collect();
        assert_eq!(words, ["--http2", "--max-time", "10m", "--slo", "p99 < 5ms", "u"]);
        assert!(error("[capacity.a]\nslo = \"p99\"\n").starts_with("f:2:1: 'slo' in [capacity.a]: "));
        assert!(error("[capacity.a]\nslow = 1\n").contains("did you mean 'slo'?"));
        assert!(
            ConfigFile::parse("", "f")
                .unwrap()
                .search("a")
                .unwrap_err()
                .contains("write [capacity.a] with url and slo")
        );
    }

    #[test]
    fn a_run_is_named_or_the_default_or_the_only_one() {
        let several = ConfigFile::parse("[run.a]\n[run.b]\n", "f").unwrap();
        assert_eq!(several.run(None).unwrap_err(), "f names several runs; choose one of a, b, or set default");
        assert_eq!(several.run(Some("b")).unwrap().0, "b");
        assert!(several.run(Some("nonsense")).unwrap_err().contains("there is no run 'nonsense'; use one of a, b"));
        assert!(ConfigFile::parse("", "f").unwrap().run(None).unwrap_err().contains("names no run"));
    }
}
