use truetail_engine::{FeedOrder, MAX_REQUEST_SET_BYTES, Origin, Request, RequestSet, TargetRequests};

use crate::placeholder::{has_placeholder, placeholders};
use crate::rows::NamedField;
use crate::template::Template;
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

/// Makes the requests of `specs`. With `feed`, each placeholder is filled in from each row. Without it, `{{name}}` is
/// refused, because it can only be meant as a placeholder. Other braces are plain text.
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
    match feed {
        None => prepare_fixed(specs, seed, size),
        Some(feed) => prepare_fed(specs, feed, seed, size),
    }
}

fn prepare_fixed(specs: &[TargetSpec], seed: u64, mut size: Size) -> Result<PreparedRequests, InputError> {
    let mut targets = Vec::new();
    let mut origins = Origins::default();
    for spec in specs {
        refuse_placeholders(spec)?;
        let body = match &spec.encoder {
            Some(encoder) => encoder.encode(&spec.body).map_err(|problem| spec.location.invalid(problem))?,
            None => spec.body.clone(),
        };
        let request = Request::new(spec.method.clone(), &spec.url, &spec.headers, body);
        let request = request.map_err(|error| spec.location.invalid(error))?.without_default_headers(&spec.left_out);
        let mut target = TargetRequests::new(spec.method.clone(), spec.shown(request.url().as_str()), spec.weight)
            .at_origin(origins.add(request.origin()));
        let bytes = request.http1_bytes();
        size.add(bytes.len(), &spec.location)?;
        target.push(&bytes);
        targets.push(target);
    }
    assemble(targets, 0, FeedOrder::InOrder, seed, origins)
}

/// Refuses placeholders of a request for which there are no rows.
fn refuse_placeholders(spec: &TargetSpec) -> Result<(), InputError> {
    const PROBLEM: &str = "no rows are given for its placeholder";
    let written = spec.headers.iter().find(|header| has_placeholder(header));
    if has_placeholder(&spec.url) {
        let help = "add --data-from FILE.csv, or write the braces as %7B and %7D";
        return Err(spec.location.invalid(format!("'{}': {PROBLEM}; {help}", spec.url)));
    }
    if let Some(header) = written {
        return Err(spec.location.invalid(format!("'{header}': {PROBLEM}; add --data-from FILE.csv")));
    }
    let Some(found) = placeholders(&spec.body).next() else { return Ok(()) };
    let name = found.name;
    let help = if spec.has_json_body() {
        "write the first brace as \\u007b if it belongs to a text"
    } else {
        "a text with such braces can be a field of a row"
    };
    Err(spec.location.invalid(format!("the body has {{{{{name}}}}}: {PROBLEM}; add --data-from FILE.csv; {help}")))
}

fn prepare_fed(specs: &[TargetSpec], feed: Feed<'_>, seed: u64, size: Size) -> Result<PreparedRequests, InputError> {
    let mut fields = Vec::new();
    let mut origins = Origins::default();
    let mut parts = Vec::new();
    for spec in specs {
        let template = Template::new(spec, &mut fields)?;
        let target = TargetRequests::new(template.method.clone(), template.url.clone(), spec.weight)
            .at_origin(origins.add(template.origin.clone()));
        parts.push((template, target));
    }
    if fields.is_empty() {
        let help = "no target uses its fields; write a placeholder such as {{id}} where a field belongs";
        return Err(Location::named(feed.rows.file).invalid(help));
    }
    let rows = fill_in(&mut parts, &fields, &feed.rows, size)?;
    assemble(parts.into_iter().map(|(_, target)| target).collect(), rows, feed.order, seed, origins)
}

/// Makes the requests of each row. Returns the number of rows.
fn fill_in(
    parts: &mut [(Template, TargetRequests)],
    fields: &[NamedField],
    rows: &Rows<'_>,
    mut size: Size,
) -> Result<u32, InputError> {
    let mut request = Vec::new();
    let count = rows.read(fields, &mut |location, row| {
        for (template, target) in &mut *parts {
            if template.is_fixed() && !target.is_empty() {
                continue;
            }
            template.render(row, &mut request).map_err(|error| location.invalid(error.text(fields)))?;
            size.add(request.len(), location)?;
            target.push(&request);
        }
        Ok(())
    })?;
    u32::try_from(count).map_err(|_| Location::named(rows.file).invalid("more than 4 294 967 295 rows"))
}

fn assemble(
    targets: Vec<TargetRequests>,
    rows: u32,
    order: FeedOrder,
    seed: u64,
    origins: Origins,
) -> Result<PreparedRequests, InputError> {
    let nowhere = Location::named("");
    if targets.is_empty() {
        return Err(nowhere.invalid("there is no request to send"));
    }
    let requests = RequestSet::new(targets, rows, order, seed).map_err(|error| nowhere.invalid(error))?;
    Ok(PreparedRequests { requests, origins: origins.0 })
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
