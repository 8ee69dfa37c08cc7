//! Answers that come whole over sockets: embeddings, documents in the order of their relevance, and chats.

use std::fmt::Write as _;

use truetail_model::time::Nanos;
use truetail_run::{LlmApi, LlmFacts, StreamFacts, StreamTime};
use truetail_stream::{LlmOptions, StreamOptions};

use crate::odd_answers::serve;
use crate::{count, plan, run};

const ANSWER: &str = r#"{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.1,-0.2]}],
    "model":"a \"model\"","usage":{"prompt_tokens":8,"total_tokens":8}}"#;

fn options(api: LlmApi) -> StreamOptions {
    StreamOptions::for_llm(LlmOptions::new(api, vec!["e2e < 1h".parse().unwrap()]))
}

/// Returns the books of `requests` requests whose answers come in these writes.
fn answers(
    requests: u64,
    api: LlmApi,
    writes: impl Fn(&mut dyn FnMut(&[u8])) + Clone + Send + 'static,
) -> (StreamFacts, LlmFacts) {
    use std::io::Write as _;
    let url = serve(move |socket| {
        let mut result = Ok(());
        writes(&mut |bytes| result = result.as_mut().map_or(Ok(()), |()| socket.write_all(bytes)));
        result
    });
    let (_, facts) = run(plan(&url, 100.0, requests), options(api));
    let llm = facts.llm.clone().expect("it was asked for");
    (facts, llm)
}

fn head(length: usize) -> String {
    format!(
        "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: {length}\r\n\r\n"
    )
}

/// Returns the books of three requests with this body.
fn of_body(api: LlmApi, body: &str) -> (StreamFacts, LlmFacts) {
    let answer = head(body.len()) + body;
    answers(3, api, move |write| write(answer.as_bytes()))
}

fn no_times_of_content(facts: &StreamFacts) {
    let of_content = StreamTime::ALL.into_iter().filter(|time| time.is_of_llm());
    of_content.for_each(|time| assert_eq!(count(facts, time), 0, "{time:?}"));
    assert_eq!((count(facts, StreamTime::EventGap), count(facts, StreamTime::LongestGap)), (0, 0));
}

#[test]
fn an_answer_is_counted_once_however_it_is_cut() {
    for length in [1, 2, 7, 64, ANSWER.len()] {
        let (facts, llm) = answers(2, LlmApi::Embeddings, move |write| {
            write(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n");
            for piece in ANSWER.as_bytes().chunks(length) {
                let chunk = format!("{:x}\r\n{}\r\n", piece.len(), str::from_utf8(piece).unwrap());
                write(chunk.as_bytes());
            }
            write(b"0\r\n\r\n");
        });
        assert_eq!((facts.tally.complete, facts.events, llm.other_events), (2, 2, 2), "{length}: {facts:?}");
        assert_eq!((llm.tokens.counted, llm.tokens.input, llm.input_tokens()), (2, 16, Some(16)));
        assert_eq!((llm.tokens.output, llm.output_tokens(), llm.tokens.no_time_per_output_token), (0, None, 2));
        assert_eq!((count(&facts, StreamTime::FirstEvent), count(&facts, StreamTime::LastEvent)), (2, 2));
        assert_eq!(llm.slo.map(|slo| slo.met), Some(2));
        no_times_of_content(&facts);
    }
}

#[test]
fn errors_and_answers_that_are_not_understood_are_no_complete_answers() {
    for body in [r#"{"error":{"message":"too long"}}"#, r#"{"error":"full","data":[1],"usage":{"prompt_tokens":8}}"#] {
        let (facts, llm) = of_body(LlmApi::Embeddings, body);
        assert_eq!((facts.tally.server_error, llm.error_events, llm.tokens.counted), (3, 3, 0), "{body}: {facts:?}");
    }
    let deep = format!("{{\"data\":{}{}}}", "[".repeat(1 << 16), "]".repeat(1 << 16));
    for body in ["{\"data\":[1],\"usage\":{\"prompt_tokens\":8}}}", "<html>", "{\"detail\":\"Not Found\"}", "7", &deep]
    {
        let (facts, llm) = of_body(LlmApi::Embeddings, body);
        let seen = (facts.tally.unfinished, facts.events, llm.unreadable_events, llm.tokens.counted);
        assert_eq!(seen, (3, 3, 3, 0), "{facts:?}");
        assert_eq!(llm.slo.map(|slo| (slo.met, slo.cannot_tell)), Some((0, 0)));
    }
    // The body of the protocol is whole, and the document is not.
    for body in ["", " ", "{\"data\":[1],\"usage\":{\"prompt_tokens\":8}", "[[0.1]"] {
        let (facts, llm) = of_body(LlmApi::Rerank, body);
        assert_eq!((facts.tally.unfinished, facts.events, llm.tokens.counted), (3, 0, 0), "{body}: {facts:?}");
    }
    let (facts, llm) = of_body(LlmApi::Rerank, r#"{"results":[],"usage":{"total_tokens":5}}"#);
    assert_eq!((facts.tally.complete, llm.tokens.input, llm.slo.map(|slo| slo.met)), (3, 15, Some(0)));
}

#[test]
fn a_body_that_breaks_off_is_cut() {
    let answer = head(ANSWER.len() + 1) + ANSWER;
    let (facts, llm) = answers(3, LlmApi::Embeddings, move |write| write(answer.as_bytes()));
    assert_eq!((facts.tally.cut, facts.events, llm.tokens.counted), (3, 0, 0), "{facts:?}");
    no_times_of_content(&facts);
}

#[test]
fn a_count_after_megabytes_is_found_and_none_is_invented() {
    let floats = "-0.0123456,".repeat(1 << 18);
    let mut body = format!("{{\"data\":[{{\"embedding\":[{floats}0]}}],\"note\":\"");
    body.push_str(&"\\\"}".repeat(1 << 18));
    write!(body, "\",\"usage\":{{\"prompt_tokens\":{}}}}}", u64::MAX / 2).unwrap();
    let (facts, llm) = of_body(LlmApi::Embeddings, &body);
    assert_eq!((facts.tally.complete, facts.bytes), (3, Some(3 * body.len() as u64)));
    // The sum saturates.
    assert_eq!((llm.tokens.counted, llm.tokens.input), (3, u64::MAX));
    let (_, llm) = of_body(LlmApi::Embeddings, r#"{"data":[1],"usage":{"prompt_tokens":-7,"total_tokens":1e99}}"#);
    assert_eq!((llm.tokens.counted, llm.tokens.not_counted, llm.input_tokens()), (0, 3, None));
}

#[test]
fn only_json_with_status_200_is_such_an_answer() {
    for head in [
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n",
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n",
        "HTTP/1.1 429 Slow down\r\nContent-Type: application/json\r\n",
    ] {
        let answer = format!("{head}Connection: close\r\nContent-Length: {}\r\n\r\n{ANSWER}", ANSWER.len());
        let (facts, llm) = answers(3, LlmApi::Embeddings, move |write| write(answer.as_bytes()));
        assert_eq!((facts.tally.not_a_stream, facts.events, llm.tokens.counted), (3, 0, 0), "{head}");
    }
}

#[test]
fn a_chat_without_a_stream_has_its_tokens_and_its_end_and_no_times_of_tokens() {
    let long = "a \\\"word\\\" ".repeat(1 << 10);
    let body = format!(
        "{{\"choices\":[{{\"index\":0,\"message\":{{\"content\":\"{long}\"}},\"finish_reason\":\"length\"}}],\"usage\":{{\"prompt_tokens\":4,\
         \"completion_tokens\":30,\"completion_tokens_details\":{{\"reasoning_tokens\":20}}}}}}"
    );
    let (facts, llm) = of_body(LlmApi::Whole, &body);
    let tokens = llm.tokens;
    assert_eq!((facts.tally.complete, facts.events, facts.imbalance(3)), (3, 3, None), "{facts:?}");
    assert_eq!((tokens.output, tokens.input, tokens.reasoning, tokens.hidden_reasoning), (90, 12, 60, 0));
    assert_eq!((llm.output_tokens(), tokens.unknown_time_per_output_token, llm.finish.length), (Some(90), 3, 3));
    assert_eq!(llm.slo.map(|slo| slo.met), Some(3));
    no_times_of_content(&facts);
    for (body, expected) in [
        (r#"{"error":{"message":"too long"}}"#, (0, 3, 0)),
        (r#"{"choices":[{"message":{"content":"a"},"finish_reason":"error"}]}"#, (0, 3, 0)),
        (r#"{"detail":"Not Found"}"#, (0, 3, 0)),
        (r#"{"data":[{"embedding":[1]}]}"#, (0, 0, 3)),
    ] {
        let (facts, llm) = of_body(LlmApi::Whole, body);
        let tally = facts.tally;
        assert_eq!((tally.complete, tally.server_error, tally.unfinished), expected, "{body}: {facts:?}");
        assert_eq!((llm.tokens.counted, facts.imbalance(3)), (0, None));
    }
    let (_, llm) = of_body(LlmApi::Whole, r#"{"choices":[{"message":{"content":""},"finish_reason":"stop"}]}"#);
    assert_eq!((llm.tokens.not_counted, llm.finish.stop, llm.slo.map(|slo| slo.met)), (3, 3, Some(0)));
}

#[test]
fn a_count_in_the_head_holds_for_embeddings_without_one_in_the_body() {
    let answer = |count: &str, body: &str| {
        let head =
            format!("Content-Type: application/json\r\nx-compute-tokens: {count}\r\nContent-Length: {}", body.len());
        format!("HTTP/1.1 200 OK\r\nConnection: close\r\n{head}\r\n\r\n{body}")
    };
    let in_body = r#"{"data":[1],"usage":{"prompt_tokens":5}}"#;
    for (api, count, body, expected) in [
        (LlmApi::Embeddings, "12", "[[0.1]]", (3, 36)),
        (LlmApi::Rerank, "7", r#"[{"index":0,"score":0.9}]"#, (3, 21)),
        (LlmApi::Embeddings, "12", in_body, (3, 15)),
        (LlmApi::Embeddings, "-1", "[[0.1]]", (0, 0)),
        (LlmApi::Embeddings, "many", "[[0.1]]", (0, 0)),
        (LlmApi::Embeddings, "99999999999999999999999", "[[0.1]]", (0, 0)),
        // It is no count of output.
        (LlmApi::Whole, "12", r#"{"choices":[{"text":"a","finish_reason":"stop"}]}"#, (0, 0)),
    ] {
        let answer = answer(count, body);
        let (_, llm) = answers(3, api, move |write| write(answer.as_bytes()));
        assert_eq!((llm.tokens.counted, llm.tokens.input), expected, "{count} {body}");
    }
}

#[test]
fn parts_of_a_run_add_up() {
    let (mut whole, _) = of_body(LlmApi::Embeddings, ANSWER);
    let (other, _) = of_body(LlmApi::Embeddings, ANSWER);
    assert!(whole.is_alike(&other));
    whole.merge(&other);
    assert_eq!(whole.imbalance(6), None);
    assert_eq!(whole.llm.and_then(|llm| llm.input_tokens()), Some(48));
    let (reranked, _) = of_body(LlmApi::Rerank, r#"{"results":[1]}"#);
    assert!(!other.is_alike(&reranked));
}

#[test]
fn an_idle_answer_is_given_up() {
    let options = StreamOptions { idle_timeout: Some(Nanos::from_millis(50)), ..options(LlmApi::Embeddings) };
    let url = serve(|socket| {
        use std::io::Write as _;
        socket.write_all((head(ANSWER.len()) + "{").as_bytes())?;
        std::thread::sleep(std::time::Duration::from_secs(2));
        Ok(())
    });
    let (_, facts) = run(plan(&url, 100.0, 2), options);
    assert_eq!((facts.tally.idle, facts.events), (2, 0), "{facts:?}");
}
