//! `--prompts`: prompts of given lengths, beside what the server counts.

use serde_json::Value;

use crate::llm_dialects::{HEAD, answering};
use crate::support::{CommandOutput, TestDir, assert_complete};

const BODY: &str = "{\"max_tokens\":{{output_tokens}},\"messages\":[{\"role\":\"user\",\"content\":\"{{prompt}}\"}]}";

fn prompt(body: &str) -> String {
    let body: Value = serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {body}"));
    body["messages"][0]["content"].as_str().expect("a prompt").to_owned()
}

/// Tokens of a word: one more for each five letters. So a word has more than one in the mean, and prompts vary.
fn tokens(prompt: &str) -> usize {
    prompt.split(' ').map(|word| 1 + word.len() / 5).sum::<usize>() + 11
}

/// A model that counts the tokens of its request, and sends as many as it is asked for, in one event.
fn counting(body: &str) -> String {
    let asked: Value = serde_json::from_str(body).expect("JSON");
    let usage = format!(
        "\"usage\":{{\"prompt_tokens\":{},\"completion_tokens\":{}}}",
        tokens(&prompt(body)),
        asked["max_tokens"]
    );
    format!(
        "{HEAD}data: {{\"choices\":[{{\"delta\":{{\"content\":\"a\"}}}}]}}\n\ndata: {{\"choices\":[],{usage}}}\n\ndata: [DONE]\n\n"
    )
}

fn run(dir: &TestDir, url: &str, prompts: &str, more: &[&str]) -> CommandOutput {
    let fixed =
        ["run", url, "-r", "100", "-n", "60", "--quiet", "--llm", "openai-chat", "--data", BODY, "--prompts", prompts];
    dir.truetail(&[&fixed[..], more].concat())
}

fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn prompts_have_the_lengths_asked_for_by_the_count_of_the_server() {
    let (url, bodies) = answering(counting);
    let dir = TestDir::new();
    let output = run(&dir, &url, "synthetic:input=400+-80,output=3..9", &["--out", "a"]);
    let run_json = assert_complete(&dir.path().join("a"));
    let prompts = &run_json["stream"]["llm"]["prompts"];
    assert_eq!((&prompts["made"], &prompts["answers"]), (&"synthetic:input=400±80,output=3..9".into(), &60.into()));
    let of = |name: &str| prompts[name].as_f64().expect("a number");
    assert!((of("counted_input") / of("asked_input") - 1.0).abs() < 0.02, "{prompts}");
    assert_eq!(prompts["counted_output"], prompts["asked_output"]);
    assert!(of("input_off") < 6.0, "{prompts}");
    let shown = flat(&output.stdout);
    let mean = format!(
        "Prompts {:.1} input tokens asked for and {:.1} counted",
        of("asked_input") / 60.0,
        of("counted_input") / 60.0
    );
    assert!(shown.contains(&mean), "{mean}: {output:?}");
    assert!(shown.contains("60 rows; by the server's count in"), "{output:?}");
    // The calls before the load are not in its books, and have prompts of their own.
    let bodies: Vec<String> = bodies.try_iter().collect();
    assert!((63..=65).contains(&bodies.len()), "{}", bodies.len());
    let texts: std::collections::BTreeSet<String> = bodies.iter().map(|body| prompt(body)).collect();
    assert_eq!(texts.len(), bodies.len());
    let calls = bodies.iter().filter(|body| body.contains("\"max_tokens\":1,")).count();
    assert_eq!(calls, bodies.len() - 60);
}

#[test]
fn groups_share_their_beginning_and_a_seed_repeats_the_prompts() {
    let dir = TestDir::new();
    let texts = |more: &[&str]| {
        let (url, bodies) = answering(counting);
        run(&dir, &url, "synthetic:input=50,output=2,prefix=200,groups=2", &[&["--no-save"], more].concat());
        let bodies = bodies.try_iter().filter(|body| body.contains("\"max_tokens\":2,"));
        bodies.map(|body| prompt(&body)).collect::<std::collections::BTreeSet<_>>()
    };
    let first = texts(&[]);
    let beginnings: std::collections::BTreeSet<&str> = first.iter().map(|text| &text[..400]).collect();
    assert_eq!((first.len(), beginnings.len()), (60, 2));
    assert_eq!(texts(&[]), first);
    assert!(texts(&["--seed", "2"]).is_disjoint(&first));
}

#[test]
fn a_server_that_does_not_count_leaves_a_stated_approximation() {
    let answer =
        |_: &str| format!("{HEAD}data: {{\"choices\":[{{\"delta\":{{\"content\":\"a\"}}}}]}}\n\ndata: [DONE]\n\n");
    let (url, bodies) = answering(answer);
    let dir = TestDir::new();
    let output = run(&dir, &url, "synthetic:input=100,output=2", &["--no-save"]);
    let shown = flat(&output.stdout);
    assert!(shown.contains("one token a word is assumed, because the server did not count"), "{output:?}");
    assert!(shown.contains("Prompts the server counted no answer with its input"), "{output:?}");
    let load = bodies.try_iter().filter(|body| body.contains("\"max_tokens\":2,"));
    assert!(load.map(|body| prompt(&body).split(' ').count()).all(|words| words == 100));
    let (url, bodies) = answering(counting);
    run(&dir, &url, "synthetic:input=100,output=2", &["--no-save", "--no-preflight"]);
    assert_eq!(bodies.try_iter().count(), 60, "--no-preflight sends nothing else");
}

#[test]
fn auto_and_prompts_go_together() {
    let (url, _bodies) = answering(counting);
    let dir = TestDir::new();
    let fixed =
        ["run", &url, "-r", "100", "-n", "10", "--quiet", "--no-save", "--json", "--llm", "auto", "--data", BODY];
    let run_json = dir.truetail(&[&fixed[..], &["--prompts", "synthetic:input=100,output=2"]].concat()).json();
    assert_eq!(run_json["stream"]["llm"]["api"], "openai-chat");
    assert_eq!(run_json["stream"]["llm"]["prompts"]["answers"], 10);
}

#[test]
fn runs_in_turn_are_checked_without_a_request() {
    let (url, bodies) = answering(counting);
    let dir = TestDir::new();
    let run = |name: &str, prompts: &str| {
        format!("[run.{name}]\nurl = \"{url}\"\nllm = \"auto\"\ndata = '{BODY}'\nprompts = \"{prompts}\"\n")
    };
    let fine = "synthetic:input=100,output=2";
    let file = |second: &str| {
        let runs = [run("first", fine), run("second", second)].concat();
        dir.file(
            "truetail.toml",
            &format!("[shared]\nrate = 100\nrequests = 10\nfeed = \"once\"\nquiet = true\n\n{runs}"),
        );
    };
    file("sharegpt");
    let output = dir.truetail(&["run", "--all", "--no-save"]);
    assert!(output.code == Some(2) && output.stderr.contains("'sharegpt' makes no prompts"), "{output:?}");
    assert_eq!(bodies.try_iter().count(), 0, "the check sends nothing");
    file(fine);
    let output = dir.truetail(&["run", "--all", "--no-save"]);
    assert!(output.stdout.contains("Run 2 of 2: second"), "{output:?}");
    assert!(bodies.try_iter().count() > 20);
}

/// Each run of a sweep takes the next rows, and the calls that tell the lengths come once, before the first.
#[test]
fn each_step_of_a_sweep_takes_the_next_prompts() {
    let (url, bodies) = answering(counting);
    let dir = TestDir::new();
    let sweep = |more: &str, out: &str| {
        let line = format!(
            "capacity {url} --llm openai-chat --sweep 20..40/2 --step 1s --past-saturation --json --out {out} -- --data {BODY} --prompts"
        );
        let words: Vec<&str> = line.split(' ').collect();
        dir.truetail(&[&words[..], &[&format!("synthetic:input=400,output=2{more}")]].concat())
    };
    let output = sweep(",rows=2000", "s");
    let steps = output.json()["steps"].as_array().expect("steps").clone();
    assert_eq!(steps.len(), 2, "{output:?}");
    assert!(flat(&output.stderr).contains("by the server's count in"), "{output:?}");
    let sent: Vec<String> = bodies.try_iter().collect();
    let is_call = |body: &String| body.contains("\"max_tokens\":1,");
    let calls = sent.iter().take_while(|body| is_call(body)).count();
    assert!((2..=5).contains(&calls) && calls == sent.iter().filter(|body| is_call(body)).count(), "{calls} calls");
    let texts: std::collections::BTreeSet<String> = sent.iter().map(|body| prompt(body)).collect();
    assert!(sent.len() > calls + 40 && texts.len() == sent.len(), "{} of {}", texts.len(), sent.len());
    for step in &steps {
        let run = assert_complete(&dir.path().join(step["run"].as_str().expect("a run")));
        let prompts = &run["stream"]["llm"]["prompts"];
        assert_eq!(prompts["answers"], run["stream"]["tally"]["complete"]);
        let of = |name: &str| prompts[name].as_f64().expect("a number");
        assert!((of("counted_input") / of("asked_input") - 1.0).abs() < 0.03, "{prompts}");
        assert!(run["notes"].to_string().contains("its first request has row"), "{}", run["notes"]);
    }
    // Rows that run out are used again, and both the sweep and its runs say so.
    let output = sweep(",rows=25", "again");
    assert!(output.stderr.contains("the 25 rows are used up, and the first one is used again"), "{output:?}");
    let last = output.json()["steps"][1]["run"].as_str().expect("a run").to_owned();
    let run = assert_complete(&dir.path().join(last));
    assert!(
        run["notes"].to_string().contains("rows are used again: a server may have their prompts"),
        "{}",
        run["notes"]
    );
    let texts: std::collections::BTreeSet<String> =
        bodies.try_iter().filter(|body| !is_call(body)).map(|body| prompt(&body)).collect();
    assert_eq!(texts.len(), 25);
}

#[test]
fn what_makes_no_sense_is_refused_in_one_line() {
    let dir = TestDir::new();
    dir.file("with.json", BODY);
    dir.file("targets.txt", "POST http://127.0.0.1:9/\n@with.json\n\nPOST http://127.0.0.1:9/\n@without.json\n");
    dir.file("without.json", "{}");
    dir.file("rows.csv", "prompt\na\n");
    dir.file("lengths.txt", "7\nmany\n");
    let refusing =
        answering(|_| "HTTP/1.1 400 Bad Request\r\nContent-Length: 8\r\nConnection: close\r\n\r\ntoo long".to_owned())
            .0;
    let url = "http://127.0.0.1:9/";
    let fine = "synthetic:input=9,output=1";
    for (arguments, code, says) in [
        (
            &[url, "--llm", "ollama", "--data", BODY, "--prompts", "sharegpt"][..],
            2,
            "--prompts: 'sharegpt' makes no prompts",
        ),
        (&[url, "--llm", "ollama", "--data", BODY, "--prompts", fine, "--data-from", "rows.csv"], 2, "leave one out"),
        (&[url, "--data", BODY, "--prompts", fine], 2, "add --llm openai-chat"),
        (&[url, "--llm", "ollama", "--data", "{}", "--prompts", fine], 2, "no body has a place for the prompt"),
        (
            &["--targets", "targets.txt", "--llm", "ollama", "--prompts", fine],
            2,
            "targets.txt:4: --prompts: the body of this target has no place for the prompt",
        ),
        (
            &[url, "--llm", "ollama", "--data", BODY, "--prompts", "synthetic:input=file:lengths.txt,output=1"],
            2,
            "lengths.txt:2: 'many' is no length",
        ),
        (
            &[&refusing, "--llm", "ollama", "--data", BODY, "--prompts", fine],
            1,
            "status 400: 'too long'; check the request",
        ),
    ] {
        let output = dir.truetail(&[&["run", "-r", "10", "-d", "1s"][..], arguments].concat());
        assert_eq!((output.code, output.stderr.lines().count()), (Some(code), 1), "{arguments:?}: {output:?}");
        assert!(output.stderr.contains(says), "{arguments:?}: {output:?}");
    }
}
