use truetail_model::time::Nanos;
use truetail_run::FilePlace;

use super::{AccessLog, Placement};
use crate::ImportError;
use crate::ways::{counted, listed, shortened, shown};

impl AccessLog {
    /// Returns notes about the arrivals, their placement, and lines left out. `keeps_host` says if hosts are sent.
    pub fn notes(&self, file: &str, placement: Placement, keeps_host: bool) -> Vec<String> {
        let taken = self.lines.len() as u64;
        let left_out = self.left_out.total();
        let are = if taken == 1 { "is an arrival" } else { "are arrivals" };
        let of_all = format!("{taken} of {} of {file} {are}", counted(taken + left_out, "line"));
        let counts = if left_out == 0 { of_all } else { format!("{of_all}; left out: {}", self.left_out.text()) };
        let resolution = Nanos(self.resolution.ns());
        let placed =
            format!("the log's times are exact to {resolution}; inside it, arrivals were placed {}", placement.text());
        [Some(counts), Some(placed), self.times(), self.hosts(keeps_host), self.damage.clone()]
            .into_iter()
            .flatten()
            .map(|note| shown(&note))
            .collect()
    }

    /// Returns a note if some times may not be times of arrivals.
    fn times(&self) -> Option<String> {
        let taken = self.lines.len() as u64;
        match self.timed {
            0 => Some(
                "the log does not say how long requests took, so its times count as those of arrivals; nginx writes the time of \
                 the end, and Apache and Envoy that of the start"
                    .to_owned(),
            ),
            timed if timed < taken => Some(format!(
                "{} not say how long the request took; there, the logged time counts as that of the arrival",
                if taken - timed == 1 { "1 of the lines does".to_owned() } else { format!("{} of the lines do", taken - timed) }
            )),
            _ => None,
        }
    }

    fn hosts(&self, keeps_host: bool) -> Option<String> {
        if self.hosts.len() < 2 {
            return None;
        }
        let mut most: Vec<_> = self.hosts.iter().collect();
        most.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        let named = listed(most.iter().map(|(host, count)| format!("{} ({count})", shortened((*host).clone()))));
        let sent = if keeps_host { "each is sent with its own" } else { "none is sent with its own" };
        Some(format!("requests of {} hosts: {named}; {sent}", most.len()))
    }

    /// Returns the error for a log without usable lines.
    pub(super) fn nothing(&self) -> ImportError {
        let place = FilePlace { byte: 0, line: 1 };
        let what = match self.left_out.total() {
            0 => "the log is empty".to_owned(),
            1 => format!("the only line becomes no arrival: {}", self.left_out.text()),
            left_out => format!("none of {left_out} lines becomes an arrival: {}", self.left_out.text()),
        };
        ImportError::content(place, what)
    }
}
