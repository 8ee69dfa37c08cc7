//! Paths of values in an event, and the tree that all paths of a description form.

use super::wanted::Wanted;

/// Limit on the parts of a path.
const MAX_SEGMENTS: usize = 32;

/// One step of a path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Segment {
    /// A member of an object.
    Name(String),
    /// Each item of a list.
    Each,
    /// One item of a list.
    At(usize),
}

/// Parses a path: `a.b[*].c`, also with `$` in front, and with names in quotes as `['a.b']`.
///
/// # Errors
/// What is wrong with it, with what helps.
pub(super) fn parse(text: &str) -> Result<Vec<Segment>, String> {
    let mut segments = Vec::new();
    let mut rest = text.trim();
    let is_at_root = rest.starts_with('$');
    rest = rest.strip_prefix('$').unwrap_or(rest);
    while !rest.is_empty() {
        let (segment, after) = if let Some(inside) = rest.strip_prefix('[') {
            bracketed(inside).ok_or_else(|| problem(text))?
        } else {
            let name = match rest.strip_prefix('.') {
                Some(name) => name,
                None if segments.is_empty() && !is_at_root => rest,
                None => return Err(problem(text)),
            };
            let end = name.find(['.', '[']).unwrap_or(name.len());
            let (name, after) = name.split_at(end);
            if name.is_empty() || name.contains(|c: char| c.is_whitespace() || "'\"]$*?@=<>!".contains(c)) {
                return Err(problem(text));
            }
            (Segment::Name(name.to_owned()), after)
        };
        segments.push(segment);
        rest = after;
    }
    match segments.len() {
        0 => Err("it is empty; write a path such as choices[*].delta.content".to_owned()),
        length if length > MAX_SEGMENTS => Err(format!("it has {length} parts, and at most {MAX_SEGMENTS} are read")),
        _ => Ok(segments),
    }
}

/// Parses what follows `[`. Returns the segment, and what follows `]`.
fn bracketed(inside: &str) -> Option<(Segment, &str)> {
    if let Some(after) = inside.strip_prefix("*]") {
        return Some((Segment::Each, after));
    }
    let quote = inside.chars().next().filter(|c| "'\"".contains(*c));
    if let Some(quote) = quote {
        let (name, after) = inside[1..].split_once(quote)?;
        return Some((Segment::Name(name.to_owned()), after.strip_prefix(']')?));
    }
    let (index, after) = inside.split_once(']')?;
    Some((Segment::At(index.parse().ok()?), after))
}

fn problem(text: &str) -> String {
    format!("'{text}' is no path; write names, [*] and [0] only, such as choices[*].delta.content")
}

/// Returns how many segments lead to the innermost list item that both paths go through; 0 if there is none.
pub(super) fn common_item(one: &[Segment], other: &[Segment]) -> usize {
    let common = one.iter().zip(other).take_while(|(one, other)| one == other).count();
    one[..common].iter().rposition(|segment| *segment == Segment::Each).map_or(0, |at| at + 1)
}

/// Use of the value at a path.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Use {
    /// Content by the rule with this number.
    Text(usize),
    /// The number of a choice.
    Index,
    Finish,
    /// A count of tokens, in this place.
    Number(usize),
    /// A condition that holds if the value is there, and not null, false or empty.
    Filled(usize),
    /// A condition that holds if the value is this one.
    Equals(usize, Wanted),
    /// Nothing: a member that is known to be no content.
    Ignored,
}

/// Place in an event where at least one path leads.
#[derive(Clone, PartialEq, Default, Debug)]
pub(super) struct Node {
    pub(super) uses: Vec<Use>,
    pub(super) names: Vec<(String, Node)>,
    pub(super) each: Option<Box<Node>>,
    pub(super) at: Vec<(usize, Node)>,
    /// The value is a choice.
    pub(super) is_choice: bool,
    /// A member without a path here may be content that is not understood.
    pub(super) is_closed: bool,
    /// Rules and conditions that hold for this item of a list, or at the root for the event.
    pub(super) decided: Decided,
}

/// What is decided at the end of a value.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub(super) struct Decided {
    /// Rules of content, by their number.
    pub(super) rules: u64,
    /// The conditions of these rules.
    pub(super) conditions: u64,
}

impl Node {
    /// Returns the node at a path, and adds it if needed.
    pub(super) fn enter(&mut self, path: &[Segment]) -> &mut Node {
        let Some((first, rest)) = path.split_first() else { return self };
        let next = match first {
            Segment::Name(name) => {
                let at = self.names.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
                    self.names.push((name.clone(), Node::default()));
                    self.names.len() - 1
                });
                &mut self.names[at].1
            }
            Segment::Each => self.each.get_or_insert_with(Box::default),
            Segment::At(index) => {
                let at = self.at.iter().position(|(known, _)| known == index).unwrap_or_else(|| {
                    self.at.push((*index, Node::default()));
                    self.at.len() - 1
                });
                &mut self.at[at].1
            }
        };
        next.enter(rest)
    }

    /// Returns true if paths lead through this node.
    pub(super) fn has_children(&self) -> bool {
        !self.names.is_empty() || self.each.is_some() || !self.at.is_empty()
    }

    pub(super) fn has_text(&self) -> bool {
        self.uses.iter().any(|one| matches!(one, Use::Text(_)))
    }

    /// Returns the node of an item of a list.
    pub(super) fn item(&self, index: usize) -> Option<&Node> {
        self.each.as_deref().or_else(|| self.at.iter().find(|(known, _)| *known == index).map(|(_, node)| node))
    }

    /// Returns the reason why the paths through this node, or below it, contradict each other.
    pub(super) fn problem(&self) -> Option<&'static str> {
        if self.each.is_some() && !self.at.is_empty() {
            return Some("has [*] in one path and a number in another; write one of them");
        }
        if !self.names.is_empty() && (self.each.is_some() || !self.at.is_empty()) {
            return Some("is a list in one path and an object in another; write one of them");
        }
        let is_content = |one: &Use| matches!(one, Use::Text(_) | Use::Finish | Use::Number(_) | Use::Index);
        if self.has_children() && self.uses.iter().any(is_content) {
            return Some("is read as a whole, and another path leads into it; leave one out");
        }
        None
    }

    pub(super) fn children(&self) -> impl Iterator<Item = &Node> {
        let names = self.names.iter().map(|(_, node)| node);
        names.chain(self.each.as_deref()).chain(self.at.iter().map(|(_, node)| node))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_have_an_item_in_common() {
        for (one, other, is) in [
            ("a[*].t", "a[*].k", 2),
            ("a[*].b[*].t", "a[*].k", 2),
            ("a[*].b[*].t", "a[*].b[*].k", 4),
            ("a[*].t", "b[*].t", 0),
            ("a[0].t", "a[0].k", 0),
            ("a.t", "k", 0),
            ("a[*]", "a[*]", 2),
        ] {
            let path = |text| parse(text).expect("a path");
            assert_eq!(common_item(&path(one), &path(other)), is, "{one} {other}");
        }
    }

    #[test]
    fn paths_are_dotted_or_jsonpath() {
        let name = |text: &str| Segment::Name(text.to_owned());
        for (text, expected) in [
            ("done", vec![name("done")]),
            ("choices[*].delta.content", vec![name("choices"), Segment::Each, name("delta"), name("content")]),
            ("$.choices[0]['a.b']", vec![name("choices"), Segment::At(0), name("a.b")]),
            ("$['x-y'].z_1", vec![name("x-y"), name("z_1")]),
            ("[\"a\"]", vec![name("a")]),
        ] {
            assert_eq!(parse(text), Ok(expected), "{text}");
        }
        for text in ["", "$", "a..b", "a.", ".", "$a", "a[", "a[-1]", "a[x]", "a[?@.b]", "$..a", "a b", "a['b]", "a[0"]
        {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!(parse(&"a.".repeat(40)[..79]).is_err_and(|problem| problem.contains("40 parts")));
    }
}
