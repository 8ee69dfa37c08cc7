//! No text makes the parser panic or run forever.

use proptest::prelude::*;

use crate::parsing::flow;

/// Pieces of flows. Random sequences of pieces get further in the parser than random characters.
const PIECES: [&str; 48] = [
    "GET ",
    "POST ",
    "http://127.0.0.1/",
    "{{host}}/a",
    "\n",
    "\n",
    "\n",
    " ",
    "HTTP 200",
    "HTTP *",
    "HTTP/1.1 404",
    "[Asserts]\n",
    "[Captures]\n",
    "[Options]\n",
    "[Form]\n",
    "[Multipart]\n",
    "[Cookies]\n",
    "[BasicAuth]\n",
    "a: ",
    "b",
    "{{",
    "}}",
    "{{a}}",
    "\"",
    "`",
    "```",
    "```json\n",
    "jsonpath ",
    "\"$.a\"",
    "regex /",
    "/",
    "status ",
    "== ",
    "not ",
    "exists",
    "contains ",
    "nth ",
    "-1",
    "file,",
    "base64,",
    "hex,",
    ";",
    "{",
    "}",
    "[",
    "\\u{",
    "#",
    "\u{e9}",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_text_is_read_or_refused(text in ".{0,300}") {
        let _ = flow(&text);
    }

    #[test]
    fn any_pieces_are_read_or_refused(pieces in prop::collection::vec(0..PIECES.len(), 0..60)) {
        let text: String = pieces.into_iter().map(|piece| PIECES[piece]).collect();
        if let Err(error) = flow(&text) {
            prop_assert!(error.line >= 1 && error.line <= text.lines().count() + 1, "{error}");
        }
    }
}

#[test]
fn deep_and_long_texts_are_bounded() {
    let deep = format!("POST http://127.0.0.1/\n{}", "[".repeat(200_000));
    assert!(flow(&deep).unwrap_err().problem.contains("deep"));
    let nested = format!("POST http://127.0.0.1/\nX: {}", "{{a ".repeat(100_000));
    assert!(flow(&nested).is_err());
    let long = format!("POST http://127.0.0.1/\n`{}`", "x".repeat(5 << 20));
    assert!(flow(&long).unwrap_err().problem.contains("MiB"));
    let variables: String = (0..300_000).map(|n| format!("{{{{v{n}}}}}")).collect();
    assert!(flow(&format!("GET http://127.0.0.1/\nX: {variables}")).unwrap_err().problem.contains("v0"));
    let many = "GET http://127.0.0.1/\n".repeat(1001);
    assert!(flow(&many).unwrap_err().problem.contains("1000"));
}
