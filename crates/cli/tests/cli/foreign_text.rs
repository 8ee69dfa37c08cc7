//! Text from servers, files and folders, as shown to the user.

use std::fs;

use super::raw_server::RawServer;
use super::support::TestDir;

/// A terminal title, a colour, a colour by a single character, right-to-left text, and a character without width.
const HOSTILE: &str = "\x1b]0;OWNED\x07\x1b[31mred\u{9b}32m\u{202e}gnp.exe\u{2066}\u{200b}\x08";
const ANSWER: &str = concat!(
    "HTTP/1.1 200 OK\r\nConnection: close\r\nX-A: \u{9b}31m\u{202e}\r\nContent-Length: 40\r\n\r\n",
    "\x1b]0;OWNED\x07\x1b[31mred\u{9b}32m\u{202e}gnp.exe\u{2066}\u{200b}\x08"
);

/// Returns true if the text has no character that a terminal obeys, or that reverses or hides text.
fn is_harmless(text: &str) -> bool {
    let acts = |c: char| {
        (c.is_control() && c != '\n') || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200b}')
    };
    !text.contains(acts)
}

#[test]
fn nothing_from_outside_commands_the_terminal() {
    let server = RawServer::start(Some(ANSWER), "\r\n\r\n");
    let dir = TestDir::new();
    let name = HOSTILE.replace('/', "");
    fs::write(dir.path().join(&name), "what?").expect("a file");
    let folder = format!("run{name}");
    let check = format!("body contains {name}!");
    let runs: [&[&str]; 6] = [
        &[
            "run",
            &server.url,
            "-r",
            "20",
            "-d",
            "300ms",
            "--check",
            &check,
            "--out",
            &folder,
            "--markdown",
            "m.md",
            "--junit",
            "j.xml",
        ],
        &["report", &folder],
        &["report", &name],
        &["run", "-r", "20", "--targets", &name],
        &["run", "--flow", &name, "-r", "20"],
        &["audit", &name],
    ];
    for arguments in runs {
        let output = dir.truetail(arguments);
        assert!(is_harmless(&output.stderr) && is_harmless(&output.stdout), "{arguments:?}: {output:?}");
        assert!(!output.stderr.is_empty() || !output.stdout.is_empty(), "{arguments:?}");
    }
    let saved = dir.truetail(&["report", &folder]);
    assert!(saved.stdout.contains("Answers"), "{saved:?}");
    for file in ["m.md", "j.xml"] {
        let text = fs::read_to_string(dir.path().join(file)).expect(file);
        assert!(is_harmless(&text) && text.contains("gnp.exe"), "{text:?}");
    }
}
