use std::borrow::Cow;
use std::sync::Arc;

use truetail_engine::{
    FeedOrder, MAX_REQUEST_SET_BYTES, MakeRequest, Origin, Request, RequestId, RequestParts, RequestSet, TargetRequests,
};

use crate::built_in::{ArrivalValues, BUILT_INS, BuiltIn};
use crate::names::Names;
use crate::placeholder::{has_placeholder, placeholders};
use crate::rows::NamedField;
use crate::template::{RenderError, Template};
use crate::{InputError, Location, Rows, TargetSpec};

/// Rows, and the order of their use.
#[derive(Clone, Copy, Debug)]
pub struct Feed<'a> {
    /// The rows.
    pub rows: Rows<'a>,
    /// Their order.
    pub order: FeedOrder,
}

/// The requests of a run, and their origins.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PreparedRequests {
    /// All requests.
    pub requests: RequestSet,
    /// The distinct origins.
    pub origins: Vec<Origin>,
}

/// Makes the requests of `specs`. With `feed`, each placeholder is filled in from each row. Built-in values are filled
/// in when a request begins. A `{{name}}` without a value is refused, because its user meant a placeholder. Other
/// braces are plain text.
///
/// # Errors
/// Invalid requests or rows, placeholders without a field, or more than [`MAX_REQUEST_SET_BYTES`] of requests.
pub fn prepare(specs: &[TargetSpec], feed: Option<Feed<'_>>, seed: u64) -> Result<PreparedRequests, InputError> {
    prepare_within(specs, feed, seed, Size { bytes: 0, most: MAX_REQUEST_SET_BYTES })
}

fn prepare_within(
    specs: &[TargetSpec],
    feed: Option<Feed<'_>>,
    seed: u64,
    size: Size,
) -> Result<PreparedRequests, InputError> {
    if feed.is_none() {
        specs.iter().try_for_each(refuse_placeholders)?;
        if !specs.iter().any(has_placeholders) {
            return prepare_fixed(specs, seed, size);
        }
    }
    prepare_filled_in(specs, feed, seed, size)
}

fn prepare_fixed(specs: &[TargetSpec], seed: u64, mut size: Size) -> Result<PreparedRequests, InputError> {
    let mut targets = Vec::new();
    let mut origins = Origins::default();
    for spec in specs {
        let body = match &spec.encoder {
            Some(encoder) => encoder.encode(&spec.body).map_err(|problem| spec.location.invalid(problem))?,
            None => spec.body.clone(),
        };
        let request = Request::new(spec.method.clone(), &spec.url, &spec.headers, body);
        let request = request.map_err(|error| spec.location.invalid(error))?.without_default_headers(&spec.left_out);
        let mut target = TargetRequests::new(spec.method.clone(), spec.shown(request.url().as_str()), spec.weight)
            .at_origin(origins.add(request.origin()));
        let parts = request.parts();
        size.add(size_of_request(&parts), &spec.location)?;
        target.push(&parts);
        targets.push(target);
    }
    let requests = request_set(targets, (0, FeedOrder::InOrder), seed)?;
    Ok(PreparedRequests { requests, origins: origins.0 })
}

fn has_placeholders(spec: &TargetSpec) -> bool {
    let in_head = [&spec.url].into_iter().chain(&spec.headers).any(|text| has_placeholder(text));
    in_head || placeholders(&spec.body).next().is_some()
}

/// Refuses placeholders of a request for which there are no rows, unless they are built-in values.
fn refuse_placeholders(spec: &TargetSpec) -> Result<(), InputError> {
    const PROBLEM: &str = "no rows are given for its placeholder";
    let unknown = |text: &[u8]| {
        let name = placeholders(text).map(|found| found.name).find(|name| BuiltIn::parse(name).is_none());
        name.map(str::to_owned)
    };
    if unknown(spec.url.as_bytes()).is_some() {
        let help = "add --data-from FILE.csv, or write the braces as %7B and %7D";
        return Err(spec.location.invalid(format!("'{}': {PROBLEM}; {help}; {}", spec.url, built_ins())));
    }
    if let Some(header) = spec.headers.iter().find(|header| unknown(header.as_bytes()).is_some()) {
        let help = "add --data-from FILE.csv";
        return Err(spec.location.invalid(format!("'{header}': {PROBLEM}; {help}; {}", built_ins())));
    }
    let Some(name) = unknown(&spec.body) else { return Ok(()) };
    let help = if spec.has_json_body() {
        "write the first brace as \\u007b if it belongs to a text"
    } else {
        "a text with such braces can be a field of a row"
    };
    let problem = format!("the body has {{{{{name}}}}}: {PROBLEM}; add --data-from FILE.csv; {help}");
    Err(spec.location.invalid(format!("{problem}; {}", built_ins())))
}

/// Returns the help for a name that is unknown.
pub(crate) fn built_ins() -> String {
    format!("built-in are {BUILT_INS}")
}

/// One target whose placeholders are filled in.
struct Part {
    template: Template,
    target: TargetRequests,
    /// The same requests with samples of the built-in values.
    samples: TargetRequests,
}

fn prepare_filled_in(
    specs: &[TargetSpec],
    feed: Option<Feed<'_>>,
    seed: u64,
    size: Size,
) -> Result<PreparedRequests, InputError> {
    let columns = feed.map_or_else(|| Ok(Vec::new()), |feed| feed.rows.column_names())?;
    let mut names = Names::with_columns(columns);
    let mut origins = Origins::default();
    let mut parts = Vec::new();
    for spec in specs {
        let template = Template::new(spec, &mut names)?;
        let target = TargetRequests::new(template.method.clone(), template.url.clone(), spec.weight)
            .at_origin(origins.add(template.origin.clone()));
        parts.push(Part { template, samples: target.clone(), target });
    }
    if let (Some(feed), []) = (feed, &*names.fields) {
        let help = "no target uses its fields; write a placeholder such as {{id}} where a field belongs";
        return Err(Location::named(feed.rows.file).invalid(help));
    }
    let mut filling = Filling {
        keeps_rows: parts.iter().any(|part| part.template.has_values()),
        parts,
        rows: Vec::new(),
        seed,
        size,
    };
    let rows = match feed {
        Some(feed) => filling.fill_in(&names.fields, &feed.rows)?,
        None => filling.add_row(&specs[0].location, &[], &[]).map(|()| 0)?,
    };
    let order = feed.map_or(FeedOrder::InOrder, |feed| feed.order);
    let requests = filling.finish((rows, order))?;
    Ok(PreparedRequests { requests, origins: origins.0 })
}

/// Requests that are filled in, row by row.
struct Filling {
    parts: Vec<Part>,
    /// The rows, kept for requests that are made during the run.
    rows: Vec<KeptRow>,
    keeps_rows: bool,
    seed: u64,
    size: Size,
}

/// The wanted fields of a row.
pub(crate) type KeptRow = Box<[Box<str>]>;

/// Number of arrivals for which a body with built-in values is encoded before the run.
pub(crate) const TRIED: u64 = 32;

impl Filling {
    /// Makes the requests of each row. Returns the number of rows.
    fn fill_in(&mut self, fields: &[NamedField], rows: &Rows<'_>) -> Result<u32, InputError> {
        let count = rows.read(fields, &mut |location, row| self.add_row(location, row, fields))?;
        u32::try_from(count).map_err(|_| Location::named(rows.file).invalid("more than 4 294 967 295 rows"))
    }

    fn add_row(&mut self, location: &Location, row: &[Cow<'_, str>], fields: &[NamedField]) -> Result<(), InputError> {
        let invalid = |error: RenderError| location.invalid(error.text(fields));
        let mut request = RequestParts::default();
        let mut index = self.parts.iter().map(|part| part.target.len() as u64).max().unwrap_or(0);
        for Part { template, target, samples } in &mut self.parts {
            if template.is_fixed() && !target.is_empty() {
                continue;
            }
            template.render(row, &mut ArrivalValues::new(self.seed, index), &mut request).map_err(invalid)?;
            self.size.add(size_of_request(&request), location)?;
            target.push(&request);
            if !self.keeps_rows {
                continue;
            }
            template.render(row, &mut ArrivalValues::sample(), &mut request).map_err(invalid)?;
            self.size.add(size_of_request(&request), location)?;
            samples.push(&request);
            while template.is_encoded() && index < TRIED {
                index += 1;
                template.render(row, &mut ArrivalValues::new(self.seed, index), &mut request).map_err(invalid)?;
            }
        }
        if self.keeps_rows && !row.is_empty() {
            self.size.add(row.iter().map(|field| field.len() + size_of::<Box<str>>()).sum(), location)?;
            self.rows.push(row.iter().map(|field| field.as_ref().into()).collect());
        }
        Ok(())
    }

    fn finish(self, rows: (u32, FeedOrder)) -> Result<RequestSet, InputError> {
        let Filling { parts, rows: kept, keeps_rows, seed, .. } = self;
        let mut targets = Vec::new();
        let mut samples = Vec::new();
        let mut templates = Vec::new();
        for part in parts {
            targets.push(part.target);
            samples.push(part.samples);
            templates.push(part.template);
        }
        let requests = request_set(targets, rows, seed)?;
        if !keeps_rows {
            return Ok(requests);
        }
        let maker = FilledIn { templates, rows: kept, seed };
        Ok(requests.made_in_run(Arc::new(maker), &request_set(samples, rows, seed)?))
    }
}

/// Returns the bytes of a request in memory.
pub(crate) fn size_of_request(request: &RequestParts) -> usize {
    request.view().http1_bytes().len()
}

/// Maker of requests with built-in values.
struct FilledIn {
    templates: Vec<Template>,
    rows: Vec<KeptRow>,
    seed: u64,
}

impl MakeRequest for FilledIn {
    fn make(&self, id: RequestId, index: u64, request: &mut RequestParts) -> bool {
        let row = self.rows.get(id.row as usize).map_or(&[][..], |row| row);
        let mut values = ArrivalValues::new(self.seed, index);
        self.templates[id.target as usize].render(row, &mut values, request).is_ok()
    }
}

fn request_set(
    targets: Vec<TargetRequests>,
    (rows, order): (u32, FeedOrder),
    seed: u64,
) -> Result<RequestSet, InputError> {
    let nowhere = Location::named("");
    if targets.is_empty() {
        return Err(nowhere.invalid("there is no request to send"));
    }
    RequestSet::new(targets, rows, order, seed).map_err(|error| nowhere.invalid(error))
}

/// The distinct origins of all targets.
#[derive(Default)]
struct Origins(Vec<Origin>);

impl Origins {
    /// Returns the number of an origin, and adds it if it is new.
    fn add(&mut self, origin: Origin) -> u32 {
        let known = self.0.iter().position(|known| *known == origin);
        let nth = known.unwrap_or_else(|| {
            self.0.push(origin);
            self.0.len() - 1
        });
        nth as u32
    }
}

/// Memory of the requests in bytes, including one word per request for its end, and its limit.
pub(crate) struct Size {
    pub(crate) bytes: u64,
    pub(crate) most: u64,
}

impl Size {
    pub(crate) fn add(&mut self, request: usize, location: &Location) -> Result<(), InputError> {
        self.bytes += (request + size_of::<usize>()) as u64;
        if self.bytes <= self.most {
            return Ok(());
        }
        let limit = self.most >> 20;
        Err(location
            .invalid(format!("the requests up to here need more than {limit} MiB; give fewer rows or smaller bodies")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RowFormat, parse_targets};

    fn specs(text: &str) -> Vec<TargetSpec> {
        parse_targets(text, "t", &|_| Ok(Vec::new())).unwrap()
    }

    fn fed(text: &str, csv: &str) -> Result<PreparedRequests, String> {
        let rows = Rows { format: RowFormat::Csv, file: "d.csv", bytes: csv.as_bytes() };
        let feed = Feed { rows, order: FeedOrder::InOrder };
        prepare(&specs(text), Some(feed), 1).map_err(|problem| problem.to_string())
    }

    fn first_line(requests: &RequestSet, index: u64) -> String {
        let text = String::from_utf8_lossy(requests.bytes(requests.choose(index))).into_owned();
        text.lines().next().unwrap_or_default().to_owned()
    }

    #[test]
    fn rows_come_in_their_order_and_begin_again() {
        let requests = fed("GET http://a/{{id}}", "id\n1\n2\n3\n").unwrap().requests;
        let lines: Vec<String> = (0..5).map(|index| first_line(&requests, index)).collect();
        assert_eq!(lines.join(" "), "GET /1 HTTP/1.1 GET /2 HTTP/1.1 GET /3 HTTP/1.1 GET /1 HTTP/1.1 GET /2 HTTP/1.1");
    }

    #[test]
    fn a_target_without_placeholders_is_made_once() {
        let prepared = fed("GET http://a:81/x\n# weight: 5\nHEAD http://a:81/{{id}}", "id\n1\n2\n").unwrap();
        let targets = prepared.requests.targets();
        assert_eq!((targets[0].len(), targets[1].len(), targets[1].weight()), (1, 2, 5));
        assert_eq!((prepared.origins.len(), targets[1].url()), (1, "http://a:81/{{id}}"));
        assert_eq!(prepared.origins[0].to_string(), "http://a:81");
    }

    #[test]
    fn targets_may_have_several_origins() {
        let text = "GET http://a/1\n\nGET https://b/\n\nGET http://a:80/2\n\nGET http://a:81/{{id}}\n";
        let prepared = fed(text, "id\n1\n").unwrap();
        let origins: Vec<_> = prepared.origins.iter().map(Origin::to_string).collect();
        assert_eq!(origins, ["http://a", "https://b", "http://a:81"]);
        let numbers: Vec<_> = prepared.requests.targets().iter().map(TargetRequests::origin).collect();
        assert_eq!(numbers, [0, 1, 0, 2]);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        for (text, csv, wanted) in [
            ("GET http://a/{{x}}", "", "t:1: 'http://a/{{x}}': no rows are given"),
            ("GET http://a/{{randomInt 5}}", "", "t:1: {{randomInt 5}}: write two whole numbers"),
            ("GET http://a/", "id\n1", "d.csv: no target uses its fields"),
            ("GET http://a/{{x}}", "id\n1", "d.csv:1: no field 'x' for {{x}} (t:1); the fields are id"),
            ("GET http://a/\nX: {{id}}", "id\n1\n\"2\n3\"\n", "d.csv:3: field 'id' has a line break"),
            ("GET http://a/\nX: {{id}}\nGET ftp://a/", "id\n1", "t:3: 'ftp://a/'"),
        ] {
            let told = if csv.is_empty() {
                prepare(&specs(text), None, 1).unwrap_err().to_string()
            } else {
                fed(text, csv).unwrap_err()
            };
            assert!(told.starts_with(wanted), "{told}");
        }
    }

    #[test]
    fn without_rows_there_are_no_placeholders() {
        let told = |header: &str, body: &str| {
            let spec = specs(&format!("POST http://a/\nX: {header}")).remove(0);
            prepare(&[TargetSpec { body: body.into(), ..spec }], None, 1).map_err(|problem| problem.to_string())
        };
        assert!(told("{{y}}", "").unwrap_err().starts_with("t:1: 'X: {{y}}': no rows are given for its placeholder"));
        assert!(told("a", "<{{ x }}>").unwrap_err().starts_with("t:1: the body has {{x}}: no rows are given"));
        let requests = told("{y}", "{\"a\":{\"b\":{}}} {{ }}").unwrap().requests;
        let text = String::from_utf8(requests.bytes(requests.choose(0)).to_vec()).unwrap();
        assert!(text.contains("X: {y}\r\n") && text.ends_with("\r\n\r\n{\"a\":{\"b\":{}}} {{ }}"), "{text}");
    }

    /// Returns the requests of these arrivals as the run makes them.
    fn made(requests: &RequestSet, arrivals: std::ops::Range<u64>) -> Vec<String> {
        let maker = requests.maker().expect("built-in values");
        let request = |index| {
            let mut request = RequestParts::message(b"left over");
            assert!(maker.make(requests.choose(index), index, &mut request));
            String::from_utf8_lossy(request.view().http1_bytes()).into_owned()
        };
        arrivals.map(request).collect()
    }

    #[test]
    fn built_in_values_come_with_and_without_rows() {
        let plain = prepare(&specs("GET http://a/{{seq}}"), None, 1).unwrap().requests;
        let lines: Vec<String> =
            made(&plain, 9..11).iter().map(|text| text.lines().next().unwrap().to_owned()).collect();
        assert_eq!(lines, ["GET /9 HTTP/1.1", "GET /10 HTTP/1.1"]);
        assert_eq!(first_line(&plain, 9), "GET /0 HTTP/1.1", "what a preflight sends");
        let requests = fed("GET http://a/{{id}}/{{seq}}", "id\nx\ny\n").unwrap().requests;
        let lines: Vec<String> =
            made(&requests, 1..4).iter().map(|text| text.lines().next().unwrap().to_owned()).collect();
        assert_eq!(lines, ["GET /y/1 HTTP/1.1", "GET /x/2 HTTP/1.1", "GET /y/3 HTTP/1.1"]);
        assert!(prepare(&specs("GET http://a/"), None, 1).unwrap().requests.maker().is_none());
    }

    #[test]
    fn the_hash_of_requests_depends_on_neither_time_nor_seed() {
        let hash = |text: &str, seed| prepare(&specs(text), None, seed).unwrap().requests.hash();
        let text = "GET http://a/{{now_ns}}/{{newUuid}}";
        assert_eq!(hash(text, 1), hash(text, 2));
        assert_ne!(hash(text, 1), hash("GET http://a/{{now_ns}}/{{seq}}", 1));
    }

    #[test]
    fn a_body_that_is_encoded_is_tried_before_the_run() {
        let encode = |body: &[u8]| if body == b"9" { Err("no nine".to_owned()) } else { Ok(body.to_vec()) };
        let of = |body: &str| {
            let encoder = Some(crate::BodyEncoder::new("http", "grpc", encode));
            let spec = TargetSpec { body: body.into(), encoder, ..specs("POST http://a/").remove(0) };
            prepare(&[spec], None, 1).map_err(|error| error.to_string())
        };
        assert!(of("{{randomInt 0 8}}").is_ok());
        assert_eq!(of("{{seq}}").unwrap_err(), "t:1: no nine");
    }

    #[test]
    fn memory_is_bounded() {
        let body = [b"{{a}}".as_slice(), &vec![b'x'; 1 << 18]].concat();
        let spec = TargetSpec { body, ..specs("POST http://a/").remove(0) };
        let csv = format!("a\n{}", "1\n".repeat(20));
        let rows = Rows { format: RowFormat::Csv, file: "d.csv", bytes: csv.as_bytes() };
        let feed = Feed { rows, order: FeedOrder::Random };
        let size = Size { bytes: 0, most: 1 << 20 };
        let told = prepare_within(&[spec], Some(feed), 1, size).unwrap_err().to_string();
        assert!(told.starts_with("d.csv:5: the requests up to here need more than 1 MiB"), "{told}");
    }
}
