//! A test plan as a tree of elements with their properties.

use std::collections::HashMap;

use quick_xml::Reader;
use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};

use crate::ImportError;
use crate::whole::file::place_of;

/// Limits on the nesting of a plan, and on its tags.
const MAX_DEPTH: usize = 200;
const MAX_TAGS: usize = 500_000;

/// An element of a test plan with the elements below it.
#[derive(Clone, Debug, Default)]
pub(super) struct Element {
    /// Its class, such as `HTTPSamplerProxy`.
    pub(super) class: String,
    pub(super) name: String,
    is_off: bool,
    texts: HashMap<String, String>,
    /// Properties that hold others, such as the arguments of a request.
    parts: HashMap<String, Vec<Element>>,
    pub(super) children: Vec<Element>,
}

impl Element {
    /// Returns a property, or an empty text.
    pub(super) fn text(&self, name: &str) -> &str {
        self.texts.get(name).map_or("", String::as_str)
    }

    pub(super) fn is(&self, name: &str) -> bool {
        self.text(name) == "true"
    }

    /// Returns the elements in a property.
    pub(super) fn parts(&self, name: &str) -> &[Element] {
        self.parts.get(name).map_or(&[], Vec::as_slice)
    }
}

/// An XML tag with its attributes, its text and the tags inside it.
#[derive(Debug, Default)]
struct Tag {
    tag: String,
    class: String,
    name: String,
    is_off: bool,
    text: String,
    tags: Vec<Tag>,
}

/// Reads a plan. Returns its topmost elements.
///
/// # Errors
/// If it is not XML, is not a plan of JMeter, or has too many levels or tags.
pub(super) fn read(bytes: &[u8]) -> Result<Vec<Element>, ImportError> {
    let root = parse(bytes)?;
    let plan = root.tags.into_iter().find(|tag| tag.tag == "jmeterTestPlan");
    let plan = plan.ok_or_else(|| {
        ImportError::content(place_of(bytes, 0), "it is no test plan of JMeter: it has no jmeterTestPlan".to_owned())
    })?;
    Ok(plan.tags.into_iter().filter(|tag| tag.tag == "hashTree").flat_map(|tree| elements(tree.tags)).collect())
}

fn parse(bytes: &[u8]) -> Result<Tag, ImportError> {
    let wrong = |at: u64, problem: String| ImportError::content(place_of(bytes, at as usize), problem);
    let mut reader = Reader::from_reader(bytes);
    let mut open = vec![Tag::default()];
    let mut count = 0;
    loop {
        let at = reader.buffer_position();
        let event = reader.read_event().map_err(|error| wrong(at, format!("it is not XML: {error}")))?;
        match event {
            Event::Start(start) => open.push(tag(&start)),
            Event::Empty(start) => {
                let empty = tag(&start);
                top(&mut open).tags.push(empty);
            }
            Event::End(_) if open.len() > 1 => {
                let closed = open.pop().expect("two are open");
                top(&mut open).tags.push(closed);
            }
            Event::Text(text) => top(&mut open).text.push_str(&String::from_utf8_lossy(&text)),
            Event::CData(text) => top(&mut open).text.push_str(&String::from_utf8_lossy(&text)),
            Event::GeneralRef(reference) => {
                let name = String::from_utf8_lossy(&reference).into_owned();
                let character = reference.resolve_char_ref().ok().flatten();
                let named = || quick_xml::escape::resolve_predefined_entity(&name).map(str::to_owned);
                top(&mut open).text.push_str(&character.map(String::from).or_else(named).unwrap_or_default());
            }
            Event::Eof => break,
            _ => {}
        }
        count += 1;
        if open.len() > MAX_DEPTH || count > MAX_TAGS {
            return Err(wrong(at, format!("it has more than {MAX_DEPTH} levels or {MAX_TAGS} tags")));
        }
    }
    Ok(open.swap_remove(0))
}

fn top(open: &mut [Tag]) -> &mut Tag {
    open.last_mut().expect("the root stays open")
}

fn tag(start: &BytesStart<'_>) -> Tag {
    let attribute = |name: &str| {
        let found = start.try_get_attribute(name).ok().flatten();
        found
            .and_then(|found| found.normalized_value(XmlVersion::Implicit1_0).ok().map(|value| value.into_owned()))
            .unwrap_or_default()
    };
    let tag = String::from_utf8_lossy(start.name().as_ref()).into_owned();
    let name = attribute(if tag.ends_with("Prop") { "name" } else { "testname" });
    Tag { class: attribute("elementType"), name, is_off: attribute("enabled") == "false", tag, ..Tag::default() }
}

/// Returns the enabled elements of a `hashTree`. JMeter writes an element's children after the element, in a `hashTree`
/// beside it.
fn elements(tags: Vec<Tag>) -> Vec<Element> {
    let mut out: Vec<Element> = Vec::new();
    for tag in tags {
        if tag.tag == "hashTree" {
            if let Some(parent) = out.last_mut() {
                parent.children.extend(elements(tag.tags));
            }
        } else {
            out.push(element(tag));
        }
    }
    out.retain(|element| !element.is_off);
    out
}

fn element(tag: Tag) -> Element {
    let class = if tag.tag == "elementProp" { tag.class } else { tag.tag };
    let mut element = Element { class, name: tag.name, is_off: tag.is_off, ..Element::default() };
    for property in tag.tags {
        match property.tag.as_str() {
            "elementProp" => {
                let name = property.name.clone();
                let part = self::element(property);
                element.parts.insert(name, vec![part]);
            }
            "collectionProp" => {
                let parts = property.tags.into_iter().map(|part| {
                    let text = part.text.clone();
                    let mut part = self::element(part);
                    part.texts.insert(String::new(), text);
                    part
                });
                element.parts.insert(property.name, parts.collect());
            }
            _ => {
                element.texts.insert(property.name, property.text);
            }
        }
    }
    element
}
