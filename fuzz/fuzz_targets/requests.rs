//! Targets and rows from users: refused with one line, or prepared so that each is exactly one HTTP/1.1 request,
//! whatever the rows contain.
#![no_main]

use httparse::{EMPTY_HEADER, Request, Status};
use libfuzzer_sys::fuzz_target;
use truetail_engine::FeedOrder;
use truetail_fuzz::split;
use truetail_requests::{
    Feed, InputError, Location, PreparedRequests, RowFormat, Rows, TargetSpec, parse_curl, parse_targets, prepare,
    split_words,
};

/// Arrivals to check, enough to reach every row of a short file.
const ARRIVALS: u64 = 64;

fuzz_target!(|input: &[u8]| {
    let Some((flags, rest)) = input.split_first() else { return };
    let mut parts = split(rest);
    let Some(Ok(text)) = parts.next().map(std::str::from_utf8) else { return };
    let format = if flags & 1 == 0 { RowFormat::Csv } else { RowFormat::JsonLines };
    let order = if flags & 2 == 0 { FeedOrder::InOrder } else { FeedOrder::Random };
    let feed = parts.next().map(|bytes| Feed { rows: Rows { format, file: "rows", bytes }, order });
    let asked = specs(text, flags & 4 != 0).and_then(|specs| prepare(&specs, feed, u64::from(*flags)));
    match asked {
        Ok(ask) => check(&ask),
        Err(problem) => assert!(!problem.to_string().contains('\n'), "{problem}"),
    }
});

fn specs(text: &str, is_a_command: bool) -> Result<Vec<TargetSpec>, InputError> {
    let read = |_: &str| Ok(b"a body {{with}} braces".to_vec());
    if !is_a_command {
        return parse_targets(text, "targets", &read);
    }
    let place = Location::named("--curl");
    let words = split_words(text).map_err(|error| place.invalid(error))?;
    parse_curl(&words, &place, &read).map(|spec| vec![spec])
}

fn check(ask: &PreparedRequests) {
    for arrival in 0..ARRIVALS {
        let which = ask.requests.choose(arrival);
        let bytes = ask.requests.bytes(which);
        let shown = || String::from_utf8_lossy(bytes).into_owned();
        let mut headers = [EMPTY_HEADER; 256];
        let mut request = Request::new(&mut headers);
        let head = match request.parse(bytes) {
            Ok(Status::Complete(head)) => head,
            Err(httparse::Error::TooManyHeaders) => return,
            other => panic!("{other:?}: {:?}", shown()),
        };
        assert_eq!(
            (request.version, request.method == Some("HEAD")),
            (Some(1), ask.requests.is_head_request(which)),
            "{:?}",
            shown()
        );
        let stated: Vec<usize> = lengths(&request);
        assert!(stated.is_empty() || stated == [bytes.len() - head], "{:?}", shown());
        assert!(!stated.is_empty() || bytes.len() == head, "a body without a length: {:?}", shown());
    }
}

fn lengths(request: &Request<'_, '_>) -> Vec<usize> {
    let named = request.headers.iter().filter(|header| header.name.eq_ignore_ascii_case("content-length"));
    named.map(|header| std::str::from_utf8(header.value).unwrap().trim().parse().unwrap()).collect()
}
