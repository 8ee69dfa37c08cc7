mod decode;
mod messages;

use std::io::BufRead;

use truetail_run::ForeignRun;

use self::decode::{Layout, ResultFields};
use self::messages::{Messages, Next};
use crate::recognise::binary_likeness;
use crate::rows::{Books, Taken, Wrong};
use crate::vegeta::{Attempt, VegetaResults};
use crate::{Excerpt, Format, FormatInfo, ImportError, ImportOptions, Likeness, RequestSink};

static INFO: FormatInfo =
    FormatInfo { name: "vegeta-gob", about: "Vegeta's results as 'vegeta attack' writes them", tool: Some("vegeta") };

/// Vegeta's results as Vegeta writes them: a stream of values in Go's encoding gob.
pub(crate) struct VegetaGob;

impl Format for VegetaGob {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn likeness(&self, excerpt: &Excerpt<'_>) -> Likeness {
        let mut input = excerpt.head();
        let mut messages = Messages::new(&mut input);
        let first = messages.next().ok().filter(|next| *next == Next::Message);
        match first.and_then(|_| Layout::from_definition(messages.bytes())) {
            Some(_) => binary_likeness(excerpt),
            None => Likeness::No,
        }
    }

    fn read(
        &self,
        input: &mut dyn BufRead,
        _options: &ImportOptions,
        sink: &mut RequestSink<'_>,
    ) -> Result<ForeignRun, ImportError> {
        let mut messages = Messages::new(input);
        let mut books = Books::in_order(sink);
        let mut layout = None;
        let mut results = VegetaResults::default();
        loop {
            let place = messages.place();
            match messages.next()? {
                Next::End => break,
                Next::CutOff => {
                    books.row(place, Err(Wrong::CutOff));
                    break;
                }
                Next::Message => {}
            }
            match message(messages.bytes(), &mut layout) {
                Some(Message::Definition) => {}
                Some(Message::Result(fields)) => books.row(place, Ok(take(&fields, &mut results))),
                None => books.row(place, Err(Wrong::Shape("a result of Vegeta"))),
            }
        }
        books.close(&INFO, results.close())
    }
}

enum Message<'m> {
    /// A definition of a type. The definition of a result goes into the layout.
    Definition,
    Result(ResultFields<'m>),
}

/// Reads a message. Returns `None` if it is damaged.
fn message<'m>(bytes: &'m [u8], layout: &mut Option<Layout>) -> Option<Message<'m>> {
    if decode::is_definition(bytes)? {
        if let Some(found) = Layout::from_definition(bytes) {
            *layout = Some(found);
        }
        return Some(Message::Definition);
    }
    layout.as_ref()?.result(bytes).map(Message::Result)
}

fn take(fields: &ResultFields<'_>, results: &mut VegetaResults) -> Taken {
    results.request(&Attempt {
        start_ns: fields.start_ns,
        latency_ns: fields.latency_ns,
        code: fields.code,
        bytes_in: Some(fields.bytes_in),
        error: fields.error,
    })
}
