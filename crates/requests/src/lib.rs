//! Turns the targets, curl commands and rows of data that users write into the requests of a run: the bytes of a
//! [`truetail_engine::RequestSet`], built before the run.
//!
//! This crate takes text and returns values. It opens no files, sockets or terminals.
//!
//! | module | content |
//! |---|---|
//! | `spec` | one target as written, with its placeholders |
//! | `targets` | parser for a file of targets: Vegeta's HTTP format, curl commands, weights |
//! | `curl`, `curl_options` | parser for a curl command, and the options that it knows |
//! | `credentials` | user name and password, from a URL or as `USER:PASSWORD` |
//! | `shell` | splits a command line into words, as a shell would |
//! | `rows` | readers for CSV and JSON lines |
//! | `placeholder` | `{{name}}` in a text |
//! | `names` | the meaning of such a name: a field of a row, or a built-in value |
//! | `built_in` | built-in values, filled in when a request begins |
//! | `json_text` | bodies that are JSON, with placeholders in them |
//! | `llm` | the members that ask a language model for a stream |
//! | `encoder` | bodies that are encoded before the run |
//! | `messages` | messages for channels |
//! | `exchange` | files of exchanges that open a channel |
//! | `synthetic` | prompts of given lengths, made of words |
//! | `prompt_file` | requests to language models from public traces, data sets and batches |
//! | `template` | a target whose placeholders are filled from a row |
//! | `redact` | words of a command line without secrets |
//! | `replay` | recorded arrivals, each with its request |
//! | `prepare` | builds requests from targets and rows |
//! | `input_error` | errors of the input, with their location |

#![warn(unreachable_pub)]

mod built_in;
mod cmd;
mod credentials;
mod curl;
mod curl_options;
mod encoder;
mod exchange;
mod input_error;
mod json_text;
mod llm;
mod messages;
mod names;
mod placeholder;
mod prepare;
mod prompt_file;
mod redact;
mod replay;
mod rows;
mod secrets;
mod shell;
mod spec;
mod synthetic;
mod targets;
mod template;

pub use truetail_engine::BaseUrl;

pub use built_in::{BUILT_INS, BuiltIn, ValueSource, unix_time};
pub use cmd::words_of_curl;
pub use credentials::basic_authorization;
pub use curl::parse_curl;
pub use encoder::BodyEncoder;
pub use exchange::parse_exchange;
pub use input_error::{InputError, Location};
pub use json_text::with_json_members;
pub use llm::{asking_for_stream, asks_for_echo, refuses_stream, with_distinct_prompts};
pub use messages::{MessageContent, MessageSpec, prepare_message};
pub use placeholder::{Placeholder, placeholders};
pub use prepare::{Feed, PreparedRequests, prepare};
pub use prompt_file::{FilePrompts, PromptFile, PromptFormat, bodies_asking, first_refusing_stream};
pub use redact::{REDACTED, redacted_body, redacted_curl, redacted_header, redacted_url};
pub use replay::{RecordedRequest, Replay, parse_replay, write_replay};
pub use rows::{RowFormat, Rows};
pub use shell::{ShellError, split_into_bytes, split_words};
pub use spec::TargetSpec;
pub use synthetic::{AskedLengths, Lengths, MadePrompts, SyntheticPrompts, TokensOfWords};
pub use targets::parse_targets;

/// Returns the bytes of a file that a target names, or says why it cannot be read.
pub type FileReader<'a> = &'a dyn Fn(&str) -> Result<Vec<u8>, String>;
