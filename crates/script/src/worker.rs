//! The requests and answers of one worker.

use std::sync::Arc;

use mlua::Function;
use truetail_engine::{AnswerHead, AnswerReader, EndedRequest, FieldList, RequestMaker, RequestParts};
use truetail_model::arrival::Arrival;
use truetail_model::record::Outcome;

use crate::error::ScriptError;
use crate::pieces::Splitter;
use crate::shared::Shared;
use crate::state::State;

/// Limit on the bytes of a body that `response` gets.
const MAX_BODY: usize = 1 << 20;

/// The script of one worker, which makes its requests and sees its answers.
#[derive(Debug)]
pub(crate) struct ScriptedWorker {
    state: State,
    shared: Arc<Shared>,
    /// The script's `request`; `None`: all requests are the first one.
    request: Option<Function>,
    response: Option<Function>,
    /// Text that `request` returned.
    text: Vec<u8>,
    /// Bytes of it that were sent.
    sent: usize,
    splitter: Splitter,
    /// Answers that `response` waits for, by request.
    answers: Vec<Answer>,
    has_failed: bool,
}

#[derive(Default, Debug)]
struct Answer {
    status: Option<u16>,
    fields: FieldList,
    body: Vec<u8>,
}

impl ScriptedWorker {
    /// Takes over a state after `init`.
    ///
    /// # Errors
    /// The first request of a script without `request` is no request.
    pub(crate) fn new(state: State, shared: Arc<Shared>) -> Result<ScriptedWorker, ScriptError> {
        let request = state.function("request");
        let mut text = Vec::new();
        if request.is_none() {
            let format = state.lua.load("return wrk.format()").set_name("=wrk.format").into_function();
            state.call_for_text(&state.described(format)?, &mut text)?;
        }
        Ok(ScriptedWorker {
            request,
            response: state.function("response"),
            state,
            shared,
            text,
            sent: 0,
            splitter: Splitter::default(),
            answers: Vec::new(),
            has_failed: false,
        })
    }

    /// Writes the next request.
    fn next(&mut self, request: &mut RequestParts) -> Result<(), ScriptError> {
        if self.sent == self.text.len() {
            if let Some(function) = &self.request {
                self.state.call_for_text(function, &mut self.text)?;
            }
            self.sent = 0;
        }
        let rest = &self.text[self.sent..];
        let length = self.splitter.first_length(rest);
        let length = length.map_err(|why| self.state.error(&format!("request() returned no request: {why}")))?;
        request.message_buffer().extend_from_slice(&rest[..length]);
        self.sent += length;
        Ok(())
    }

    fn respond(&mut self, request: u32) -> Result<(), ScriptError> {
        let Some(function) = &self.response else { return Ok(()) };
        let Some(answer) = self.answers.get_mut(request as usize) else { return Ok(()) };
        let Some(status) = answer.status.take() else { return Ok(()) };
        let lua = &self.state.lua;
        let arguments = || {
            let headers = lua.create_table()?;
            for (name, value) in answer.fields.iter() {
                headers.raw_set(lua.create_string(name)?, lua.create_string(value)?)?;
            }
            Ok((status, headers, lua.create_string(&answer.body)?))
        };
        let arguments = self.state.described(arguments())?;
        self.state.call(function, arguments)
    }

    fn fail(&mut self, error: ScriptError) {
        self.has_failed = true;
        self.shared.fail(error);
    }
}

impl AnswerReader for ScriptedWorker {
    fn begin(&mut self, request: u32, _: u32, _: Arrival) {
        if self.response.is_none() {
            return;
        }
        let at = request as usize;
        if self.answers.len() <= at {
            self.answers.resize_with(at + 1, Answer::default);
        }
        self.answers[at].status = None;
        self.answers[at].body.clear();
    }

    fn head(&mut self, request: u32, head: AnswerHead<'_>) {
        if let Some(answer) = self.answers.get_mut(request as usize) {
            answer.status = head.status;
            head.copy_fields(&mut answer.fields);
        }
    }

    fn body(&mut self, request: u32, part: &[u8]) {
        if let Some(answer) = self.answers.get_mut(request as usize) {
            let room = MAX_BODY - answer.body.len();
            answer.body.extend_from_slice(&part[..part.len().min(room)]);
        }
    }

    fn end(&mut self, request: u32, ended: EndedRequest) {
        if self.has_failed || !matches!(ended.outcome, Outcome::Response { .. }) {
            return;
        }
        if let Err(error) = self.respond(request) {
            self.fail(error);
        }
    }

    fn maker(&mut self) -> Option<&mut dyn RequestMaker> {
        Some(self)
    }
}

impl RequestMaker for ScriptedWorker {
    fn make(&mut self, _: Arrival, request: &mut RequestParts) -> bool {
        if self.has_failed {
            return false;
        }
        match self.next(request) {
            Ok(()) => true,
            Err(error) => {
                self.fail(error);
                false
            }
        }
    }
}
