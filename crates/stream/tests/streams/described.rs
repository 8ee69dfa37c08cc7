//! Dialects that files describe, compared with what truetail knows of the same APIs: the same answers, with all their
//! times and counts.

use std::fmt::Write;

use truetail_run::{FinishCounts, LlmApi, RequestStreams, StreamFacts};
use truetail_stream::{DescribedDialect, LlmOptions, StreamOptions};

use crate::dialects::{Script, api_rows, facts, rows_of_content, rows_of_ends, rows_of_tokens};

fn described(name: &str) -> StreamOptions {
    let file = format!("{}/../../examples/dialects/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{file}: {error}"));
    let dialect = DescribedDialect::parse(name, &text).unwrap_or_else(|error| panic!("{error}"));
    StreamOptions::for_llm(LlmOptions::described(dialect, Vec::new()))
}

/// Returns the facts without the name of the dialect.
fn nameless(mut facts: StreamFacts) -> StreamFacts {
    let llm = facts.llm.as_mut().expect("a model");
    (llm.reading.api, llm.reading.dialect) = (LlmApi::OpenaiChat, None);
    facts
}

/// Compares both readings of an answer. Returns the difference.
fn difference(api: LlmApi, script: &Script) -> Option<String> {
    let content_type = if api == LlmApi::Ollama { "application/x-ndjson" } else { "text/event-stream" };
    let known = StreamOptions::for_llm(LlmOptions::new(api, Vec::new()));
    assert_eq!(known.kind, described(api.name()).kind);
    let mut known = nameless(facts(script, known, content_type));
    let mut read = nameless(facts(script, described(api.name()), content_type));
    if api == LlmApi::OpenaiResponses {
        // The type of the last event says the reason, and a description reads a reason at a path.
        [&mut known, &mut read]
            .into_iter()
            .flat_map(|facts| &mut facts.llm)
            .for_each(|llm| llm.finish = FinishCounts::default());
        // Each reading has compared its single answer with its books.
        [&mut known, &mut read].into_iter().for_each(|facts| facts.requests = RequestStreams::default());
    }
    (known != read).then(|| format!("known {:?} {:?}\nread {:?} {:?}", known.tally, known.llm, read.tally, read.llm))
}

#[test]
fn a_description_of_openai_chat_gives_the_same_times_and_counts() {
    // Nothing describes an error by what is missing.
    let not_described = ["message and code"];
    let rows = [rows_of_content(), rows_of_tokens(), rows_of_ends()].into_iter().flatten();
    let mut wrong = String::new();
    let mut compared = 0;
    for (name, script, ..) in rows.filter(|(name, ..)| !not_described.contains(name)) {
        compared += 1;
        if let Some(difference) = difference(LlmApi::OpenaiChat, &script) {
            writeln!(wrong, "{name}: {difference}").unwrap();
        }
    }
    assert!(wrong.is_empty() && compared > 35, "{compared} compared\n{wrong}");
}

#[test]
fn a_description_of_another_api_gives_the_same_times_and_counts() {
    let described = [LlmApi::Anthropic, LlmApi::Ollama, LlmApi::Sglang, LlmApi::OpenaiResponses];
    // The files name the kinds of delta that they know, and a summary has no count.
    let not_described = ["unknown", "summary"];
    let mut wrong = String::new();
    let mut compared = 0;
    for (api, (name, script, ..)) in api_rows() {
        if described.contains(&api) && !not_described.contains(&name) {
            compared += 1;
            if let Some(difference) = difference(api, &script) {
                writeln!(wrong, "{} {name}: {difference}", api.name()).unwrap();
            }
        }
    }
    assert!(wrong.is_empty() && compared > 14, "{compared} compared\n{wrong}");
}

#[test]
fn what_a_description_does_not_name_is_never_silently_left_out() {
    let unknown = [(LlmApi::Anthropic, "unknown"), (LlmApi::OpenaiResponses, "summary")];
    let rows = api_rows().into_iter().filter(|(api, (name, ..))| unknown.contains(&(*api, *name)));
    let mut seen = 0;
    for (api, (name, script, ..)) in rows {
        seen += 1;
        let read = facts(&script, described(api.name()), "text/event-stream");
        let llm = read.llm.expect("a model");
        assert_eq!((llm.unreadable_events, llm.unmeasured.first_content), (10, 1), "{} {name}", api.name());
    }
    assert_eq!(seen, unknown.len());
}

#[test]
fn a_description_may_name_the_media_type_and_reasons_that_are_errors() {
    let text = "events = 'lines'\nmedia-type = 'application/x-own'\ntext = 'out'\nend = 'state == over'\nfinish = 'why'\n\
                finish-errors = ['evicted']\n[usage]\noutput = 'n'";
    let own = || {
        let dialect = DescribedDialect::parse("own.toml", text).unwrap_or_else(|error| panic!("{error}"));
        StreamOptions::for_llm(LlmOptions::described(dialect, Vec::new()))
    };
    let script = |last: &str| -> Script {
        vec![
            (100, b"{\"out\":\"a\"}\n".to_vec()),
            (120, b"{\"out\":\"b\"}\n".to_vec()),
            (140, last.as_bytes().to_vec()),
        ]
    };
    let ended = |last: &str, media_type: &str| facts(&script(last), own(), media_type).tally;
    let over = "{\"state\":\"over\",\"why\":\"full\",\"n\":2}\n";
    assert_eq!(ended(over, "application/x-own; v=1").complete, 1);
    assert_eq!(ended(over, "application/x-ndjson").not_a_stream, 1);
    assert_eq!(ended("{\"why\":\"evicted\"}\n", "application/x-own").server_error, 1);
    assert_eq!(ended("{\"state\":\"on\"}\n", "application/x-own").unfinished, 1);
}
