//! The clients of language model servers: `vllm bench serve`, and sglang's `bench_serving`.

mod parse;
mod sglang;
mod vllm;

pub(crate) use sglang::SGLANG;
pub(crate) use vllm::{LIMITED, UNLIMITED};

/// Tokens of an answer if the load does not say.
const ANSWER_TOKENS: u64 = 30;
