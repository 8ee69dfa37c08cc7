//! How fuzzer input becomes what truetail reads.
//!
//! | target | an input is |
//! |---|---|
//! | `parse` | the output of a tool: its exit code as a byte, then standard output and each file, with [`SEPARATOR`] between them; an empty part is a missing file |
//! | `import` | a file of the format in `TRUETAIL_FUZZ_FORMAT` |
//! | `schema` | a [`Cut`]: a descriptor set of gRPC, and answers of reflection |
//! | `messages` | a byte for one of [`CHANNELS`], then a [`Cut`]: the bytes of its peer, with the flag also those of the opening |
//! | `exchange` | a framing, a rule, a message, a file of an exchange and a URL, with [`SEPARATOR`] between them |
//! | `http2` | a [`Cut`]: the bytes of an HTTP/2 connection, and where they are cut |
//! | `event_stream` | a [`Cut`]: the bytes of a stream of server-sent events, and where they are cut |
//! | `model_answer` | a byte for the API of a language model, then a [`Cut`]: the body of an answer; with the flag it comes twice |
//! | `response` | a [`Cut`]: the bytes of an answer, and where they are cut |
//! | `requests` | a byte of flags, targets or a curl command, and after a [`SEPARATOR`] rows |
//! | `run_folder` | the files of a run, [`RUN_FILES`], with [`SEPARATOR`] between them |
//! | `scenario` | a scenario in TOML |
//! | `scrape` | pages of metrics, with [`SEPARATOR`] between them |
//! | `spans` | messages with spans in any form, with [`SEPARATOR`] between them |
//! | `timing` | the value of a header `Server-Timing`, or the option that names a header |
//! | `flow` | a flow, a Hurl file |
//! | `ways` | a byte for the kind, then an access log, an archive of a browser, or recorded arrivals |

use std::path::{Path, PathBuf};

use truetail_model::time::{Nanos, Rate};
use truetail_run::folder;
use truetail_tools::{InstalledTool, LoadSpec, Tool, ToolOutput};

/// Separates the parts of an input.
pub const SEPARATOR: &[u8] = b"\x1e\x1e\x1e\x1e";

/// The files of a run folder, in their order in an input.
pub const RUN_FILES: [&str; 6] =
    [folder::RUN, folder::HISTOGRAMS, folder::TIMELINE, folder::SAMPLES, folder::STREAMS, folder::SESSIONS];

/// A channel of messages.
#[derive(Clone, Copy, Debug)]
pub struct Channel {
    /// The framing; also `redis` and `websocket`, with `-deflate` or `-http2`.
    pub framing: &'static str,
    /// The rule by which replies are found.
    pub matching: &'static str,
    /// The message, or the words of the command.
    pub message: &'static str,
    /// The exchange that opens the channel; may be empty.
    pub hello: &'static str,
    /// The exchange that asks for pushes; may be empty.
    pub subscribe: &'static str,
}

impl Channel {
    const fn new(framing: &'static str, matching: &'static str, message: &'static str) -> Channel {
        Channel { framing, matching, message, hello: "", subscribe: "" }
    }
}

/// The channels of the target `messages`.
pub const CHANNELS: [Channel; 18] = [
    Channel::new("line", "order", "a{{seq}}"),
    Channel::new("crlf", "json:/id", "{\"id\":{{seq}}}"),
    Channel::new("nul", "bytes:0:2", "{{seq}}00"),
    Channel::new("length:4be", "json:", "{{seq}}"),
    Channel::new("length:2le", "order", "{{seq}}"),
    Channel::new("length:1be", "none", "{{seq}}"),
    Channel::new("length:8le", "order", "{{seq}}"),
    Channel::new("fixed:3", "bytes:1:1", "a0b"),
    Channel::new("delimiter:616162", "order", "c"),
    Channel::new("fix", "fix:11", "35=D|11=o{{seq}}"),
    Channel::new("fix", "fix:112", "35=1|112="),
    Channel::new("redis", "order", "GET {{seq}}"),
    Channel {
        hello: "send HELLO 3\nexpect",
        subscribe: "send SUBSCRIBE a\nexpect a",
        ..Channel::new("redis", "order", "PING")
    },
    Channel::new("websocket", "json:/id", "{\"id\":{{seq}}}"),
    Channel { hello: "send a\nawait b", ..Channel::new("websocket", "order", "a") },
    Channel::new("websocket-deflate", "json:/id", "{\"id\":{{seq}}}"),
    Channel::new("websocket-http2", "order", "a{{seq}}"),
    Channel {
        hello: "expect a\nsend b\nawait c",
        subscribe: "send d\nexpect e",
        ..Channel::new("line", "json:/id", "{\"id\":{{seq}}}")
    },
];

/// The load that the parsers are given.
pub fn load() -> LoadSpec {
    LoadSpec {
        url: "http://127.0.0.1:8080/api".to_owned(),
        rate: Rate::per_second(100.0).expect("a rate"),
        duration: Nanos::from_secs(6),
        users: 5,
        connections: 5,
        timeout: None,
        answer_tokens: None,
    }
}

/// The keys of the files that a tool writes, in their order in an input.
pub fn keys(tool: &dyn Tool) -> Vec<&'static str> {
    let found = InstalledTool { path: PathBuf::from("tool"), version: tool.info().tested_version.to_owned() };
    let invocation = tool.command(&found, &load(), Path::new(".")).unwrap_or_default();
    invocation.outputs.iter().map(|(key, _)| *key).collect()
}

/// The tool output of an input; exit code 255 stands for a signal.
pub fn output(input: &[u8], keys: &[&'static str]) -> ToolOutput {
    let Some((exit, rest)) = input.split_first() else { return ToolOutput::default() };
    let mut parts = split(rest);
    let stdout = parts.next().unwrap_or_default().to_vec();
    let there = keys.iter().zip(parts).filter(|(_, bytes)| !bytes.is_empty());
    let files = there.map(|(key, bytes)| ((*key).to_owned(), bytes.to_vec())).collect();
    let exit_code = (*exit != 255).then_some(i32::from(*exit));
    ToolOutput { stdout, stderr: Vec::new(), exit_code, files }
}

/// The parts of an input between [`SEPARATOR`]s.
pub fn split(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(bytes);
    std::iter::from_fn(move || {
        let bytes = rest?;
        let at = bytes.windows(SEPARATOR.len()).position(|window| window == SEPARATOR);
        rest = at.map(|at| &bytes[at + SEPARATOR.len()..]);
        Some(&bytes[..at.unwrap_or(bytes.len())])
    })
}

/// The input with these parts.
pub fn input(exit: u8, parts: &[Vec<u8>]) -> Vec<u8> {
    [&[exit][..], &parts.join(SEPARATOR)].concat()
}

/// Bytes, and where they are cut: a flag as a byte, the number of cuts as a byte (its lowest bits), each cut as two
/// bytes (little endian), then the bytes. Cuts beyond the end have no effect.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cut<'a> {
    /// For the target to use.
    pub flag: bool,
    /// The bytes, in order; pieces may be empty.
    pub pieces: Vec<&'a [u8]>,
}

/// The largest number of cuts: a power of two, less one.
const MAX_CUTS: u8 = 15;

impl<'a> Cut<'a> {
    /// Reads any input as a cut.
    pub fn read(input: &'a [u8]) -> Cut<'a> {
        let (flag, rest) = input.split_first().unwrap_or((&0, &[]));
        let (count, rest) = rest.split_first().unwrap_or((&0, &[]));
        let (places, bytes) = rest.split_at((usize::from(count & MAX_CUTS) * 2).min(rest.len()) & !1);
        let mut places: Vec<usize> = places
            .chunks_exact(2)
            .map(|two| usize::from(u16::from_le_bytes([two[0], two[1]])).min(bytes.len()))
            .collect();
        places.push(bytes.len());
        places.sort_unstable();
        let mut start = 0;
        let pieces = places.into_iter().map(|end| &bytes[std::mem::replace(&mut start, end)..end]);
        Cut { flag: flag & 1 == 1, pieces: pieces.collect() }
    }

    /// The input for these bytes, cut at these places, at most fifteen.
    pub fn write(flag: bool, places: &[usize], bytes: &[u8]) -> Vec<u8> {
        let mut input = vec![u8::from(flag), places.len() as u8 & MAX_CUTS];
        places.iter().for_each(|place| input.extend((*place as u16).to_le_bytes()));
        input.extend_from_slice(bytes);
        input
    }
}
