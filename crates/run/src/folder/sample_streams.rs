//! Columns of `samples.csv` about the stream of a request.

use std::fmt::Write;

use csv::StringRecord;
use serde::{Deserialize, Serialize};
use truetail_model::record::RequestRecord;
use truetail_model::time::{Nanos, Timestamp};

use super::LineError;
use crate::facts::MAX_GAPS;
use crate::limits::LONGEST_NS;
use crate::{
    FinishReason, GapLists, MAX_GAPS_OF_STREAM, RequestStream, RequestStreams, RequestTokens, StreamEnding, StreamFacts,
};

/// The columns of every stream.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct StreamColumns {
    stream: Option<StreamEnding>,
    first_event_ns: Option<u64>,
    last_event_ns: Option<u64>,
    gaps: Option<u32>,
    gaps_ns: String,
}

/// The columns of an answer of a language model.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct AnswerColumns {
    first_content_ns: Option<u64>,
    time_per_output_token_ns: Option<u64>,
    input_tokens: Option<u32>,
    cached_tokens: Option<u32>,
    output_tokens: Option<u32>,
    reasoning_tokens: Option<u32>,
    finish: Option<FinishReason>,
}

/// The names of [`StreamColumns`], in order.
const OF_STREAM: [&str; 5] = ["stream", "first_event_ns", "last_event_ns", "gaps", "gaps_ns"];
/// The names of [`AnswerColumns`], in order.
const OF_ANSWER: [&str; 7] = [
    "first_content_ns",
    "time_per_output_token_ns",
    "input_tokens",
    "cached_tokens",
    "output_tokens",
    "reasoning_tokens",
    "finish",
];

/// Returns the names of the columns, if streams of single requests are known.
pub(super) fn names(streams: Option<&StreamFacts>) -> impl Iterator<Item = &'static str> {
    let known = streams.filter(|streams| !streams.requests.is_empty());
    let of_stream = known.into_iter().flat_map(|_| OF_STREAM);
    of_stream.chain(known.filter(|streams| streams.llm.is_some()).into_iter().flat_map(|_| OF_ANSWER))
}

/// Returns the columns of a request: lists with one item each, or none without such columns.
pub(super) fn columns(streams: Option<&StreamFacts>, index: u64) -> (Vec<StreamColumns>, Vec<AnswerColumns>) {
    let Some(streams) = streams.filter(|streams| !streams.requests.is_empty()) else { return Default::default() };
    let row = streams.requests.of(index);
    let gaps = streams.requests.gaps_of(index).unwrap_or_default();
    let of_stream = row.map_or_else(StreamColumns::default, |row| StreamColumns::new(row, gaps));
    let of_answer = streams.llm.as_ref().map(|_| row.map_or_else(AnswerColumns::default, AnswerColumns::new));
    (vec![of_stream], of_answer.into_iter().collect())
}

impl StreamColumns {
    fn new(row: &RequestStream, gaps: &[Nanos]) -> StreamColumns {
        let mut gaps_ns = String::new();
        for (nth, gap) in gaps.iter().enumerate() {
            let separator = if nth == 0 { "" } else { " " };
            // A String takes everything.
            let _ = write!(gaps_ns, "{separator}{}", gap.0);
        }
        StreamColumns {
            stream: Some(row.ending),
            first_event_ns: row.first_event.map(|at| at.0),
            last_event_ns: row.last_event.map(|at| at.0),
            gaps: Some(row.gaps),
            gaps_ns,
        }
    }
}

impl AnswerColumns {
    fn new(row: &RequestStream) -> AnswerColumns {
        AnswerColumns {
            first_content_ns: row.first_content.map(|at| at.0),
            time_per_output_token_ns: row.time_per_output_token.map(|time| time.0),
            input_tokens: row.tokens.input,
            cached_tokens: row.tokens.cached,
            output_tokens: row.tokens.output,
            reasoning_tokens: row.tokens.reasoning,
            finish: row.finish,
        }
    }
}

/// Reads the columns of a file, line by line.
pub(super) struct StreamReader {
    /// False for a file without these columns.
    has_columns: bool,
    rows: Vec<RequestStream>,
    gaps: GapLists,
    /// Number of gaps that were read.
    read: usize,
}

impl StreamReader {
    /// Begins a file with these columns.
    pub(super) fn new(headers: &StringRecord) -> StreamReader {
        let has_columns = headers.iter().any(|name| name == OF_STREAM[0]);
        StreamReader { has_columns, rows: Vec::new(), gaps: GapLists::default(), read: 0 }
    }

    /// Reads the columns of a request from its line.
    pub(super) fn read(
        &mut self,
        line: &StringRecord,
        headers: &StringRecord,
        record: &RequestRecord,
    ) -> Result<(), LineError> {
        if !self.has_columns {
            return Ok(());
        }
        let of_stream: StreamColumns = line.deserialize(Some(headers)).map_err(LineError::from_csv)?;
        let Some(ending) = of_stream.stream else { return Ok(()) };
        let of_answer: AnswerColumns = line.deserialize(Some(headers)).map_err(LineError::from_csv)?;
        let row = RequestStream {
            index: record.index,
            ending,
            finish: of_answer.finish,
            gaps: of_stream.gaps.unwrap_or(0),
            first_event: of_stream.first_event_ns.map(Timestamp),
            last_event: of_stream.last_event_ns.map(Timestamp),
            first_content: of_answer.first_content_ns.map(Timestamp),
            time_per_output_token: of_answer.time_per_output_token_ns.map(Nanos),
            tokens: RequestTokens {
                input: of_answer.input_tokens,
                cached: of_answer.cached_tokens,
                output: of_answer.output_tokens,
                reasoning: of_answer.reasoning_tokens,
            },
        };
        let gaps = self.gaps(&of_stream.gaps_ns).and_then(|gaps| check(&row, &gaps, record).map(|()| gaps));
        let gaps = gaps.map_err(|problem| LineError::in_record(line, problem))?;
        self.gaps.keep(row.index, &gaps);
        self.rows.push(row);
        Ok(())
    }

    /// Returns what was read.
    pub(super) fn finish(self) -> RequestStreams {
        RequestStreams::new(self.rows, self.gaps)
    }

    fn gaps(&mut self, text: &str) -> Result<Vec<Nanos>, String> {
        let mut gaps = Vec::new();
        for number in text.split_ascii_whitespace() {
            let ns: u64 = number.parse().map_err(|error| format!("gaps_ns: {error}"))?;
            if ns > LONGEST_NS {
                return Err(format!("a gap is {ns} ns, but no run is longer than {LONGEST_NS} ns"));
            }
            self.read += 1;
            if gaps.len() == MAX_GAPS_OF_STREAM || self.read > MAX_GAPS {
                return Err(format!(
                    "gaps_ns has more gaps than the {MAX_GAPS_OF_STREAM} of a stream that are kept, or \
                                    than the {MAX_GAPS} of a run"
                ));
            }
            gaps.push(Nanos(ns));
        }
        Ok(gaps)
    }
}

/// Checks that the times of a stream are possible.
fn check(row: &RequestStream, gaps: &[Nanos], record: &RequestRecord) -> Result<(), String> {
    let instants = [row.first_event, row.last_event, row.first_content].into_iter().flatten();
    if let Some(at) = instants.clone().find(|at| at.0 > LONGEST_NS) {
        return Err(format!("its stream has an instant of {} ns, but no run is longer than {LONGEST_NS} ns", at.0));
    }
    if instants.clone().any(|at| at < record.intended_start) {
        return Err("its stream has an event before the intended start".to_owned());
    }
    if row.time_per_output_token.is_some_and(|time| time.0 > LONGEST_NS) {
        return Err(format!("time_per_output_token_ns is longer than any run, {LONGEST_NS} ns"));
    }
    if gaps.len() as u64 > u64::from(row.gaps) {
        return Err(format!("gaps_ns lists {} gaps, but its stream has {}", gaps.len(), row.gaps));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(row: impl Serialize) -> String {
        let mut csv = csv::Writer::from_writer(Vec::new());
        csv.serialize(row).unwrap();
        let text = String::from_utf8(csv.into_inner().unwrap()).unwrap();
        text.lines().next().unwrap_or_default().to_owned()
    }

    #[test]
    fn the_names_are_those_of_the_columns_in_order() {
        assert_eq!(header(StreamColumns::default()), OF_STREAM.join(","));
        assert_eq!(header(AnswerColumns::default()), OF_ANSWER.join(","));
    }
}
