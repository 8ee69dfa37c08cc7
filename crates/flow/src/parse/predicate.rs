//! Parser for predicates and their operands.

use super::cursor::shortened;
use super::{Parser, Result};
use crate::evaluate::predicate::{Comparison, Kind, Operand, Predicate};
use crate::template::Template;
use crate::value::Value;

const COMPARISONS: [(&str, Comparison); 16] = [
    // Longer names come first, because '>' is a prefix of '>='.
    ("==", Comparison::Equal),
    ("!=", Comparison::NotEqual),
    (">=", Comparison::AtLeast),
    ("<=", Comparison::AtMost),
    (">", Comparison::Above),
    ("<", Comparison::Below),
    ("equals", Comparison::Equal),
    ("notEquals", Comparison::NotEqual),
    ("greaterThanOrEquals", Comparison::AtLeast),
    ("lessThanOrEquals", Comparison::AtMost),
    ("greaterThan", Comparison::Above),
    ("lessThan", Comparison::Below),
    ("startsWith", Comparison::StartsWith),
    ("endsWith", Comparison::EndsWith),
    ("contains", Comparison::Contains),
    ("includes", Comparison::Contains),
];

const KINDS: [(&str, Kind); 13] = [
    ("exists", Kind::Exists),
    ("isEmpty", Kind::Empty),
    ("isBoolean", Kind::Boolean),
    ("isCollection", Kind::Collection),
    ("isFloat", Kind::Float),
    ("isInteger", Kind::Integer),
    ("isIpv4", Kind::Ipv4),
    ("isIpv6", Kind::Ipv6),
    ("isList", Kind::List),
    ("isNumber", Kind::Number),
    ("isObject", Kind::Object),
    ("isString", Kind::Text),
    ("isUuid", Kind::Uuid),
];

impl Parser<'_> {
    /// Skips `not` if it comes next.
    pub(super) fn not(&mut self) -> bool {
        let mut ahead = self.at;
        let is_not = ahead.word() == "not" && ahead.skip_spaces();
        if is_not {
            self.at = ahead;
        }
        is_not
    }

    pub(super) fn predicate(&mut self) -> Result<Predicate> {
        let start = self.at;
        let sign = self.at.take_while(|c| matches!(c, '=' | '!' | '<' | '>'));
        let name = if sign.is_empty() { self.at.word() } else { sign };
        if name == "matches" {
            self.at.skip_spaces();
            return Ok(Predicate::Matches(self.regex()?));
        }
        if let Some((_, comparison)) = COMPARISONS.iter().find(|(known, _)| *known == name) {
            self.at.skip_spaces();
            let at = self.at;
            let operand = self.operand()?;
            let is_text = !matches!(operand, Operand::Value(Value::Json(_)));
            if matches!(comparison, Comparison::StartsWith | Comparison::EndsWith) && !is_text {
                return Err(at.error(format!("{name} needs a text in quotes, or bytes")));
            }
            return Ok(Predicate::Compare(*comparison, operand));
        }
        match KINDS.iter().find(|(known, _)| *known == name) {
            Some((_, kind)) => Ok(Predicate::Is(*kind)),
            None if name.is_empty() => {
                let rest = shortened(start.rest().lines().next().unwrap_or_default());
                Err(start.error(format!("'{rest}' is no predicate; write one, such as == 200 or exists")))
            }
            None => Err(start.error(format!("the predicate {} is not supported", shortened(name)))),
        }
    }

    /// Reads the other side of a comparison.
    fn operand(&mut self) -> Result<Operand> {
        let start = self.at;
        if self.at.rest().starts_with("{{") {
            return Ok(Operand::Expression(self.expression()?));
        }
        match self.at.peek() {
            Some('"') => return Ok(Operand::Text(self.quoted()?)),
            Some('`') if self.at.rest().starts_with("```") => return Ok(Operand::Text(self.multiline()?.0)),
            Some('`') => return Ok(Operand::Text(self.one_line()?)),
            _ => {}
        }
        if let Some(bytes) = self.encoded_bytes()? {
            return Ok(Operand::Value(Value::Bytes(bytes)));
        }
        let word = self.at.take_while(|c| !c.is_whitespace() && c != '#');
        match word {
            "null" | "true" | "false" => {}
            number if number.starts_with(|c: char| c.is_ascii_digit() || c == '-') => {}
            other => {
                return Err(start.error(format!(
                    "'{}' cannot be compared with; write a number, true, false, null or a text in quotes",
                    shortened(other)
                )));
            }
        }
        match serde_json::from_str(word) {
            Ok(value) => Ok(Operand::Value(Value::Json(value))),
            Err(_) => Err(start.error(format!("'{}' is no number", shortened(word)))),
        }
    }

    /// Reads `` `text` ``.
    pub(super) fn one_line(&mut self) -> Result<Template> {
        let start = self.at;
        self.at.eat("`");
        let template = self.template_until(|c| matches!(c, '`' | '\n'))?;
        if self.at.eat("`") { Ok(template) } else { Err(start.error("the text in ` does not end on its line")) }
    }
}
