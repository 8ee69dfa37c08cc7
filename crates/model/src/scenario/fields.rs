//! Keys and values of a scenario file, each with its position in the text.

use std::cell::RefCell;
use std::fmt;
use std::ops::RangeBounds;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::time::{Nanos, Timestamp};
use crate::toml_file::{TomlError, TomlFile, closest, suggestion};

type Result<T> = std::result::Result<T, TomlError>;

/// Table of the file. It remembers the keys that were read, so that other keys can be reported as unknown.
pub(super) struct Section<'t> {
    text: TomlFile<'t>,
    /// Name in error messages, such as `[service]`; empty for the top level.
    title: String,
    /// Start of the table in the text.
    offset: usize,
    table: &'t DeTable<'t>,
    asked: RefCell<Vec<&'static str>>,
}

impl<'t> Section<'t> {
    pub(super) fn new(text: TomlFile<'t>, title: &str, offset: usize, table: &'t DeTable<'t>) -> Section<'t> {
        Section { text, title: title.to_owned(), offset, table, asked: RefCell::default() }
    }

    pub(super) fn get(&self, key: &'static str) -> Option<Field<'t>> {
        let mut asked = self.asked.borrow_mut();
        if !asked.contains(&key) {
            asked.push(key);
        }
        self.lookup(key)
    }

    fn lookup(&self, key: &'static str) -> Option<Field<'t>> {
        let (place, value) = self.table.get_key_value(key)?;
        Some(Field { text: self.text, title: self.title.clone(), key, place: place.span().start, value })
    }

    /// Returns the value of `key`, which must be given; `help` is an example.
    pub(super) fn require(&self, key: &'static str, help: &str) -> Result<Field<'t>> {
        self.get(key).ok_or_else(|| self.error(format!("missing key '{key}'{}; {help}", self.inside())))
    }

    /// Fails if one of `keys` is given; `because` says why it is not allowed.
    pub(super) fn refuse(&self, keys: &[&'static str], because: &str) -> Result<()> {
        match keys.iter().filter_map(|key| self.lookup(key)).min_by_key(|field| field.place) {
            Some(field) => Err(field.error(because)),
            None => Ok(()),
        }
    }

    /// Fails if the table has a key that was not read.
    pub(super) fn no_more_keys(&self) -> Result<()> {
        let asked = self.asked.borrow();
        let unknown = self.table.keys().filter(|key| !asked.contains(&key.get_ref().as_ref()));
        let Some(key) = unknown.min_by_key(|key| key.span().start) else { return Ok(()) };
        let help = suggestion(key.get_ref(), &asked);
        let message = format!("unknown key '{}'{}; {help}", key.get_ref(), self.inside());
        Err(self.text.error(key.span().start, message))
    }

    pub(super) fn error(&self, message: impl fmt::Display) -> TomlError {
        self.text.error(self.offset, message)
    }

    fn inside(&self) -> String {
        if self.title.is_empty() { String::new() } else { format!(" in {}", self.title) }
    }
}

#[derive(Clone)]
pub(super) struct Field<'t> {
    text: TomlFile<'t>,
    title: String,
    key: &'static str,
    place: usize,
    value: &'t Spanned<DeValue<'t>>,
}

impl<'t> Field<'t> {
    /// Returns an error about this key: `problem` follows its name.
    pub(super) fn error(&self, problem: impl fmt::Display) -> TomlError {
        let of = if self.title.is_empty() { String::new() } else { format!(" in {}", self.title) };
        self.text.error(self.place, format!("'{}'{of}: {problem}", self.key))
    }

    pub(super) fn key(&self) -> &'static str {
        self.key
    }

    /// Returns the line of the key, counted from 1.
    pub(super) fn line(&self) -> usize {
        self.error("").line
    }

    fn mistyped(&self, wanted: &str) -> TomlError {
        let given = &self.text.text[self.value.span()];
        self.error(format!("{} is not {wanted}", given.lines().next().unwrap_or_default()))
    }

    pub(super) fn string(&self) -> Result<&'t str> {
        self.value.get_ref().as_str().ok_or_else(|| self.mistyped("text in quotes"))
    }

    pub(super) fn flag(&self) -> Result<bool> {
        self.value.get_ref().as_bool().ok_or_else(|| self.mistyped("true or false"))
    }

    /// Reads a whole number within `range`; `wanted` describes it.
    pub(super) fn whole<N>(&self, range: impl RangeBounds<N>, wanted: &str) -> Result<N>
    where
        N: TryFrom<u64> + PartialOrd,
    {
        whole_number(self.value.get_ref())
            .and_then(|n| N::try_from(n).ok())
            .filter(|n| range.contains(n))
            .ok_or_else(|| self.mistyped(wanted))
    }

    pub(super) fn number(&self) -> Result<f64> {
        let number = match self.value.get_ref() {
            DeValue::Float(float) => float.as_str().parse().ok(),
            DeValue::Integer(integer) => integer.to_string().parse().ok(),
            _ => None,
        };
        number.ok_or_else(|| self.mistyped("a number"))
    }

    pub(super) fn is_string(&self) -> bool {
        self.value.get_ref().is_str()
    }

    /// Reads a length of time, zero included.
    pub(super) fn duration(&self) -> Result<Nanos> {
        let Some(text) = self.value.get_ref().as_str() else {
            return Err(self.mistyped("a duration; write it in quotes and with a unit, such as \"500us\" or \"10s\""));
        };
        text.parse().map_err(|error| self.error(error))
    }

    /// Reads a length of time above zero.
    pub(super) fn length(&self) -> Result<Nanos> {
        match self.duration()? {
            Nanos::ZERO => Err(self.error("must be longer than zero; set a length or leave it out")),
            length => Ok(length),
        }
    }

    /// Reads an instant, counted from the origin.
    pub(super) fn instant(&self) -> Result<Timestamp> {
        self.duration().map(|since_origin| Timestamp(since_origin.0))
    }

    pub(super) fn choice<T: Clone>(&self, choices: &[(&str, T)]) -> Result<T> {
        let given = self.string()?;
        if let Some((_, choice)) = choices.iter().find(|(name, _)| *name == given) {
            return Ok(choice.clone());
        }
        let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
        let help = match closest(given, &names) {
            Some(meant) => format!("did you mean \"{meant}\"?"),
            None => format!("use one of {}", names.join(", ")),
        };
        Err(self.error(format!("\"{given}\" is unknown; {help}")))
    }

    pub(super) fn whole_numbers(&self) -> Result<Vec<u64>> {
        let wanted = "a list of whole numbers";
        let array = self.value.get_ref().as_array().ok_or_else(|| self.mistyped(wanted))?;
        array.iter().map(|item| whole_number(item.get_ref()).ok_or_else(|| self.mistyped(wanted))).collect()
    }

    pub(super) fn section(&self) -> Result<Section<'t>> {
        self.section_called(&format!("[{}]", self.key))
    }

    pub(super) fn section_called(&self, title: &str) -> Result<Section<'t>> {
        let table = self.value.get_ref().as_table().ok_or_else(|| self.mistyped("a table"))?;
        Ok(Section::new(self.text, title, self.value.span().start, table))
    }

    pub(super) fn sections(&self, title: &str) -> Result<Vec<Section<'t>>> {
        let wanted = format!("a list of tables; write {title} above each");
        let array = self.value.get_ref().as_array().ok_or_else(|| self.mistyped(&wanted))?;
        let section = |item: &'t Spanned<DeValue<'t>>| {
            let table = item.get_ref().as_table().ok_or_else(|| self.mistyped(&wanted))?;
            Ok(Section::new(self.text, title, item.span().start, table))
        };
        array.iter().map(section).collect()
    }
}

fn whole_number(value: &DeValue<'_>) -> Option<u64> {
    let integer = value.as_integer()?;
    u64::from_str_radix(integer.as_str(), integer.radix()).ok()
}
