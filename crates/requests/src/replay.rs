//! Recorded arrivals with their requests, one per line: `1.5,GET /items?page=2`, then optionally the host to send. The
//! command `truetail flow from-access-log` writes such files. A trace reader ignores what follows the comma.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use truetail_engine::{
    BaseUrl, MAX_REQUEST_SET_BYTES, Method, Request, RequestId, RequestParts, RequestSet, TargetRequests,
    is_header_value,
};
use truetail_model::arrival::{ProfileError, Trace};
use truetail_model::time::Nanos;

use crate::prepare::{PreparedRequests, Size, size_of_request};
use crate::{InputError, Location, TargetSpec};

/// Number of routes with a separate target: the most frequent ones. The rest share one target per method.
const MAX_TARGETS: usize = 20;
/// Such a route has at least one in this many arrivals.
const LEAST_SHARE: u64 = 100;
/// Limits on the remarks of a file that are kept, and on the characters of each.
const MAX_NOTES: usize = 10;
const MAX_NOTE_CHARS: usize = 1_000;
/// Prefix of a remark that belongs in the result of a run.
const NOTE: &str = "# note: ";

/// One recorded request.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RecordedRequest {
    /// The method.
    pub method: String,
    /// Path and query as they were sent.
    pub target: String,
    /// The value of `Host`, if it must be sent.
    pub host: Option<String>,
}

/// Recorded arrivals and their requests.
#[derive(Clone, PartialEq, Debug)]
pub struct Replay {
    /// Times of the arrivals.
    pub trace: Trace,
    /// Remarks of the file about itself.
    pub notes: Vec<String>,
    file: String,
    /// Distinct requests, each with the line of its first occurrence.
    requests: Vec<(RecordedRequest, u64)>,
    /// The request number of each arrival.
    asked: Vec<u32>,
}

/// Returns the text of a replay file. `arrivals` must be in ascending order. A run repeats `notes` in its result.
pub fn write_replay<'r>(notes: &[String], arrivals: impl Iterator<Item = (Nanos, &'r RecordedRequest)>) -> String {
    let mut text = String::from("seconds,request\n");
    for note in notes {
        text.push_str(NOTE);
        text.extend(note.chars().map(|c| if c.is_control() { ' ' } else { c }));
        text.push('\n');
    }
    for (at, RecordedRequest { method, target, host }) in arrivals {
        let seconds = at.0 / 1_000_000_000;
        let nanos = at.0 % 1_000_000_000;
        // Writing to a text does not fail.
        let _ = write!(text, "{seconds}.{nanos:09},{method} {target}");
        let _ = host.as_ref().map(|host| write!(text, " {host}"));
        text.push('\n');
    }
    text
}

/// Reads the text of a replay file.
///
/// # Errors
/// The text is invalid. The error has its line.
pub fn parse_replay(text: &str, file: &str) -> Result<Replay, InputError> {
    let mut asked = Vec::new();
    let mut requests = Vec::new();
    let mut known = HashMap::new();
    let trace = Trace::parse_with(text, |line, rest| {
        let number = match known.get(rest) {
            Some(number) => *number,
            None => {
                let number = u32::try_from(requests.len()).map_err(|_| "more than 4 294 967 295 different requests")?;
                requests.push((recorded(rest)?, line as u64));
                known.insert(rest, number);
                number
            }
        };
        asked.push(number);
        Ok(())
    });
    let trace = trace.map_err(|error| refused(file, error))?;
    let notes = text.lines().filter_map(|line| line.strip_prefix(NOTE));
    let notes = notes.take(MAX_NOTES).map(|note| note.chars().take(MAX_NOTE_CHARS).collect()).collect();
    Ok(Replay { trace, notes, file: file.to_owned(), requests, asked })
}

fn refused(file: &str, error: ProfileError) -> InputError {
    match error {
        ProfileError::Trace { line: 0, problem } => Location::named(file).invalid(problem),
        ProfileError::Trace { line, problem } => Location::at(file, line as u64).invalid(problem),
        other => Location::named(file).invalid(other),
    }
}

fn recorded(text: &str) -> Result<RecordedRequest, String> {
    let help = "write METHOD PATH behind the comma, such as 1.5,GET /items";
    if text.is_empty() {
        return Err(format!("no request; {help}, or use --profile trace:FILE for a trace of one request"));
    }
    let mut words = text.split(' ').filter(|word| !word.is_empty());
    let method = words.next().unwrap_or_default();
    let target = words.next();
    let host = words.next();
    let is_target = |target: &&str| target.starts_with('/') && target.bytes().all(|byte| byte.is_ascii_graphic());
    let target = target.filter(is_target).ok_or_else(|| format!("'{}' is no request; {help}", shortened(text)))?;
    if words.next().is_some() || host.is_some_and(|host| !is_header_value(host.as_bytes())) {
        return Err(format!("behind the path of '{}' there is more than a host", shortened(text)));
    }
    method.parse::<Method>().map_err(|error| error.to_string())?;
    Ok(RecordedRequest { method: method.to_owned(), target: target.to_owned(), host: host.map(str::to_owned) })
}

fn shortened(text: &str) -> String {
    text.chars().take(60).collect()
}

impl Replay {
    /// Makes the requests, to the origin of `base` with its header lines. Frequent routes become separate targets.
    ///
    /// # Errors
    /// `base` or a request is invalid, or the requests need too much memory.
    pub fn prepare(&self, base: &TargetSpec) -> Result<PreparedRequests, InputError> {
        let base = base.clone().with_url_credentials()?;
        let probe = Request::new(Method::Get, &base.url, &base.headers, Vec::new())
            .map_err(|error| base.location.invalid(error))?;
        if probe.url().path() != "/" || probe.url().query().is_some() {
            let help = "the file has the paths; give scheme, host and port, such as http://127.0.0.1:8080";
            return Err(base.location.invalid(format!("'{}' has a path or a query: {help}", base.url)));
        }
        let prefix = &BaseUrl::parse(base.url.trim()).map_err(|error| base.location.invalid(error))?;
        let groups = Groups::new(self);
        let mut targets = groups.targets(prefix);
        let mut ids = Vec::new();
        let mut size = Size { bytes: 0, most: MAX_REQUEST_SET_BYTES };
        for (number, (recorded, line)) in self.requests.iter().enumerate() {
            let location = Location::at(&self.file, *line);
            let request = recorded.request(prefix, &base.headers, &location)?;
            size.add(size_of_request(&request), &location)?;
            let target = groups.of_request[number];
            let of = &mut targets[target as usize];
            ids.push(RequestId { target, row: of.len() as u32 });
            of.push(&request);
        }
        let asked = self.asked.iter().map(|number| ids[*number as usize]).collect();
        let requests = RequestSet::recorded(targets, asked).map_err(|error| base.location.invalid(error))?;
        Ok(PreparedRequests { requests, origins: vec![probe.origin()] })
    }
}

impl RecordedRequest {
    fn request(&self, prefix: &BaseUrl, headers: &[String], location: &Location) -> Result<RequestParts, InputError> {
        let host = self.host.iter().map(|host| format!("Host: {host}"));
        let spec =
            TargetSpec { headers: host.collect(), ..TargetSpec::new(location.clone(), "") }.with_defaults(headers);
        let method: Method = self.method.parse().map_err(|error| location.invalid(error))?;
        let url = prefix.join(&self.target).ok_or_else(|| location.invalid("the path does not begin with a slash"))?;
        let request = Request::new(method, &url, &spec.headers, Vec::new());
        Ok(request.map_err(|error| location.invalid(error))?.parts())
    }

    /// Returns the path, with a star for each part that looks like an identifier.
    fn route(&self) -> String {
        let path = self.target.split('?').next().unwrap_or_default();
        let parts = path.split('/').map(|part| if is_identifier(part) { "*" } else { part });
        parts.collect::<Vec<_>>().join("/")
    }
}

/// Returns true for `17`, a hash or a UUID.
fn is_identifier(part: &str) -> bool {
    let is_long = part.len() >= 8 && part.bytes().any(|byte| byte.is_ascii_digit());
    let is_hash = is_long && part.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    is_hash || !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit())
}

/// Assignment of requests to targets, which have separate books.
struct Groups<'r> {
    /// Method, route and arrivals of each group. Route `None` means the remaining routes of the method.
    names: Vec<(&'r str, Option<String>, u64)>,
    /// The group number of each request.
    of_request: Vec<u32>,
}

impl<'r> Groups<'r> {
    fn new(replay: &'r Replay) -> Groups<'r> {
        let mut arrivals = vec![0u64; replay.requests.len()];
        replay.asked.iter().for_each(|number| arrivals[*number as usize] += 1);
        let routes: Vec<(&str, String)> =
            replay.requests.iter().map(|(request, _)| (request.method.as_str(), request.route())).collect();
        let mut counts: BTreeMap<&(&str, String), u64> = BTreeMap::new();
        routes.iter().zip(&arrivals).for_each(|(route, count)| *counts.entry(route).or_default() += count);
        let mut most: Vec<_> = counts.into_iter().collect();
        most.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let mut names: Vec<(&str, Option<String>, u64)> = Vec::new();
        let mut numbers = HashMap::new();
        for (rank, (route, count)) in most.into_iter().enumerate() {
            let has_own = rank < MAX_TARGETS && count * LEAST_SHARE >= replay.asked.len() as u64;
            let shared = names.iter().position(|(method, own, _)| !has_own && own.is_none() && *method == route.0);
            let number = shared.unwrap_or(names.len());
            match shared {
                Some(shared) => names[shared].2 += count,
                None => names.push((route.0, has_own.then(|| route.1.clone()), count)),
            }
            numbers.insert(route, number as u32);
        }
        Groups { names, of_request: routes.iter().map(|route| numbers[route]).collect() }
    }

    fn targets(&self, prefix: &BaseUrl) -> Vec<TargetRequests> {
        let target = |(method, route, count): &(&str, Option<String>, u64)| {
            let weight = u32::try_from(*count).unwrap_or(u32::MAX);
            let url = format!("{prefix}{}", route.as_deref().unwrap_or("/"));
            let target = TargetRequests::new(method.parse().expect("it was checked"), url, weight);
            if route.is_some() { target } else { target.named(format!("{method} other paths")) }
        };
        self.names.iter().map(target).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn base(url: &str) -> TargetSpec {
        let headers = vec!["X-A: b".to_owned(), "Host: given".to_owned()];
        TargetSpec { headers, ..TargetSpec::new(Location::named(""), url) }
    }

    fn lines(text: &str, url: &str) -> Result<Vec<String>, String> {
        let replay = parse_replay(text, "f").map_err(|error| error.to_string())?;
        let requests = replay.prepare(&base(url)).map_err(|error| error.to_string())?.requests;
        let of = |index| {
            let text = String::from_utf8_lossy(requests.bytes(requests.choose(index))).into_owned();
            let host = text.lines().find(|line| line.starts_with("Host")).unwrap_or_default().to_owned();
            format!("{} {host}", text.lines().next().unwrap_or_default().trim_end_matches(" HTTP/1.1"))
        };
        Ok((0..replay.trace.instants().len() as u64).map(of).collect())
    }

    #[test]
    fn each_arrival_asks_for_its_own_request() {
        let text =
            "seconds,request\n# note: said\n0,GET /a?x=1,2\n0.5,GET /b shop.test:81\n0.5,HEAD /a\n1,GET /a?x=1,2\n";
        let asked = lines(text, "http://127.0.0.1:8080/").unwrap();
        assert_eq!(
            asked,
            [
                "GET /a?x=1,2 Host: given",
                "GET /b Host: shop.test:81",
                "HEAD /a Host: given",
                "GET /a?x=1,2 Host: given"
            ]
        );
        assert_eq!(parse_replay(text, "f").unwrap().notes, ["said"]);
    }

    #[test]
    fn what_is_asked_for_most_has_books_of_its_own() {
        let mut text = String::new();
        for path in 0..30 {
            (0..30 - path).for_each(|_| text.push_str(&format!("0,GET /p{path}/{path}?q={path}\n")));
        }
        text.push_str("0,PUT /p\n1,GET /p0/0123abcd-ef?other\n");
        let replay = parse_replay(&text, "f").unwrap();
        let prepared = replay.prepare(&base("http://a")).unwrap();
        let targets = prepared.requests.targets();
        assert_eq!(targets.len(), MAX_TARGETS + 2);
        assert_eq!((targets[0].url(), targets[0].weight(), targets[0].len()), ("http://a/p0/*", 31, 2));
        let others: Vec<_> = targets[MAX_TARGETS..].iter().map(|of| (of.name(), of.weight())).collect();
        assert_eq!(others, [(Some("GET other paths"), 55), (Some("PUT other paths"), 1)]);
        assert_eq!(targets.iter().map(|of| u64::from(of.weight())).sum::<u64>(), replay.asked.len() as u64);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        for (text, url, wanted) in [
            ("", "http://a", "f: no arrivals in it"),
            ("0,GET /\n1", "http://a", "f:2: no request"),
            ("0,GET a", "http://a", "f:1: 'GET a' is no request"),
            ("0,GET /ä", "http://a", "f:1: 'GET /ä' is no request"),
            ("0,GET / a b", "http://a", "f:1: behind the path"),
            ("1,GET /\n0,GET /", "http://a", "f:2: earlier than"),
            ("0,GET /", "http://a/b", "'http://a/b' has a path"),
            ("0,GET /", "ftp://a", "'ftp://a'"),
            ("0,GET /x", "http://a/#", "'http://a/#' is not a URL: a path follows it"),
        ] {
            let told = lines(text, url).unwrap_err();
            assert!(told.starts_with(wanted), "{told}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            asked in prop::collection::vec((0u64..10_000_000_000, "(GET|PUT)", "/[!-~]{0,8}", proptest::option::of("[a-z.:0-9]{1,8}")), 1..20),
            notes in prop::collection::vec("[ -~\n]{0,20}", 0..3),
        ) {
            let mut asked: Vec<_> = asked
                .into_iter()
                .map(|(at, method, target, host)| (Nanos(at), RecordedRequest { method, target, host }))
                .collect();
            asked.sort();
            let text = write_replay(&notes, asked.iter().map(|(at, request)| (*at, request)));
            let read = parse_replay(&text, "f").unwrap();
            let back: Vec<_> = read.asked.iter().map(|number| &read.requests[*number as usize].0).collect();
            prop_assert_eq!(back, asked.iter().map(|(_, request)| request).collect::<Vec<_>>());
            let instants: Vec<_> = read.trace.instants().iter().map(|at| at.0).collect();
            prop_assert_eq!(instants, asked.iter().map(|(at, _)| at.0).collect::<Vec<_>>());
            prop_assert_eq!(read.notes.len(), notes.len());
        }

        #[test]
        fn any_text_is_read_or_refused(text in "[0-9a-zA-Z,./ #\n:]{0,60}") {
            if let Ok(read) = parse_replay(&text, "f") {
                prop_assert_eq!(read.asked.len(), read.trace.instants().len());
                let _ = read.prepare(&base("http://a"));
            }
        }
    }
}
