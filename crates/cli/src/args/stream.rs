//! Options for answers that are streams.

use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use truetail_model::time::Nanos;
use truetail_run::LlmApi;
use truetail_stream::AskedPrompts;

use super::values::length;

/// Options for answers that are streams.
#[derive(Args, Clone, Debug)]
pub(crate) struct StreamArgs {
    /// Read each answer as a stream and measure its events: server-sent events (sse), or chunks, which are frames of
    /// data in HTTP/2. With --flow, the answers of the steps that say '# truetail: stream'. Before the load a
    /// connection is tried, and no request
    #[arg(long, value_name = "KIND", help_heading = "Streams")]
    pub stream: Option<StreamName>,
    /// Count gaps between events that last at least this long as stalls
    #[arg(long, value_name = "TIME", value_parser = length, allow_hyphen_values = true, help_heading = "Streams")]
    pub stall: Option<Nanos>,
    /// Give up a stream that brings no byte for this long, after its head. --timeout limits the whole request
    #[arg(long, value_name = "TIME", value_parser = length, allow_hyphen_values = true, help_heading = "Streams")]
    pub idle_timeout: Option<Nanos>,
    /// A server-sent event with this data must come before a stream ends, such as '[DONE]', which is the default with
    /// --llm; 'none' asks for no mark. Without its mark a stream counts as unfinished, unless a language model gave a
    /// reason for its end
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, help_heading = "Streams")]
    pub end_mark: Option<String>,
    /// Read each answer as that of a language model: the times to its first token and between tokens. auto recognises
    /// the API by a first answer. Implies --stream sse (of Ollama: a JSON object per line). Adds to the body that it
    /// asks for a stream with token counts, unless it does so already; a flow sends what it says. With embeddings,
    /// rerank and whole, which is for chats and completions without a stream, answers come whole and nothing is added
    #[arg(long, value_name = "API", help_heading = "Streams")]
    pub llm: Option<LlmName>,
    /// Read each answer as that of a language model whose API this TOML file describes: the paths of its text, its
    /// token counts, its end and its errors. For APIs that --llm does not know
    #[arg(long, value_name = "FILE", conflicts_with = "llm", help_heading = "Streams")]
    pub llm_dialect: Option<PathBuf>,
    /// Let sessions of agents arrive on the schedule, and let each make the calls of a session in this file, in turn: a
    /// JSON object per line with session, id, after, think (seconds), prompt (or messages, or body) and max_tokens. A
    /// call starts its think time after the last call that it is after, and calls may be in flight at the same time.
    /// {{ID}} in a prompt is what the model said in that call. Needs --llm; --data has what all calls share
    #[arg(long, value_name = "FILE.jsonl", help_heading = "Streams")]
    pub agents: Option<PathBuf>,
    /// Put a short text in front of each prompt, different for each request of the run, so that a cache of prompts does
    /// not answer. The texts follow from --seed: give each run on the same server another one. Needs --llm
    #[arg(long, help_heading = "Streams")]
    pub cache_bust: bool,
    /// Count the output tokens of answers that come without the server's count, with this tokenizer.json of the model.
    /// They are labelled as truetail's count. Needs --llm, and a truetail that was built with --features tokenizer
    #[arg(long, value_name = "FILE", help_heading = "Streams")]
    pub tokenizer: Option<PathBuf>,
    /// Lengths of the prompts of `--prompts`.
    #[arg(skip)]
    pub asked: Option<Arc<AskedPrompts>>,
    /// Result of `--llm auto`.
    #[arg(skip)]
    pub recognised: Option<RecognisedApi>,
}

/// API that an answer before the load was recognised as.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RecognisedApi {
    /// The server refused to be asked for a count of tokens.
    pub refuses_count: bool,
}

impl StreamArgs {
    /// Returns the API whose answers are read, if they come whole.
    pub(crate) fn whole_api(&self) -> Option<LlmApi> {
        self.llm.and_then(LlmName::api).filter(|api| api.comes_whole())
    }

    /// Returns true if answers are of a language model.
    pub(crate) fn reads_llm(&self) -> bool {
        self.llm.is_some() || self.llm_dialect.is_some()
    }
}

/// `--stream`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum StreamName {
    /// Server-sent events.
    Sse,
    /// Chunks of HTTP/1.1, frames of data of HTTP/2.
    Chunks,
    /// Messages of a gRPC method that answers with a stream.
    #[value(skip)]
    Messages,
    /// Pushes on channels with `--subscribe`.
    #[value(skip)]
    Pushes,
}

/// `--llm`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum LlmName {
    /// `/v1/chat/completions`, as OpenAI has it.
    OpenaiChat,
    /// `/v1/completions`, as OpenAI has it.
    OpenaiCompletions,
    /// OpenAI's `/v1/responses`.
    OpenaiResponses,
    /// Anthropic's `/v1/messages`.
    Anthropic,
    /// Gemini's `:streamGenerateContent?alt=sse`.
    Gemini,
    /// Ollama's `/api/chat` and `/api/generate`.
    Ollama,
    /// TGI's `/generate_stream`.
    Tgi,
    /// llama.cpp's `/completion`.
    Llamacpp,
    /// SGLang's `/generate`.
    Sglang,
    /// `/v1/embeddings` and similar, whose answers come whole: input tokens, and no times of tokens.
    Embeddings,
    /// `/v1/rerank` and similar, likewise.
    Rerank,
    /// A chat or completion of any of these APIs without a stream: its tokens, and no times of tokens.
    Whole,
    /// One of these, by the answer to a request before the load.
    Auto,
}

impl LlmName {
    /// Returns the format; `None` for `auto`, which is replaced before the load.
    pub(crate) fn api(self) -> Option<LlmApi> {
        Some(match self {
            LlmName::OpenaiChat => LlmApi::OpenaiChat,
            LlmName::OpenaiCompletions => LlmApi::OpenaiCompletions,
            LlmName::OpenaiResponses => LlmApi::OpenaiResponses,
            LlmName::Anthropic => LlmApi::Anthropic,
            LlmName::Gemini => LlmApi::Gemini,
            LlmName::Ollama => LlmApi::Ollama,
            LlmName::Tgi => LlmApi::Tgi,
            LlmName::Llamacpp => LlmApi::Llamacpp,
            LlmName::Sglang => LlmApi::Sglang,
            LlmName::Embeddings => LlmApi::Embeddings,
            LlmName::Rerank => LlmApi::Rerank,
            LlmName::Whole => LlmApi::Whole,
            LlmName::Auto => return None,
        })
    }

    /// Returns the name of a format; `None` for one that a file describes.
    pub(crate) fn of(api: LlmApi) -> Option<LlmName> {
        LlmName::value_variants().iter().find(|name| name.api() == Some(api)).copied()
    }
}

/// A run of a language model for scripts that read vLLM's.
#[derive(Args, Clone, Default, Debug)]
pub(crate) struct VllmArgs {
    /// Write the result of a run with --llm under the names of vLLM's benchmark, as JSON: mean_ttft_ms, p99_itl_ms and
    /// so on
    #[arg(long, value_name = "FILE", help_heading = "Result")]
    pub vllm_json: Option<PathBuf>,
}
