//! One request and the answer that it is to get.

use truetail_model::service::Action;
use truetail_model::time::Timestamp;

use crate::fault_clock::Admission;
use crate::http::{AnswerId, Answers};
use crate::ledger::{Ticket, ending_of};
use crate::truth::Ending;

/// What happens to the connection when the answer has left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Then {
    /// The next exchange.
    GoOn,
    /// It is closed, so that the client gets everything that was sent.
    Close,
    /// It is reset.
    Reset,
}

/// What to do about an exchange now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    /// Nothing: its time has not come, or its request has not been read to the end.
    Wait,
    /// Send its bytes before this one.
    SendTo(u64),
    /// Everything has left.
    Complete,
}

/// An answer under way. Instants are on the clock of the event loop.
#[derive(Debug)]
pub(crate) struct Exchange {
    pub(crate) answer: AnswerId,
    /// Bytes that have left.
    pub(crate) sent: u64,
    /// Bytes that are to leave.
    length: u64,
    /// Not before this instant; [`Timestamp::NEVER`] for a black hole.
    pub(crate) due: Timestamp,
    /// From this byte on not before that instant.
    pub(crate) rest: Option<(u64, Timestamp)>,
    pub(crate) then: Then,
    /// The request has been read with its body; no answer leaves before.
    pub(crate) request_read: bool,
    /// For the truth: the row, how it ends when all has left, and with what status. `None`: not the service's.
    pub(crate) entry: Option<Entry>,
}

/// What an exchange owes the truth.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) ticket: Ticket,
    pub(crate) ending: Ending,
    pub(crate) status: Option<u16>,
}

/// What of a request shapes the form of its answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form {
    pub(crate) is_head: bool,
    pub(crate) keep_alive: bool,
}

impl Exchange {
    /// An answer of which the truth is told nothing, that leaves at `due` and is `answer` whole.
    pub(crate) fn apart(answers: &Answers, answer: AnswerId, form: Form, due: Timestamp) -> Exchange {
        Exchange {
            answer,
            sent: 0,
            length: answers.length(answer, form.is_head),
            due,
            rest: None,
            then: if form.keep_alive { Then::GoOn } else { Then::Close },
            request_read: true,
            entry: None,
        }
    }

    /// The answer that the service gives to a request.
    pub(crate) fn admitted(answers: &Answers, admission: &Admission, ticket: Ticket, form: Form) -> Exchange {
        let (action, due) = (admission.fate.action, admission.real(admission.fate.due));
        let (answer, status) = match action {
            Action::Answer { status } => (answers.service(status, form.keep_alive), Some(status)),
            Action::SlowBody { .. } | Action::BlackHole => (answers.service(200, form.keep_alive), Some(200)),
            Action::ShortBody => (answers.short(form.keep_alive), Some(200)),
            Action::Garbage | Action::Reset => (answers.garbage(), None),
        };
        let mut exchange = Exchange::apart(answers, answer, form, due);
        match action {
            Action::SlowBody { until } => {
                exchange.rest = Some((answers.first_part(answer, exchange.length), admission.real(until)));
            }
            Action::ShortBody => exchange.then = Then::Close,
            Action::Garbage => {
                exchange.length = answers.length(answer, false);
                exchange.then = Then::Close;
            }
            Action::Reset => {
                exchange.length = 0;
                exchange.then = Then::Reset;
            }
            Action::Answer { .. } | Action::BlackHole => {}
        }
        exchange.entry = Some(Entry { ticket, ending: ending_of(action), status });
        exchange
    }

    /// What to do about it at `now`.
    pub(crate) fn step(&self, now: Timestamp) -> Step {
        if !self.request_read || now < self.due {
            return Step::Wait;
        }
        match self.rest {
            Some((from, at)) if now < at && self.sent == from => Step::Wait,
            Some((from, at)) if now < at => Step::SendTo(from),
            _ if self.sent == self.length => Step::Complete,
            _ => Step::SendTo(self.length),
        }
    }
}
