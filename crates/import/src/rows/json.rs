use std::fmt::{self, Write as _};

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::instant::instant;
use super::number::{Measured, NotUsable, Unit, float, time, whole};
use super::wrong::Wrong;

/// A value at a path. The memory is reused for each row.
#[derive(Clone, PartialEq, Default, Debug)]
pub(crate) struct Value {
    kind: Kind,
    text: String,
}

#[derive(Clone, Copy, PartialEq, Default, Debug)]
enum Kind {
    /// Missing, or null.
    #[default]
    Absent,
    Text,
    Whole(u64),
    Negative(i64),
    Float(f64),
    Bool(bool),
    /// An object or an array.
    Other,
}

impl Value {
    pub(crate) const fn nothing() -> Value {
        Value { kind: Kind::Absent, text: String::new() }
    }

    /// Returns true if the value is present and not null.
    pub(crate) fn is_there(&self) -> bool {
        self.kind != Kind::Absent
    }

    /// Returns the text of a string, and an empty text for any other value.
    pub(crate) fn text(&self) -> &str {
        if self.kind == Kind::Text { &self.text } else { "" }
    }

    /// Returns a Boolean value.
    pub(crate) fn truth(&self) -> Option<bool> {
        if let Kind::Bool(truth) = self.kind { Some(truth) } else { None }
    }

    /// Returns bytes that identify the value, for [`Workers`](super::Workers). A whole number is put into `scratch`.
    pub(crate) fn name<'v>(&'v self, scratch: &'v mut [u8; 8]) -> &'v [u8] {
        match self.kind {
            Kind::Text => self.text.as_bytes(),
            Kind::Whole(number) => {
                *scratch = number.to_be_bytes();
                scratch
            }
            Kind::Absent | Kind::Negative(_) | Kind::Float(_) | Kind::Bool(_) | Kind::Other => &[],
        }
    }

    /// Returns a whole number, also from text.
    pub(crate) fn whole(&self) -> Result<u64, NotUsable> {
        match self.kind {
            Kind::Absent => Err(NotUsable::Absent),
            Kind::Text => whole(self.text.as_bytes()),
            Kind::Whole(number) => Ok(number),
            Kind::Negative(_) => Err(NotUsable::Negative),
            Kind::Float(_) | Kind::Bool(_) | Kind::Other => Err(NotUsable::NoNumber),
        }
    }

    /// Returns a number of `unit`s, also from text.
    pub(crate) fn time(&self, unit: Unit) -> Result<Measured, NotUsable> {
        match self.kind {
            Kind::Absent => Err(NotUsable::Absent),
            Kind::Text => time(self.text.as_bytes(), unit),
            Kind::Whole(number) => {
                let ns = number.checked_mul(unit.nanos()).ok_or(NotUsable::TooLarge)?;
                Ok(Measured { ns, resolution_ns: unit.nanos() })
            }
            Kind::Negative(_) => Err(NotUsable::Negative),
            Kind::Float(number) => {
                Decimal::from_f64(number).map_or_else(|| float(number, unit), |text| time(text.text(), unit))
            }
            Kind::Bool(_) | Kind::Other => Err(NotUsable::NoNumber),
        }
    }

    /// Applies `read` to the text, or to the digits of a number.
    pub(crate) fn with_digits<T>(&self, read: impl FnOnce(&[u8]) -> Result<T, NotUsable>) -> Result<T, NotUsable> {
        match self.kind {
            Kind::Text => read(self.text.as_bytes()),
            Kind::Whole(number) => read(Digits::from_u64(number).text()),
            Kind::Float(number) => Decimal::from_f64(number).map_or(Err(NotUsable::NoTime), |text| read(text.text())),
            Kind::Absent => Err(NotUsable::Absent),
            Kind::Negative(_) => Err(NotUsable::Negative),
            Kind::Bool(_) | Kind::Other => Err(NotUsable::NoNumber),
        }
    }

    /// Returns an instant, which may be a number or a text.
    pub(crate) fn instant(&self) -> Result<Measured, NotUsable> {
        self.with_digits(instant)
    }

    fn set(&mut self, kind: Kind) {
        self.kind = kind;
    }
}

/// The shortest text that is read as this number, which is how it was written. It needs no allocation.
struct Decimal {
    text: [u8; 40],
    length: usize,
}

impl Decimal {
    /// Returns `None` if the text is longer than any time.
    fn from_f64(number: f64) -> Option<Decimal> {
        let mut made = Decimal { text: [0; 40], length: 0 };
        write!(made, "{number}").is_ok().then_some(made)
    }

    fn text(&self) -> &[u8] {
        &self.text[..self.length]
    }
}

impl fmt::Write for Decimal {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        let end = self.length + part.len();
        self.text.get_mut(self.length..end).ok_or(fmt::Error)?.copy_from_slice(part.as_bytes());
        self.length = end;
        Ok(())
    }
}

/// The digits of a number. They need no allocation.
struct Digits {
    digits: [u8; 20],
    from: usize,
}

impl Digits {
    fn from_u64(mut number: u64) -> Digits {
        let mut made = Digits { digits: [b'0'; 20], from: 19 };
        made.digits[19] = b'0' + (number % 10) as u8;
        while number >= 10 {
            number /= 10;
            made.from -= 1;
            made.digits[made.from] = b'0' + (number % 10) as u8;
        }
        made
    }

    fn text(&self) -> &[u8] {
        &self.digits[self.from..]
    }
}

/// The values at some paths of a JSON object.
#[derive(Clone, Debug)]
pub(crate) struct JsonRow {
    nodes: Vec<Node>,
    values: Vec<Value>,
}

/// A node in the tree of paths.
#[derive(Clone, Default, Debug)]
struct Node {
    children: Vec<(String, usize)>,
    value: Option<usize>,
}

impl JsonRow {
    /// Selects the values at these paths. Dots separate nested keys. A key with a dot is found by its whole name.
    pub(crate) fn new<P: AsRef<str>>(paths: &[P]) -> JsonRow {
        let mut row = JsonRow { nodes: vec![Node::default()], values: vec![Value::default(); paths.len()] };
        for (value, path) in paths.iter().map(AsRef::as_ref).enumerate() {
            let keys: Vec<&str> = path.split('.').collect();
            row.add(&keys, value);
            if keys.len() > 1 {
                row.add(&[path], value);
            }
        }
        row
    }

    pub(crate) fn read(&mut self, row: &[u8]) -> Result<(), Wrong> {
        self.values.iter_mut().for_each(|value| value.set(Kind::Absent));
        if row.trim_ascii_start().first() != Some(&b'{') {
            return Err(Wrong::Json);
        }
        let mut json = serde_json::Deserializer::from_slice(row);
        let at = At { nodes: &self.nodes, node: 0, values: &mut self.values };
        at.deserialize(&mut json).and_then(|()| json.end()).map_err(|_| Wrong::Json)
    }

    pub(crate) fn value(&self, index: usize) -> &Value {
        &self.values[index]
    }

    fn add(&mut self, keys: &[&str], value: usize) {
        let mut at = 0;
        for key in keys {
            let found = self.nodes[at].children.iter().find(|(name, _)| name == key).map(|(_, node)| *node);
            at = found.unwrap_or_else(|| {
                self.nodes.push(Node::default());
                let node = self.nodes.len() - 1;
                self.nodes[at].children.push(((*key).to_owned(), node));
                node
            });
        }
        self.nodes[at].value = Some(value);
    }
}

/// Reads a value below a node.
struct At<'n> {
    nodes: &'n [Node],
    node: usize,
    values: &'n mut [Value],
}

impl At<'_> {
    fn set(self, kind: Kind) {
        if let Some(value) = self.nodes[self.node].value {
            self.values[value].set(kind);
        }
    }
}

impl<'de> DeserializeSeed<'de> for At<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for At<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<(), E> {
        self.set(Kind::Bool(value));
        Ok(())
    }

    fn visit_u64<E>(self, value: u64) -> Result<(), E> {
        self.set(Kind::Whole(value));
        Ok(())
    }

    fn visit_i64<E>(self, value: i64) -> Result<(), E> {
        self.set(Kind::Negative(value));
        Ok(())
    }

    fn visit_f64<E>(self, value: f64) -> Result<(), E> {
        self.set(Kind::Float(value));
        Ok(())
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        if let Some(value) = self.nodes[self.node].value {
            let value = &mut self.values[value];
            value.set(Kind::Text);
            value.text.clear();
            value.text.push_str(text);
        }
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.set(Kind::Absent);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        self.set(Kind::Other);
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let At { nodes, node, values } = self;
        while let Some(child) = map.next_key_seed(Child { node: &nodes[node] })? {
            match child {
                Some(node) => map.next_value_seed(At { nodes, node, values: &mut *values })?,
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        At { nodes, node, values }.set(Kind::Other);
        Ok(())
    }
}

/// Finds the child node of a key.
struct Child<'n> {
    node: &'n Node,
}

impl<'de> DeserializeSeed<'de> for Child<'_> {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<usize>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Child<'_> {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<Option<usize>, E> {
        Ok(self.node.children.iter().find(|(name, _)| name == key).map(|(_, node)| *node))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_at_their_paths() {
        let mut row = JsonRow::new(&["a", "data.time", "data.value", "x.y", "none", "data"]);
        let text = br#" {"a":7,"b":[1,{"a":2}],"data":{"time":"2026-11-20T06:56:03Z","value":1.5},"x.y":true,"z":"\ud83d\ude00"} "#;
        assert_eq!(row.read(text), Ok(()));
        assert_eq!(row.value(0).whole(), Ok(7));
        assert_eq!(row.value(1).instant().map(|time| time.ns), Ok(1_795_157_763_000_000_000));
        assert_eq!(row.value(2).time(Unit::Millis).map(|time| time.ns), Ok(1_500_000));
        assert_eq!(row.value(3).truth(), Some(true));
        assert!(!row.value(4).is_there());
        assert_eq!(row.value(5).kind, Kind::Other);
    }

    #[test]
    fn nothing_stays_from_the_row_before() {
        let mut row = JsonRow::new(&["a"]);
        row.read(br#"{"a":"text"}"#).expect("JSON");
        row.read(br#"{"b":1}"#).expect("JSON");
        assert_eq!((row.value(0).is_there(), row.value(0).text()), (false, ""));
    }

    #[test]
    fn what_is_no_object_is_wrong() {
        for text in [&b"[1]"[..], b"7", b"", b"{\"a\":1", b"{\"a\":1}}", b"{\"a\":1} {}", b"{\"\xff\":1}"] {
            assert_eq!(JsonRow::new(&["a"]).read(text), Err(Wrong::Json), "{}", String::from_utf8_lossy(text));
        }
    }

    #[test]
    fn numbers_keep_their_digits() {
        for number in [0, 9, 10, 1_795_157_763_037, u64::MAX] {
            assert_eq!(Digits::from_u64(number).text(), number.to_string().as_bytes());
        }
    }
}
