//! Tests of every protocol. To add one, implement [`Case`] in `cases` and add a line to `over_every_protocol`.

mod cases;
mod header_fields;
mod line;
pub(crate) mod numbered;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::prelude::*;
use truetail_model::arrival::Arrival;
use truetail_model::record::{Cause, Outcome};
use truetail_model::time::Timestamp;

use super::{Beginning, Closed, Conversation, Ended, Event, Events, Flow, Protocol, Retry, Tag};
use crate::target::request_set::RequestId;
use cases::{BODY, Case, OfHttp1, OfHttp1InRun, OfHttp2, OfHttp2InRun, OfLine, OfNumbered};
pub(crate) use line::Line;

const ANY: RequestId = RequestId { target: 0, row: 0 };
const NOW: Timestamp = Timestamp::ZERO;
const OK: Outcome = Outcome::response(200);

/// Returns the begin of a request of this tag.
pub(crate) fn begins(tag: Tag) -> Beginning {
    Beginning { tag, request: ANY, arrival: Arrival { index: tag.into(), intended_start: NOW }, now: NOW }
}

/// A connection whose transport and server are played by the test, with all its events.
struct Client<C: Case> {
    protocol: C::Protocol,
    conversation: <C::Protocol as Protocol>::Conversation,
    seen: Vec<Event>,
}

impl<C: Case> Client<C> {
    fn new() -> Client<C> {
        let protocol = C::protocol();
        let mut client = Client { conversation: protocol.conversation(), protocol, seen: Vec::new() };
        assert_eq!(client.receive_unless_empty(&C::greeting()), Flow::Continue);
        client.seen.clear();
        client
    }

    /// Returns how many requests a connection carries at once, at most four.
    fn requests() -> Tag {
        if C::protocol().carries_several() { 4 } else { 1 }
    }

    fn with<T>(&mut self, act: impl FnOnce(&mut Client<C>, &mut Events) -> T) -> T {
        let mut events = Events::default();
        let result = act(self, &mut events);
        self.seen.extend(events.take());
        result
    }

    fn begin(&mut self, tag: Tag) -> u32 {
        assert!(self.conversation.has_room(), "no room for request {tag}");
        self.with(|client, events| client.conversation.begin(&client.protocol, begins(tag), events))
    }

    /// Lets the transport take at most `most` bytes.
    fn send(&mut self, most: usize) -> usize {
        let count = self.conversation.output(&self.protocol).len().min(most);
        self.with(|client, events| client.conversation.sent(&client.protocol, count, NOW, events));
        count
    }

    fn send_all(&mut self) {
        while self.send(usize::MAX) > 0 {}
    }

    fn receive(&mut self, bytes: &[u8]) -> Flow {
        self.with(|client, events| client.conversation.receive(&mut client.protocol, bytes, NOW, events))
    }

    fn receive_unless_empty(&mut self, bytes: &[u8]) -> Flow {
        if bytes.is_empty() { Flow::Continue } else { self.receive(bytes) }
    }

    fn close(&mut self, how: Closed) {
        self.with(|client, events| client.conversation.close(how, events));
    }

    fn ended(&self) -> Vec<Ended> {
        let of = |event: &Event| if let Event::Ended(ended) = event { Some(*ended) } else { None };
        self.seen.iter().filter_map(of).collect()
    }

    fn has_seen(&self, event: Event) -> bool {
        self.seen.contains(&event)
    }
}

fn answers_end_their_requests<C: Case>() {
    let mut client = Client::<C>::new();
    for round in 0..3usize {
        let count = Client::<C>::requests();
        for tag in 0..count {
            client.begin(tag);
        }
        client.send_all();
        assert!((0..count).all(|tag| client.has_seen(Event::Started(tag))), "sent in one go: {:?}", client.seen);
        assert_eq!(client.conversation.in_flight(), count as usize);
        for tag in 0..count {
            let answer = C::answer(round * count as usize + tag as usize);
            assert_eq!(client.receive(&answer), Flow::Continue);
            assert!(client.has_seen(Event::FirstByte(tag)));
            assert_eq!(client.ended().last(), Some(&Ended::new(tag, OK, answer.len() as u64)));
        }
        assert!(
            client.conversation.has_room() && !client.conversation.is_closing() && client.conversation.in_flight() == 0
        );
        client.seen.clear();
    }
}

fn a_request_starts_with_its_first_byte_and_says_when_it_was_sent_late<C: Case>() {
    let mut client = Client::<C>::new();
    client.begin(0);
    client.send(0);
    assert!(!client.has_seen(Event::Started(0)), "nothing was taken yet");
    while client.send(1) > 0 {}
    let started = client.seen.iter().filter(|event| **event == Event::Started(0)).count();
    assert_eq!(started, 1, "{:?}", client.seen);
    assert!(client.ended().is_empty());
}

fn a_lost_connection_ends_every_request_once<C: Case>() {
    for how in [Closed::EndOfStream { authentic: true }, Closed::Reset, Closed::Tls { alert: true }] {
        for sent in [true, false] {
            let mut client = Client::<C>::new();
            client.send_all();
            let count = Client::<C>::requests();
            for tag in 0..count {
                client.begin(tag);
            }
            if sent {
                client.send_all();
            }
            client.close(how);
            let tags: BTreeSet<Tag> = client.ended().iter().map(|ended| ended.tag).collect();
            assert_eq!((tags.len(), client.ended().len()), (count as usize, count as usize), "{how:?}");
            assert!(client.ended().iter().all(|ended| ended.outcome.is_failed()), "{how:?}");
            let retry = if sent { Retry::No } else { Retry::Unsent };
            assert!(client.ended().iter().all(|ended| ended.retry == retry), "{how:?} {sent}: {:?}", client.ended());
            assert!(
                client.conversation.is_closing()
                    && client.conversation.in_flight() == 0
                    && !client.conversation.has_room()
            );
            assert!(client.has_seen(Event::GoingAway));
        }
    }
}

fn an_answer_that_is_cut_is_malformed<C: Case>() {
    let answer = C::answer(0);
    for cut in 1..answer.len() {
        let mut client = Client::<C>::new();
        client.begin(0);
        client.send_all();
        assert_eq!(client.receive(&answer[..cut]), Flow::Continue);
        client.close(Closed::Reset);
        let ended = client.ended();
        assert_eq!((ended.len(), ended[0].retry), (1, Retry::No), "after {cut} bytes");
        assert!(ended[0].outcome.is_failed(), "after {cut} bytes: {:?}", ended[0].outcome);
    }
}

fn a_violation_ends_every_request_and_the_connection<C: Case>() {
    let mut client = Client::<C>::new();
    for tag in 0..Client::<C>::requests() {
        client.begin(tag);
    }
    client.send_all();
    assert!(matches!(client.receive(&C::violation()), Flow::Close(_)));
    assert_eq!(client.ended().len(), Client::<C>::requests() as usize);
    assert!(client.conversation.is_closing() && client.conversation.in_flight() == 0);
}

fn a_cancelled_request_has_no_event_and_leaves_the_books_balanced<C: Case>() {
    let mut client = Client::<C>::new();
    let key = client.begin(7);
    client.send_all();
    client.with(|client, events| {
        client.conversation.cancel(key, events);
    });
    client.close(Closed::Reset);
    assert_eq!((client.ended(), client.conversation.in_flight()), (vec![], 0));
}

/// Records the bodies that it observes.
#[derive(Default)]
struct Recording(Arc<std::sync::Mutex<BTreeMap<u32, Vec<u8>>>>);

impl super::observer::AnswerReader for Recording {
    fn head(&mut self, _: u32, head: super::observer::AnswerHead<'_>) {
        assert_eq!(head.status, Some(200));
    }

    fn body(&mut self, request: u32, part: &[u8]) {
        self.0.lock().unwrap().entry(request).or_default().extend_from_slice(part);
    }

    fn end(&mut self, _: u32, _: super::observer::EndedRequest) {}
}

fn an_observer_sees_the_body_however_it_is_cut<C: Case>(begin: usize) {
    let answer = C::answer(0);
    for size in 1..=answer.len() {
        let mut client = Client::<C>::new();
        client.begin(3);
        client.send_all();
        let recording = Recording::default();
        let bodies = Arc::clone(&recording.0);
        let mut events = Events::new(Some(Box::new(recording)));
        for piece in answer.chunks(size) {
            assert_eq!(client.conversation.receive(&mut client.protocol, piece, NOW, &mut events), Flow::Continue);
        }
        assert_eq!(bodies.lock().unwrap()[&3][begin..], *BODY, "in pieces of {size}");
    }
}

macro_rules! over_every_protocol {
    ($($name:ident)*) => {
        mod of_http1 { $(#[test] fn $name() { super::$name::<super::OfHttp1>() })* }
        mod of_http2 { $(#[test] fn $name() { super::$name::<super::OfHttp2>() })* }
        mod of_http1_in_run { $(#[test] fn $name() { super::$name::<super::OfHttp1InRun>() })* }
        mod of_http2_in_run { $(#[test] fn $name() { super::$name::<super::OfHttp2InRun>() })* }
        mod of_line { $(#[test] fn $name() { super::$name::<super::OfLine>() })* }
        mod of_numbered { $(#[test] fn $name() { super::$name::<super::OfNumbered>() })* }
    };
}

over_every_protocol! {
    answers_end_their_requests
    a_request_starts_with_its_first_byte_and_says_when_it_was_sent_late
    a_lost_connection_ends_every_request_once
    an_answer_that_is_cut_is_malformed
    a_violation_ends_every_request_and_the_connection
    a_cancelled_request_has_no_event_and_leaves_the_books_balanced
}

#[test]
fn observers_see_bodies() {
    an_observer_sees_the_body_however_it_is_cut::<OfHttp1>(0);
    an_observer_sees_the_body_however_it_is_cut::<OfHttp2>(0);
    an_observer_sees_the_body_however_it_is_cut::<OfHttp1InRun>(0);
    an_observer_sees_the_body_however_it_is_cut::<OfHttp2InRun>(0);
    an_observer_sees_the_body_however_it_is_cut::<OfNumbered>(0);
    // The sign is a part of the line.
    an_observer_sees_the_body_however_it_is_cut::<OfLine>(1);
}

#[derive(Clone, Debug)]
enum Step {
    Begin,
    Send(usize),
    Answer(usize),
    Cancel(usize),
    Close,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => Just(Step::Begin),
        4 => (1usize..200).prop_map(Step::Send),
        3 => (0usize..4).prop_map(Step::Answer),
        1 => (0usize..4).prop_map(Step::Cancel),
        1 => Just(Step::Close),
    ];
    prop::collection::vec(step, 0..60)
}

/// After any steps in any order, each request that began is in flight, was cancelled, or has ended once.
fn the_books_balance<C: Case>(steps: &[Step]) {
    let mut client = Client::<C>::new();
    let (mut begun, mut open, mut cancelled): (Tag, Vec<(Tag, u32, usize)>, usize) = (0, Vec::new(), 0);
    for step in steps {
        match *step {
            Step::Begin if client.conversation.has_room() => {
                open.push((begun, client.begin(begun), begun as usize));
                begun += 1;
            }
            Step::Send(most) => {
                client.send(most);
            }
            Step::Answer(nth) if nth < open.len() && nth < 60 && !client.conversation.is_closing() => {
                let _ = client.receive(&C::answer(open[nth].2));
            }
            Step::Cancel(nth) if nth < open.len() => {
                let (_, key, _) = open.remove(nth);
                client.with(|client, events| {
                    client.conversation.cancel(key, events);
                });
                cancelled += 1;
            }
            Step::Close => client.close(Closed::Reset),
            Step::Begin | Step::Answer(_) | Step::Cancel(_) => {}
        }
        let ended: BTreeSet<Tag> = client.ended().iter().map(|ended| ended.tag).collect();
        assert_eq!(ended.len(), client.ended().len(), "one end for a request");
        open.retain(|(tag, ..)| !ended.contains(tag));
        assert_eq!(begun as usize, client.conversation.in_flight() + cancelled + ended.len());
    }
}

proptest! {
    #[test]
    fn books_balance_under_any_order_of_events(steps in steps()) {
        the_books_balance::<OfHttp1>(&steps);
        the_books_balance::<OfHttp2>(&steps);
        the_books_balance::<OfHttp1InRun>(&steps);
        the_books_balance::<OfHttp2InRun>(&steps);
        the_books_balance::<OfLine>(&steps);
        the_books_balance::<OfNumbered>(&steps);
    }
}

#[test]
fn a_cause_is_told_for_each_way_to_lose_a_connection() {
    let mut client = Client::<OfHttp1>::new();
    client.begin(0);
    client.send_all();
    client.close(Closed::EndOfStream { authentic: true });
    assert_eq!(client.ended()[0].outcome, Outcome::Reset(Cause::ClosedBeforeAnswer));
}

/// Counts the messages of each answer.
#[derive(Clone, Default)]
struct Messages(Arc<std::sync::Mutex<BTreeMap<u32, u32>>>);

impl super::observer::AnswerReader for Messages {
    fn head(&mut self, _: u32, _: super::observer::AnswerHead<'_>) {}

    fn body(&mut self, _: u32, _: &[u8]) {}

    fn end_message(&mut self, request: u32) {
        *self.0.lock().unwrap().entry(request).or_default() += 1;
    }

    fn end(&mut self, _: u32, _: super::observer::EndedRequest) {}
}

#[test]
fn answers_end_in_the_order_of_their_arrival_and_readers_see_their_messages() {
    let mut client = Client::<OfNumbered>::new();
    for tag in 0..4 {
        client.begin(tag);
    }
    client.send_all();
    let messages = Messages::default();
    let mut events = Events::new(Some(Box::new(messages.clone())));
    let answers = [2, 0, 3, 1].map(OfNumbered::answer).concat();
    for piece in answers.chunks(5) {
        let flow = client.conversation.receive(&mut client.protocol, piece, NOW, &mut events);
        assert_eq!(flow, Flow::Continue);
    }
    client.seen = events.take();
    assert_eq!(client.ended().iter().map(|ended| ended.tag).collect::<Vec<_>>(), [2, 0, 3, 1]);
    assert_eq!(*messages.0.lock().unwrap(), BTreeMap::from([(0, 2), (1, 2), (2, 2), (3, 2)]));
}
