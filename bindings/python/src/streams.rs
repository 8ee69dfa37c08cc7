//! Streams: the arguments of `truetail.run`.

use pyo3::prelude::*;
use truetail_analysis::gates::ReadingMode;
use truetail_run::{LlmApi, StreamKind};
use truetail_stream::{LlmOptions, Objective, StreamOptions};

use crate::arguments::{choice, positive_time, value_error};
use crate::gate::parsed;
use crate::load::OptionalArg;

/// The reading of answers as streams; not yet converted. Passed as a dictionary.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct StreamArguments<'py> {
    stream: Option<String>,
    llm: Option<String>,
    slo: Vec<String>,
    stall: OptionalArg<'py>,
    idle_timeout: OptionalArg<'py>,
    end_mark: Option<String>,
}

impl StreamArguments<'_> {
    /// Returns the API of the language model whose answers are read, if any.
    pub(crate) fn api(&self) -> PyResult<Option<LlmApi>> {
        let apis = LlmApi::ALL.map(|api| (api.name(), api));
        self.llm.as_ref().map(|name| choice("llm", name, &apis)).transpose()
    }

    /// Returns the reading of answers, for gates.
    pub(crate) fn reading(&self) -> ReadingMode {
        match (&self.stream, &self.llm) {
            (_, Some(_)) => self.api().ok().flatten().map_or(ReadingMode::Llm, ReadingMode::of_llm),
            (Some(_), None) => ReadingMode::Streams,
            (None, None) => ReadingMode::Whole,
        }
    }

    /// Returns the objectives of each request, for goodput.
    fn slo_of_each_request(&self) -> Vec<String> {
        self.slo.iter().filter(|text| Objective::is_in(text)).cloned().collect()
    }

    /// Returns the objectives of the run.
    pub(crate) fn slo_of_run(&self) -> Vec<String> {
        self.slo.iter().filter(|text| !Objective::is_in(text)).cloned().collect()
    }

    /// Returns the options for reading streams; `None` if answers are not read as streams.
    pub(crate) fn options(&self) -> PyResult<Option<StreamOptions>> {
        let kinds = [("sse", StreamKind::Sse), ("chunks", StreamKind::Chunks)];
        let kind = self.stream.as_ref().map(|name| choice("stream", name, &kinds)).transpose()?;
        let api = self.api()?;
        self.refuse_contradictions(kind)?;
        self.refuse_with_whole_answers(kind, api)?;
        let length =
            |name: &str, given: &OptionalArg<'_>| given.as_ref().map(|time| positive_time(name, time)).transpose();
        let stall = length("stall", &self.stall)?;
        let idle_timeout = length("idle_timeout", &self.idle_timeout)?;
        let slo = parsed("slo", &self.slo_of_each_request())?;
        let plain = match (kind, api) {
            (None, None) => return Ok(None),
            (_, Some(api)) => for_llm(LlmOptions::new(api, slo))?,
            (Some(kind), None) => StreamOptions::new(kind),
        };
        let options = StreamOptions { stall, idle_timeout, ..plain };
        options.with_end_mark(self.end_mark.clone()).map(Some).map_err(|problem| value_error("end_mark", problem))
    }

    /// Refuses objectives of each request unless a language model answers.
    pub(crate) fn refuse_slo_without_llm(&self) -> PyResult<()> {
        match self.slo_of_each_request().is_empty() || self.llm.is_some() {
            true => Ok(()),
            false => Err(value_error("slo", "it is about answers of language models; add llm='openai-chat'")),
        }
    }

    /// Refuses arguments that have no effect on answers that come whole.
    fn refuse_with_whole_answers(&self, kind: Option<StreamKind>, api: Option<LlmApi>) -> PyResult<()> {
        let of_pieces =
            [("stream", kind.is_some()), ("stall", self.stall.is_some()), ("end_mark", self.end_mark.is_some())];
        let given = of_pieces.into_iter().find(|(_, given)| *given);
        match given.filter(|_| api.is_some_and(LlmApi::comes_whole)) {
            Some((name, _)) => {
                Err(value_error(name, "it is about answers in pieces, and those of this llm come whole"))
            }
            None => Ok(()),
        }
    }

    fn refuse_contradictions(&self, kind: Option<StreamKind>) -> PyResult<()> {
        let of_streams = [
            ("stall", self.stall.is_some()),
            ("idle_timeout", self.idle_timeout.is_some()),
            ("end_mark", self.end_mark.is_some()),
        ];
        let given = of_streams.into_iter().find(|(_, given)| *given);
        if let Some((name, _)) = given.filter(|_| kind.is_none() && self.llm.is_none()) {
            return Err(value_error(name, "it is about streams; add stream='sse', stream='chunks' or llm"));
        }
        self.refuse_slo_without_llm()?;
        if kind == Some(StreamKind::Chunks) && (self.llm.is_some() || self.end_mark.is_some()) {
            let name = if self.llm.is_some() { "llm" } else { "end_mark" };
            return Err(value_error(name, "it is about server-sent events, and contradicts stream='chunks'"));
        }
        Ok(())
    }
}

fn for_llm(llm: LlmOptions) -> PyResult<StreamOptions> {
    match llm.objection_to_slo() {
        Some(objection) => Err(value_error("slo", objection)),
        None => Ok(StreamOptions::for_llm(llm)),
    }
}
