use proptest::prelude::*;
use serde_json::Value;

use super::values::MAX_LINE;
use super::*;
use crate::synthetic::{MadePrompts, TokensOfWords};

const HUGE: u64 = u64::MAX;

fn file(text: &str) -> PromptFile {
    text.parse().unwrap_or_else(|problem| panic!("{text}: {problem}"))
}

fn read(name: &str, text: &str) -> Result<FilePrompts, String> {
    file(name).read(text).map_err(|error| error.to_string())
}

fn rows(made: &MadePrompts) -> Vec<Value> {
    let lines = made.json_lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).expect("JSON")).collect()
}

fn words(row: &Value) -> Vec<&str> {
    row["prompt"].as_str().expect("a prompt").split(' ').collect()
}

fn seconds(prompts: &FilePrompts) -> Vec<f64> {
    prompts.arrivals.as_ref().expect("arrivals").instants().iter().map(|at| at.as_secs_f64()).collect()
}

#[test]
fn files_are_named_behind_their_format() {
    for (text, shown) in [
        ("mooncake:a/b.jsonl", "mooncake:b.jsonl"),
        ("mooncake:b.jsonl,block=64", "mooncake:b.jsonl,block=64"),
        ("burstgpt:x,y.csv", "burstgpt:x,y.csv"),
        ("batch:/b.jsonl,model=m/n", "batch:b.jsonl,model=m/n"),
    ] {
        assert_eq!(file(text).to_string(), shown);
    }
    assert_eq!(file("batch:/a,b.jsonl,model=m").file, "/a,b.jsonl");
    assert!(PromptFile::named("synthetic:input=1,output=1").is_none() && PromptFile::named("mooncake").is_none());
    for (text, part) in [
        ("mooncake:", "names no file; write mooncake:FILE"),
        ("sharegpt:-", "names no file"),
        ("mooncake:a,block=0", "block: '0' is no number of tokens"),
    ] {
        let problem = PromptFile::named(text).expect("a format").expect_err(text);
        assert!(problem.contains(part), "{text}: {problem}");
    }
}

#[test]
fn equal_hashes_are_equal_texts_and_lengths_are_exact() {
    let text = "{\"timestamp\": 1000, \"input_length\": 1300, \"output_length\": 5, \"hash_ids\": [7, 8, 9]}\n\n\
                {\"timestamp\": 1000.5, \"input_length\": 1100, \"output_length\": 6, \"hash_ids\": [7, 8, 10], \"more\": 1}\n\
                {\"timestamp\": 2000, \"input_length\": 600, \"output_length\": 7, \"hash_ids\": [7]}\n\
                {\"timestamp\": 2000, \"input_length\": 0, \"output_length\": 7}\n\
                {\"timestamp\": 2000, \"input_length\": 9, \"output_length\": 0}\n\
                {\"timestamp\": 3000, \"input_length\": 600, \"output_length\": 7}\n";
    let prompts = read("mooncake:t", text).unwrap();
    assert_eq!(seconds(&prompts), [0.0, 0.0005, 1.0, 2.0]);
    assert_eq!(
        prompts.to_string(),
        "4 requests in 2.0 s, with 900.0 input and 6.2 output tokens in the mean; 42.9 % of their blocks came before; \
         left out: 1 without a prompt (the first is line 5), 1 without an answer (the first is line 6)"
    );
    for tokens in [TokensOfWords { each: 1.0, around: 0.0 }, TokensOfWords { each: 1.37, around: 11.0 }] {
        let made = prompts.make(HUGE, HUGE, 1, tokens);
        let rows = rows(&made);
        let texts: Vec<Vec<&str>> = rows.iter().map(words).collect();
        let lengths = texts.iter().map(Vec::len).collect::<Vec<_>>();
        assert_eq!(lengths, [1300, 1100, 600, 600].map(|length| tokens.words(length) as usize));
        let block = (512.0 / tokens.each).round() as usize;
        let shared = |a: &[&str], b: &[&str]| a.iter().zip(b).take_while(|(a, b)| a == b).count();
        // Two blocks are equal, and then a word may be equal by chance.
        assert!((2 * block..2 * block + 5).contains(&shared(&texts[0], &texts[1])), "{tokens:?}");
        assert!((block..block + 5).contains(&shared(&texts[0], &texts[2])), "{tokens:?}");
        assert!(shared(&texts[0], &texts[3]) < 5);
        assert_eq!(rows[1]["output_tokens"], 6);
        assert_eq!(made.asked.len(), 4);
        assert_eq!(prompts.make(HUGE, HUGE, 1, tokens), made);
        assert_ne!(prompts.make(HUGE, HUGE, 2, tokens), made);
    }
}

#[test]
fn requests_that_failed_are_left_out_of_burst_gpt() {
    let text = "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\r\n\
                5,ChatGPT,472,18,490,Conversation log\r\n45,ChatGPT,1087,0,1087,Conversation log\r\n\
                118.5,GPT-4,417,276,693,Conversation log\r\n";
    let prompts = read("burstgpt:t", text).unwrap();
    assert_eq!(seconds(&prompts), [0.0, 113.5]);
    assert_eq!(
        prompts.to_string(),
        "2 requests in 113.5 s, with 444.5 input and 147.0 output tokens in the mean; \
         left out: 1 that failed, with 0 response tokens (the first is line 3)"
    );
    let rows = rows(&prompts.make(1, HUGE, 1, TokensOfWords::default()));
    assert_eq!((rows.len(), words(&rows[0]).len(), &rows[0]["output_tokens"]), (1, 472, &18.into()));
}

#[test]
fn the_first_question_of_share_gpt_is_the_prompt() {
    let good = r#"{"id": "a", "conversations": [{"from": "system", "value": "x"}, {"from": "human", "value": "Say \"hi\"\nnow"}, {"from": "gpt", "value": "12345"}]}"#;
    let others = r#"{"conversations": []}, {"a": 1}, {"conversations": [{"from": "human", "value": "b"}]}, 7"#;
    let prompts = read("sharegpt:t", &format!("[{good}, {others}]")).unwrap();
    let rows = rows(&prompts.make(HUGE, HUGE, 1, TokensOfWords::default()));
    assert_eq!(rows.len(), 1);
    assert_eq!((&rows[0]["prompt"], &rows[0]["output_tokens"]), (&"Say \"hi\"\nnow".into(), &2.into()));
    let told = prompts.to_string();
    assert!(told.contains("1 request, with about 3.0 input and 2.0 output tokens in the mean, at 4 bytes"), "{told}");
    for part in [
        "1 without a human turn (the first is item 2)",
        "1 without an answer to the first human turn (the first is item 4)",
        "2 without turns (the first is item 3)",
    ] {
        assert!(told.contains(part), "{told}");
    }
    assert_eq!(read("sharegpt:t", &format!("{good}\n{good}\n")).unwrap().count(), 2);
}

#[test]
fn bodies_of_a_batch_are_sent_as_they_are() {
    let line = |body: &str| {
        format!("{{\"custom_id\": \"a\", \"method\": \"POST\", \"url\": \"/v1/chat/completions\", \"body\": {body}}}\n")
    };
    let body =
        "{\"model\": \"m\",  \"messages\": [{\"role\": \"user\", \"content\": \"{{x}} \\u00e4\"}], \"stream\": false}";
    let text = [line(body), line("{}")].concat();
    let prompts = read("batch:t", &text).unwrap();
    assert_eq!((prompts.path.as_deref(), prompts.count()), (Some("/v1/chat/completions"), 2));
    let made = prompts.make(HUGE, HUGE, 1, TokensOfWords::default());
    assert_eq!(
        String::from_utf8(made.json_lines.clone()).unwrap(),
        format!("{{\"body\":{body}}}\n{{\"body\":{{}}}}\n")
    );
    let asking = bodies_asking(&made.json_lines, &[("stream", "true"), ("n", "1")]);
    let asking: Vec<Value> = rows(&MadePrompts { json_lines: asking, asked: Vec::new() });
    assert_eq!((&asking[0]["body"]["stream"], &asking[0]["body"]["n"]), (&false.into(), &1.into()));
    assert_eq!(asking[1]["body"], serde_json::json!({"stream": true, "n": 1}));
    let other = read("batch:t,model=a\"b", &text).unwrap().make(HUGE, HUGE, 1, TokensOfWords::default());
    let other = rows(&other);
    assert_eq!((&other[0]["body"]["model"], &other[1]["body"]["model"]), (&"a\"b".into(), &"a\"b".into()));
    assert_eq!(other[0]["body"]["messages"][0]["content"], "{{x}} ä");
}

#[test]
fn memory_is_bounded() {
    let text = "Timestamp,Request tokens,Response tokens\n".to_owned() + &"1,100,1\n".repeat(20);
    let made = read("burstgpt:t", &text).unwrap().make(HUGE, 2_000, 1, TokensOfWords::default());
    assert!(made.json_lines.len() <= 2_000 && (2..20).contains(&made.asked.len()), "{}", made.asked.len());
    assert!(made.json_lines.ends_with(b"}\n"));
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    let mooncake = |rest: &str| format!("{{\"timestamp\": 1, \"input_length\": 9, \"output_length\": 9}}\n{rest}\n");
    let burst = |rest: &str| format!("Timestamp,Request tokens,Response tokens\n9,1,1\n{rest}\n");
    let batch = |url: &str, body: &str| format!("{{\"method\":\"POST\",\"url\":\"{url}\",\"body\":{body}}}\n");
    let long = format!("{{\"timestamp\": 1, \"x\": \"{}\"}}", "x".repeat(MAX_LINE));
    for (name, text, wanted) in [
        ("mooncake:t", String::new(), "t: no request of it can be sent: it is empty"),
        ("mooncake:t", mooncake("{"), "t:2: no request of Mooncake: EOF while parsing"),
        (
            "mooncake:t",
            mooncake("{\"timestamp\": 1, \"input_length\": 9}"),
            "t:2: no request of Mooncake: missing field `output_length`; write",
        ),
        (
            "mooncake:t",
            mooncake("{\"timestamp\": 0, \"input_length\": 9, \"output_length\": 9}"),
            "t:2: timestamp 0 is before that",
        ),
        (
            "mooncake:t",
            mooncake("{\"timestamp\": 1e300, \"input_length\": 9, \"output_length\": 9}"),
            "t:2: timestamp 1",
        ),
        (
            "mooncake:t",
            mooncake("{\"timestamp\": 1, \"input_length\": -9, \"output_length\": 9}"),
            "t:2: input_length -9 is no number of tokens",
        ),
        (
            "mooncake:t",
            mooncake("{\"timestamp\": 1, \"input_length\": 9, \"output_length\": 1e9}"),
            "t:2: output_length 1000000000 is no",
        ),
        (
            "mooncake:t",
            mooncake("{\"timestamp\": 1, \"input_length\": 9, \"output_length\": 9, \"hash_ids\": [1, 2]}"),
            "t:2: 2 blocks, and 9 tokens have 1 of 512 tokens",
        ),
        ("mooncake:t", mooncake(&long), "t:2: this line has 1048601 bytes, and 1048576 are read"),
        ("burstgpt:t", "a,b\n1,2\n".to_owned(), "t:1: the first line has no column 'Timestamp'"),
        ("burstgpt:t", burst("10,1"), "t:3: wrong number of fields: 2 here, 3 in the first line"),
        ("burstgpt:t", burst("x,1,1"), "t:3: Timestamp: 'x' is no number"),
        ("burstgpt:t", burst("NaN,1,1"), "t:3: Timestamp NaN is no time"),
        ("burstgpt:t", burst("1,1,1"), "t:3: Timestamp 1 is before that"),
        ("sharegpt:t", "[\n{]".to_owned(), "t:2: no list of conversations"),
        ("sharegpt:t", "[1]".to_owned(), "t: no request of it can be sent: 1 without turns (the first is item 1)"),
        ("sharegpt:t", "{}\nx".to_owned(), "t:2: no conversation: expected value; write"),
        (
            "batch:t",
            batch("/v1", "3"),
            "t:1: no request of a batch: invalid type: integer `3`, expected a body that is a JSON object",
        ),
        ("batch:t", batch("http://a", "{}"), "t:1: no url that is a path"),
        ("batch:t", batch("/a", "{}") + &batch("/b", "{}"), "t:2: another url than the lines before"),
        ("batch:t", batch("/a", "{}").replace("POST", "GET"), "t:1: method 'GET': a request of a batch is a POST"),
    ] {
        let told = read(name, &text).expect_err(wanted);
        assert!(told.starts_with(wanted), "{wanted}: {told}");
        assert!(!told.contains('\n'), "{told}");
    }
}

proptest! {
    #[test]
    fn nothing_panics(text in "[ -~\n]{0,80}", name in "(mooncake|burstgpt|sharegpt|batch)") {
        if let Ok(prompts) = read(&format!("{name}:t"), &text) {
            let _ = prompts.make(HUGE, HUGE, 1, TokensOfWords::default());
        }
    }
}
