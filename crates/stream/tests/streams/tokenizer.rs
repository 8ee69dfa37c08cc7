//! A tokenizer counts answers whose tokens the server does not count.

use std::io::Write;
use std::thread;
use std::time::Duration;

use truetail_run::{LlmApi, LlmFacts, StreamFacts, StreamTime};
use truetail_stream::{LlmOptions, StreamOptions, Tokenizer};

use crate::odd_answers::serve;
use crate::{MS, count, longest, plan, run};

const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
const DONE: &str = "data: [DONE]\n\n";
/// Counts words. Its own limit of two words is for the input of a model and must not apply.
const WORDS: &str = r#"{"version":"1.0","truncation":{"direction":"Right","max_length":2,"strategy":"LongestFirst","stride":0},
"padding":null,"added_tokens":[],"normalizer":null,"pre_tokenizer":{"type":"Whitespace"},"post_processor":null,"decoder":null,
"model":{"type":"WordLevel","unk_token":"?","vocab":{"?":0,"one":1,"two":2}}}"#;

fn says(text: &str) -> String {
    format!("data: {{\"choices\":[{{\"index\":0,\"text\":\"{text}\"}}]}}\n\n")
}

/// Returns the streams of five requests to a model that says these texts, 30 ms apart, and then `last`.
fn answers(texts: &'static [&'static str], last: impl Into<String>) -> (StreamFacts, LlmFacts) {
    let last = last.into();
    let url = serve(move |socket| {
        socket.write_all(HEAD.as_bytes())?;
        for text in texts {
            socket.write_all(says(text).as_bytes())?;
            thread::sleep(Duration::from_millis(30));
        }
        socket.write_all(format!("{last}{DONE}").as_bytes())
    });
    let tokenizer = Some(Tokenizer::from_bytes("words.json", WORDS.as_bytes()).unwrap());
    let slo = vec!["tpot < 1h".parse().unwrap()];
    let llm = LlmOptions { tokenizer, ..LlmOptions::new(LlmApi::OpenaiCompletions, slo) };
    let (_, facts) = run(plan(&url, 50.0, 5), StreamOptions::for_llm(llm));
    let llm = facts.llm.clone().expect("it was asked for");
    (facts, llm)
}

#[test]
fn words_are_counted_over_the_borders_of_events() {
    // "three" comes in two events and is one word, so there are five words.
    let (facts, llm) = answers(&["one two", " th", "ree", " four one"], "");
    let client = llm.by_client.expect("there is a tokenizer");
    assert_eq!((client.counted, client.output, client.tokenizer.as_str()), (5, 25, "words.json"));
    assert_eq!((llm.tokens.counted, llm.tokens.not_counted), (0, 5), "the server counted none");
    assert_eq!(client.sha256.len(), 64);
    assert_eq!(count(&facts, StreamTime::TimePerOutputToken), 5);
    // Three pauses over four tokens.
    let shortest = facts.times.get(StreamTime::TimePerOutputToken).min().unwrap().0;
    assert!(shortest >= 90 * MS / 4 - MS, "{shortest}");
    assert!(longest(&facts, StreamTime::TimePerOutputToken) <= longest(&facts, StreamTime::LastEvent) / 4);
    assert_eq!(llm.slo.map(|slo| (slo.met, slo.cannot_tell)), Some((5, 0)));
}

#[test]
fn what_the_server_counts_is_not_counted_again() {
    let usage = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":4,\"completion_tokens\":9}}\n\n";
    let (_, llm) = answers(&["one", " two"], usage);
    assert_eq!((llm.tokens.counted, llm.tokens.output), (5, 45));
    assert_eq!(llm.by_client.map(|client| (client.counted, client.output)), Some((0, 0)));
}

#[test]
fn what_cannot_be_read_is_not_counted() {
    // Only a finish reason says that an answer with such an event was complete.
    let finish = "data: {\"choices\":[{\"index\":0,\"text\":\"\",\"finish_reason\":\"stop\"}]}\n\n";
    let last = format!("data: neither JSON nor a mark\n\n{finish}");
    let (_, llm) = answers(&["one", " two"], last);
    assert_eq!(llm.by_client.as_ref().map(|client| client.counted), Some(0));
    assert_eq!((llm.tokens.not_counted, llm.tokens.unknown_time_per_output_token), (5, 5));
    assert_eq!(llm.output_tokens(), None);
}

#[test]
fn a_file_that_is_no_tokenizer_is_refused() {
    let refused = Tokenizer::from_bytes("t.json", b"{}").unwrap_err();
    assert!(refused.starts_with("it is no tokenizer.json: "), "{refused}");
}
