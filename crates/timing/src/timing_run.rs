//! The reported times of a run, over all workers.

use std::sync::Arc;

use truetail_engine::ObserverFactory;
use truetail_model::record::Samples;
use truetail_model::time::Timestamp;
use truetail_run::{MAX_PARTS, ServerTiming};

use crate::beside::ReadBeside;
use crate::observer::TimingObserver;
use crate::reader::TimingPlan;
use crate::source::TimingSource;

/// Reads the times that a service reports during a run. Clones share the results.
#[derive(Clone, Debug)]
pub struct TimingRun {
    nesting: Vec<String>,
    thread: Arc<ReadingThread>,
}

/// The thread that reads, as long as somebody may want the results.
#[derive(Debug)]
struct ReadingThread(Arc<ReadBeside>);

impl Drop for ReadingThread {
    fn drop(&mut self) {
        self.0.stop();
    }
}

impl TimingRun {
    /// Prepares to read `sources`. `nesting` has orders such as `edge > app > db`, and their names. Answers to arrivals
    /// before `measure_from` are left out.
    pub fn new(sources: Vec<TimingSource>, nesting: Vec<String>, measure_from: Timestamp) -> TimingRun {
        let mut names: Vec<String> = Vec::new();
        for name in nesting.iter().flat_map(|order| order.split('>')).map(str::trim) {
            if !names.iter().any(|known| known == name) && names.len() < MAX_PARTS {
                names.push(name.to_owned());
            }
        }
        let beside = Arc::new(ReadBeside::new(TimingPlan { sources, names, measure_from }));
        TimingRun { nesting, thread: Arc::new(ReadingThread(beside)) }
    }

    /// Returns a factory of observers, for [`truetail_engine::Plan::observer`], and starts the thread that reads what
    /// they copy. The thread has the processors and the priority of the caller.
    pub fn observer_factory(&self) -> ObserverFactory {
        let run = self.clone();
        self.thread.0.start();
        ObserverFactory::new(move || Box::new(TimingObserver::new(&run.thread.0)))
    }

    /// Returns the times of the requests in `samples`. Call this after the run.
    pub fn facts(&self, samples: &Samples) -> ServerTiming {
        let beside = &self.thread.0;
        beside.results(|found| ServerTiming {
            sources: beside.plan().sources.iter().map(TimingSource::to_string).collect(),
            nesting: self.nesting.clone(),
            names: found.names.clone(),
            answers: found.answers,
            without: found.without,
            unread: found.unread,
            spans: None,
            times: found.times.of_samples(samples),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use truetail_model::time::Nanos;

    use super::*;
    use crate::answered::{observe_answers, observe_heads};

    fn read(run: &TimingRun, answers: &[&[(&str, &str)]]) -> ServerTiming {
        run.facts(&observe_answers(&run.observer_factory(), answers))
    }

    #[test]
    fn names_of_all_workers_are_one_list() {
        let run = TimingRun::new(TimingSource::usual(), Vec::new(), Timestamp::ZERO);
        let found = read(
            &run,
            &[
                &[("Server-Timing", "db;dur=1, app;dur=2"), ("X-Runtime", "0.003")],
                &[("server-timing", "app;dur=4, cache;dur=1.5"), ("server-timing", "app;dur=1, hit")],
                &[("content-type", "text/plain")],
                &[("server-timing", "app;dur=soon")],
            ],
        );
        assert_eq!(found.names, ["db", "app", "x-runtime", "cache"]);
        assert_eq!((found.answers, found.without, found.unread), (2, 2, 1));
        let ms = |ms: u64| Some(Nanos(ms * 1_000_000));
        let all: Vec<Vec<_>> = found.times.iter().map(|times| (0..4).map(|at| times.get(at)).collect()).collect();
        assert_eq!(all, [vec![ms(1), ms(2), ms(3), None], vec![None, ms(5), None, Some(Nanos(1_500_000))]]);
    }

    #[test]
    fn names_of_the_order_have_a_place_and_more_than_eight_are_counted() {
        let many: String = (0..12).map(|nth| format!("n{nth};dur=1,")).collect();
        let nesting = vec!["edge > app".to_owned(), "edge > cache".to_owned()];
        let run = TimingRun::new(vec![TimingSource::ServerTiming], nesting, Timestamp::ZERO);
        let found = read(&run, &[&[("server-timing", &many)]]);
        assert_eq!(found.names[..4], ["edge", "app", "cache", "n0"]);
        assert_eq!((found.names.len(), found.unread), (MAX_PARTS, 7));
    }

    #[test]
    fn the_warmup_is_left_out() {
        let run = TimingRun::new(TimingSource::usual(), Vec::new(), Timestamp(1));
        let found = read(&run, &[&[("server-timing", "a;dur=1")], &[("server-timing", "a;dur=2")]]);
        assert_eq!((found.answers, found.times.len(), found.times[0].index()), (1, 1, 1));
    }

    /// Lines that differ in their digits, and now and then in more.
    fn line() -> impl Strategy<Value = String> {
        let number = "[0-9]{1,3}|[0-9]{0,2}[.][0-9]{1,3}|[0-9]{1,12}[.]?[0-9]{0,9}|1e2|-1|[0-9][.][0-9][.]|";
        let times = (number, number).prop_map(|(first, second)| {
            [
                format!("Server-Timing: db;dur={first}, app;dur={second}\r\n"),
                format!("server-timing: db;dur=\"{first}\";dur={second},\thit , db;dur={second}\r\n"),
                format!("server-timing: db;dur={first} {second}\n"),
                format!("X-Runtime: {first}\r\n"),
                format!("x-runtime:{first}{second}\r\n"),
                format!("X-Request-Id: {first}\r\n"),
                format!("Server-Timing: {}\r\n", format!("db;dur={first},").repeat(12)),
            ]
        });
        (times, prop_oneof![4 => Just(0), 1 => 0..7usize]).prop_map(|(lines, nth)| lines[nth].clone())
    }

    proptest! {
        #[test]
        fn an_answer_like_the_one_before_is_read_as_if_it_were_the_first(
            answers in proptest::collection::vec(proptest::collection::vec(line(), 0..3), 1..40)
        ) {
            let heads: Vec<String> =
                answers.iter().map(|lines| format!("HTTP/1.1 200 OK\r\n{}\r\n", lines.concat())).collect();
            let [one, several] = [true, false].map(|is_one_worker| {
                let run = TimingRun::new(TimingSource::usual(), Vec::new(), Timestamp::ZERO);
                let samples = observe_heads(&run.observer_factory(), &heads, is_one_worker);
                run.facts(&samples)
            });
            prop_assert_eq!(one, several);
        }
    }
}
