//! Texts with `{{…}}`, cut into pieces before the run.

use crate::evaluate::filter::Filter;
use crate::value::Value;

/// The number of a variable among those of a flow.
pub(crate) type VariableId = usize;

/// A text with places for values.
#[derive(Clone, Default, Debug)]
pub(crate) struct Template(pub(crate) Vec<Piece>);

/// A piece of a template.
#[derive(Clone, Debug)]
pub(crate) enum Piece {
    /// Always the same.
    Text(String),
    /// A value.
    Value(Expression),
}

/// What stands between `{{` and `}}`.
#[derive(Clone, Debug)]
pub(crate) struct Expression {
    pub(crate) source: Source,
    pub(crate) filters: Vec<Filter>,
}

/// Where a value comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Source {
    /// A variable.
    Variable(VariableId),
    /// A new random UUID.
    NewUuid,
}

/// Why a text could not be made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RenderError {
    /// A variable has no value.
    Undefined(VariableId),
    /// A value has no text, or a filter refused it.
    NoText,
}

/// The variables of a session, and its source of random numbers.
#[derive(Clone, Default, Debug)]
pub(crate) struct Scope {
    pub(crate) values: Vec<Option<Value>>,
    pub(crate) random: u64,
}

impl Scope {
    /// The next random number.
    pub(crate) fn draw(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        truetail_model::random::mix64(self.random)
    }
}

impl Template {
    pub(crate) fn text(text: impl Into<String>) -> Template {
        Template(vec![Piece::Text(text.into())])
    }

    /// The text, if it is always the same.
    pub(crate) fn constant(&self) -> Option<&str> {
        match &*self.0 {
            [] => Some(""),
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// Adds a character to the last text.
    pub(crate) fn push(&mut self, c: char) {
        match self.0.last_mut() {
            Some(Piece::Text(text)) => text.push(c),
            _ => self.0.push(Piece::Text(c.to_string())),
        }
    }

    /// Takes spaces away from its end.
    pub(crate) fn trim_end(&mut self) {
        if let Some(Piece::Text(text)) = self.0.last_mut() {
            text.truncate(text.trim_end().len());
            if text.is_empty() {
                self.0.pop();
            }
        }
    }

    /// Hands every piece of the text to `put`.
    pub(crate) fn render_with(&self, scope: &mut Scope, put: &mut dyn FnMut(&str)) -> Result<(), RenderError> {
        for piece in &self.0 {
            match piece {
                Piece::Text(text) => put(text),
                Piece::Value(expression) => expression.render(scope, put)?,
            }
        }
        Ok(())
    }

    /// The text.
    pub(crate) fn render(&self, scope: &mut Scope) -> Result<String, RenderError> {
        let mut text = String::new();
        self.render_with(scope, &mut |piece| text.push_str(piece))?;
        Ok(text)
    }

    /// Variables that it needs.
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
        if let (Source::Variable(id), []) = (self.source, &*self.filters) {
            let value = scope.values[id].as_ref().ok_or(RenderError::Undefined(id))?;
            put(&value.rendered().ok_or(RenderError::NoText)?);
            return Ok(());
        }
        let value = self.value(scope)?;
        put(&value.rendered().ok_or(RenderError::NoText)?);
        Ok(())
    }

    /// Variables that it needs.
    pub(crate) fn variables(&self) -> Vec<VariableId> {
        let own = match self.source {
            Source::Variable(id) => Some(id),
            Source::NewUuid => None,
        };
        own.into_iter().chain(self.filters.iter().flat_map(Filter::variables)).collect()
    }

    /// The value itself.
    pub(crate) fn value(&self, scope: &mut Scope) -> Result<Value, RenderError> {
        let mut value = match self.source {
            Source::Variable(id) => scope.values[id].clone().ok_or(RenderError::Undefined(id))?,
            Source::NewUuid => Value::text(uuid(scope)),
        };
        for filter in &self.filters {
            value = filter.apply(value, scope).ok().flatten().ok_or(RenderError::NoText)?;
        }
        Ok(value)
    }
}

/// A random UUID, version 4 (RFC 9562).
fn uuid(scope: &mut Scope) -> String {
    let (high, low) = (scope.draw() & !0xf000 | 0x4000, scope.draw() & !(0b11 << 62) | (0b10 << 62));
    format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        high >> 32,
        (high >> 16) & 0xffff,
        high & 0xffff,
        low >> 48,
        low & 0xffff_ffff_ffff
    )
}
