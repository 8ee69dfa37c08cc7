use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

use truetail_engine::{AnswerHead, AnswerLimits, AnswerReader, EndedRequest, FieldList, RequestId};
use truetail_model::arrival::Arrival;
use truetail_model::record::Outcome;
use truetail_model::time::{Nanos, Timestamp};
use truetail_run::{EventMarks, KeptStreams, RequestStream, StreamEnding, StreamKind};

use crate::all_found::CombinedResults;
use crate::asking::Asking;
use crate::chunk_text::AnswerText;
use crate::dialect::{read_whole, scanner};
use crate::event_parser::{EventParser, ServerSentEvent};
use crate::found::StreamResults;
use crate::idle::{IdleCheck, IdleWatch};
use crate::json_scanner::{DocumentState, JsonScanner};
use crate::line_parser::LineParser;
use crate::llm_answer::{AnswerEnd, LlmAnswer};
use crate::open_gaps::OpenGaps;
use crate::open_stream::{Clocks, Head, MAX_MARKED, ReadInstant, mark};
use crate::options::StreamOptions;
use crate::uncounted::Uncounted;
use crate::verdict::{AnswerVerdict, LastVerdict};

/// Time between two additions to the rows of all workers.
const ROWS_EVERY: Nanos = Nanos::from_millis(100);

/// Parser of the events of one answer.
#[derive(Debug)]
enum Parser {
    Events(EventParser),
    Lines(LineParser),
    /// An answer that comes whole has no events inside.
    Whole(JsonScanner),
}

impl Parser {
    fn new(options: &StreamOptions) -> Parser {
        match (options.kind, &options.llm) {
            (StreamKind::Lines, _) => Parser::Lines(LineParser::default()),
            (StreamKind::Whole, Some(llm)) => Parser::Whole(scanner(llm.api)),
            _ => Parser::Events(EventParser::new()),
        }
    }

    fn feed(&mut self, bytes: &[u8], on_event: &mut impl FnMut(ServerSentEvent<'_>)) {
        match self {
            Parser::Events(parser) => parser.feed(bytes, on_event),
            Parser::Lines(parser) => parser.feed(bytes, on_event),
            Parser::Whole(scanner) => scanner.feed(bytes),
        }
    }

    fn restart(&mut self) {
        match self {
            Parser::Events(parser) => parser.restart(),
            Parser::Lines(parser) => parser.restart(),
            Parser::Whole(scanner) => scanner.restart(),
        }
    }

    fn give_back_room(&mut self) {
        match self {
            Parser::Events(parser) => parser.give_back_room(),
            Parser::Lines(parser) => parser.give_back_room(),
            Parser::Whole(scanner) => scanner.give_back_room(),
        }
    }

    /// Returns the data of the event that the stream is inside of, if any.
    fn unfinished(&self) -> Option<&[u8]> {
        let (is_inside, data) = match self {
            Parser::Events(parser) => (parser.is_inside_event(), parser.unfinished_data()),
            Parser::Lines(parser) => (parser.is_inside_event(), parser.unfinished_data()),
            Parser::Whole(scanner) => (scanner.state() == DocumentState::Unfinished, &[][..]),
        };
        is_inside.then_some(data)
    }
}

/// State of one request. Later requests reuse its memory.
#[derive(Debug)]
struct Slot {
    /// The request asks for a stream.
    is_asked: bool,
    clocks: Clocks,
    parser: Parser,
    answer: LlmAnswer,
    /// Text of the answer, if there is a tokenizer.
    text: AnswerText,
    /// Its gaps, while no event of it is being read. They are only counted in the slots beyond [`MAX_MARKED`].
    gaps: OpenGaps,
    /// Times of its events; `None` in the slots beyond [`MAX_MARKED`].
    marks: Option<EventMarks>,
    generation: u32,
}

impl Slot {
    fn new(options: &StreamOptions, clocks: Clocks, place: usize) -> Slot {
        let marks = (place < MAX_MARKED).then(EventMarks::with_room);
        let parser = Parser::new(options);
        let answer = LlmAnswer::default();
        let text = AnswerText::default();
        let gaps = if place < MAX_MARKED { OpenGaps::with_room() } else { OpenGaps::default() };
        Slot { is_asked: false, clocks, parser, answer, text, gaps, marks, generation: 0 }
    }

    fn begin(&mut self, is_asked: bool, clocks: Clocks, answer: LlmAnswer) {
        (self.is_asked, self.clocks, self.answer) = (is_asked, clocks, answer);
        self.text.restart();
        self.gaps.clear();
        self.marks.iter_mut().for_each(EventMarks::clear);
        self.generation = self.generation.wrapping_add(1);
    }
}

/// Single answers that have ended.
#[derive(Debug)]
struct EndedAnswers {
    kept: KeptStreams,
    uncounted: Uncounted,
}

/// Follows the streams of one worker. An event needs no allocation, except for its text if there is a tokenizer.
#[derive(Debug)]
pub(crate) struct StreamObserver {
    options: StreamOptions,
    asking: Asking,
    measure_from: Timestamp,
    all_found: Arc<Mutex<CombinedResults>>,
    found: StreamResults,
    ended: EndedAnswers,
    slots: Vec<Slot>,
    fields: FieldList,
    idle: IdleWatch,
    now: ReadInstant,
    /// Instant of the last addition to the rows of all workers.
    rows_given: Timestamp,
    /// For an observer beside this one.
    verdict: LastVerdict,
}

impl StreamObserver {
    /// Creates an observer that adds its results to `all_found` when it finishes. It leaves out arrivals before
    /// `measure_from`, and answers of targets that ask for no stream.
    pub(crate) fn new(
        options: StreamOptions,
        asking: Asking,
        measure_from: Timestamp,
        all_found: Arc<Mutex<CombinedResults>>,
    ) -> StreamObserver {
        let mut found = StreamResults::new(&options);
        let keeps_rows = all_found.lock().unwrap_or_else(PoisonError::into_inner).rows.is_some();
        if keeps_rows {
            found.keep_rows();
        }
        StreamObserver {
            found,
            ended: EndedAnswers { kept: KeptStreams::with_room(), uncounted: Uncounted::default() },
            options,
            asking,
            measure_from,
            all_found,
            slots: Vec::new(),
            fields: FieldList::default(),
            idle: IdleWatch::default(),
            now: ReadInstant { number: 0, at: Timestamp::ZERO },
            rows_given: Timestamp::ZERO,
            verdict: LastVerdict::default(),
        }
    }

    /// Returns the place of the verdict on the request that ended last.
    pub(crate) fn verdict(&self) -> LastVerdict {
        self.verdict.clone()
    }

    fn clocks(&self, arrival: Arrival) -> Clocks {
        Clocks::new(arrival.intended_start, arrival.intended_start >= self.measure_from)
    }

    /// Counts a request that ended and returns its stream without the gaps, or `None` if it belongs to the warm-up.
    fn count(
        &mut self,
        clocks: Clocks,
        answer: LlmAnswer,
        text: &mut AnswerText,
        is_whole: bool,
        EndedRequest { arrival, id: RequestId { row, .. }, outcome, start, end }: EndedRequest,
    ) -> Option<RequestStream> {
        if !clocks.is_measured {
            self.verdict.set(AnswerVerdict::NotJudged);
            return None;
        }
        let options = &self.options;
        let found = &mut self.found;
        let is_complete = clocks.is_complete(outcome, is_whole, options);
        let mut stream = clocks.row(arrival.index, clocks.end(outcome, end, is_complete, options, found));
        if let Some(llm) = &options.llm {
            let head = clocks.head;
            let last_event = clocks.last_event();
            let intended_start = clocks.intended_start;
            let index = arrival.index;
            let ended = AnswerEnd { index, row, outcome, head, is_complete, intended_start, start, end, last_event };
            answer.add_to(&mut stream, ended);
            if !llm.api.comes_whole() {
                answer.end(ended, found);
            }
            let is_kept = llm.tokenizer.is_some() && self.ended.uncounted.keep(&answer, ended, text);
            self.verdict.set(match is_kept {
                true => AnswerVerdict::CannotTell,
                false => answer.count(ended, None, llm, found),
            });
        }
        self.found.settle();
        Some(stream)
    }

    /// Adds the rows to the sum over all workers, unless that was done a moment ago. So looks at the run in progress
    /// cost a lock ten times a second, and not one for each request.
    fn give_rows(&mut self, now: Timestamp) {
        if now.since(self.rows_given) < ROWS_EVERY {
            return;
        }
        self.rows_given = now;
        if let Some(rows) = self.found.take_rows() {
            self.all_found.lock().unwrap_or_else(PoisonError::into_inner).add_rows(&rows);
        }
    }

    /// Offers the stream of a request that was sent to the sample.
    fn sample(
        &mut self,
        request: u32,
        first_content: Option<Timestamp>,
        ending: StreamEnding,
        span: (Timestamp, Timestamp),
    ) {
        let Slot { clocks, marks: Some(marks), .. } = &self.slots[request as usize] else { return };
        clocks.sample(marks, first_content, ending, span, &mut self.found);
    }

    /// Records the end of an answer that came whole.
    fn end_whole(&mut self, request: u32, ended: EndedRequest) {
        let Slot { clocks, parser: Parser::Whole(document), answer, marks, .. } = &mut self.slots[request as usize]
        else {
            return;
        };
        let is_answer = clocks.head == Head::OfStream && matches!(ended.outcome, Outcome::Response { .. });
        if !is_answer || document.state() == DocumentState::Unfinished {
            return;
        }
        let now = ReadInstant { at: ended.end, ..self.now };
        mark(marks, clocks, now);
        clocks.event(now, &self.options, &mut self.found);
        let Some(llm) = self.options.llm.as_ref().filter(|_| clocks.is_measured) else { return };
        let is_whole = document.state() == DocumentState::Whole;
        answer.whole(is_whole.then(|| read_whole(llm.api, document)).flatten(), &mut self.found);
    }

    /// Records an event that the protocol delimits.
    fn whole_event(&mut self, request: u32) {
        let Slot { clocks, gaps, marks, .. } = &mut self.slots[request as usize];
        if clocks.head == Head::OfStream {
            mark(marks, clocks, self.now);
            mem::swap(gaps, &mut self.found.gaps.open);
            clocks.event(self.now, &self.options, &mut self.found);
            mem::swap(gaps, &mut self.found.gaps.open);
        }
    }

    fn look_later(&mut self, request: u32) {
        let Some(timeout) = self.options.idle_timeout else { return };
        let slot = &self.slots[request as usize];
        self.idle.add(IdleCheck { at: slot.clocks.touched + timeout, request, generation: slot.generation });
    }
}

impl AnswerReader for StreamObserver {
    fn begin(&mut self, request: u32, target: u32, arrival: Arrival) {
        let clocks = self.clocks(arrival);
        let options = &self.options;
        (self.slots.len()..=request as usize).for_each(|place| self.slots.push(Slot::new(options, clocks, place)));
        let answer = LlmAnswer::new(self.asking.asks_for_echo(target));
        self.slots[request as usize].begin(self.asking.asks_for_stream(target), clocks, answer);
    }

    fn wants_arrivals(&self) -> bool {
        true
    }

    fn arrive(&mut self, at: Timestamp) {
        self.now = ReadInstant { number: self.now.number + 1, at };
    }

    fn head(&mut self, request: u32, head: AnswerHead<'_>) {
        if !self.slots[request as usize].is_asked {
            return;
        }
        head.copy_fields(&mut self.fields);
        let is_stream = self.options.is_stream(head.status, &self.fields);
        let slot = &mut self.slots[request as usize];
        slot.parser.restart();
        slot.clocks.head = if is_stream { Head::OfStream } else { Head::OfSomethingElse };
        if is_stream {
            if self.options.kind == StreamKind::Whole {
                slot.answer.counted_before(self.options.usage_in_head(&self.fields));
            }
            slot.clocks.touched = self.now.at;
            self.look_later(request);
        }
    }

    fn body(&mut self, request: u32, part: &[u8]) {
        let Slot { clocks, parser, answer, text, gaps, marks, .. } = &mut self.slots[request as usize];
        if clocks.head != Head::OfStream {
            return;
        }
        let now = self.now;
        let options = &self.options;
        let found = &mut self.found;
        clocks.touch(part.len(), now, found);
        mem::swap(gaps, &mut found.gaps.open);
        if matches!(options.kind, StreamKind::Sse | StreamKind::Lines | StreamKind::Whole) {
            parser.feed(part, &mut |event| {
                mark(marks, clocks, now);
                clocks.sse(event, now, options, found);
                match options.llm.as_ref().filter(|_| clocks.is_measured) {
                    Some(_) if clocks.is_marked => LlmAnswer::other_event(found),
                    Some(llm) => answer.event(event, now, llm, text, found),
                    None => {}
                }
            });
            if options.llm.is_some() {
                found.settle();
            }
        }
        mem::swap(gaps, &mut found.gaps.open);
    }

    fn end_chunk(&mut self, request: u32) {
        if self.options.kind == StreamKind::Chunks {
            self.whole_event(request);
        }
    }

    fn end_message(&mut self, request: u32) {
        if self.options.kind == StreamKind::Messages {
            self.whole_event(request);
        }
    }

    fn limits(&mut self) -> Option<&mut dyn AnswerLimits> {
        self.options.idle_timeout.is_some().then_some(self as &mut dyn AnswerLimits)
    }

    fn end(&mut self, request: u32, ended: EndedRequest) {
        let slot = &mut self.slots[request as usize];
        if !slot.is_asked {
            return;
        }
        slot.generation = slot.generation.wrapping_add(1);
        self.end_whole(request, ended);
        let slot = &mut self.slots[request as usize];
        let mut clocks = slot.clocks;
        // A mark at the very end counts without the empty line that should follow it.
        let unfinished = slot.parser.unfinished();
        let is_marked_late = unfinished.is_some_and(|data| self.options.is_end_mark(data));
        clocks.is_marked |= is_marked_late;
        let is_whole = is_marked_late || unfinished.is_none();
        clocks.has_error |= slot.answer.has_error() || has_failed(self.options.kind, ended.outcome);
        clocks.is_finished = slot.answer.is_finished();
        clocks.has_unknown = slot.answer.has_unknown();
        let first_content = slot.answer.first_content();
        let answer = mem::take(&mut slot.answer);
        let mut text = mem::take(&mut slot.text);
        slot.parser.give_back_room();
        if let Some(stream) = self.count(clocks, answer, &mut text, is_whole, ended) {
            let OpenGaps { count, first } = &self.slots[request as usize].gaps;
            let stream = RequestStream { gaps: *count, ..stream };
            self.ended.kept.keep(&stream, first, (ended.arrival.intended_start, ended.end));
            if !matches!(ended.outcome, Outcome::ConnectFailed(_)) {
                self.sample(request, first_content, stream.ending, (ended.start, ended.end));
            }
        }
        self.give_rows(ended.end);
    }

    fn never_issued(&mut self, target: u32, arrival: Arrival, now: Timestamp) {
        if !self.asking.asks_for_stream(target) {
            return;
        }
        let end = now.max(arrival.intended_start);
        let answer = LlmAnswer::default();
        let text = &mut AnswerText::default();
        let id = RequestId { target, row: 0 };
        let ended = EndedRequest { arrival, id, outcome: Outcome::NeverIssued, start: end, end };
        self.count(self.clocks(arrival), answer, text, false, ended);
    }

    fn finish(&mut self, _: Timestamp) {
        let facts = self.found.facts(&self.options);
        let mut all = self.all_found.lock().unwrap_or_else(PoisonError::into_inner);
        all.facts.merge(&facts);
        all.kept.merge(mem::replace(&mut self.ended.kept, KeptStreams::empty()));
        self.found.take_rows().iter().for_each(|rows| all.add_rows(rows));
        all.waiting.append(&mut self.ended.uncounted.waiting);
    }
}

impl AnswerLimits for StreamObserver {
    fn first_deadline(&mut self) -> Timestamp {
        self.idle.first()
    }

    fn overdue(&mut self, now: Timestamp) -> Option<u32> {
        while let Some(look) = self.idle.due(now) {
            let Some(timeout) = self.options.idle_timeout else { continue };
            let slot = &mut self.slots[look.request as usize];
            if slot.generation != look.generation || slot.clocks.head != Head::OfStream {
                continue;
            }
            slot.clocks.is_idle = slot.clocks.touched + timeout <= now;
            let is_idle = slot.clocks.is_idle;
            // Idle streams are checked again too: the engine asks once more after reading what came meanwhile.
            self.look_later(look.request);
            if is_idle {
                return Some(look.request);
            }
        }
        None
    }
}

/// Returns true if a stream of messages has the status of a call that failed.
fn has_failed(kind: StreamKind, outcome: Outcome) -> bool {
    kind == StreamKind::Messages && outcome.status().is_some_and(|status| status >= 400)
}

#[cfg(test)]
mod tests;
