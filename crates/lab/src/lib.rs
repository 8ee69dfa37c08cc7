//! The laboratory: other people's load tools in front of the misbehaving server, one at a time.
//!
//! Each tool gets a fresh server with a port and a fault clock of its own, so that all of them meet the same pathology at
//! the same moment of their run. What the server saw, what the tool printed and wrote, and what it used are kept as they
//! are, in a folder a tool:
//!
//! | file | what is in it |
//! |---|---|
//! | `cmd.txt`, `ran.json` | the command, exit code, wall time, CPU time and memory: for people and for programs |
//! | `truth.csv` | the server's own truth of each request |
//! | `stdout`, `stderr`, `stdin` | what it printed, what it complained of, what it was fed |
//! | `files/` | its working folder: what it was given and what it wrote |
//! | `before-N.txt`, `after.txt` | what its compiler, or the decoder of its files, said |
//! | `.truetail-trial` | nothing to know: that the folder is the laboratory's, and the next trial may empty it |
//! | `report.json` | the figures that were read from all that; made anew by each reading |
//!
//! Nothing here judges: rows and their order are `truetail_analysis::league`.

mod command_line;
mod memory;
pub mod process;
mod ran;
mod raw;
mod reading;
mod setting;
mod stop;
mod survey;
mod trial;
mod truth_log;

pub use command_line::CommandLine;
pub use ran::{Asked, Ran};
pub use reading::Reading;
pub use setting::{CONNECTIONS, Setting, USERS, Unfit};
pub use stop::Stop;
pub use survey::{Entry, Event, Survey};
pub use trial::{check_own, perform};
