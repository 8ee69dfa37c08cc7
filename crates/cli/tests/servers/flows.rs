//! A flow against real servers, in each protocol. Every session completes, and the server counted its requests.

use crate::PROTOCOLS;
use crate::program::ServerProcess;
use crate::support::{TestDir, assert_balanced};

/// The answer to one request is used in the next.
const FLOW: &str = "GET {{host}}/sized\nHTTP 200\n[Captures]\ntext: body\n[Asserts]\nbody startsWith \"hello\"\n\n\
                    POST {{host}}/posted\n`{{text}}`\nHTTP 201\n[Asserts]\nbody contains \"made\"\n\n\
                    GET {{host}}/empty\nHTTP 204\n\nGET {{host}}/large\nHTTP 200\n[Asserts]\nbytes count >= 199000\n";
/// Sessions of a run: 400 per second for half a second.
const SESSIONS: usize = 200;

/// Runs the flow in each protocol.
pub fn follow(start: impl Fn(&TestDir) -> ServerProcess) {
    for (protocol, is_http2) in PROTOCOLS {
        let dir = TestDir::new();
        dir.file("four.hurl", FLOW);
        let served = start(&dir);
        let host = format!("host={}", served.origin(protocol));
        let mut arguments = vec!["run", "--flow", "four.hurl", "--variable", &host, "-r", "400", "-d", "500ms"];
        arguments.extend(["-c", "6", "--no-preflight", "--json", "--quiet", "--no-save"]);
        arguments.extend(is_http2.then_some("--http2"));
        if host.contains("https://") {
            arguments.extend(["--ca", "cert.pem"]);
        }
        let output = dir.truetail(&arguments);
        let run = output.json();
        let log = served.stop();
        assert_balanced(&run);
        assert_eq!(run["sessions"]["tally"]["completed"], SESSIONS, "{protocol}: {} {}", run["sessions"], run["notes"]);
        assert_eq!(log.len(), 4 * SESSIONS, "{protocol}");
        for (status, times) in [(200, 2), (201, 1), (204, 1)] {
            let seen = log.iter().filter(|line| line.status == status).count();
            assert_eq!((seen, &run["statuses"][status.to_string()]), (times * SESSIONS, &seen.into()), "{protocol}");
        }
    }
}
