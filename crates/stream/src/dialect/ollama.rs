//! Lines of Ollama's `/api/chat` and `/api/generate`.

use serde::Deserialize;
use truetail_run::FinishReason;

use super::content::Content;
use super::delta::Delta;
use super::finish::Finish;
use super::value_shape::ValueShape;
use crate::chunk::{Choices, Chunk, Usage};

#[derive(Default, Deserialize)]
#[serde(default)]
struct Line {
    message: Option<Delta>,
    response: Content,
    thinking: Content,
    done: ValueShape,
    done_reason: Finish,
    eval_count: ValueShape,
    prompt_eval_count: ValueShape,
    error: ValueShape,
}

pub(super) fn read(text: &str) -> Option<Chunk> {
    let line: Line = serde_json::from_str(text).ok()?;
    let message = line.message.unwrap_or_default();
    let content = message.content.and(line.response).and(line.thinking.as_reasoning());
    let finish = line.done.is_filled.then(|| line.done_reason.0.unwrap_or(FinishReason::Stop));
    let usage =
        line.eval_count.number.map(|output| Usage { output, input: line.prompt_eval_count.number, ..Usage::default() });
    Some(Chunk {
        content: Choices::first_if(content.is_filled()),
        is_reasoning: content.reasoning && !content.answer,
        is_unknown: message.is_unknown && !content.is_filled(),
        is_error: line.error.is_filled,
        choices: Choices::first_if(true),
        finished: Choices::first_if(finish.is_some()),
        finish,
        usage,
        ..Chunk::default()
    })
}
