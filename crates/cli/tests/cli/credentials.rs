//! User names and passwords are sent, and are never printed or saved.

use std::fs;
use std::path::Path;

use super::raw_server::RawServer;
use super::support::{CommandOutput, TestDir};

const ANSWER: &str = "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
/// `me:se%cret` percent-encoded, and its header.
const IN_URL: &str = "me:se%25cret";
const HEADER: &str = "Authorization: Basic bWU6c2UlY3JldA==\r\n";
/// Texts that reveal the password.
const SECRETS: [&str; 3] = ["se%cret", "se%25cret", "bWU6c2UlY3JldA"];

fn assert_nothing_told(output: &CommandOutput, folder: &Path) {
    let mut told = vec![output.stdout.clone(), output.stderr.clone()];
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(folder) else { continue };
        for path in entries.map(|entry| entry.expect("an entry").path()) {
            told.push(path.display().to_string());
            if path.is_dir() {
                folders.push(path);
            } else {
                told.push(String::from_utf8_lossy(&fs::read(path).expect("a file")).into_owned());
            }
        }
    }
    for secret in SECRETS {
        assert!(!told.iter().any(|text| text.contains(secret)), "{secret} in {told:?}");
    }
}

#[test]
fn a_password_reaches_the_server_and_nobody_else() {
    let files = TestDir::new();
    for give in ["url", "user", "targets", "curl"] {
        let server = RawServer::start_whole(ANSWER);
        let dir = TestDir::new();
        let url = server.url.replace("http://", &format!("http://{IN_URL}@"));
        files.file("targets", &format!("GET {url}\n"));
        let targets = files.path().join("targets").display().to_string();
        let curl = format!("curl -u me:se%cret {}", server.url);
        let source = match give {
            "url" => vec![url.as_str()],
            "user" => vec![server.url.as_str(), "--user", "me:se%cret"],
            "targets" => vec!["--targets", &targets],
            _ => vec!["--curl", &curl],
        };
        let load = ["-r", "100", "-n", "3"];
        let output = dir.truetail(&[&["run"], &source[..], &load].concat());
        // The preflight, and three more.
        for _ in 0..4 {
            let request = server.asked.recv().expect("a request");
            assert!(request.contains(HEADER) && request.starts_with("GET /api "), "{give}: {request}");
        }
        assert_eq!(dir.runs().len(), 1, "{output:?}");
        assert!(output.stderr.contains("status 401"), "the note on the trial request: {output:?}");
        assert_nothing_told(&output, dir.path());
    }
}

#[test]
fn no_error_shows_a_password() {
    let dir = TestDir::new();
    dir.file("targets", "GET http://me:se%25cret@127.0.0.1:9/ x\n");
    dir.file("hosts", "GET http://me:se%25cret@127.0.0.1:1/\n\nGET http://me:se%25cret@no-such-host.invalid/\n");
    for arguments in [
        &["me:se%25cret@127.0.0.1:9/"][..],
        &["http://me:se%25cret@127.0.0.1:99999/"],
        &["ftp://me:se%25cret@127.0.0.1/"],
        &["http://me:se%25cret@no-such-host.invalid/"],
        &["http://me:se%25cret@127.0.0.1:9/{{x}}"],
        &["http://{{u}}:se%25cret@127.0.0.1:9/"],
        &["http://me:se%25cret@127.0.0.1:9/", "--user", "me:se%cret"],
        &["http://127.0.0.1:9/", "--user", "se%cret"],
        &["http://me:se%25cret@127.0.0.1:1/"],
        &["https://me:se%25cret@127.0.0.1:1/"],
        &["--targets", "targets"],
        &["--targets", "hosts"],
        &["--curl", "http://me:se%25cret@127.0.0.1:9/"],
        &["--curl", "curl http://me:se%25cret@a http://b"],
    ] {
        let output = dir.truetail(&[&["run", "-r", "1"], arguments].concat());
        assert!(matches!(output.code, Some(1 | 2)), "{arguments:?}: {output:?}");
        assert_eq!(output.stderr.lines().count(), 1, "{output:?}");
        for secret in SECRETS {
            assert!(!output.stderr.contains(secret), "{arguments:?}: {output:?}");
        }
    }
}
