//! The file of a dialect in TOML.

use std::borrow::Cow;
use std::collections::BTreeMap;

use toml::Spanned;
use toml::de::{DeTable, DeValue};
use truetail_model::toml_file::{TomlError, TomlFile, suggestion};
use truetail_run::{DialectFile, StreamKind};

use super::description::{
    DescribedDialect, Endings, MAX_CONDITIONS, MAX_NUMBERS, MAX_TEXTS, Sum, TextRule, UsageRules,
};
use super::path::{self, Node, Segment, Use};
use super::wanted::Wanted;

/// Limit on the bytes of a file.
pub(super) const MAX_FILE_BYTES: usize = 64 * 1024;

/// Keys of a file.
const KEYS: [&str; 16] = [
    "events",
    "media-type",
    "text",
    "reasoning",
    "choice",
    "finish",
    "finish-errors",
    "end",
    "end-mark",
    "error",
    "only-known",
    "ignore",
    "text-repeats",
    "reasoning-is-summary",
    "usage",
    "request",
];
const COUNTS: [&str; 4] = ["output", "reasoning", "input", "cached"];

type Value<'t> = Spanned<DeValue<'t>>;

/// A file that is being read.
struct Reader<'t> {
    file: TomlFile<'t>,
    dialect: DescribedDialect,
    /// Paths of content, so that rules of one path have the same number.
    text_paths: Vec<Vec<Segment>>,
    numbers: usize,
    conditions: usize,
}

/// A condition with its number.
struct Condition {
    number: usize,
    path: Vec<Segment>,
}

impl DescribedDialect {
    /// Parses a file. `name` stands in errors and in the run.
    ///
    /// # Errors
    /// The first problem, with its place.
    pub fn parse(name: &str, text: &str) -> Result<DescribedDialect, TomlError> {
        let file = TomlFile { name, text };
        if text.len() > MAX_FILE_BYTES {
            return Err(
                file.error(0, format!("the file has {} bytes, and at most {MAX_FILE_BYTES} are read", text.len()))
            );
        }
        let document = file.parse()?;
        let dialect = DescribedDialect {
            source: DialectFile { file: name.to_owned(), toml: text.to_owned() },
            kind: StreamKind::Sse,
            media_types: Vec::new(),
            end_mark: None,
            request: vec![("stream".to_owned(), "true".to_owned())],
            root: Node::default(),
            has_one_choice: true,
            texts: Vec::new(),
            usage: UsageRules::default(),
            endings: Endings::default(),
            repeats_content: false,
            has_summaries: false,
        };
        let mut reader = Reader { file, dialect, text_paths: Vec::new(), numbers: 0, conditions: 0 };
        for (key, value) in in_order(document.get_ref()) {
            reader.key(key, value)?;
        }
        reader.end(document.get_ref())
    }
}

impl<'t> Reader<'t> {
    fn key(&mut self, key: &Spanned<Cow<'t, str>>, value: &Value<'t>) -> Result<(), TomlError> {
        let name = key.get_ref().as_ref();
        match name {
            "events" => {
                self.dialect.kind = match value.get_ref().as_str() {
                    Some("sse") => StreamKind::Sse,
                    Some("lines") => StreamKind::Lines,
                    _ => return Err(self.wrong(name, value, "write \"sse\" or \"lines\" (a JSON object per line)")),
                };
            }
            "media-type" => {
                self.dialect.media_types = self.texts(name, value)?.into_iter().map(|(_, text)| text).collect()
            }
            "text" => self.rules(name, value, false)?,
            "reasoning" => self.rules(name, value, true)?,
            "choice" => self.choice(name, value)?,
            "finish" => self.each_path(name, value, Use::Finish)?,
            "finish-errors" => {
                self.dialect.endings.error_reasons =
                    self.texts(name, value)?.iter().map(|(_, text)| Wanted::new(text)).collect();
            }
            "end" => self.dialect.endings.ends = any_of(&self.conditions(name, value)?),
            "error" => self.dialect.endings.errors = any_of(&self.conditions(name, value)?),
            "end-mark" => {
                let mark = value.get_ref().as_str().filter(|mark| !mark.trim_ascii().is_empty());
                let help = "write the data of the event that ends an answer, such as \"[DONE]\"";
                self.dialect.end_mark = Some(mark.ok_or_else(|| self.wrong(name, value, help))?.to_owned());
            }
            "only-known" => {
                for (place, text) in self.texts(name, value)? {
                    let path = self.path(name, place, &text)?;
                    self.dialect.root.enter(&path).is_closed = true;
                }
            }
            "ignore" => self.each_path(name, value, Use::Ignored)?,
            "text-repeats" => self.dialect.repeats_content = self.truth(name, value)?,
            "reasoning-is-summary" => self.dialect.has_summaries = self.truth(name, value)?,
            "usage" => self.usage(value)?,
            "request" => self.request(value)?,
            _ => {
                let message = format!("unknown key '{name}'; {}", suggestion(name, &KEYS));
                return Err(self.file.error(key.span().start, message));
            }
        }
        Ok(())
    }

    /// Checks what several keys say together.
    fn end(mut self, document: &DeTable<'t>) -> Result<DescribedDialect, TomlError> {
        self.decide();
        let dialect = self.dialect;
        let has = |name: &str| document.keys().any(|key| key.get_ref() == name);
        if dialect.texts.is_empty() {
            let help = "write the path of the text of an event, such as text = \"choices[*].delta.content\"";
            return Err(self.file.error(0, format!("'text' is missing; {help}")));
        }
        if !has("finish") && dialect.endings.ends == 0 && dialect.end_mark.is_none() {
            let help =
                "without an end, an answer that broke off would count as complete; write finish, end or end-mark";
            return Err(self.file.error(0, format!("nothing says how an answer ends: {help}")));
        }
        if dialect.repeats_content && dialect.usage.output.is_empty() {
            let help = "only a count of tokens in each event tells which text is new; write output in [usage]";
            return Err(self.file.error(0, format!("'text-repeats': {help}")));
        }
        let mut nodes = vec![&dialect.root];
        while let Some(node) = nodes.pop() {
            if let Some(problem) = node.problem() {
                return Err(self.file.error(0, format!("the paths contradict each other: a value {problem}")));
            }
            nodes.extend(node.children());
        }
        Ok(dialect)
    }

    /// Notes at each node which rules are decided there.
    fn decide(&mut self) {
        let DescribedDialect { texts, root, .. } = &mut self.dialect;
        for number in 0..texts.len() {
            let rule = texts[number];
            texts[number].is_first = texts.iter().all(|other| other.path != rule.path || other.item <= rule.item);
            let decided = &mut root.enter(&self.text_paths[rule.path][..rule.item]).decided;
            decided.rules |= 1 << number;
            decided.conditions |= rule.when;
        }
    }

    fn choice(&mut self, name: &str, value: &Value<'t>) -> Result<(), TomlError> {
        let text = value.get_ref().as_str();
        let help = "write the path of the number of a choice, such as \"choices[*].index\"";
        let text = text.ok_or_else(|| self.wrong(name, value, help))?;
        let path = self.path(name, value.span().start, text)?;
        let (last, choice) = path.split_last().expect("a path has a part");
        if choice.is_empty() || !matches!(last, Segment::Name(_)) {
            return Err(self.wrong(name, value, help));
        }
        self.dialect.has_one_choice = false;
        let choice = self.dialect.root.enter(choice);
        choice.is_choice = true;
        choice.enter(std::slice::from_ref(last)).uses.push(Use::Index);
        Ok(())
    }

    /// Reads paths of content: texts, or tables with `path` and `when`.
    fn rules(&mut self, name: &str, value: &Value<'t>, is_reasoning: bool) -> Result<(), TomlError> {
        let all = match value.get_ref() {
            DeValue::Array(list) => list.iter().collect(),
            _ => vec![value],
        };
        for one in all {
            let (path, when) = match one.get_ref() {
                DeValue::String(path) => ((one.span().start, path.clone().into_owned()), Vec::new()),
                DeValue::Table(table) => self.rule_with_condition(name, one, table)?,
                _ => return Err(self.wrong(name, one, "write a path, or { path = \"…\", when = \"PATH == VALUE\" }")),
            };
            let path = self.path(name, path.0, &path.1)?;
            let number = self.text_paths.iter().position(|known| *known == path).unwrap_or(self.text_paths.len());
            for (item, when) in by_item(&path, &when) {
                if self.dialect.texts.len() == MAX_TEXTS {
                    return Err(self.wrong(name, one, &format!("at most {MAX_TEXTS} paths of content are read")));
                }
                let rule = self.dialect.texts.len();
                self.dialect.root.enter(&path).uses.push(Use::Text(rule));
                self.dialect.texts.push(TextRule { path: number, is_reasoning, when, item, is_first: true });
            }
            if number == self.text_paths.len() {
                self.text_paths.push(path);
            }
        }
        Ok(())
    }

    fn rule_with_condition(
        &mut self,
        name: &str,
        rule: &Value<'t>,
        table: &DeTable<'t>,
    ) -> Result<((usize, String), Vec<Condition>), TomlError> {
        let mut path = None;
        let mut when = Vec::new();
        for (key, value) in in_order(table) {
            match key.get_ref().as_ref() {
                "path" => path = self.texts("path", value)?.into_iter().next(),
                "when" => when = self.conditions("when", value)?,
                other => {
                    let message =
                        format!("unknown key '{other}' in '{name}'; {}", suggestion(other, &["path", "when"]));
                    return Err(self.file.error(key.span().start, message));
                }
            }
        }
        let path = path.ok_or_else(|| self.wrong(name, rule, "it has no 'path'"))?;
        Ok((path, when))
    }

    /// Reads conditions of which one must hold: a path, or `PATH == VALUE`.
    fn conditions(&mut self, name: &str, value: &Value<'t>) -> Result<Vec<Condition>, TomlError> {
        let mut all = Vec::new();
        for (place, text) in self.texts(name, value)? {
            if self.conditions == MAX_CONDITIONS {
                let message = format!("'{name}': at most {MAX_CONDITIONS} conditions are read");
                return Err(self.file.error(place, message));
            }
            let number = self.conditions;
            self.conditions += 1;
            let (path, one) = match text.split_once("==") {
                Some((path, wanted)) => (path, Use::Equals(number, Wanted::new(unquoted(wanted.trim())))),
                None => (&*text, Use::Filled(number)),
            };
            let path = self.path(name, place, path)?;
            self.dialect.root.enter(&path).uses.push(one);
            all.push(Condition { number, path });
        }
        Ok(all)
    }

    fn usage(&mut self, value: &Value<'t>) -> Result<(), TomlError> {
        let table = value.get_ref().as_table();
        let help = "write a table, such as [usage] with output = \"usage.completion_tokens\"";
        for (key, value) in in_order(table.ok_or_else(|| self.wrong("usage", value, help))?) {
            let name = key.get_ref().as_ref();
            if !COUNTS.contains(&name) {
                let message = format!("unknown key '{name}' in [usage]; {}", suggestion(name, &COUNTS));
                return Err(self.file.error(key.span().start, message));
            }
            let sums = self.sums(name, value)?;
            let usage = &mut self.dialect.usage;
            *match name {
                "output" => &mut usage.output,
                "reasoning" => &mut usage.reasoning,
                "input" => &mut usage.input,
                _ => &mut usage.cached,
            } = sums;
        }
        Ok(())
    }

    /// Reads places of a count, the first of which that is there counts: a path, or several with ` + ` between them.
    fn sums(&mut self, name: &str, value: &Value<'t>) -> Result<Vec<Sum>, TomlError> {
        let mut sums = Vec::new();
        for (place, text) in self.texts(name, value)? {
            let mut sum = Vec::new();
            for path in text.split(" + ") {
                if self.numbers == MAX_NUMBERS {
                    return Err(self.file.error(place, format!("'{name}': at most {MAX_NUMBERS} counts are read")));
                }
                let path = self.path(name, place, path)?;
                self.dialect.root.enter(&path).uses.push(Use::Number(self.numbers));
                sum.push(self.numbers);
                self.numbers += 1;
            }
            sums.push(sum);
        }
        Ok(sums)
    }

    fn request(&mut self, value: &Value<'t>) -> Result<(), TomlError> {
        let table = value.get_ref().as_table();
        let help = "write a table of the members that ask for a stream, such as [request] with stream = true";
        let table = table.ok_or_else(|| self.wrong("request", value, help))?;
        let member = |(key, value): (&Spanned<Cow<'_, str>>, &Value<'_>)| {
            Ok((key.get_ref().clone().into_owned(), self.json(key.get_ref(), value)?.to_string()))
        };
        self.dialect.request = in_order(table).into_iter().map(member).collect::<Result<_, TomlError>>()?;
        Ok(())
    }

    fn json(&self, name: &str, value: &Value<'_>) -> Result<serde_json::Value, TomlError> {
        Ok(match value.get_ref() {
            DeValue::String(text) => text.as_ref().into(),
            DeValue::Boolean(truth) => (*truth).into(),
            DeValue::Array(list) => {
                list.iter().map(|one| self.json(name, one)).collect::<Result<Vec<_>, TomlError>>()?.into()
            }
            DeValue::Table(table) => {
                let members = table.iter().map(|(key, one)| Ok((key.get_ref().to_string(), self.json(name, one)?)));
                serde_json::Value::Object(members.collect::<Result<_, TomlError>>()?)
            }
            DeValue::Integer(number) => {
                let number = i64::from_str_radix(number.as_str(), number.radix());
                number.map_err(|_| self.wrong(name, value, "the number is too large"))?.into()
            }
            DeValue::Float(number) => number.as_str().parse::<f64>().ok().map_or(serde_json::Value::Null, Into::into),
            DeValue::Datetime(_) => return Err(self.wrong(name, value, "JSON has no dates; write a text in quotes")),
        })
    }

    fn each_path(&mut self, name: &str, value: &Value<'t>, one: Use) -> Result<(), TomlError> {
        for (place, text) in self.texts(name, value)? {
            let path = self.path(name, place, &text)?;
            self.dialect.root.enter(&path).uses.push(one.clone());
        }
        Ok(())
    }

    fn truth(&self, name: &str, value: &Value<'t>) -> Result<bool, TomlError> {
        value.get_ref().as_bool().ok_or_else(|| self.wrong(name, value, "write true or false"))
    }

    /// Reads a text, or a list of texts, with their places.
    fn texts(&self, name: &str, value: &Value<'t>) -> Result<Vec<(usize, String)>, TomlError> {
        let text = |one: &Value<'t>| {
            let text = one.get_ref().as_str().filter(|text| !text.trim_ascii().is_empty());
            let text = text.ok_or_else(|| self.wrong(name, one, "write a text in quotes, or a list of them"))?;
            Ok((one.span().start, text.to_owned()))
        };
        match value.get_ref() {
            DeValue::Array(list) => list.iter().map(text).collect(),
            _ => Ok(vec![text(value)?]),
        }
    }

    fn path(&self, name: &str, place: usize, text: &str) -> Result<Vec<Segment>, TomlError> {
        path::parse(text).map_err(|problem| self.file.error(place, format!("'{name}': {problem}")))
    }

    fn wrong(&self, name: &str, value: &Value<'_>, help: &str) -> TomlError {
        self.file.error(value.span().start, format!("'{name}': {help}"))
    }
}

fn any_of(conditions: &[Condition]) -> u64 {
    conditions.iter().fold(0, |all, condition| all | 1 << condition.number)
}

/// Returns the conditions of a text by the list item that they share with it: the item's number of segments, and the
/// conditions of which one must hold.
fn by_item(path: &[Segment], when: &[Condition]) -> BTreeMap<usize, u64> {
    if when.is_empty() {
        return BTreeMap::from([(0, 0)]);
    }
    let mut items = BTreeMap::new();
    for condition in when {
        *items.entry(path::common_item(path, &condition.path)).or_default() |= 1_u64 << condition.number;
    }
    items
}

fn unquoted(text: &str) -> &str {
    let inside = |quote: char| text.strip_prefix(quote).and_then(|text| text.strip_suffix(quote));
    inside('\'').or_else(|| inside('"')).unwrap_or(text)
}

/// Returns the entries in the order of the file, so that the first error is the first in the file.
fn in_order<'a, 't>(table: &'a DeTable<'t>) -> Vec<(&'a Spanned<Cow<'t, str>>, &'a Value<'t>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}
