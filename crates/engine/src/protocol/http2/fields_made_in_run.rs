//! Requests that are made during the run, as field blocks.
//!
//! When a request begins, its fields are encoded without any allocation. Steps usually share the authority, the user
//! agent and the accept header. The first request that has all of them puts them into the connection's dynamic table.
//! All other fields differ between sessions and are sent as they are.

use super::field_blocks::{TableUse, put_plain, put_text};
use super::hpack::{OVERHEAD, STATIC, TABLE_SIZE, put_integer};
use super::source::{FieldSource, RequestBlock};
use crate::protocol::made_in_run::MadeInRun;
use crate::target::fields::{Fields, InHttp2};
use crate::target::request_parts::{RequestParts, RequestView};
use crate::target::request_set::{RequestId, RequestSet};

/// Fields that all steps have, unless a step overrides them.
const USUALLY_SHARED: [&str; 3] = [":authority", "user-agent", "accept"];

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
    /// The field as a literal that is added to the table: index of its name in the static table, and value.
    inserting: Vec<u8>,
    /// The field by its index in the table.
    indexed: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct MadeBlock<'a> {
    of: &'a FieldsMadeInRun,
    request: RequestView<'a>,
    is_head_request: bool,
}

impl FieldsMadeInRun {
    /// Creates a source for sessions with these `steps`. The first step has a complete request.
    pub(crate) fn new(steps: &RequestSet, scheme: &str) -> FieldsMadeInRun {
        let scheme = if scheme == "https" { "https" } else { "http" };
        let shared = shared(steps.view(RequestId { target: 0, row: 0 }), scheme);
        FieldsMadeInRun { requests: MadeInRun::default(), scheme, shared }
    }

    fn put_field(&self, name: &[u8], value: &[u8], form: TableUse, out: &mut Vec<u8>) {
        match self.shared.iter().find(|shared| shared.is(name, value)) {
            Some(shared) if form == TableUse::Insert => out.extend_from_slice(&shared.inserting),
            Some(shared) if form == TableUse::Indexed => out.extend_from_slice(&shared.indexed),
            _ => put_literal(name, value, out),
        }
    }
}

impl FieldSource for FieldsMadeInRun {
    type Block<'a> = MadeBlock<'a>;

    fn get(&self, id: RequestId) -> MadeBlock<'_> {
        MadeBlock { of: self, request: self.requests.view(id), is_head_request: self.requests.is_head_request(id) }
    }

    fn request_of(&mut self, row: u32) -> &mut RequestParts {
        self.requests.request_of(row)
    }
}

impl<'a> RequestBlock<'a> for MadeBlock<'a> {
    fn body(&self) -> &'a [u8] {
        self.request.body()
    }

    fn is_head_request(&self) -> bool {
        self.is_head_request
    }

    fn put(&self, form: TableUse, out: &mut Vec<u8>) -> TableUse {
        // Indices in the table follow from the order of all shared fields, so all of them must be added at once.
        let waits = form == TableUse::Insert && !self.has_all_shared();
        let now = if waits { TableUse::Unused } else { form };
        put_plain(out, &(":method", self.request.method()));
        put_plain(out, &(":scheme", self.of.scheme.as_bytes()));
        put_literal(b":path", self.request.path(), out);
        self.fields().for_each(|(name, value)| self.of.put_field(name, value, now, out));
        if waits { form } else { form.after_block() }
    }
}

impl<'a> MadeBlock<'a> {
    /// Returns the fields in the order of sending, without the first three. Names are as written.
    fn fields(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> {
        let fields = |wanted: InHttp2| {
            let fields = self.request.fields().map(|(name, value)| (name, value.trim_ascii()));
            fields.filter(move |(name, value)| InHttp2::for_header(name, value) == wanted)
        };
        // Headers that HTTP/2 does not allow were refused before the run, or when the request was made.
        let authority = fields(InHttp2::Authority).map(|(_, value)| (&b":authority"[..], value));
        authority.chain(fields(InHttp2::Sent))
    }

    /// Returns true if the request has each shared field once, in order.
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

/// Returns the shared fields, taken from the first request in the order of sending.
fn shared(first: RequestView<'_>, scheme: &str) -> Vec<Shared> {
    // The headers were checked for HTTP/2 before the run. Without fields, nothing is shared.
    let fields = Fields::of(first, scheme).map(|fields| fields.0).unwrap_or_default();
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
        let mut inserting = Vec::new();
        let mut indexed = Vec::new();
        put_name(name.as_bytes(), 0x40, 6, &mut inserting);
        put_text(&mut inserting, value);
        // The newest field has the lowest index.
        put_integer(&mut indexed, 0x80, 7, STATIC.len() + count - nth);
        Shared { name: name.clone(), value: value.to_vec(), inserting, indexed }
    });
    shared.collect()
}

/// Appends a field that stays out of the table, with its name in lower case.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::http2::hpack::Decoder;
    use crate::target::method::Method;
    use crate::target::target_requests::TargetRequests;

    const FIRST: &str = "GET /a HTTP/1.1\r\nHost: a.test\r\nUser-Agent: t\r\nAccept: */*\r\n\r\n";

    fn made_in_run(first: &str) -> FieldsMadeInRun {
        let mut step = TargetRequests::new(Method::Get, "http://a.test/a".to_owned(), 1);
        step.push(&RequestParts::of_text(first));
        FieldsMadeInRun::new(&RequestSet::from_steps(vec![step]).unwrap(), "http")
    }

    /// Returns a request's block in this form, its decoded fields without pseudo-headers, and the next form.
    fn block(
        source: &mut FieldsMadeInRun,
        decoder: &mut Decoder,
        request: &str,
        form: TableUse,
    ) -> (Vec<u8>, Vec<String>, TableUse) {
        let user = RequestId { target: 0, row: 3 };
        *source.request_of(user.row) = RequestParts::of_text(request);
        let mut out = Vec::new();
        let made = source.get(user);
        let next = made.put(form, &mut out);
        decoder.read(&out).unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let fields = decoder.fields().unwrap().iter().map(|(name, value)| text(name) + "=" + &text(value));
        (out, fields.collect(), next)
    }

    #[test]
    fn the_first_request_with_all_shared_fields_fills_the_table() {
        let mut source = made_in_run(FIRST);
        let mut decoder = Decoder::keeping_text();
        let other = FIRST.replace("*/*", "text/html");
        let (_, fields, next) = block(&mut source, &mut decoder, &other, TableUse::Insert);
        assert_eq!((decoder.table_len(), next), (0, TableUse::Insert));
        assert_eq!(fields, ["user-agent=t", "accept=text/html"]);
        let (_, fields, next) = block(&mut source, &mut decoder, FIRST, next);
        assert_eq!((decoder.table_len(), next), (3, TableUse::Indexed));
        assert_eq!(fields, ["user-agent=t", "accept=*/*"]);
        let (bytes, same, next) = block(&mut source, &mut decoder, FIRST, next);
        // Method, scheme, authority, agent and accept by index, and the path.
        assert_eq!((bytes.len(), same, next), (5 + 2 + "/a".len(), fields, TableUse::Indexed));
        let (_, fields, _) = block(&mut source, &mut decoder, &other, next);
        assert_eq!(fields, ["user-agent=t", "accept=text/html"]);
        let (_, plain, next) = block(&mut source, &mut decoder, FIRST, TableUse::Unused);
        assert_eq!(plain, ["user-agent=t", "accept=*/*"]);
        assert_eq!(next, TableUse::Unused);
    }

    #[test]
    fn table_indices_do_not_depend_on_the_order_of_a_request() {
        let mut source = made_in_run(FIRST);
        let mut decoder = Decoder::keeping_text();
        let turned = "GET / HTTP/1.1\r\nAccept: */*\r\nUser-Agent: t\r\nHost: a.test\r\n\r\n";
        let twice = FIRST.replace("Accept: */*\r\n", "Accept: */*\r\naccept: */*\r\n");
        for request in [turned, &twice] {
            let (_, fields, next) = block(&mut source, &mut decoder, request, TableUse::Insert);
            assert_eq!((decoder.table_len(), next, fields.len() >= 2), (0, TableUse::Insert, true), "{request}");
        }
        block(&mut source, &mut decoder, FIRST, TableUse::Insert);
        let (_, fields, _) = block(&mut source, &mut decoder, turned, TableUse::Indexed);
        assert_eq!(fields, ["accept=*/*", "user-agent=t"]);
        let (_, fields, _) = block(&mut source, &mut decoder, &twice, TableUse::Indexed);
        assert_eq!(fields, ["user-agent=t", "accept=*/*", "accept=*/*"]);
    }

    #[test]
    fn names_are_lower_case_and_connection_headers_are_left_out() {
        let mut decoder = Decoder::keeping_text();
        let request = "POST /x?y HTTP/1.1\r\nHost: a.test\r\nX-Token: A: b\r\nConnection: keep-alive\r\nCookie: a=b; c=d\r\n\
                       Content-Length: 4\r\n\r\nbody";
        let mut source = made_in_run(FIRST);
        let (_, fields, _) = block(&mut source, &mut decoder, request, TableUse::Unused);
        assert_eq!(fields, ["x-token=A: b", "cookie=a=b; c=d", "content-length=4"]);
        let made = source.get(RequestId { target: 0, row: 3 });
        assert_eq!((made.body(), made.is_head_request()), (&b"body"[..], false));
    }

    #[test]
    fn a_table_that_is_full_takes_no_more() {
        let large = FIRST.replace("User-Agent: t", &format!("User-Agent: {}", "t".repeat(TABLE_SIZE)));
        let source = made_in_run(&large);
        let names: Vec<_> = source.shared.iter().map(|shared| shared.name.as_str()).collect();
        assert_eq!(names, [":authority", "accept"]);
    }
}
