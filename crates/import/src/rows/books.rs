//! Books of reading a file: each row is a request, another valid row, or left out.

use std::io;

use truetail_run::{
    Claims, FilePlace, ForeignClock, ForeignLoad, ForeignRequest, ForeignRun, ForeignStarts, ForeignView, LatencyFrom,
    UnusedRows,
};

use super::lines::{Lines, Span};
use super::order::OrderWatch;
use super::wrong::Wrong;
use crate::exchange::{NoExchange, NoExchanges};
use crate::{FormatInfo, ImportError, RequestSink};

/// Meaning of a valid row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Taken {
    Request(ForeignRequest),
    /// A valid row that is not a request: a header, another metric.
    Other,
    /// A valid row whose time is not that of an exchange.
    NoExchange(NoExchange),
}

/// Passes requests on, and counts rows.
pub(crate) struct Books<'a, 'b> {
    sink: &'a mut RequestSink<'b>,
    rows: u64,
    requests: u64,
    others: u64,
    damage: UnusedRows,
    order: Option<OrderWatch>,
    no_exchanges: NoExchanges,
    notes: Vec<String>,
}

/// Facts about a run from its file.
#[derive(Clone, Debug)]
pub(crate) struct RunFacts {
    pub version: Option<String>,
    pub latency_from: LatencyFrom,
    pub starts: ForeignStarts,
    pub start_resolution_ns: u64,
    pub duration_resolution_ns: u64,
    pub load: ForeignLoad,
    pub view: ForeignView,
    /// Number of requests that the tool counts as failed, if the file states it.
    pub failed: Option<u64>,
    pub dropped: Option<u64>,
    /// Every request of the run has a row.
    pub has_all_requests: bool,
    pub notes: Vec<String>,
}

impl Default for RunFacts {
    fn default() -> RunFacts {
        RunFacts {
            version: None,
            latency_from: LatencyFrom::Send,
            starts: ForeignStarts::Unix,
            start_resolution_ns: 1,
            duration_resolution_ns: 1,
            load: ForeignLoad::default(),
            view: ForeignView::Client,
            failed: None,
            dropped: None,
            has_all_requests: true,
            notes: Vec::new(),
        }
    }
}

impl<'a, 'b> Books<'a, 'b> {
    /// Opens books for a file with rows in order of completion.
    pub(crate) fn in_order(sink: &'a mut RequestSink<'b>) -> Books<'a, 'b> {
        Books { order: Some(OrderWatch::default()), ..Books::in_any_order(sink) }
    }

    /// Opens books for a file whose rows are in any other order.
    pub(crate) fn in_any_order(sink: &'a mut RequestSink<'b>) -> Books<'a, 'b> {
        Books {
            sink,
            rows: 0,
            requests: 0,
            others: 0,
            damage: UnusedRows::default(),
            order: None,
            no_exchanges: NoExchanges::default(),
            notes: Vec::new(),
        }
    }

    /// Records the result of reading a row.
    pub(crate) fn row(&mut self, place: FilePlace, taken: Result<Taken, Wrong>) {
        self.rows += 1;
        match taken {
            Ok(Taken::Request(request)) => {
                if let Some(why) = NoExchange::for_request(&request) {
                    self.others += 1;
                    return self.no_exchanges.add(why);
                }
                self.requests += 1;
                if let Some(order) = &mut self.order {
                    order.see(&request, place);
                }
                (self.sink)(&request);
            }
            Ok(Taken::Other) => self.others += 1,
            Ok(Taken::NoExchange(why)) => {
                self.others += 1;
                self.no_exchanges.add(why);
            }
            Err(wrong) => self.leave_out(place, wrong),
        }
    }

    /// Returns the number of requests until now.
    pub(crate) fn requests(&self) -> u64 {
        self.requests
    }

    pub(crate) fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    /// Records a row and moves past it. An empty line is no row. An invalid last row without a line break was cut off.
    pub(crate) fn take(&mut self, lines: &mut Lines<'_>, span: Span, taken: Result<Taken, Wrong>) -> io::Result<()> {
        let place = lines.place();
        if span.too_long {
            self.row(place, Err(Wrong::TooLong));
        } else if !lines.bytes(span).trim_ascii().is_empty() {
            let cut = !span.whole && taken.is_err();
            self.row(place, if cut { Err(Wrong::CutOff) } else { taken });
        }
        lines.take(span)
    }

    fn leave_out(&mut self, place: FilePlace, wrong: Wrong) {
        self.damage.rows_left_out += 1;
        if wrong == Wrong::CutOff {
            self.damage.truncated_at = Some(place);
        }
        if self.damage.first.is_none() {
            self.damage.first = Some((place, wrong.to_string()));
        }
    }

    /// Closes the books. Fails with [`ImportError::Content`] if there are rows and none of them could be used.
    pub(crate) fn close(mut self, info: &FormatInfo, facts: RunFacts) -> Result<ForeignRun, ImportError> {
        debug_assert_eq!(
            self.rows,
            self.requests + self.others + self.damage.rows_left_out,
            "the books of {}",
            info.name
        );
        if let (0, Some((place, what))) = (self.requests, &self.damage.first) {
            return Err(ImportError::Content { place: *place, what: what.clone() });
        }
        self.notes.extend(self.order.iter().flat_map(OrderWatch::notes));
        self.notes.extend(facts.notes);
        self.notes.extend(self.no_exchanges.note());
        let whole = facts.has_all_requests && self.damage.rows_left_out == 0;
        let claims = Claims {
            measured: Some(self.requests),
            requests: whole.then_some(self.requests),
            failed: facts.failed,
            dropped: facts.dropped,
            ..Claims::silent(facts.latency_from)
        };
        let has_starts = facts.starts != ForeignStarts::None;
        let clock = ForeignClock {
            starts: facts.starts,
            start_resolution_ns: if has_starts { facts.start_resolution_ns } else { 0 },
            duration_resolution_ns: facts.duration_resolution_ns,
        };
        Ok(ForeignRun {
            format: info.name,
            tool: info.tool,
            version: facts.version,
            claims,
            histogram: None,
            requests: self.requests,
            clock,
            load: facts.load,
            view: facts.view,
            damage: self.damage,
            notes: self.notes,
            habits: &[],
        })
    }
}
