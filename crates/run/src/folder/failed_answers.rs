//! `failed-answers.jsonl`: the first answers that failed a check, one JSON object per line, in the order of their
//! arrivals. The file exists only if an answer failed.

use std::io::{self, BufRead, Write};

use super::LineError;
use crate::FailedAnswer;

pub(super) fn write(out: &mut impl Write, answers: &[FailedAnswer]) -> io::Result<()> {
    answers.iter().try_for_each(|answer| {
        serde_json::to_writer(&mut *out, answer)?;
        out.write_all(b"\n")
    })
}

pub(super) fn read(file: impl BufRead) -> Result<Vec<FailedAnswer>, LineError> {
    let lines = (1..).zip(file.lines());
    let answers = lines.map(|(line, text)| {
        let answer = text.map_err(|error| error.to_string());
        let answer = answer.and_then(|text| serde_json::from_str(&text).map_err(|error| error.to_string()));
        let mut answer: FailedAnswer = answer.map_err(|problem| LineError { line, problem })?;
        // In older files the status of a protocol without one is 0.
        answer.status = answer.status.filter(|status| *status > 0);
        Ok(answer)
    });
    answers.collect()
}
