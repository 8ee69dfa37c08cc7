mod row;
mod whole;

use truetail_model::record::Outcome;
use truetail_model::time::{Nanos, Timestamp};
use truetail_run::{FinishReason, LlmFacts, SloCounts, StreamTime};

use crate::chunk::{Choices, Chunk, Usage};
use crate::chunk_text::AnswerText;
use crate::dialect::read_event;
use crate::event_parser::ServerSentEvent;
use crate::found::StreamResults;
use crate::open_stream::{Head, MissingFirst, ReadInstant};
use crate::options::LlmOptions;
use crate::slo::{Objective, SloTime};
use crate::verdict::AnswerVerdict;

pub(crate) use row::CountedLater;

/// One answer of a language model, while it comes.
#[derive(Clone, Default, Debug)]
pub(crate) struct LlmAnswer {
    /// The read that brought the first content.
    first: Option<ReadInstant>,
    /// The read that brought the last content.
    last: Option<ReadInstant>,
    /// The same of each choice, if there is another than the first.
    last_of_choices: Vec<Option<ReadInstant>>,
    choices: ChoiceStates,
    /// Items of the answer that came in pieces, or whole.
    items: Choices,
    /// Events with content, or with text that may be the prompt.
    content_events: u64,
    /// The last usage that the server sent.
    usage: Option<Usage>,
    /// The reason why the last choice ended.
    finish: Option<FinishReason>,
    marks: AnswerMarks,
}

/// States of the choices of an answer.
#[derive(Clone, Copy, Default, Debug)]
struct ChoiceStates {
    seen: Choices,
    finished: Choices,
    /// Choices whose last content has no certain time, because an event after it was not understood.
    uncertain: Choices,
}

/// Facts about the events of an answer until now.
#[derive(Clone, Copy, Default, Debug)]
struct AnswerMarks {
    /// The request asks the server to repeat the prompt. Nothing tells where it ends and the answer begins.
    repeats_prompt: bool,
    has_reasoning: bool,
    has_summary: bool,
    /// An event that was not understood may have had content.
    has_unknown: bool,
    /// Such an event came before the first content, or one that may be the prompt.
    is_first_unknown: bool,
    /// There was content after the last usage.
    has_content_since_usage: bool,
    /// The usage did not grow with the content: it is no sum.
    has_wrong_usage: bool,
    /// An event reports an error of the server.
    has_error: bool,
    /// The answer came whole, and has a result.
    has_result: bool,
}

/// End of an answer, with its intended start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AnswerEnd {
    /// Index of the request in the whole schedule.
    pub(crate) index: u64,
    /// Row of the request.
    pub(crate) row: u32,
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
    /// Begins an answer. `repeats_prompt` says that the request asks the server to repeat the prompt.
    pub(crate) fn new(repeats_prompt: bool) -> LlmAnswer {
        LlmAnswer { marks: AnswerMarks { repeats_prompt, ..AnswerMarks::default() }, ..LlmAnswer::default() }
    }

    /// Records an event of a measured answer.
    #[inline]
    pub(crate) fn event(
        &mut self,
        event: ServerSentEvent<'_>,
        now: ReadInstant,
        options: &LlmOptions,
        text: &mut AnswerText,
        found: &mut StreamResults,
    ) {
        let Some(facts) = &mut found.llm else { return };
        if event.is_error {
            self.error(facts);
            return;
        }
        let Some((chunk, data)) = read_event(options, event.data, event.is_whole()) else {
            // Some servers send blank events to keep the connection open.
            if event.data.trim_ascii().is_empty() {
                facts.other_events += 1;
            } else {
                // It may have had a count.
                self.usage = None;
                self.unknown(text, facts);
            }
            return;
        };
        if options.tokenizer.is_some() {
            text.event(options.api, &data);
        }
        let chunk = self.without_repetition(chunk);
        // Whose tokens are counted is unknown.
        self.marks.has_wrong_usage |= chunk.repeats_content && chunk.choices.has_others();
        self.choices.seen = self.choices.seen.and(chunk.choices);
        self.choices.finished = self.choices.finished.and(chunk.finished);
        self.finish = chunk.finish.or(self.finish);
        self.marks.has_summary |= chunk.is_summary;
        let is_late = self.is_late(&chunk);
        if chunk.is_error {
            self.error(facts);
        } else if !chunk.content.is_empty() && self.marks.repeats_prompt {
            self.marks.has_reasoning |= chunk.is_reasoning;
            self.prompt_or_content(text, facts);
        } else if !chunk.content.is_empty() {
            facts.content_events += 1;
            facts.reasoning_events += u64::from(chunk.is_reasoning);
            self.marks.has_reasoning |= chunk.is_reasoning;
            self.content(chunk.content, now, found);
        } else if chunk.is_unknown || is_late {
            self.unknown(text, facts);
        } else {
            facts.other_events += 1;
        }
        if !event.is_whole() {
            self.usage = None;
        }
        chunk.usage.into_iter().for_each(|usage| self.counted(usage, chunk.has_no_output_count));
    }

    /// Removes the content of an event that repeats it, unless it has more tokens than before.
    fn without_repetition(&self, chunk: Chunk) -> Chunk {
        let tokens = |usage: Option<Usage>| usage.map(|usage| usage.output);
        let is_repeated = chunk.repeats_content && chunk.usage.is_some() && tokens(chunk.usage) == tokens(self.usage);
        if is_repeated { Chunk { content: Choices::default(), ..chunk } } else { chunk }
    }

    /// Returns true if the event has an item whole that no piece came of before: nothing tells when its tokens came.
    fn is_late(&mut self, chunk: &Chunk) -> bool {
        let before = self.items;
        self.items = before.and(chunk.items);
        match (chunk.content.is_empty(), chunk.finished.is_empty()) {
            (false, _) => false,
            // Without a number it may be the item that came in pieces.
            (true, true) if chunk.items == Choices::all() => before.is_empty(),
            (true, true) => !chunk.items.without(before).is_empty(),
            // The end of an answer lists its items, by places that need not be their numbers.
            (true, false) => chunk.items.count() > before.count(),
        }
    }

    /// Records an event after the end of a measured answer, or its end mark.
    pub(crate) fn other_event(found: &mut StreamResults) {
        found.llm.iter_mut().for_each(|facts| facts.other_events += 1);
    }

    fn error(&mut self, facts: &mut LlmFacts) {
        facts.error_events += 1;
        self.marks.has_error = true;
    }

    /// Records an event that may have had content.
    fn unknown(&mut self, text: &mut AnswerText, facts: &mut LlmFacts) {
        text.give_up();
        facts.unreadable_events += 1;
        self.marks.has_unknown = true;
        self.marks.is_first_unknown |= self.first.is_none();
        facts.unmeasured.gaps += 1;
        self.choices.uncertain = Choices::all();
    }

    /// Records an event with text that may be the prompt.
    fn prompt_or_content(&mut self, text: &mut AnswerText, facts: &mut LlmFacts) {
        text.give_up();
        facts.unmeasured.echo_events += 1;
        self.content_events += 1;
        self.marks.has_content_since_usage = true;
        self.marks.is_first_unknown = true;
        facts.unmeasured.gaps += 1;
    }

    fn counted(&mut self, usage: Usage, has_no_output_count: bool) {
        let AnswerMarks { has_content_since_usage, has_wrong_usage, .. } = &mut self.marks;
        let input = usage.input.or(self.usage.and_then(|before| before.input));
        let cached = usage.cached.or(self.usage.and_then(|before| before.cached));
        let usage = Usage { input, cached, ..usage };
        if has_no_output_count {
            let before = self.usage.unwrap_or_default();
            self.usage = Some(Usage { input, cached, ..before });
            return;
        }
        let before = self.usage.replace(usage).filter(|before| before.output > 0 && *has_content_since_usage);
        *has_wrong_usage |= before.is_some_and(|before| usage.output <= before.output);
        *has_content_since_usage = false;
    }

    fn content(&mut self, choices: Choices, now: ReadInstant, found: &mut StreamResults) {
        self.marks.has_content_since_usage = true;
        self.content_events += 1;
        let mut parts = 0;
        for choice in choices.indices() {
            parts += 1;
            self.part(choice, now, found);
        }
        found.llm.iter_mut().for_each(|facts| facts.unmeasured.further_parts += parts - 1);
        self.last = Some(now);
    }

    /// Records content of one choice.
    #[inline]
    fn part(&mut self, choice: usize, now: ReadInstant, found: &mut StreamResults) {
        let before = self.replace_last(choice, now);
        let is_uncertain = self.choices.uncertain.take(choice);
        let Some(facts) = &mut found.llm else { return };
        match before {
            None if self.first.is_none() => {
                // The time to the first content is recorded at the end, when the actual start is known too.
                self.first = Some(now);
                facts.unmeasured.without_gap += u64::from(self.marks.is_first_unknown);
            }
            None => facts.unmeasured.without_gap += 1,
            Some(_) if is_uncertain => {
                facts.unmeasured.without_gap += 1;
                facts.unmeasured.gaps += 1;
            }
            Some(before) if before.number == now.number => facts.coalesced_content_gaps += 1,
            Some(before) => found.record(StreamTime::ContentGap, now.at.since(before.at)),
        }
    }

    /// Replaces the read of the last content of a choice, and returns the one before.
    fn replace_last(&mut self, choice: usize, now: ReadInstant) -> Option<ReadInstant> {
        if self.last_of_choices.is_empty() {
            if choice == 0 {
                return self.last;
            }
            self.last_of_choices.push(self.last);
        }
        if self.last_of_choices.len() <= choice {
            self.last_of_choices.resize(choice + 1, None);
        }
        self.last_of_choices[choice].replace(now)
    }

    /// Returns true if an event reports an error of the server.
    pub(crate) fn has_error(&self) -> bool {
        self.marks.has_error
    }

    /// Returns true if each choice has ended, whatever mark ends the stream.
    pub(crate) fn is_finished(&self) -> bool {
        !self.choices.finished.is_empty() && self.choices.seen.without(self.choices.finished).is_empty()
    }

    /// Returns true if an event was not understood, so that it may have been an error.
    pub(crate) fn has_unknown(&self) -> bool {
        self.marks.has_unknown
    }

    /// Records the times of a measured request that has ended. [`count`](LlmAnswer::count) adds the counts.
    pub(crate) fn end(&self, ended: AnswerEnd, found: &mut StreamResults) {
        if self.marks.is_first_unknown {
            found.llm.iter_mut().for_each(|facts| facts.unmeasured.first_content += 1);
        } else {
            self.end_of_first(ended, found);
        }
        if !ended.is_complete {
            let one = [self.last];
            let last = if self.last_of_choices.is_empty() { &one[..] } else { &self.last_of_choices };
            let open = last.iter().enumerate().filter(|(choice, _)| !self.choices.finished.has(*choice));
            let waited = open.filter_map(|(_, last)| Some(ended.end.since(last.as_ref()?.at)));
            waited.for_each(|waited| found.record(StreamTime::ContentGapCensored, waited));
        }
    }

    fn end_of_first(&self, ended: AnswerEnd, found: &mut StreamResults) {
        let Some(first) = self.first else {
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
    }

    /// Returns the server's count. Returns `None` for an impossible count: no tokens for an answer with content, or a
    /// count that does not grow with the content.
    fn usage(&self) -> Option<Usage> {
        let has_content = self.content_events > 0;
        self.usage.filter(|usage| !self.marks.has_wrong_usage && (!has_content || usage.output > 0))
    }

    /// Returns true if the answer has a text of one choice whose tokens the server did not count.
    pub(crate) fn is_uncounted_text(&self) -> bool {
        self.usage().is_none() && self.first.is_some() && !self.choices.seen.has_others() && !self.marks.has_unknown
    }

    /// Counts the tokens of a complete answer and the objectives that it met. `by_client` is a tokenizer's count.
    pub(crate) fn count(
        &self,
        ended: AnswerEnd,
        by_client: Option<u64>,
        options: &LlmOptions,
        found: &mut StreamResults,
    ) -> AnswerVerdict {
        if !ended.is_complete {
            return AnswerVerdict::Incomplete;
        }
        let per_token = self.per_token(by_client);
        if let PerToken::Known(time) = per_token {
            found.record(StreamTime::TimePerOutputToken, time);
        }
        let Some(facts) = &mut found.llm else { return AnswerVerdict::Met };
        self.count_tokens(per_token, by_client, facts);
        self.count_prompt(ended.row, options, facts);
        facts.finish.count(self.finish);
        let worst = facts.slo.as_mut().map(|slo| self.count_objectives(per_token, ended, options, slo));
        match worst.unwrap_or(ObjectiveResult::Yes) {
            ObjectiveResult::Yes => AnswerVerdict::Met,
            ObjectiveResult::CannotTell => AnswerVerdict::CannotTell,
            ObjectiveResult::No => AnswerVerdict::Missed,
        }
    }

    /// Counts the objectives that a complete answer met. Returns the worst result.
    fn count_objectives(
        &self,
        per_token: PerToken,
        ended: AnswerEnd,
        options: &LlmOptions,
        slo: &mut SloCounts,
    ) -> ObjectiveResult {
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
        worst
    }

    fn count_tokens(&self, per_token: PerToken, by_client: Option<u64>, facts: &mut LlmFacts) {
        let tokens = &mut facts.tokens;
        tokens.unknown_time_per_output_token += u64::from(per_token == PerToken::Unknown);
        tokens.no_time_per_output_token += u64::from(per_token == PerToken::None);
        let Some(usage) = self.usage() else {
            tokens.not_counted += 1;
            facts.by_client.iter_mut().zip(by_client).for_each(|(sum, tokens)| sum.add(tokens));
            return;
        };
        tokens.counted += 1;
        tokens.output = tokens.output.saturating_add(usage.output);
        tokens.input = tokens.input.saturating_add(usage.input.unwrap_or(0));
        tokens.without_input += u64::from(usage.input.is_none());
        let reasoning = usage.reasoning.unwrap_or(0);
        tokens.reasoning = tokens.reasoning.saturating_add(reasoning);
        let hidden = if self.marks.has_reasoning { 0 } else { reasoning };
        tokens.hidden_reasoning = tokens.hidden_reasoning.saturating_add(hidden);
        tokens.cached_input = tokens.cached_input.saturating_add(usage.cached.unwrap_or(0));
        tokens.with_cached += u64::from(usage.cached.is_some());
    }

    /// Compares the server's counts with the lengths that a prompt was made for.
    fn count_prompt(&self, row: u32, options: &LlmOptions, facts: &mut LlmFacts) {
        let asked = options.asked.as_ref().and_then(|asked| asked.lengths.get(row as usize));
        let counted = self.usage().and_then(|usage| Some((usage.input?, usage.output)));
        if let (Some(prompts), Some(asked), Some(counted)) = (&mut facts.reading.prompts, asked, counted) {
            prompts.add(*asked, counted);
        }
    }

    /// Returns the number of tokens that came with the content; `None` if it is unknown. Reasoning that was not sent
    /// has no time. A summary of reasoning has an unknown number of tokens.
    fn sent_tokens(&self, by_client: Option<u64>) -> Option<u64> {
        let Some(usage) = self.usage() else { return by_client };
        match usage.reasoning {
            Some(0) => Some(usage.output),
            _ if self.marks.has_summary => None,
            None => Some(usage.output),
            Some(_) if self.marks.has_reasoning => Some(usage.output),
            // If there are more events than tokens, the reasoning came as content.
            Some(reasoning) => usage.output.checked_sub(reasoning).filter(|sent| *sent >= self.content_events),
        }
    }

    /// Returns the time from the first content to the last, divided by the number of tokens after the first. It is
    /// unknown if all content came in one read, if a single token came in several reads, if several choices share the
    /// tokens, or if an event was not understood or may have been the prompt.
    fn per_token(&self, by_client: Option<u64>) -> PerToken {
        match (self.first.zip(self.last), self.sent_tokens(by_client)) {
            _ if self.marks.has_unknown || self.marks.repeats_prompt => PerToken::Unknown,
            (None, None | Some(0)) => PerToken::None,
            _ if self.choices.seen.has_others() => PerToken::Unknown,
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

    /// Returns true if the answer certainly has content. A text that may be the prompt is not enough, and a token is.
    fn has_content(&self) -> bool {
        let has_tokens = || self.usage().is_some_and(|usage| usage.output > 0);
        self.first.is_some() || self.marks.has_result || (self.marks.repeats_prompt && has_tokens())
    }

    /// Tells whether a complete answer meets an objective. An answer without content meets none.
    fn meets(&self, objective: &Objective, per_token: PerToken, ended: AnswerEnd) -> ObjectiveResult {
        let Some(last_event) = ended.last_event else { return ObjectiveResult::No };
        let by = |time: Nanos| if objective.is_met_by(time) { ObjectiveResult::Yes } else { ObjectiveResult::No };
        let first = match self.first {
            // The first content came with it, or before it.
            Some(first) => by(first.at.since(ended.intended_start)),
            None => ObjectiveResult::No,
        };
        let is_first_unknown = self.marks.is_first_unknown;
        match (objective.time, per_token) {
            (SloTime::FirstContent, _) if is_first_unknown => first.min(ObjectiveResult::CannotTell),
            (SloTime::FirstContent, _) => first,
            (SloTime::EndToEnd | SloTime::PerOutputToken, _) if !self.has_content() => match is_first_unknown {
                true => ObjectiveResult::CannotTell,
                false => ObjectiveResult::No,
            },
            (SloTime::EndToEnd, _) => by(last_event.since(ended.intended_start)),
            (SloTime::PerOutputToken, PerToken::Known(time)) => by(time),
            (SloTime::PerOutputToken, PerToken::None) => ObjectiveResult::Yes,
            (SloTime::PerOutputToken, PerToken::Unknown) => ObjectiveResult::CannotTell,
        }
    }
}

#[cfg(test)]
mod tests;
