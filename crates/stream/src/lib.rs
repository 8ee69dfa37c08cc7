//! Answers that come in pieces: when did the first event come, how long are the gaps between events, how did it end?
//!
//! | file | what is in it |
//! |---|---|
//! | `event_parser` | server-sent events, without I/O |
//! | `options` | what is asked for, and which answers are streams |
//! | `open_stream` | the clocks of one answer |
//! | `chunk` | what one event of a language model says, without I/O |
//! | `chunk_text` | the text in it, for a tokenizer |
//! | `llm_answer` | one answer of a language model: its content, its tokens, its objectives |
//! | `tokenizer` | tokens as the client counts them; a cargo feature |
//! | `uncounted` | answers that wait for it |
//! | `slo` | what each request must meet to be counted in goodput |
//! | `found` | what a worker found: counts and histograms |
//! | `all_found` | what all workers found |
//! | `idle` | when streams that stand still are given up |
//! | `observer` | all that at work in one worker of the engine |
//! | `stream_run` | the streams of a run, over all workers |
//! | `items` | streams whose events are items that a generator yields |

mod all_found;
mod chunk;
mod chunk_text;
mod event_parser;
mod found;
mod idle;
mod items;
mod llm_answer;
mod observer;
mod open_stream;
mod options;
mod slo;
mod stream_run;
mod tokenizer;
mod uncounted;

pub use chunk::{Chunk, Usage, read_chunk};
pub use event_parser::{EventParser, MAX_DATA_BYTES, ServerSentEvent};
pub use items::ItemStreams;
pub use options::{LlmOptions, StreamOptions};
pub use slo::Objective;
pub use stream_run::StreamRun;
pub use tokenizer::Tokenizer;
