//! The tools themselves, where they are installed, against our server on 127.0.0.1: the tool accepts the command line, the
//! parser reads its output, and its counts agree with the server's truth. Times are checked only where noise cannot affect
//! them. A tool that is not installed is skipped with a hint how to install it.

mod hyperfoil;
mod native;
mod stamps;
mod support;
