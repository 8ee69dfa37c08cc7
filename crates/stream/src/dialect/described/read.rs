//! Reads an event by the paths of a description. No part of it is kept.

use std::fmt;

use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Number;
use truetail_run::FinishReason;

use super::super::content::Content;
use super::super::finish::Finish;
use super::super::value_shape::ValueShape;
use super::description::{DescribedDialect, MAX_NUMBERS, MAX_TEXTS, Sum};
use super::path::{Decided, Node, Use};
use super::wanted::Scalar;
use crate::chunk::{Choices, Chunk, Usage};

impl DescribedDialect {
    /// Returns the meaning of an event; `None` if it is no JSON.
    pub(in super::super) fn read(&self, text: &str) -> Option<Chunk> {
        let mut found = Found::default();
        let mut reader = serde_json::Deserializer::from_str(text);
        let root = Reading { node: &self.root, dialect: self, found: &mut found };
        root.deserialize(&mut reader).ok()?;
        reader.end().ok()?;
        // What is beside the choices belongs to the only one.
        let beside = found.open;
        if self.has_one_choice || beside.has_content() || beside.finish.is_some() {
            found.close(beside);
        } else {
            found.is_unknown |= beside.is_unknown;
        }
        found.decide(self.root.decided.rules, self);
        Some(found.chunk(self))
    }
}

/// What an event has.
#[derive(Default)]
struct Found {
    /// By rule: choices with an answer, and choices with reasoning.
    answer: [Choices; MAX_TEXTS],
    reasoning: [Choices; MAX_TEXTS],
    has_summary: bool,
    /// Paths with a text that no rule took until now.
    left: u64,
    /// Conditions that hold.
    conditions: u64,
    numbers: [Option<u64>; MAX_NUMBERS],
    choices: Choices,
    finished: Choices,
    finish: Option<FinishReason>,
    is_unknown: bool,
    open: OpenChoice,
}

/// A choice that is being read. Its number may come last.
#[derive(Clone, Copy, Default)]
struct OpenChoice {
    index: Option<u64>,
    /// Rules whose path has an answer, or reasoning, by their number.
    answer: u64,
    reasoning: u64,
    finish: Option<FinishReason>,
    is_unknown: bool,
}

/// Texts that were found before a list item.
#[derive(Clone, Copy)]
struct Before {
    answer: [Choices; MAX_TEXTS],
    reasoning: [Choices; MAX_TEXTS],
    open: OpenChoice,
    left: u64,
}

impl OpenChoice {
    fn has_content(self) -> bool {
        self.answer | self.reasoning != 0
    }
}

impl Found {
    /// Begins a list item for which some rules are decided.
    fn begin(&mut self, decided: Decided) -> Before {
        let before = Before { answer: self.answer, reasoning: self.reasoning, open: self.open, left: self.left };
        self.clear(decided.rules);
        self.left = 0;
        before
    }

    /// Decides the rules for a list item, whose conditions then no longer hold.
    fn end(&mut self, decided: Decided, dialect: &DescribedDialect, before: &Before) {
        self.decide(decided.rules, dialect);
        self.conditions &= !decided.conditions;
        self.left |= before.left;
        self.open.answer |= before.open.answer & decided.rules;
        self.open.reasoning |= before.open.reasoning & decided.rules;
        for rule in (0..MAX_TEXTS).filter(|rule| has(decided.rules, *rule)) {
            self.answer[rule] = self.answer[rule].and(before.answer[rule]);
            self.reasoning[rule] = self.reasoning[rule].and(before.reasoning[rule]);
        }
    }

    fn clear(&mut self, rules: u64) {
        self.open.answer &= !rules;
        self.open.reasoning &= !rules;
        for rule in (0..MAX_TEXTS).filter(|rule| has(rules, *rule)) {
            self.answer[rule] = Choices::default();
            self.reasoning[rule] = Choices::default();
        }
    }

    /// Leaves out the texts of rules whose conditions do not hold.
    fn decide(&mut self, rules: u64, dialect: &DescribedDialect) {
        let mut filled = 0_u64;
        let mut taken = 0_u64;
        let mut refused = 0_u64;
        for (number, rule) in dialect.texts.iter().enumerate().filter(|(number, _)| has(rules, *number)) {
            let is_open = has(self.open.answer | self.open.reasoning, number);
            let is_filled = is_open || !self.answer[number].and(self.reasoning[number]).is_empty();
            filled |= u64::from(rule.is_first && is_filled) << rule.path;
            if rule.when == 0 || rule.when & self.conditions != 0 {
                taken |= 1 << rule.path;
            } else {
                refused |= 1 << number;
            }
        }
        self.left = (self.left | filled) & !taken;
        self.clear(refused);
    }

    fn close(&mut self, open: OpenChoice) {
        self.is_unknown |= open.is_unknown;
        let Some(one) = Choices::one(open.index.unwrap_or(0)) else {
            self.is_unknown = true;
            return;
        };
        self.choices = self.choices.and(one);
        for rule in 0..MAX_TEXTS {
            if has(open.answer, rule) {
                self.answer[rule] = self.answer[rule].and(one);
            }
            if has(open.reasoning, rule) {
                self.reasoning[rule] = self.reasoning[rule].and(one);
            }
        }
        if let Some(reason) = open.finish {
            self.finished = self.finished.and(one);
            self.finish = Some(reason);
        }
    }

    fn chunk(&self, dialect: &DescribedDialect) -> Chunk {
        let mut answer = Choices::default();
        let mut reasoning = Choices::default();
        for ((rule, answered), reasoned) in dialect.texts.iter().zip(self.answer).zip(self.reasoning) {
            let (said, thought) =
                if rule.is_reasoning { (Choices::default(), answered.and(reasoned)) } else { (answered, reasoned) };
            answer = answer.and(said);
            reasoning = reasoning.and(thought);
        }
        let ends = self.conditions & dialect.endings.ends != 0;
        let usage = self.usage(dialect);
        Chunk {
            content: answer.and(reasoning),
            is_reasoning: !reasoning.is_empty() && answer.is_empty(),
            is_summary: self.has_summary || (dialect.has_summaries && !reasoning.is_empty()),
            repeats_content: dialect.repeats_content,
            // A text that no rule takes may be content.
            is_unknown: self.is_unknown || self.left != 0,
            items: Choices::default(),
            is_error: self.conditions & dialect.endings.errors != 0 || self.finish == Some(FinishReason::Error),
            choices: self.choices,
            finished: if ends { Choices::all() } else { self.finished },
            finish: self.finish,
            usage: usage.map(|(_, usage)| usage),
            has_no_output_count: usage.is_some_and(|(has_output, _)| !has_output),
        }
    }

    /// Returns the counts, and whether output tokens are among them.
    fn usage(&self, dialect: &DescribedDialect) -> Option<(bool, Usage)> {
        let rules = &dialect.usage;
        let [output, reasoning, input, cached] =
            [&rules.output, &rules.reasoning, &rules.input, &rules.cached].map(|sums| self.first(sums));
        if [output, input, cached].iter().all(Option::is_none) {
            return None;
        }
        Some((output.is_some(), Usage { output: output.unwrap_or(0), reasoning, input, cached }))
    }

    /// Returns the first count that is there.
    fn first(&self, sums: &[Sum]) -> Option<u64> {
        let number = |place: &usize| self.numbers.get(*place).copied().flatten();
        sums.iter().find_map(|sum| {
            let (first, rest) = sum.split_first()?;
            Some(rest.iter().filter_map(number).fold(number(first)?, u64::saturating_add))
        })
    }
}

fn has(rules: u64, rule: usize) -> bool {
    rules >> rule & 1 == 1
}

/// Reads the value at a node. Returns whether it is filled.
struct Reading<'d, 'f> {
    node: &'d Node,
    dialect: &'d DescribedDialect,
    found: &'f mut Found,
}

impl Reading<'_, '_> {
    /// Uses a value that is no list and no object.
    fn scalar<E: Error>(self, shape: ValueShape, value: &Scalar<'_>) -> Result<bool, E> {
        for one in &self.node.uses {
            match one {
                Use::Finish => {
                    let is_error = self.dialect.endings.error_reasons.iter().any(|reason| reason.is(value));
                    let reason = match value {
                        Scalar::Null | Scalar::Truth(_) => None,
                        _ if is_error => Some(FinishReason::Error),
                        Scalar::Number(_) => Some(FinishReason::Other),
                        Scalar::Text(text) => Finish::deserialize(text.into_deserializer())?.0,
                    };
                    self.found.open.finish = reason.filter(|_| shape.is_filled).or(self.found.open.finish);
                }
                Use::Equals(number, wanted) if wanted.is(value) => self.found.conditions |= 1 << number,
                Use::Index => self.found.open.index = shape.number.or(self.found.open.index),
                Use::Number(place) => self.found.numbers[*place] = shape.number.or(self.found.numbers[*place]),
                Use::Text(_) | Use::Filled(_) | Use::Equals(..) | Use::Ignored => {}
            }
        }
        self.filled(Content::answer_if(shape.is_filled), shape.is_filled)
    }

    /// Uses the content of a value of any form.
    fn filled<E: Error>(self, content: Content, is_filled: bool) -> Result<bool, E> {
        self.found.has_summary |= content.summary;
        for one in &self.node.uses {
            match one {
                Use::Text(rule) => {
                    self.found.open.answer |= u64::from(content.answer) << rule;
                    self.found.open.reasoning |= u64::from(content.reasoning) << rule;
                }
                Use::Filled(number) if is_filled => self.found.conditions |= 1 << number,
                _ => {}
            }
        }
        Ok(is_filled)
    }

    fn child<'a>(&'a mut self, node: &'a Node) -> Reading<'a, 'a> {
        Reading { node, dialect: self.dialect, found: self.found }
    }
}

impl<'de> DeserializeSeed<'de> for Reading<'_, '_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reading<'_, '_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<bool, E> {
        self.scalar(ValueShape::default(), &Scalar::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<bool, E> {
        let shape = ValueShape::deserialize(value.into_deserializer())?;
        self.scalar(shape, &Scalar::Truth(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<bool, E> {
        let shape = ValueShape::deserialize(value.into_deserializer())?;
        self.scalar(shape, &Scalar::Number(value.into()))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<bool, E> {
        let shape = ValueShape::deserialize(value.into_deserializer())?;
        self.scalar(shape, &Scalar::Number(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<bool, E> {
        let shape = ValueShape::deserialize(value.into_deserializer())?;
        let number = Number::from_f64(value).ok_or_else(|| E::custom("a number of JSON is finite"))?;
        self.scalar(shape, &Scalar::Number(number))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<bool, E> {
        let shape = ValueShape::deserialize(text.into_deserializer())?;
        self.scalar(shape, &Scalar::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<bool, A::Error> {
        let node = self.node;
        if node.has_text() {
            let content = Content::deserialize(SeqAccessDeserializer::new(list))?;
            return self.filled(content, content.is_filled());
        }
        let mut index = 0;
        loop {
            let is_there = match node.item(index) {
                Some(item) if item.decided.rules == 0 => list.next_element_seed(self.child(item))?.is_some(),
                Some(item) => {
                    let before = self.found.begin(item.decided);
                    let is_there = list.next_element_seed(self.child(item))?.is_some();
                    self.found.end(item.decided, self.dialect, &before);
                    is_there
                }
                None => list.next_element::<IgnoredAny>()?.is_some(),
            };
            if !is_there {
                return self.filled(Content::default(), index > 0);
            }
            index += 1;
        }
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut members: A) -> Result<bool, A::Error> {
        let node = self.node;
        if node.has_text() {
            let content = Content::deserialize(MapAccessDeserializer::new(members))?;
            return self.filled(content, content.is_filled());
        }
        if node.uses.contains(&Use::Finish) {
            let reason = Finish::deserialize(MapAccessDeserializer::new(members))?.0;
            self.found.open.finish = reason.or(self.found.open.finish);
            return self.filled(Content::default(), true);
        }
        let outer = if node.is_choice { std::mem::take(&mut self.found.open) } else { self.found.open };
        let mut is_filled = false;
        while let Some(name) = members.next_key_seed(NameAmong(&node.names))? {
            is_filled = true;
            match name {
                Some(at) => drop(members.next_value_seed(self.child(&node.names[at].1))?),
                None if node.is_closed => {
                    self.found.open.is_unknown |= members.next_value::<ValueShape>()?.is_filled;
                }
                None => drop(members.next_value::<IgnoredAny>()?),
            }
        }
        if node.is_choice {
            let open = std::mem::replace(&mut self.found.open, outer);
            self.found.close(open);
        }
        self.filled(Content::default(), is_filled)
    }
}

/// Finds a member's name among the names of a node.
struct NameAmong<'d>(&'d [(String, Node)]);

impl<'de> DeserializeSeed<'de> for NameAmong<'_> {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<usize>, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for NameAmong<'_> {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a member")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Option<usize>, E> {
        Ok(self.0.iter().position(|(known, _)| known == name))
    }
}
