//! The tools themselves, where they are found on this machine, in front of our server on 127.0.0.1: the command line
//! is one that the tool takes, its output is one that the parser reads, and its counts are those of the server's truth.
//! Times are only looked at where no noise can spoil them. A tool that is missing is skipped, and it is said how to
//! install it.

mod hyperfoil;
mod native;
mod stamps;
mod support;
