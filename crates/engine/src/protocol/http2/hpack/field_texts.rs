//! Names and values of fields, kept beside the table that only measures them.

use std::collections::VecDeque;

use super::table::STATIC;
use crate::protocol::fields::FieldList;

/// Limit on the bytes that are kept of one block. A larger head is refused anyway.
const MAX_KEPT: usize = 64 * 1024;

/// The texts of one connection's dynamic table and of its last block.
#[derive(Default, Debug)]
pub(super) struct FieldTexts {
    /// Name and value of each field in the dynamic table, newest first.
    added: VecDeque<(Vec<u8>, Vec<u8>)>,
    /// Name and value of the last literal.
    literal: (Vec<u8>, Vec<u8>),
    block: FieldList,
}

impl FieldTexts {
    /// Returns the fields of the last block, without pseudo-headers.
    pub(super) fn block(&self) -> &FieldList {
        &self.block
    }

    pub(super) fn begin_block(&mut self) {
        self.block.clear();
    }

    /// Adds the field at this index, which must be in the table, to the block.
    pub(super) fn indexed(&mut self, index: usize) {
        let (name, value) = at(&self.added, index);
        push(&mut self.block, name, value);
    }

    pub(super) fn literal_name(&mut self, name: &[u8]) {
        self.literal.0.clear();
        self.literal.0.extend_from_slice(name);
    }

    /// Begins a literal with the name of the field at this index, which must be in the table.
    pub(super) fn indexed_name(&mut self, index: usize) {
        let (name, _) = at(&self.added, index);
        self.literal.0.clear();
        self.literal.0.extend_from_slice(name);
    }

    /// Sets the value of the literal, and adds the literal to the block.
    pub(super) fn value(&mut self, value: &[u8]) {
        self.literal.1.clear();
        self.literal.1.extend_from_slice(value);
        push(&mut self.block, &self.literal.0, value);
    }

    /// Adds the last literal to the table, which then has `length` fields.
    pub(super) fn add_last_to_table(&mut self, length: usize) {
        self.added.push_front(self.literal.clone());
        self.evict_to(length);
    }

    /// Keeps only the newest `length` fields of the table.
    pub(super) fn evict_to(&mut self, length: usize) {
        self.added.truncate(length);
    }
}

/// Returns the field at an index, counted from 1, static table first. The index must exist.
fn at(added: &VecDeque<(Vec<u8>, Vec<u8>)>, index: usize) -> (&[u8], &[u8]) {
    match STATIC.get(index - 1) {
        Some((name, value)) => (name.as_bytes(), value.as_bytes()),
        None => {
            let (name, value) = &added[index - 1 - STATIC.len()];
            (name, value)
        }
    }
}

fn push(block: &mut FieldList, name: &[u8], value: &[u8]) {
    if !name.starts_with(b":") && block.size() + name.len() + value.len() <= MAX_KEPT {
        block.push(name, value);
    }
}
