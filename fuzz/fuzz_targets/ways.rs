//! Recordings and scripts as loads; the first byte says which kind. An access log that is read can be written and read as
//! a replay, and a flow made of an archive, a script or a plan is one that our own parser reads.
#![no_main]

use libfuzzer_sys::fuzz_target;
use truetail_flow::Flow;
use truetail_import::ways::{
    AccessLogOptions, ConversationOptions, HarOptions, LoadFiles, Placement, flow_of_har, load_of_conversations,
    load_of_jmx, load_of_k6, read_access_log,
};
use truetail_requests::{Location, RecordedRequest, TargetSpec, parse_replay, write_replay};

fuzz_target!(|input: &[u8]| {
    let Some((kind, bytes)) = input.split_first() else { return };
    match kind % 6 {
        0 => access_log(bytes),
        1 => archive(bytes),
        2 => drop(load_of_k6(bytes, "a.js").map(flows)),
        3 => drop(load_of_jmx(bytes, "a.jmx").map(flows)),
        4 => drop(load_of_conversations(bytes, "a.json", CONVERSATIONS).map(flows)),
        _ => replay(bytes),
    }
});

const CONVERSATIONS: ConversationOptions<'static> = ConversationOptions { turns: 3, think: Some("1s") };

fn access_log(mut bytes: &[u8]) {
    let lines = bytes.len();
    let options = AccessLogOptions { empty_bodies: true, ..AccessLogOptions::default() };
    let Ok(log) = read_access_log(&mut bytes, &options) else { return };
    let arrivals = log.arrivals(Placement::Random(1));
    assert!(!arrivals.is_empty() && arrivals.len() <= lines);
    let recorded =
        |method: &str, target: &str| RecordedRequest { method: method.into(), target: target.into(), host: None };
    let requests: Vec<_> = arrivals.iter().map(|(at, asked)| (*at, recorded(&asked.method, &asked.target))).collect();
    let notes = log.notes("log", Placement::Random(1), true);
    let text = write_replay(&notes, requests.iter().map(|(at, request)| (*at, request)));
    let read = parse_replay(&text, "replay").unwrap_or_else(|problem| panic!("{problem}"));
    assert_eq!(read.trace.instants().len(), arrivals.len());
}

fn archive(bytes: &[u8]) {
    let options = HarOptions { assets: true, origins: Vec::new() };
    let Ok(made) = flow_of_har(bytes, "archive", &options) else { return };
    let variables = [("host".to_owned(), "http://127.0.0.1:8080".to_owned())];
    let read = Flow::parse("flow", &made.hurl, &variables, &|_| Err("no file".to_owned()));
    let read = read.unwrap_or_else(|error| panic!("{error:?}: {}", made.hurl));
    assert_eq!(read.requests_per_session() as usize, made.requests);
}

fn flows(load: LoadFiles) {
    for (name, text) in load.files.iter().filter(|(name, _)| name.ends_with(".hurl")) {
        let names = text.split("{{").skip(1).filter_map(|rest| rest.split("}}").next());
        let variables: Vec<_> = names.map(|name| (name.to_owned(), "http://127.0.0.1:8080".to_owned())).collect();
        let read = Flow::parse(name, text, &variables, &|_| Err("no file".to_owned()));
        read.unwrap_or_else(|error| panic!("{error:?}: {text}"));
    }
}

fn replay(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match parse_replay(text, "replay") {
        Ok(read) => drop(read.prepare(&TargetSpec::new(Location::named(""), "http://127.0.0.1:8080"))),
        Err(problem) => assert!(!problem.to_string().contains('\n'), "{problem}"),
    }
}
