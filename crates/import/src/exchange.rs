//! The rule for what cannot have been an exchange over the network, for the readers of every format.

use std::collections::BTreeMap;

use truetail_run::ForeignRequest;

/// Reason why a row or an entry is not an exchange whose duration is that of an answer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum NoExchange {
    /// A WebSocket lasts as long as the page.
    WebSocket,
    /// An `EventSource` lasts as long as the page.
    EventSource,
    /// The URL is not on a network, such as `data:` or `blob:`.
    Scheme,
    /// The answer came from a cache, or from a worker of the page.
    Cached,
    /// It has no method, or builds a tunnel.
    NoRequest,
    /// It sums up requests that have rows of their own.
    Transaction,
    /// No time limit of a load test is that long.
    LongerThanADay,
    /// Its end is beyond the times that can be written.
    EndOfTime,
}

/// Longest exchange, in nanoseconds.
const A_DAY_NS: u64 = 86_400_000_000_000;

impl NoExchange {
    /// Returns the text for lists: `2 of WebSockets`.
    pub(crate) fn text(self) -> &'static str {
        match self {
            NoExchange::WebSocket => "of WebSockets",
            NoExchange::EventSource => "of an EventSource",
            NoExchange::Scheme => "with URLs such as data: or blob:",
            NoExchange::Cached => "answered by a cache or a service worker",
            NoExchange::NoRequest => "without a request of their own",
            NoExchange::Transaction => "of transactions, whose requests count themselves",
            NoExchange::LongerThanADay => "longer than a day",
            NoExchange::EndOfTime => "that end after the year 2554",
        }
    }

    /// Returns the reason why a request of any format was no exchange, or `None` if it may have been one.
    pub(crate) fn for_request(request: &ForeignRequest) -> Option<NoExchange> {
        let ForeignRequest { start_ns, duration, waited, outcome, .. } = *request;
        let ends = start_ns.unwrap_or_default().checked_add(duration.0);
        match outcome.status() {
            _ if duration.0 > A_DAY_NS || waited.0 > A_DAY_NS => Some(NoExchange::LongerThanADay),
            _ if ends.is_none() => Some(NoExchange::EndOfTime),
            // The time of a switched connection is that of everything that was said on it.
            Some(101) => Some(NoExchange::WebSocket),
            _ => None,
        }
    }
}

/// Counts of what was no exchange, by reason.
#[derive(Default)]
pub(crate) struct NoExchanges(BTreeMap<NoExchange, u64>);

impl NoExchanges {
    pub(crate) fn add(&mut self, why: NoExchange) {
        *self.0.entry(why).or_default() += 1;
    }

    pub(crate) fn count(&self) -> u64 {
        self.0.values().sum()
    }

    /// Returns a note, if there are any.
    pub(crate) fn note(&self) -> Option<String> {
        let parts: Vec<String> = self.0.iter().map(|(why, count)| format!("{count} {}", why.text())).collect();
        (!parts.is_empty()).then(|| format!("what was no exchange over the network is left out: {}", parts.join(", ")))
    }
}
