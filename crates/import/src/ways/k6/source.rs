//! The script as a tree: nodes with their text and their line.

use tree_sitter::{Node, Parser, Tree};

use crate::ImportError;
use crate::whole::file::place_of;

/// Limit on the bytes of a script.
const MAX_BYTES: usize = 1 << 20;

/// Parses a script in JavaScript.
///
/// # Errors
/// If it is too long or not JavaScript. The message names the first line with an error.
pub(super) fn parse(text: &str) -> Result<Tree, ImportError> {
    if text.len() > MAX_BYTES {
        return Err(ImportError::content(place_of(text.as_bytes(), 0), "it has more than 1 MiB".to_owned()));
    }
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_javascript::LANGUAGE.into()).expect("the grammar fits the library");
    let tree = parser.parse(text, None).expect("a language is set, and nothing cancels it");
    if !tree.root_node().has_error() {
        return Ok(tree);
    }
    let at = first_error(tree.root_node());
    let problem = "it is not JavaScript; a script in TypeScript has to be compiled first".to_owned();
    Err(ImportError::content(place_of(text.as_bytes(), at.start_byte()), problem))
}

fn first_error(root: Node<'_>) -> Node<'_> {
    let mut node = root;
    while !node.is_error() && !node.is_missing() {
        let mut cursor = node.walk();
        let Some(child) = node.children(&mut cursor).find(|child| child.has_error() || child.is_missing()) else {
            break;
        };
        node = child;
    }
    node
}

/// A part of the script.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Code<'a> {
    node: Node<'a>,
    source: &'a str,
}

impl<'a> Code<'a> {
    pub(super) fn whole(tree: &'a Tree, source: &'a str) -> Self {
        Code { node: tree.root_node(), source }
    }

    pub(super) fn kind(self) -> &'static str {
        self.node.kind()
    }

    /// Returns the text, which is never empty of meaning: tree-sitter cuts at characters.
    pub(super) fn text(self) -> &'a str {
        self.source.get(self.node.byte_range()).unwrap_or_default()
    }

    /// Returns the number of its first line, from 1.
    pub(super) fn line(self) -> usize {
        self.node.start_position().row + 1
    }

    /// Returns the child with this role in the grammar.
    pub(super) fn field(self, name: &str) -> Option<Self> {
        self.node.child_by_field_name(name).map(|node| Code { node, source: self.source })
    }

    /// Returns the children with a meaning, without punctuation and comments.
    pub(super) fn children(self) -> Vec<Self> {
        let mut cursor = self.node.walk();
        let named = self.node.named_children(&mut cursor);
        named.filter(|node| node.kind() != "comment").map(|node| Code { node, source: self.source }).collect()
    }

    /// Returns true if it has this word or sign as a direct child, such as `async` or `default`.
    pub(super) fn has_word(self, word: &str) -> bool {
        let mut cursor = self.node.walk();
        self.node.children(&mut cursor).any(|node| !node.is_named() && node.kind() == word)
    }

    /// Calls `visit` with it and with each part below it.
    pub(super) fn each(self, visit: &mut impl FnMut(Code<'a>)) {
        let mut left = vec![self];
        while let Some(code) = left.pop() {
            visit(code);
            left.extend(code.children());
        }
    }

    /// Returns the variable that `a`, `a.b` or `a[0].c` begins with.
    pub(super) fn root_name(self) -> Option<&'a str> {
        let mut code = self;
        while let Some(object) = code.field("object") {
            code = object;
        }
        (code.kind() == "identifier").then(|| code.text())
    }
}
