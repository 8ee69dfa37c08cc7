//! The API of a language model, recognised by one answer.

use truetail_engine::{AnswerHead, FieldList};
use truetail_run::LlmApi;
use truetail_stream::{Recognised, first_answer};

use crate::dialects::{Script, api_rows, event, rows_of_content, twenty};

fn recognise(status: u16, fields: &[(&str, &str)], script: &Script) -> Result<Recognised, String> {
    let (factory, answer) = first_answer();
    let mut observer = factory.observer();
    let mut list = FieldList::default();
    fields.iter().for_each(|(name, value)| list.push(name.as_bytes(), value.as_bytes()));
    observer.head(0, AnswerHead::with_fields(status, &list));
    script.iter().for_each(|(_, bytes)| observer.body(0, bytes));
    let answer = answer.lock().unwrap();
    answer.recognise()
}

fn of_stream(script: &Script) -> Result<Recognised, String> {
    recognise(200, &[("content-type", "text/event-stream; charset=utf-8")], script)
}

fn of_json(body: &str) -> Result<Recognised, String> {
    recognise(200, &[("content-type", "application/json")], &vec![(0, body.as_bytes().to_vec())])
}

/// Answers that come whole, also only their beginning.
fn whole_answers() -> [(LlmApi, &'static str); 10] {
    [
        (LlmApi::Embeddings, r#"{"object":"list","data":[{"object":"embedding","embedding":[0.1]}]}"#),
        (LlmApi::Embeddings, r#"{"model":"m","embeddings":[[0.1]]}"#),
        (LlmApi::Embeddings, r#"{"data":[{"embedding":[0.1,0."#),
        (LlmApi::Rerank, r#"{"results":[{"index":0,"relevance_score":0.9}]}"#),
        (LlmApi::Rerank, r#"{"data":[{"index":0,"relevance_score":0.9}]}"#),
        (LlmApi::Rerank, r#"{"model":"m","results":[{"#),
        (LlmApi::Whole, r#"{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}"#),
        (LlmApi::Whole, r#"{"object":"response","output":[{"type":"mess"#),
        (LlmApi::Whole, r#"{"type":"message","content":[],"stop_reason":"end_turn"}"#),
        (LlmApi::Whole, r#"{"model":"m","response":"a","done":true}"#),
    ]
}

#[test]
fn each_api_is_recognised_by_its_answer() {
    let chat = rows_of_content().into_iter().map(|row| (LlmApi::OpenaiChat, row));
    let mut seen = Vec::new();
    for (api, (name, script, ..)) in chat.chain(api_rows()) {
        let recognised = if api == LlmApi::Ollama {
            recognise(200, &[("content-type", "application/x-ndjson")], &script)
        } else {
            of_stream(&script)
        };
        assert_eq!(
            recognised.as_ref().map(|recognised| recognised.api),
            Ok(api),
            "{} {name}: {recognised:?}",
            api.name()
        );
        seen.push(api);
    }
    let completion = |_: usize| event(r#"{"object":"text_completion","choices":[{"index":0,"text":"w"}]}"#);
    assert_eq!(of_stream(&twenty(completion)).map(|recognised| recognised.api), Ok(LlmApi::OpenaiCompletions));
    seen.push(LlmApi::OpenaiCompletions);
    for (api, body) in whole_answers() {
        assert_eq!(of_json(body).map(|recognised| recognised.api), Ok(api), "{body}");
        seen.push(api);
    }
    assert!(LlmApi::ALL.iter().all(|api| seen.contains(api)), "{seen:?}");
}

#[test]
fn what_is_not_understood_in_a_known_answer_is_counted() {
    let odd = |i: usize| {
        let member = if i < 3 { "monologue" } else { "content" };
        event(&format!(r#"{{"choices":[{{"index":0,"delta":{{"{member}":"w"}}}}]}}"#))
    };
    let expected = Recognised { api: LlmApi::OpenaiChat, events: 20, not_understood: 3 };
    assert_eq!(of_stream(&twenty(odd)), Ok(expected));
}

#[test]
fn an_answer_of_no_known_api_is_quoted() {
    let own = |_: usize| event(r#"{"output":"w"}"#);
    let sse = ("content-type", "text/event-stream");
    let body = |text: &str| vec![(0, text.as_bytes().to_vec())];
    for (status, fields, script, parts) in [
        (200, vec![sse], twenty(own), vec!["no event of the 20", "{\"output\":\"w\"}"]),
        (200, vec![sse], body("data: {\"error\":{\"message\":\"full\"}}\n\n"), vec!["reports an error", "full"]),
        (200, vec![sse], body(""), vec!["a stream without an event"]),
        (404, vec![sse], body("no such\n\tmodel"), vec!["status 404: 'no such model'"]),
        (
            200,
            vec![("content-type", "application/json")],
            body("{\"id\":1}"),
            vec!["no stream, but application/json: '{"],
        ),
        (
            200,
            vec![("content-type", "application/json")],
            body("[[0.1]]"),
            vec!["no stream, but application/json: '[[0.1]]'"],
        ),
        (200, vec![], body("x"), vec!["no content type"]),
        (200, vec![sse, ("content-encoding", "gzip")], body("x"), vec!["content encoding gzip"]),
        (200, vec![("content-type", "application/x-ndjson")], twenty(own), vec!["content that is known"]),
        (200, vec![sse], body(&"x".repeat(3 << 20)), vec!["without an event: 'xxx"]),
        (
            200,
            vec![sse],
            body("data: {\"choices\":[{\"text\":\"a\"}],\"token\":{\"text\":\"a\"}}\n\n"),
            vec!["may be that of openai-completions or tgi"],
        ),
    ] {
        let problem = recognise(status, &fields, &script).expect_err("no API");
        assert!(parts.iter().all(|part| problem.contains(part)) && problem.len() < 400, "{parts:?}: {problem}");
    }
}
