//! Parser for texts with templates.

use truetail_requests::BuiltIn;

use super::cursor::{Cursor, shortened};
use super::{FUNCTIONS, Parser, Result};
use crate::template::{Expression, Piece, Source, Template};

/// Limit on the nesting of templates.
const DEEPEST: usize = 4;
/// Limit on the bytes of a variable's name.
const MAX_NAME_BYTES: usize = 200;

impl Parser<'_> {
    /// Reads a text up to a character that `ends` it.
    pub(super) fn template_until(&mut self, ends: impl Fn(char) -> bool) -> Result<Template> {
        let mut template = Template::default();
        while let Some(c) = self.at.peek() {
            if ends(c) {
                break;
            }
            if self.at.rest().starts_with("{{") {
                let expression = self.expression()?;
                template.0.push(Piece::Value(expression));
            } else if c == '\\' {
                let escaped = self.escaped()?;
                template.push(escaped);
            } else {
                self.at.next();
                template.push(c);
            }
        }
        Ok(template)
    }

    /// Reads a value up to a comment or the end of its line, without surrounding spaces.
    pub(super) fn value_text(&mut self) -> Result<Template> {
        self.at.skip_spaces();
        let mut template = self.template_until(|c| matches!(c, '#' | '\n' | '\r'))?;
        template.trim_end();
        self.at.end_line()?;
        Ok(template)
    }

    /// Reads a name and the colon after it.
    pub(super) fn key(&mut self) -> Result<Template> {
        let mut template = self.template_until(|c| matches!(c, ':' | '#' | '\n' | '\r'))?;
        template.trim_end();
        if template.0.is_empty() || !self.at.eat(":") {
            let rest = template.constant().map(shortened).unwrap_or_default();
            return Err(self.at.error(format!("'{rest}' is not understood; a name, a colon and a value belong here")));
        }
        Ok(template)
    }

    /// Reads a text in quotes.
    pub(super) fn quoted(&mut self) -> Result<Template> {
        let line = self.at;
        if !self.at.eat("\"") {
            return Err(self.at.error("a text in quotes belongs here, such as \"name\""));
        }
        let template = self.template_until(|c| c == '"')?;
        if self.at.eat("\"") { Ok(template) } else { Err(line.error("the text in quotes does not end")) }
    }

    /// Reads a text in quotes without templates.
    pub(super) fn constant(&mut self, what: &str) -> Result<String> {
        let start = self.at;
        let template = self.quoted()?;
        template
            .constant()
            .map(str::to_owned)
            .ok_or_else(|| start.error(format!("{{{{…}}}} is not supported in {what}; write it out")))
    }

    /// Reads an escape sequence.
    fn escaped(&mut self) -> Result<char> {
        let start = self.at;
        self.at.next();
        let unknown = || start.error("a backslash stands before \\ \" # : ` n r t b f or u{…}");
        match self.at.next().ok_or_else(unknown)? {
            'n' => Ok('\n'),
            'r' => Ok('\r'),
            't' => Ok('\t'),
            'b' => Ok('\u{8}'),
            'f' => Ok('\u{c}'),
            'u' => {
                let digits = if self.at.eat("{") {
                    let digits = self.at.take_while(|c| c.is_ascii_hexdigit());
                    if self.at.eat("}") { digits } else { "" }
                } else {
                    ""
                };
                u32::from_str_radix(digits, 16).ok().and_then(char::from_u32).ok_or_else(unknown)
            }
            c @ ('\\' | '"' | '#' | ':' | '`' | '{' | '}' | ';' | ' ') => Ok(c),
            _ => Err(unknown()),
        }
    }

    /// Reads `{{name filter …}}`. The next characters must be `{{`.
    pub(super) fn expression(&mut self) -> Result<Expression> {
        if self.depth == DEEPEST {
            return Err(self.at.error("templates are too deep inside each other"));
        }
        self.depth += 1;
        let expression = self.expression_here();
        self.depth -= 1;
        expression
    }

    fn expression_here(&mut self) -> Result<Expression> {
        let start = self.at;
        self.at.advance(2);
        self.at.skip_spaces();
        let name = self.at.word();
        let source = match name {
            "" => return Err(start.error("between {{ and }} stands the name of a variable")),
            "getEnv" => {
                return Err(
                    start.error(format!("the function {name} is not supported; set a variable with --variable"))
                );
            }
            name if FUNCTIONS.contains(&name) => Source::BuiltIn(self.function(start, name)?),
            name if name.len() > MAX_NAME_BYTES => return Err(start.error("the name of a variable is too long")),
            name => Source::Variable(self.variable(name)),
        };
        let mut filters = Vec::new();
        while self.at.skip_spaces() && !self.at.rest().starts_with("}}") {
            filters.push(self.filter()?);
        }
        if self.at.eat("}}") { Ok(Expression { source, filters }) } else { Err(start.error("'{{' has no '}}'")) }
    }

    /// Reads the words after the name of a function: two numbers of `randomInt`, and of `randomChoice` all words.
    fn function(&mut self, start: Cursor<'_>, name: &str) -> Result<BuiltIn> {
        let most = match name {
            "randomInt" => 2,
            "randomChoice" => usize::MAX,
            _ => 0,
        };
        let mut placeholder = name.to_owned();
        for _ in 0..most {
            self.at.skip_spaces();
            let word = self.at.take_while(|c| !c.is_whitespace() && c != '}');
            if word.is_empty() {
                break;
            }
            placeholder = format!("{placeholder} {word}");
        }
        let parsed = BuiltIn::parse(&placeholder).unwrap_or_else(|| Err("it is unknown".to_owned()));
        parsed.map_err(|problem| start.error(format!("{{{{{placeholder}}}}}: {problem}")))
    }
}
