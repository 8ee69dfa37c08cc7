//! The real tools, if installed, against our server on 127.0.0.1. The tool accepts the command line, the parser reads
//! its output, and its counts agree with the server's truth. Times are checked only if noise cannot affect them.
//! `make test-tools` installs the tools and runs these tests; `make test` omits them.

mod calls;
mod hyperfoil;
#[path = "../../../../tests/missing.rs"]
mod missing;
mod native;
mod stamps;
mod support;
