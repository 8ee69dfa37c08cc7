//! Measures answers that come in pieces: time to the first event, gaps between events, and how each stream ends.
//!
//! | file | what is in it |
//! |---|---|
//! | `event_parser`, `line_parser` | server-sent events, and lines, without I/O |
//! | `json_scanner` | a few members of a large JSON document, without I/O |
//! | `options` | options, and the rule that tells which answers are streams |
//! | `asking` | what the targets ask for |
//! | `open_stream` | the clocks of one answer |
//! | `chunk` | the meaning of one event of a language model |
//! | `dialect/` | the readers of such an event, without I/O: a file for each dialect, and one for described dialects |
//! | `chunk_text` | the text of such an event, for a tokenizer |
//! | `llm_answer` | one answer of a language model: its content, its tokens, its objectives |
//! | `tokenizer` | tokens as the client counts them; a cargo feature |
//! | `uncounted` | answers that wait for the tokenizer |
//! | `slo` | the objectives that a request must meet to count in goodput |
//! | `open_gaps` | the gaps of one stream, for the runs that keep them |
//! | `found` | results of one worker: counts and histograms |
//! | `all_found` | results of all workers |
//! | `idle` | deadlines for giving up idle streams |
//! | `observer` | the observer of one worker of the engine, which uses all of the above |
//! | `recognise` | the API of a language model, by one answer |
//! | `said` | the text of an answer, for a request that says it again |
//! | `verdict` | the verdict on an answer, for an observer beside |
//! | `stream_run` | the streams of a run, over all workers |
//! | `items` | streams whose events are items of a generator |
//! | `stamp` | the sender's time in a push |
//! | `pushes` | streams whose events are pushes on subscribed channels |

#![warn(unreachable_pub)]

mod all_found;
mod asking;
mod chunk;
mod chunk_text;
mod dialect;
mod event_parser;
mod found;
mod idle;
mod items;
mod json_scanner;
mod line_parser;
mod llm_answer;
mod observer;
mod open_gaps;
mod open_stream;
mod options;
mod pushes;
mod recognise;
mod said;
mod slo;
mod stamp;
mod stream_run;
mod tokenizer;
mod uncounted;
mod verdict;

pub use chunk::{Choices, Chunk, Usage};
pub use dialect::{DescribedDialect, read_chunk};
pub use event_parser::{EventParser, MAX_DATA_BYTES, ServerSentEvent};
pub use items::ItemStreams;
pub use options::{AskedPrompts, LlmOptions, StreamOptions};
pub use recognise::{FirstAnswer, Recognised, first_answer};
pub use said::{MAX_SAID_BYTES, SaidReader, said_text};
pub use slo::Objective;
pub use stream_run::StreamRun;
pub use tokenizer::Tokenizer;
pub use verdict::{AnswerVerdict, LastVerdict};
