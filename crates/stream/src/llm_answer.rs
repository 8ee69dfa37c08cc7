use truetail_model::record::Outcome;
use truetail_model::time::{Nanos, Timestamp};
use truetail_run::{LlmFacts, SloCounts, StreamTime};

use crate::chunk::{Usage, read_chunk};
use crate::chunk_text::AnswerText;
use crate::event_parser::ServerSentEvent;
use crate::found::StreamResults;
use crate::open_stream::{Head, MissingFirst, ReadInstant};
use crate::options::LlmOptions;
use crate::slo::{Objective, SloTime};

/// One answer of a language model, while it comes.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct LlmAnswer {
    /// The read that brought the first content.
    first: Option<ReadInstant>,
    /// The read that brought the last content.
    last: Option<ReadInstant>,
    /// The last usage that the server sent.
    usage: Option<Usage>,
    has_other_choice: bool,
    /// An event reports an error of the server.
    pub(crate) has_error: bool,
}

/// End of an answer, with its intended start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AnswerEnd {
    pub(crate) outcome: Outcome,
    pub(crate) head: Head,
    pub(crate) is_complete: bool,
    pub(crate) intended_start: Timestamp,
    pub(crate) start: Timestamp,
    pub(crate) end: Timestamp,
    /// Time of the last event of any kind.
    pub(crate) last_event: Option<Timestamp>,
}

/// The time per output token of a complete answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum PerToken {
    Known(Nanos),
    /// The answer has no token after the first.
    None,
    Unknown,
}

/// Result of comparing an answer with objectives, from best to worst.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum ObjectiveResult {
    Yes,
    CannotTell,
    No,
}

impl LlmAnswer {
    /// Records an event of a measured answer. `is_mark` means that the event is the end mark.
    #[inline]
    pub(crate) fn event(
        &mut self,
        event: ServerSentEvent<'_>,
        is_mark: bool,
        now: ReadInstant,
        options: &LlmOptions,
        text: &mut AnswerText,
        found: &mut StreamResults,
    ) {
        let Some(facts) = &mut found.llm else { return };
        if is_mark {
            facts.other_events += 1;
            return;
        }
        let chunk = if event.is_whole() { read_chunk(options.api, event.data) } else { None };
        let Some(chunk) = chunk else {
            facts.unreadable_events += 1;
            text.give_up();
            return;
        };
        if options.tokenizer.is_some() {
            text.event(options.api, event.data);
        }
        self.usage = chunk.usage.or(self.usage);
        self.has_other_choice |= chunk.has_other_choice;
        if chunk.is_error {
            facts.error_events += 1;
            self.has_error = true;
        } else if chunk.has_content {
            facts.content_events += 1;
            facts.reasoning_events += u64::from(chunk.is_reasoning);
            self.content(now, found);
        } else {
            facts.other_events += 1;
        }
    }

    fn content(&mut self, now: ReadInstant, found: &mut StreamResults) {
        match self.last.replace(now) {
            // The time to the first content is recorded at the end, when the actual start is known too.
            None => self.first = Some(now),
            Some(before) if before.number == now.number => {
                found.llm.iter_mut().for_each(|facts| facts.coalesced_content_gaps += 1);
            }
            Some(before) => found.record(StreamTime::ContentGap, now.at.since(before.at)),
        }
    }

    /// Records the times of a measured request that has ended. [`count`](LlmAnswer::count) adds the counts.
    pub(crate) fn end(self, ended: AnswerEnd, found: &mut StreamResults) {
        let Some((first, last)) = self.first.zip(self.last) else {
            let waited = ended.end.since(ended.intended_start);
            found.record(
                match ended.head.without_first(ended.outcome) {
                    MissingFirst::Censored => StreamTime::FirstContentCensored,
                    MissingFirst::Failed => StreamTime::FirstContentFailed,
                },
                waited,
            );
            return;
        };
        found.record(StreamTime::FirstContent, first.at.since(ended.intended_start));
        found.record(StreamTime::FirstContentService, first.at.since(ended.start));
        if !ended.is_complete {
            found.record(StreamTime::ContentGapCensored, ended.end.since(last.at));
        }
    }

    /// Returns true if the answer has a text of one choice whose tokens the server did not count.
    pub(crate) fn is_uncounted_text(&self) -> bool {
        self.usage.is_none() && self.first.is_some() && !self.has_other_choice
    }

    /// Counts the tokens of a complete answer and the objectives that it met. `by_client` is a tokenizer's count.
    pub(crate) fn count(
        self,
        ended: AnswerEnd,
        by_client: Option<u64>,
        options: &LlmOptions,
        found: &mut StreamResults,
    ) {
        if !ended.is_complete {
            return;
        }
        let per_token = self.per_token(by_client);
        if let PerToken::Known(time) = per_token {
            found.record(StreamTime::TimePerOutputToken, time);
        }
        let Some(facts) = &mut found.llm else { return };
        self.count_tokens(per_token, by_client, facts);
        if let Some(slo) = &mut facts.slo {
            self.count_objectives(per_token, ended, options, slo);
        }
    }

    fn count_objectives(self, per_token: PerToken, ended: AnswerEnd, options: &LlmOptions, slo: &mut SloCounts) {
        let mut worst = ObjectiveResult::Yes;
        for (objective, counts) in options.slo.iter().zip(&mut slo.each) {
            let met = self.meets(objective, per_token, ended);
            *match met {
                ObjectiveResult::Yes => &mut counts.met,
                ObjectiveResult::CannotTell => &mut counts.cannot_tell,
                ObjectiveResult::No => &mut counts.missed,
            } += 1;
            worst = worst.max(met);
        }
        slo.met += u64::from(worst == ObjectiveResult::Yes);
        slo.cannot_tell += u64::from(worst == ObjectiveResult::CannotTell);
    }

    fn count_tokens(self, per_token: PerToken, by_client: Option<u64>, facts: &mut LlmFacts) {
        let tokens = &mut facts.tokens;
        tokens.unknown_time_per_output_token += u64::from(per_token == PerToken::Unknown);
        tokens.no_time_per_output_token += u64::from(per_token == PerToken::None);
        let Some(usage) = self.usage else {
            tokens.not_counted += 1;
            facts.by_client.iter_mut().zip(by_client).for_each(|(sum, tokens)| sum.add(tokens));
            return;
        };
        tokens.counted += 1;
        tokens.output = tokens.output.saturating_add(usage.output);
        tokens.input = tokens.input.saturating_add(usage.input.unwrap_or(0));
        tokens.without_input += u64::from(usage.input.is_none());
    }

    /// Returns the time from the first content to the last, divided by the tokens after the first. It is unknown if all
    /// content came at once, if the one token came in two reads, or if several choices share the tokens.
    fn per_token(self, by_client: Option<u64>) -> PerToken {
        let tokens = self.usage.map(|usage| usage.output).or(by_client);
        match (self.first.zip(self.last), tokens) {
            (None, None | Some(0)) => PerToken::None,
            _ if self.has_other_choice => PerToken::Unknown,
            (Some((first, last)), Some(1)) if first.number == last.number => PerToken::None,
            (Some((first, last)), Some(tokens @ 2..)) if first.number != last.number => {
                PerToken::Known(Nanos(last.at.since(first.at).0 / (tokens - 1)))
            }
            _ => PerToken::Unknown,
        }
    }

    pub(crate) fn first_content(&self) -> Option<Timestamp> {
        self.first.map(|first| first.at)
    }

    /// Tells whether a complete answer meets an objective. An answer without content meets none.
    fn meets(self, objective: &Objective, per_token: PerToken, ended: AnswerEnd) -> ObjectiveResult {
        let Some((first, last_event)) = self.first.zip(ended.last_event) else { return ObjectiveResult::No };
        let by = |time: Nanos| if objective.is_met_by(time) { ObjectiveResult::Yes } else { ObjectiveResult::No };
        match (objective.time, per_token) {
            (SloTime::FirstContent, _) => by(first.at.since(ended.intended_start)),
            (SloTime::EndToEnd, _) => by(last_event.since(ended.intended_start)),
            (SloTime::PerOutputToken, PerToken::Known(time)) => by(time),
            (SloTime::PerOutputToken, PerToken::None) => ObjectiveResult::Yes,
            (SloTime::PerOutputToken, PerToken::Unknown) => ObjectiveResult::CannotTell,
        }
    }
}

#[cfg(test)]
mod tests;
