//! Texts with `{{…}}`, split into pieces before the run, and their filters, which may hold such texts in turn.

use std::borrow::Cow;

use regex::{Regex, RegexBuilder};
use truetail_checks::BoundedPath;
use truetail_requests::{BuiltIn, ValueSource};

use crate::evaluate::convert;
use crate::scope::{Scope, VariableId};
use crate::value::Value;

/// Limit on the bytes of a rendered text, which may contain a captured value many times.
const MAX_RENDERED_BYTES: usize = 8 << 20;

/// A text with placeholders for values.
#[derive(Clone, Default, Debug)]
pub(crate) struct Template(pub(crate) Vec<Piece>);

/// A piece of a template.
#[derive(Clone, Debug)]
pub(crate) enum Piece {
    Text(String),
    Value(Expression),
}

/// The content between `{{` and `}}`.
#[derive(Clone, Debug)]
pub(crate) struct Expression {
    pub(crate) source: Source,
    pub(crate) filters: Vec<Filter>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Source {
    Variable(VariableId),
    /// A value made anew for each use.
    BuiltIn(BuiltIn),
}

/// Reason why a text could not be rendered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RenderError {
    /// A variable has no value.
    Undefined(VariableId),
    /// A value has no text, or a filter refused it.
    NoText,
}

impl Template {
    pub(crate) fn text(text: impl Into<String>) -> Template {
        Template(vec![Piece::Text(text.into())])
    }

    /// Returns the text if it has no placeholders.
    pub(crate) fn constant(&self) -> Option<&str> {
        match &*self.0 {
            [] => Some(""),
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// Returns the text with a placeholder in place of each value.
    pub(crate) fn written(&self) -> String {
        let written = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Value(_) => "{{value}}".to_owned(),
        };
        self.0.iter().map(written).collect()
    }

    /// Adds a character to the last text.
    pub(crate) fn push(&mut self, c: char) {
        match self.0.last_mut() {
            Some(Piece::Text(text)) => text.push(c),
            _ => self.0.push(Piece::Text(c.to_string())),
        }
    }

    /// Removes spaces from the end.
    pub(crate) fn trim_end(&mut self) {
        if let Some(Piece::Text(text)) = self.0.last_mut() {
            text.truncate(text.trim_end().len());
            if text.is_empty() {
                self.0.pop();
            }
        }
    }

    /// Passes every piece of the rendered text to `put`.
    pub(crate) fn render_with(&self, scope: &mut Scope, put: &mut dyn FnMut(&str)) -> Result<(), RenderError> {
        let mut length = 0_usize;
        for piece in &self.0 {
            let mut counted = |text: &str| {
                length += text.len();
                if length <= MAX_RENDERED_BYTES {
                    put(text);
                }
            };
            match piece {
                Piece::Text(text) => counted(text),
                Piece::Value(expression) => expression.render(scope, &mut counted)?,
            }
        }
        if length <= MAX_RENDERED_BYTES { Ok(()) } else { Err(RenderError::NoText) }
    }

    pub(crate) fn render(&self, scope: &mut Scope) -> Result<String, RenderError> {
        let mut text = String::new();
        self.render_with(scope, &mut |piece| text.push_str(piece))?;
        Ok(text)
    }

    /// Returns the variables that the text needs.
    pub(crate) fn variables(&self) -> impl Iterator<Item = VariableId> {
        self.0.iter().flat_map(|piece| match piece {
            Piece::Value(expression) => expression.variables(),
            Piece::Text(_) => Vec::new(),
        })
    }
}

impl Expression {
    pub(crate) fn render(&self, scope: &mut Scope, put: &mut dyn FnMut(&str)) -> Result<(), RenderError> {
        // The usual case copies nothing.
        if let (Source::Variable(id), []) = (&self.source, &*self.filters)
            && let Some(value) = &scope.values[*id]
        {
            put(&value.rendered().ok_or(RenderError::NoText)?);
            return Ok(());
        }
        let value = self.value(scope)?;
        put(&value.rendered().ok_or(RenderError::NoText)?);
        Ok(())
    }

    /// Returns the variables that the expression needs.
    pub(crate) fn variables(&self) -> Vec<VariableId> {
        let own = match &self.source {
            Source::Variable(id) => Some(*id),
            Source::BuiltIn(_) => None,
        };
        own.into_iter().chain(self.filters.iter().flat_map(Filter::variables)).collect()
    }

    /// Returns the value after all filters.
    pub(crate) fn value(&self, scope: &mut Scope) -> Result<Value, RenderError> {
        let mut value = match &self.source {
            Source::Variable(id) => {
                let value = scope.values[*id].clone().or_else(|| scope.built_in(*id));
                value.ok_or(RenderError::Undefined(*id))?
            }
            Source::BuiltIn(value) => scope.value_of(value),
        };
        for filter in &self.filters {
            value = filter.apply(value, scope).ok().flatten().ok_or(RenderError::NoText)?;
        }
        Ok(value)
    }
}

/// A conversion of a value.
#[derive(Clone, Debug)]
pub(crate) enum Filter {
    Count,
    First,
    Last,
    Nth(i64),
    /// A random item of a list, which Hurl does not have.
    RandomItem,
    Regex(RegexPattern),
    JsonPath(JsonPathPattern),
    Replace(Template, Template),
    ReplaceRegex(RegexPattern, Template),
    Split(Template),
    ToInt,
    ToFloat,
    ToString,
    ToHex,
    UrlEncode,
    UrlDecode,
    UrlQueryParam(Template),
    HtmlEscape,
    Base64Encode,
    Base64Decode,
    Base64UrlSafeEncode,
    Base64UrlSafeDecode,
    Utf8Encode,
    Utf8Decode,
    /// Escapes a text for the quotes of JSON. Only the parser adds this filter.
    JsonEscape,
}

/// Result of a filter: a value, nothing, or the reason why it cannot be applied.
pub(crate) type Filtered = Result<Option<Value>, String>;

impl Filter {
    /// Applies the filter to a value.
    pub(crate) fn apply(&self, value: Value, scope: &mut Scope) -> Filtered {
        let of_text = |convert: fn(&str) -> Result<Value, String>| convert(convert::text(&value)?).map(Some);
        match self {
            Filter::Count => convert::count(&value).map(Some),
            Filter::First => convert::nth(&value, 0),
            Filter::Last => convert::nth(&value, -1),
            Filter::Nth(nth) => convert::nth(&value, *nth),
            Filter::RandomItem => convert::any(&value, scope.draw()),
            Filter::ToInt => convert::to_int(&value).map(Some),
            Filter::ToFloat => convert::to_float(&value).map(Some),
            Filter::ToString => convert::to_string(&value).map(Some),
            Filter::ToHex => convert::to_hex(&value).map(Some),
            Filter::UrlEncode => of_text(convert::url_encode),
            Filter::UrlDecode => of_text(convert::url_decode),
            Filter::HtmlEscape => of_text(convert::html_escape),
            Filter::Base64Decode => of_text(convert::base64_decode),
            Filter::Base64UrlSafeDecode => of_text(convert::base64_url_safe_decode),
            Filter::Utf8Encode => of_text(|text| Ok(Value::Bytes(text.as_bytes().to_vec()))),
            Filter::Base64Encode => convert::base64_encode(&value).map(Some),
            Filter::Base64UrlSafeEncode => convert::base64_url_safe_encode(&value).map(Some),
            Filter::Utf8Decode => convert::utf8_decode(&value).map(Some),
            Filter::JsonEscape => convert::json_escape(&value).map(Some),
            _ => self.apply_with(convert::text(&value)?, scope),
        }
    }

    /// Applies a filter that takes arguments or a pattern, which may hold variables.
    fn apply_with(&self, text: &str, scope: &mut Scope) -> Filtered {
        let with = |template: &Template, scope: &mut Scope| template.render(scope).map_err(|_| NO_TEXT.to_owned());
        match self {
            Filter::Regex(regex) => Ok(convert::first_group(&*regex.get(scope)?, text)),
            Filter::JsonPath(path) => convert::find_in_text(&*path.get(scope)?, text),
            Filter::Replace(old, new) => convert::replace(text, &with(old, scope)?, &with(new, scope)?).map(Some),
            Filter::ReplaceRegex(regex, new) => {
                let new = with(new, scope)?;
                convert::replace_regex(text, &*regex.get(scope)?, &new).map(Some)
            }
            Filter::Split(by) => convert::split(text, &with(by, scope)?).map(Some),
            Filter::UrlQueryParam(name) => convert::url_query_param(text, &with(name, scope)?),
            _ => Err("this filter has no text of its own".to_owned()),
        }
    }

    /// Returns the variables that the filter needs.
    pub(crate) fn variables(&self) -> Vec<VariableId> {
        match self {
            Filter::Regex(regex) => regex.variables(),
            Filter::JsonPath(path) => path.variables(),
            Filter::Replace(old, new) => old.variables().chain(new.variables()).collect(),
            Filter::ReplaceRegex(old, new) => old.variables().into_iter().chain(new.variables()).collect(),
            Filter::Split(text) | Filter::UrlQueryParam(text) => text.variables().collect(),
            _ => Vec::new(),
        }
    }
}

/// Error about a text with a variable that cannot be rendered.
pub(crate) const NO_TEXT: &str = "a variable has no text";

/// Limit on the memory of a regular expression, in bytes.
const MAX_REGEX_BYTES: usize = 1 << 20;

/// A type that is made from a text.
pub(crate) trait FromText: Sized {
    fn parse_text(text: &str) -> Result<Self, String>;
}

/// A pattern that is made before the run, or each time from the variables of the session.
#[derive(Clone, Debug)]
pub(crate) enum Pattern<T> {
    Ready(Box<T>),
    EachTime(Template),
}

pub(crate) type JsonPathPattern = Pattern<BoundedPath>;
pub(crate) type RegexPattern = Pattern<Regex>;

impl<T: FromText + Clone> Pattern<T> {
    pub(crate) fn new(template: Template) -> Result<Pattern<T>, String> {
        match template.constant() {
            Some(text) => Ok(Pattern::Ready(Box::new(T::parse_text(text)?))),
            None => Ok(Pattern::EachTime(template)),
        }
    }

    pub(crate) fn get(&self, scope: &mut Scope) -> Result<Cow<'_, T>, String> {
        match self {
            Pattern::Ready(made) => Ok(Cow::Borrowed(made)),
            Pattern::EachTime(template) => {
                let text = template.render(scope).map_err(|_| NO_TEXT.to_owned())?;
                Ok(Cow::Owned(T::parse_text(&text)?))
            }
        }
    }

    pub(crate) fn variables(&self) -> Vec<VariableId> {
        match self {
            Pattern::Ready(_) => Vec::new(),
            Pattern::EachTime(template) => template.variables().collect(),
        }
    }
}

impl FromText for BoundedPath {
    fn parse_text(text: &str) -> Result<BoundedPath, String> {
        BoundedPath::parse(text)
    }
}

impl FromText for Regex {
    fn parse_text(text: &str) -> Result<Regex, String> {
        let made = RegexBuilder::new(text).size_limit(MAX_REGEX_BYTES).build();
        made.map_err(|error| error.to_string().lines().last().unwrap_or_default().trim().to_owned())
    }
}
