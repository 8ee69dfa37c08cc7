//! Counts of tokens.

use super::*;

fn ending(usage: &str) -> Script {
    then(said(word), &[FINISH, usage, DONE])
}

fn counting(output: impl Fn(usize) -> usize) -> Script {
    said(|i| chunk_with(&format!(r#""content":"w{i}""#), &format!(r#","usage":{{"completion_tokens":{}}}"#, output(i))))
}

pub(super) fn rows() -> Vec<Row> {
    let late = [said(word), vec![(480, event(FINISH)), (780, event(USAGE)), (780, event(DONE))]].concat();
    let hidden = r#"{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":520,"completion_tokens_details":{"reasoning_tokens":500}}}"#;
    let more_hidden =
        r#"{"choices":[],"usage":{"completion_tokens":20,"completion_tokens_details":{"reasoning_tokens":12}}}"#;
    let uncounted = "an event is no token";
    let impossible = "a count that cannot be is no count";
    let names = "counts have several names";
    let open = |row: Row| row.not_known(&[Tpot, Tokens]);
    let hidden_truth = Truth { tokens: Some(520), reasoning: 500, ..TRUTH };
    vec![
        open(row("no usage", then(said(word), &[FINISH, DONE]), TRUTH, uncounted)),
        open(row("`usage: null` to the end", ending(r#"{"choices":[],"usage":null}"#), TRUTH, uncounted)),
        open(row("only `total_tokens`", ending(r#"{"choices":[],"usage":{"total_tokens":27}}"#), TRUTH, uncounted)),
        open(row(
            "a count that is text: `\"20\"`",
            ending(r#"{"usage":{"completion_tokens":"20"}}"#),
            TRUTH,
            uncounted,
        )),
        open(row("a count below zero", ending(r#"{"usage":{"completion_tokens":-1}}"#), TRUTH, impossible)),
        open(row("a count of zero", ending(r#"{"usage":{"completion_tokens":0}}"#), TRUTH, impossible)),
        open(row(
            "usage that counts only its own event",
            then(counting(|_| 1), &[FINISH, DONE]),
            TRUTH,
            "a sum grows with the content",
        )),
        open(row("zeros in each event, and nothing else", then(counting(|_| 0), &[FINISH, DONE]), TRUTH, impossible)),
        row(
            "zeros in each event, the count at the end",
            then(counting(|_| 0), &[FINISH, USAGE, DONE]),
            TRUTH,
            "the last count is the sum",
        ),
        row(
            "the same usage twice",
            then(said(word), &[FINISH, USAGE, USAGE, DONE]),
            TRUTH,
            "the last count is the sum",
        ),
        row(
            "usage, then `usage: null`",
            then(said(word), &[FINISH, USAGE, r#"{"choices":[],"usage":null}"#, DONE]),
            TRUTH,
            "null is no count",
        ),
        row("usage 300 ms after the last content", late, TRUTH, "TPOT lasts from content to content"),
        row(
            "`7.0` and `20.0`",
            ending(r#"{"usage":{"prompt_tokens":7.0,"completion_tokens":20.0}}"#),
            TRUTH,
            "a whole number is a count",
        ),
        row(
            "`input_tokens` and `output_tokens`",
            ending(r#"{"usage":{"input_tokens":7,"output_tokens":20}}"#),
            TRUTH,
            names,
        ),
        row(
            "details that are null",
            ending(r#"{"usage":{"completion_tokens":20,"completion_tokens_details":null}}"#),
            TRUTH,
            names,
        ),
        row(
            "four tokens in each event",
            ending(r#"{"usage":{"completion_tokens":80}}"#),
            Truth { tokens: Some(80), per_token: Some(5), ..TRUTH },
            uncounted,
        ),
        row(
            "500 hidden tokens of reasoning, 20 of the answer",
            ending(hidden),
            hidden_truth,
            "TPOT is of the tokens that were sent",
        ),
        row(
            "12 tokens of reasoning among 20, in events as any other",
            ending(more_hidden),
            Truth { reasoning: 12, ..TRUTH },
            "if there are more events than tokens of the answer, the reasoning came with it, and TPOT is unknown",
        )
        .not_known(&[Tpot]),
    ]
}
