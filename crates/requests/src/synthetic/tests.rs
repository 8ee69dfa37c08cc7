use serde_json::Value;

use super::*;

fn parse(text: &str) -> SyntheticPrompts {
    text.parse().unwrap_or_else(|problem| panic!("{text}: {problem}"))
}

fn rows(made: &MadePrompts) -> Vec<Value> {
    let lines = made.json_lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).expect("JSON")).collect()
}

fn words(row: &Value) -> usize {
    row["prompt"].as_str().expect("a prompt").split(' ').count()
}

#[test]
fn lengths_are_written_in_five_ways_and_shown_as_written() {
    for text in [
        "synthetic:input=512,output=128",
        "synthetic:input=512±128,output=1..16",
        "synthetic:input=lognormal:512±256,output=128",
        "synthetic:input=256..1024,output=128,prefix=1024,groups=8,rows=100",
        "synthetic:input=file:l.txt,output=128",
    ] {
        assert_eq!(parse(text).to_string(), text);
    }
    assert_eq!(parse("synthetic:input=512+-128,output=1"), parse("synthetic:input=512±128,output=1"));
    for (text, part) in [
        ("sharegpt", "makes no prompts; write synthetic:input=512±128,output=128"),
        ("synthetic:input=512", "has no output"),
        ("synthetic:output=512", "has no input"),
        ("synthetic:input", "'input' has no value"),
        ("synthetic:input=0,output=1", "input: '0' is no length: write a number of tokens from 1 to 1000000"),
        ("synthetic:input=9..3,output=1", "the first length is above the last"),
        ("synthetic:input=lognormal:9,output=1", "such as lognormal:512±256"),
        ("synthetic:input=1,output=1,inptu=2", "unknown key 'inptu'"),
        ("synthetic:input=1,output=1,groups=2", "add prefix=1024"),
        ("synthetic:input=1,output=1,rows=x", "rows: 'x' is no number"),
        ("synthetic:input=1,output=1,prefix=100000,groups=1000", "use fewer groups"),
    ] {
        let problem = text.parse::<SyntheticPrompts>().expect_err(text);
        assert!(problem.contains(part) && !problem.contains('\n'), "{text}: {problem}");
    }
}

#[test]
fn rows_have_the_lengths_that_were_asked_for() {
    let made = parse("synthetic:input=200..300,output=5").make(500, 1, TokensOfWords::default());
    let all = rows(&made);
    assert_eq!((all.len(), made.asked.len()), (500, 500));
    for (row, asked) in all.iter().zip(&made.asked) {
        assert_eq!((words(row), &row["input_tokens"]), (asked.input as usize, &asked.input.into()));
        assert!((200..=300).contains(&asked.input) && asked.output == 5 && row["output_tokens"] == 5);
    }
    let mean = |made: &MadePrompts| made.asked.iter().map(|asked| f64::from(asked.input)).sum::<f64>() / 2_000.0;
    let deviation = |made: &MadePrompts| {
        let mean = mean(made);
        (made.asked.iter().map(|asked| (f64::from(asked.input) - mean).powi(2)).sum::<f64>() / 2_000.0).sqrt()
    };
    for text in ["512±128", "lognormal:512±128"] {
        let made = parse(&format!("synthetic:input={text},output=5")).make(2_000, 3, TokensOfWords::default());
        assert!((mean(&made) - 512.0).abs() < 12.0 && (deviation(&made) - 128.0).abs() < 15.0, "{text}");
        assert!(made.asked.iter().all(|asked| (1..=5120).contains(&asked.input)), "{text}");
    }
    let lengths = |name: &str| if name == "l" { Ok("7\n\n9\n".to_owned()) } else { Err("none".to_owned()) };
    let of_file = parse("synthetic:input=file:l,output=file:l").with_files(&lengths).expect("lengths");
    let made = of_file.make(3, 1, TokensOfWords::default());
    assert_eq!(
        made.asked.iter().map(|asked| (asked.input, asked.output)).collect::<Vec<_>>(),
        [(7, 7), (9, 9), (7, 7)]
    );
    assert_eq!(parse("synthetic:input=file:m,output=1").with_files(&lengths), Err("none".to_owned()));
    let wrong = parse("synthetic:input=file:l,output=1").with_files(&|_| Ok("7\nx\n".to_owned()));
    assert!(wrong.is_err_and(|problem| problem.starts_with("l:2: 'x' is no length")));
}

#[test]
fn a_count_of_the_server_corrects_the_number_of_words() {
    // Two tokens a word, and ten around.
    let tokens = TokensOfWords::through((16, 42), (128, 266)).expect("a line");
    assert_eq!((tokens.each, tokens.around), (2.0, 10.0));
    assert_eq!((tokens.words(110), tokens.words(5)), (50, 1));
    assert_eq!(TokensOfWords::through((16, 42), (128, 42)), None, "a count that does not grow");
    let made = parse("synthetic:input=110,output=1,prefix=400,groups=2").make(4, 1, tokens);
    let all = rows(&made);
    assert!(all.iter().all(|row| words(row) == 250 && row["input_tokens"] == 510), "{:?}", words(&all[0]));
}

#[test]
fn groups_share_a_prefix_and_a_seed_means_its_rows() {
    let prompts = parse("synthetic:input=20,output=1,prefix=30,groups=3");
    let made = prompts.make(6, 1, TokensOfWords::default());
    let all = rows(&made);
    let prefix =
        |row: &Value| row["prompt"].as_str().expect("a prompt").split(' ').take(30).collect::<Vec<_>>().join(" ");
    let own = |row: &Value| row["prompt"].as_str().expect("a prompt").split(' ').skip(30).collect::<Vec<_>>().join(" ");
    assert_eq!(prefix(&all[0]), prefix(&all[3]));
    assert!(prefix(&all[0]) != prefix(&all[1]) && prefix(&all[1]) != prefix(&all[2]));
    assert!(own(&all[0]) != own(&all[3]) && words(&all[0]) == 50);
    assert_eq!(prompts.make(6, 1, TokensOfWords::default()), made);
    assert_ne!(prompts.make(6, 2, TokensOfWords::default()).json_lines, made.json_lines);
    let trial: Value = serde_json::from_slice(&prompts.trial(20, 1)).expect("JSON");
    assert!(
        words(&trial) == 20
            && all.iter().all(|row| !row["prompt"].to_string().contains(trial["prompt"].as_str().unwrap()))
    );
}

#[test]
fn rows_are_as_many_as_requests_unless_they_would_be_too_large() {
    let prompts = parse("synthetic:input=984,output=1");
    assert_eq!(prompts.rows(700, 1 << 30), 700);
    assert_eq!(prompts.rows(700, 600_000), 100);
    assert_eq!(parse("synthetic:input=984,output=1,rows=7").rows(700, 1 << 30), 7);
    assert_eq!(prompts.rows(0, 1), 1);
}
