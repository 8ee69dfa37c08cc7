//! Drafts and rows become requests, before the run.

use truetail_engine::{FeedOrder, MAX_REQUEST_SET_BYTES, Origin, Request, RequestSet, TargetRequests};

use crate::rows::Field;
use crate::template::{Template, has_placeholder};
use crate::{Draft, Place, Problem, Rows};

/// Rows, and in which order they fill requests in.
#[derive(Clone, Copy, Debug)]
pub struct Feed<'a> {
    /// The rows.
    pub rows: Rows<'a>,
    /// Their order.
    pub order: FeedOrder,
}

/// What a run asks for, and whom.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ask {
    /// All requests.
    pub requests: RequestSet,
    /// Whom they are for.
    pub origin: Origin,
}

/// Makes requests of drafts. With `feed` each placeholder is filled in from each row; without, braces stand for themselves,
/// but in a URL `{{name}}` can only be meant as a placeholder and is refused.
///
/// # Errors
/// What is wrong, with its place: drafts that are no requests or of different origins, placeholders without a field, rows
/// that are none, or more than [`MAX_REQUEST_SET_BYTES`] of requests.
pub fn prepare(drafts: &[Draft], feed: Option<Feed<'_>>, seed: u64) -> Result<Ask, Problem> {
    prepare_within(drafts, feed, seed, Size { bytes: 0, most: MAX_REQUEST_SET_BYTES })
}

fn prepare_within(drafts: &[Draft], feed: Option<Feed<'_>>, seed: u64, size: Size) -> Result<Ask, Problem> {
    match feed {
        None => prepare_fixed(drafts, seed, size),
        Some(feed) => prepare_fed(drafts, feed, seed, size),
    }
}

fn prepare_fixed(drafts: &[Draft], seed: u64, mut size: Size) -> Result<Ask, Problem> {
    let (mut targets, mut origins) = (Vec::new(), Origins::default());
    for draft in drafts {
        if has_placeholder(&draft.url) {
            let help = "add --data-from FILE.csv, or write braces as %7B and %7D";
            let problem = "there are no rows to fill its placeholder in";
            return Err(draft.place.wrong(format!("'{}': {problem}; {help}", draft.url)));
        }
        let request = Request::new(draft.method.clone(), &draft.url, &draft.headers, draft.body.clone());
        let request = request.map_err(|error| draft.place.wrong(error))?.without_default_headers(&draft.left_out);
        origins.add(request.origin(), &draft.place)?;
        let mut target = TargetRequests::new(draft.method.clone(), request.url().to_string(), draft.weight);
        let bytes = request.http1_bytes();
        size.add(bytes.len(), &draft.place)?;
        target.push(&bytes);
        targets.push(target);
    }
    ask(targets, 0, FeedOrder::InOrder, seed, origins)
}

fn prepare_fed(drafts: &[Draft], feed: Feed<'_>, seed: u64, size: Size) -> Result<Ask, Problem> {
    let (mut fields, mut origins) = (Vec::new(), Origins::default());
    let mut parts = Vec::new();
    for draft in drafts {
        let template = Template::new(draft, &mut fields)?;
        origins.add(template.origin.clone(), &draft.place)?;
        let target = TargetRequests::new(template.method.clone(), template.url.clone(), draft.weight);
        parts.push((template, target));
    }
    if fields.is_empty() {
        let help = "no target has a placeholder for its fields, such as {{id}}; without one every row gives the same";
        return Err(Place::named(feed.rows.file).wrong(help));
    }
    let rows = fill_in(&mut parts, &fields, &feed.rows, size)?;
    ask(parts.into_iter().map(|(_, target)| target).collect(), rows, feed.order, seed, origins)
}

/// Makes the requests of each row. Says how many rows there were.
fn fill_in(
    parts: &mut [(Template, TargetRequests)],
    fields: &[Field],
    rows: &Rows<'_>,
    mut size: Size,
) -> Result<u32, Problem> {
    let mut request = Vec::new();
    let count = rows.read(fields, &mut |place, row| {
        for (template, target) in &mut *parts {
            if template.is_fixed() && !target.is_empty() {
                continue;
            }
            template.render(row, &mut request).map_err(|field| {
                let name = &fields[field].name;
                place.wrong(format!(
                    "field '{name}' has a line break or another control character, and goes into a header"
                ))
            })?;
            size.add(request.len(), place)?;
            target.push(&request);
        }
        Ok(())
    })?;
    u32::try_from(count).map_err(|_| Place::named(rows.file).wrong("more than 4 294 967 295 rows"))
}

fn ask(targets: Vec<TargetRequests>, rows: u32, order: FeedOrder, seed: u64, origins: Origins) -> Result<Ask, Problem> {
    let nowhere = Place::named("");
    let origin = origins.origin.ok_or_else(|| nowhere.wrong("there is nothing to ask for"))?;
    let requests = RequestSet::new(targets, rows, order, seed).map_err(|error| nowhere.wrong(error))?;
    Ok(Ask { requests, origin })
}

/// The one origin of all targets.
#[derive(Default)]
struct Origins {
    origin: Option<Origin>,
}

impl Origins {
    fn add(&mut self, origin: Origin, place: &Place) -> Result<(), Problem> {
        let first = self.origin.get_or_insert_with(|| origin.clone());
        if *first == origin {
            return Ok(());
        }
        Err(place.wrong(format!(
            "{origin} is another origin than {first}; all targets of a run share scheme, host and port"
        )))
    }
}

/// How much memory requests take, with a word for the end of each, and may take.
struct Size {
    bytes: u64,
    most: u64,
}

impl Size {
    fn add(&mut self, request: usize, place: &Place) -> Result<(), Problem> {
        self.bytes += (request + size_of::<usize>()) as u64;
        if self.bytes <= self.most {
            return Ok(());
        }
        let limit = self.most >> 20;
        Err(place
            .wrong(format!("up to here the requests take more than {limit} MiB; give fewer rows or smaller bodies")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Format, targets};

    fn drafts(text: &str) -> Vec<Draft> {
        targets(text, "t", &|_| Ok(Vec::new())).unwrap()
    }

    fn fed(text: &str, csv: &str) -> Result<Ask, String> {
        let rows = Rows { format: Format::Csv, file: "d.csv", bytes: csv.as_bytes() };
        let feed = Feed { rows, order: FeedOrder::InOrder };
        prepare(&drafts(text), Some(feed), 1).map_err(|problem| problem.to_string())
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
        let ask = fed("GET http://a:81/x\n# weight: 5\nHEAD http://a:81/{{id}}", "id\n1\n2\n").unwrap();
        let targets = ask.requests.targets();
        assert_eq!((targets[0].len(), targets[1].len(), targets[1].weight()), (1, 2, 5));
        assert_eq!((ask.origin.to_string().as_str(), targets[1].url()), ("http://a:81", "http://a:81/{{id}}"));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        for (text, csv, wanted) in [
            ("GET http://a/\nGET http://b/", "", "t:2: http://b is another origin than http://a"),
            ("GET http://a/\nGET http://a:81/", "", "t:2: http://a:81 is another origin"),
            ("GET http://a/{{x}}", "", "t:1: 'http://a/{{x}}': there are no rows"),
            ("GET http://a/", "id\n1", "d.csv: no target has a placeholder"),
            ("GET http://a/{{x}}", "id\n1", "d.csv:1: there is no field 'x', which t:1: {{x}} names; there are id"),
            ("GET http://a/\nX: {{id}}", "id\n1\n\"2\n3\"\n", "d.csv:3: field 'id' has a line break"),
            ("GET http://a/\nX: {{id}}\nGET ftp://a/", "id\n1", "t:3: 'ftp://a/'"),
        ] {
            let told = if csv.is_empty() {
                prepare(&drafts(text), None, 1).unwrap_err().to_string()
            } else {
                fed(text, csv).unwrap_err()
            };
            assert!(told.starts_with(wanted), "{told}");
        }
    }

    #[test]
    fn braces_in_a_body_or_a_header_are_braces_where_there_are_no_rows() {
        let draft = Draft { body: b"{{x}}".to_vec(), ..drafts("POST http://a/\nX: {{y}}").remove(0) };
        let requests = prepare(&[draft], None, 1).unwrap().requests;
        let text = String::from_utf8(requests.bytes(requests.choose(0)).to_vec()).unwrap();
        assert!(text.contains("X: {{y}}\r\n") && text.ends_with("\r\n\r\n{{x}}"), "{text}");
    }

    #[test]
    fn memory_is_bounded() {
        let body = [b"{{a}}".as_slice(), &vec![b'x'; 1 << 18]].concat();
        let draft = Draft { body, ..drafts("POST http://a/").remove(0) };
        let csv = format!("a\n{}", "1\n".repeat(20));
        let rows = Rows { format: Format::Csv, file: "d.csv", bytes: csv.as_bytes() };
        let feed = Feed { rows, order: FeedOrder::Random };
        let size = Size { bytes: 0, most: 1 << 20 };
        let told = prepare_within(&[draft], Some(feed), 1, size).unwrap_err().to_string();
        assert!(told.starts_with("d.csv:5: up to here the requests take more than 1 MiB"), "{told}");
    }
}
