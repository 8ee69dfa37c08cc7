//! The clients of language model servers: `vllm bench serve`, and sglang's `bench_serving`.

mod parse;
mod sglang;
mod vllm;

pub use sglang::Sglang;
pub use vllm::Vllm;

/// Tokens of an answer if the load does not say.
const ANSWER_TOKENS: u64 = 30;
