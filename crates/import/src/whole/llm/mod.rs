//! Results of benchmarks of language models.

mod detailed;
mod guidellm;
mod serving;

pub(super) use guidellm::GUIDELLM;
pub(super) use serving::{SGLANG, VLLM};
