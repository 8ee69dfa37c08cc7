//! Requests as field blocks, made before the run.
//!
//! The first request of a connection puts the fields that all requests share into the dynamic table. Later requests
//! refer to them by index, as any client does that keeps a connection. Fields that differ are sent as they are. A
//! request is therefore a concatenation of three slices, and nothing is compressed during the run.

use super::hpack::{OVERHEAD, STATIC, TABLE_SIZE, put_integer};
use crate::target::fields::{Field, Fields};
use crate::target::request_set::{RequestId, RequestSet};

/// Form of the shared fields on a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TableUse {
    /// Put into the table, in the first block of a connection.
    Insert = 0,
    /// By their indices in the table.
    Indexed = 1,
    /// As they are, because the peer has no room for a table.
    Unused = 2,
}

impl TableUse {
    /// Returns the form after a block in this form that contains all shared fields.
    #[inline]
    pub(super) fn after_block(self) -> TableUse {
        if self == TableUse::Insert { TableUse::Indexed } else { self }
    }
}

/// A part of the fields in each form.
type ByTableUse = [Vec<u8>; 3];

/// The fields of the requests of one target, and the end of each request's fields.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
struct TargetFields {
    fields: Vec<u8>,
    ends: Vec<usize>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct FieldBlocks {
    requests: RequestSet,
    own: Vec<TargetFields>,
    /// Shared fields: pseudo-headers, which come first, and others, which come last.
    pseudo: ByTableUse,
    others: ByTableUse,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct FieldBlock<'a> {
    blocks: &'a FieldBlocks,
    own: &'a [u8],
    pub(crate) body: &'a [u8],
    /// True for a HEAD request, whose answer has no body.
    pub(crate) is_head_request: bool,
}

impl FieldBlocks {
    /// Encodes all requests.
    ///
    /// # Panics
    /// If a request has a header that HTTP/2 does not allow, which [`crate::Target::use_http2`] rules out.
    pub(crate) fn new(requests: &RequestSet, scheme: &str) -> FieldBlocks {
        let shared = shared(requests, scheme);
        let (pseudo, others) = forms(&shared);
        let mut blocks = FieldBlocks { requests: requests.clone(), own: Vec::new(), pseudo, others };
        for target in 0..requests.targets().len() {
            let mut own = TargetFields::default();
            for fields in target_fields(requests, target, scheme) {
                let is_shared =
                    |field: &&Field<'_>| shared.iter().any(|(name, value)| *name == field.0 && value == field.1);
                fields
                    .iter()
                    .filter(|field| !is_shared(field))
                    .for_each(|field| put_plain(&mut own.fields, &(field.0.as_str(), field.1)));
                own.ends.push(own.fields.len());
            }
            blocks.own.push(own);
        }
        blocks
    }

    /// Returns the request with this id.
    ///
    /// # Panics
    /// If there is no such request.
    #[inline]
    pub(crate) fn get(&self, which: RequestId) -> FieldBlock<'_> {
        let own = &self.own[which.target as usize];
        let row = which.row as usize;
        let start = if row == 0 { 0 } else { own.ends[row - 1] };
        FieldBlock {
            blocks: self,
            own: &own.fields[start..own.ends[row]],
            body: self.requests.view(which).body(),
            is_head_request: self.requests.is_head_request(which),
        }
    }
}

impl FieldBlock<'_> {
    /// Appends the block to `out`. Returns the form of the next block on its connection.
    #[inline]
    pub(crate) fn put(&self, form: TableUse, out: &mut Vec<u8>) -> TableUse {
        out.extend_from_slice(&self.blocks.pseudo[form as usize]);
        out.extend_from_slice(self.own);
        out.extend_from_slice(&self.blocks.others[form as usize]);
        form.after_block()
    }
}

/// The fields of the only request of its connection. Nothing of them is put into the table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlainBlock<'a>(pub(crate) &'a [u8]);

impl PlainBlock<'_> {
    /// Encodes fields, with the pseudo-headers first and names in lower case.
    pub(crate) fn encode<'f>(fields: impl IntoIterator<Item = (&'f str, &'f [u8])>) -> Vec<u8> {
        let mut out = Vec::new();
        fields.into_iter().for_each(|field| put_plain(&mut out, &field));
        out
    }
}

fn target_fields<'a>(requests: &'a RequestSet, target: usize, scheme: &'a str) -> impl Iterator<Item = Vec<Field<'a>>> {
    let checked = "requests that were checked for HTTP/2";
    requests.targets()[target].iter().map(move |request| Fields::of(request, scheme).expect(checked).0)
}

/// Returns the fields that are the same in all requests, without the one that carries a trace id. A name that a request
/// has several times is excluded, to keep the order of its values.
fn shared(requests: &RequestSet, scheme: &str) -> Vec<(String, Vec<u8>)> {
    let mut shared: Option<Vec<(String, Vec<u8>)>> = None;
    for target in 0..requests.targets().len() {
        for fields in target_fields(requests, target, scheme) {
            let differs = |name: &str| requests.trace_ids().is_some_and(|ids| ids.format().header() == name);
            let once = |name: &str| !differs(name) && fields.iter().filter(|field| field.0 == name).count() == 1;
            match &mut shared {
                None => {
                    let first = fields.iter().filter(|(name, _)| once(name));
                    shared = Some(first.map(|(name, value)| (name.clone(), value.to_vec())).collect());
                }
                Some(shared) => shared.retain(|(name, value)| {
                    once(name) && fields.iter().any(|field| field.0 == *name && field.1 == value)
                }),
            }
        }
    }
    shared.unwrap_or_default()
}

/// Returns pseudo-headers and other fields, in each form.
fn forms(shared: &[(String, Vec<u8>)]) -> (ByTableUse, ByTableUse) {
    let added = added(shared);
    let mut pseudo = ByTableUse::default();
    let mut others = ByTableUse::default();
    for (name, value) in shared {
        let field = (name.as_str(), &value[..]);
        let [adding, indexed, plain] = if name.starts_with(':') { &mut pseudo } else { &mut others };
        put_plain(plain, &field);
        match added.iter().rev().position(|one| *one == name) {
            Some(newer) => {
                put_literal(adding, 0x40, 6, field);
                put_integer(indexed, 0x80, 7, STATIC.len() + 1 + newer);
            }
            None => [adding, indexed].into_iter().for_each(|out| put_plain(out, &field)),
        }
    }
    (pseudo, others)
}

/// Returns the names of fields that go into the table, in the order of sending, as many as it has room for.
fn added(shared: &[(String, Vec<u8>)]) -> Vec<&str> {
    let (pseudo, others): (Vec<_>, Vec<_>) = shared.iter().partition(|(name, _)| name.starts_with(':'));
    let mut room = TABLE_SIZE;
    let fits = |(name, value): &&(String, Vec<u8>)| {
        let size = name.len() + value.len() + OVERHEAD;
        let fits = known(name, value).is_none() && size <= room;
        room -= if fits { size } else { 0 };
        fits
    };
    pseudo.into_iter().chain(others).filter(fits).map(|(name, _)| name.as_str()).collect()
}

/// Returns the index of a field in the static table.
fn known(name: &str, value: &[u8]) -> Option<usize> {
    STATIC.iter().position(|known| known.0 == name && known.1.as_bytes() == value && !value.is_empty()).map(|at| at + 1)
}

/// Appends a field without the dynamic table.
pub(super) fn put_plain(out: &mut Vec<u8>, (name, value): &(&str, &[u8])) {
    match known(name, value) {
        Some(index) => put_integer(out, 0x80, 7, index),
        None => put_literal(out, 0, 4, (name, value)),
    }
}

fn put_literal(out: &mut Vec<u8>, first: u8, bits: u32, (name, value): (&str, &[u8])) {
    match STATIC.iter().position(|known| known.0 == name) {
        Some(at) => put_integer(out, first, bits, at + 1),
        None => {
            out.push(first);
            put_text(out, name.as_bytes());
        }
    }
    put_text(out, value);
}

pub(super) fn put_text(out: &mut Vec<u8>, text: &[u8]) {
    put_integer(out, 0, 7, text.len());
    out.extend_from_slice(text);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::method::Method;
    use crate::target::request::Request;
    use crate::target::request_set::FeedOrder;
    use crate::target::target_requests::TargetRequests;

    fn requests(list: &[(&str, &[&str])]) -> RequestSet {
        let prepared = list.iter().map(|(url, headers)| {
            let headers: Vec<String> = headers.iter().map(|header| header.to_string()).collect();
            let request = Request::new(Method::Get, url, &headers, Vec::new()).unwrap();
            let mut prepared = TargetRequests::new(Method::Get, url.to_string(), 1);
            prepared.push(&request.parts());
            prepared
        });
        RequestSet::new(prepared.collect(), 0, FeedOrder::InOrder, 1).unwrap()
    }

    /// Returns the sizes of the blocks in each form. Tests with the `h2` crate's server check their contents.
    fn sizes(blocks: &FieldBlocks, target: u32) -> [usize; 3] {
        [TableUse::Insert, TableUse::Indexed, TableUse::Unused].map(|form| {
            let mut out = Vec::new();
            blocks.get(RequestId { target, row: 0 }).put(form, &mut out);
            out.len()
        })
    }

    #[test]
    fn what_all_share_is_named_by_its_index() {
        let blocks = FieldBlocks::new(&requests(&[("http://a.test/x", &["X-One: 1"])]), "http");
        let [adding, indexed, plain] = sizes(&blocks, 0);
        // Method, scheme, path, authority, agent, accept and the user's header: one byte each.
        assert_eq!(indexed, 7);
        assert!(adding > 30 && plain >= adding);
        let two =
            FieldBlocks::new(&requests(&[("http://a.test/x", &["X: 1"]), ("http://a.test/yy", &["X: 2"])]), "http");
        // The path is a literal, with one byte each for name and length. So is the other header, with an unknown name.
        assert_eq!(sizes(&two, 0)[1], 5 + 2 + "/x".len() + 1 + 2 + 2);
        assert_eq!(sizes(&two, 1)[1], sizes(&two, 0)[1] + 1);
    }

    #[test]
    fn repeated_names_keep_their_order_and_a_full_table_takes_no_more() {
        let blocks = FieldBlocks::new(&requests(&[("http://a/", &["X: 1", "X: 2"])]), "http");
        assert_eq!(blocks.own[0].fields, b"\0\x01x\x011\0\x01x\x012");
        let large = format!("Y: {}", "y".repeat(TABLE_SIZE));
        let blocks = FieldBlocks::new(&requests(&[("http://a/", &[&large])]), "http");
        assert!(sizes(&blocks, 0)[1] > TABLE_SIZE);
    }
}
