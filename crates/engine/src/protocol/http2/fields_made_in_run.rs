//! Requests that are made while the run goes on, as blocks of fields.
//!
//! A script writes each in HTTP/1.1, and its lines become fields when it begins; nothing is allocated for that. What steps
//! usually share, the authority and what says who asks, is put into the dynamic table of a connection by the first request
//! that has all of it. All else differs from session to session, and is sent as it is.

use super::field_blocks::{TableUse, put_plain, put_text};
use super::hpack::{OVERHEAD, STATIC, TABLE_SIZE, put_integer};
use super::source::{FieldSource, RequestBlock};
use crate::protocol::made_in_run::MadeInRun;
use crate::target::fields::{Fields, InHttp2, end_of_head, lines, method_and_path, name_and_value};
use crate::target::request_set::{RequestId, RequestSet};

/// Fields that all steps have, unless one says otherwise.
const USUALLY_SHARED: [&str; 3] = [":authority", "user-agent", "accept"];

/// Requests that are made while the run goes on.
#[derive(Clone, Debug)]
pub(crate) struct FieldsMadeInRun {
    requests: MadeInRun,
    scheme: &'static str,
    shared: Vec<Shared>,
}

/// A field that goes into the table.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Shared {
    name: String,
    value: Vec<u8>,
    /// Its name by its place in the static table, its value, and word that both go into the table.
    inserting: Vec<u8>,
    /// By its place in the table.
    indexed: Vec<u8>,
}

/// One request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MadeBlock<'a> {
    of: &'a FieldsMadeInRun,
    head: &'a [u8],
    body: &'a [u8],
    is_head_request: bool,
}

impl FieldsMadeInRun {
    /// Of sessions that go through `steps`, of which the first is whole.
    pub(crate) fn new(steps: RequestSet, scheme: &str) -> FieldsMadeInRun {
        let scheme = if scheme == "https" { "https" } else { "http" };
        let shared = shared(steps.bytes(RequestId { target: 0, row: 0 }), scheme);
        FieldsMadeInRun { requests: MadeInRun::new(steps), scheme, shared }
    }

    /// Adds a field in this form.
    fn put_field(&self, name: &[u8], value: &[u8], form: TableUse, out: &mut Vec<u8>) {
        match self.shared.iter().find(|shared| shared.is(name, value)) {
            Some(shared) if form == TableUse::Insert => out.extend_from_slice(&shared.inserting),
            Some(shared) if form == TableUse::Indexed => out.extend_from_slice(&shared.indexed),
            _ => put_literal(name, value, out),
        }
    }
}

impl FieldSource for FieldsMadeInRun {
    const IS_MADE_IN_RUN: bool = true;

    type Block<'a> = MadeBlock<'a>;

    fn get(&self, id: RequestId) -> MadeBlock<'_> {
        let request = self.requests.bytes(id);
        let (end, body) = end_of_head(request);
        let is_head_request = self.requests.is_head_request(id);
        MadeBlock { of: self, head: &request[..end], body: &request[body..], is_head_request }
    }

    fn request_of(&mut self, user: u32) -> &mut Vec<u8> {
        self.requests.request_of(user)
    }
}

impl<'a> RequestBlock<'a> for MadeBlock<'a> {
    fn body(&self) -> &'a [u8] {
        self.body
    }

    fn is_head_request(&self) -> bool {
        self.is_head_request
    }

    fn put(&self, form: TableUse, out: &mut Vec<u8>) -> TableUse {
        // The places in the table are those of all of them, in their order.
        let waits = form == TableUse::Insert && !self.has_all_shared();
        let now = if waits { TableUse::Unused } else { form };
        let (method, path) = method_and_path(lines(self.head).next().unwrap_or_default());
        put_plain(out, &(":method", method));
        put_plain(out, &(":scheme", self.of.scheme.as_bytes()));
        put_literal(b":path", path, out);
        self.fields().for_each(|(name, value)| self.of.put_field(name, value, now, out));
        if waits { form } else { form.after_block() }
    }
}

impl<'a> MadeBlock<'a> {
    /// Its fields in the order of sending, without the first three; names as they were written.
    fn fields(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> {
        let fields = |wanted: InHttp2| {
            let fields = lines(self.head).skip(1).map(name_and_value);
            fields.filter(move |(name, value)| InHttp2::of(name, value) == wanted)
        };
        // Others that HTTP/2 does not allow were refused before the run, or when the request was made.
        let authority = fields(InHttp2::Authority).map(|(_, value)| (&b":authority"[..], value));
        authority.chain(fields(InHttp2::Sent))
    }

    /// It has each of the fields that go into the table, once and in their order.
    fn has_all_shared(&self) -> bool {
        let shared = &self.of.shared;
        let place = |(name, value): (&[u8], &[u8])| shared.iter().position(|shared| shared.is(name, value));
        self.fields().filter_map(place).eq(0..shared.len())
    }
}

impl Shared {
    fn is(&self, name: &[u8], value: &[u8]) -> bool {
        name.eq_ignore_ascii_case(self.name.as_bytes()) && value == self.value
    }
}

/// What goes into the table: of the first request, in the order in which it is sent.
fn shared(first: &[u8], scheme: &str) -> Vec<Shared> {
    // Before the run it was found that HTTP/2 allows its headers; where none is known, nothing is shared.
    let fields = Fields::of(first, scheme).map(|fields| fields.all).unwrap_or_default();
    let mut room = TABLE_SIZE;
    let mut fits = |name: &str, value: &[u8]| {
        let size = name.len() + value.len() + OVERHEAD;
        let fits = size <= room;
        room -= if fits { size } else { 0 };
        fits
    };
    let usual = fields.iter().filter(|(name, _)| USUALLY_SHARED.contains(&name.as_str()));
    let usual = usual.filter(|(name, value)| fits(name, value)).collect::<Vec<_>>();
    let count = usual.len();
    let shared = usual.into_iter().enumerate().map(|(nth, (name, value))| {
        let (mut inserting, mut indexed) = (Vec::new(), Vec::new());
        put_name(name.as_bytes(), 0x40, 6, &mut inserting);
        put_text(&mut inserting, value);
        // The newest is the first.
        put_integer(&mut indexed, 0x80, 7, STATIC.len() + count - nth);
        Shared { name: name.clone(), value: value.to_vec(), inserting, indexed }
    });
    shared.collect()
}

/// A field that stays out of the table, its name in lower case.
fn put_literal(name: &[u8], value: &[u8], out: &mut Vec<u8>) {
    put_name(name, 0, 4, out);
    put_text(out, value);
}

fn put_name(name: &[u8], first: u8, bits: u32, out: &mut Vec<u8>) {
    match STATIC.iter().position(|known| known.0.as_bytes().eq_ignore_ascii_case(name)) {
        Some(at) => put_integer(out, first, bits, at + 1),
        None => {
            out.push(first);
            put_integer(out, 0, 7, name.len());
            out.extend(name.iter().map(u8::to_ascii_lowercase));
        }
    }
}
