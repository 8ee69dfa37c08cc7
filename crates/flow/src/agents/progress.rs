//! The progress of a session through its graph, without I/O: which calls are due, and when.

use std::collections::BTreeSet;

use truetail_model::time::Timestamp;

use super::graph::Graph;

/// State of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum CallState {
    /// It waits for this number of calls.
    Waits(u32),
    /// Its intended start is known, and it has not been sent.
    Due,
    /// It was due when the run ended, and was never sent.
    LeftDue,
    /// It was sent.
    Asked,
    /// A call before it failed.
    Lost,
}

/// The progress of one session. Later sessions reuse its memory.
#[derive(Clone, Default, Debug)]
pub(super) struct Progress {
    states: Vec<CallState>,
    /// The latest end of the calls that each call waits for.
    ready: Vec<Timestamp>,
    /// Calls that are due.
    due: BTreeSet<(Timestamp, u32)>,
    in_flight: u32,
    /// Room for the calls behind a failed one.
    behind: Vec<u32>,
}

impl Progress {
    /// Begins a session that arrives at `intended`. Its first calls are due at this time plus their think times.
    pub(super) fn begin(&mut self, graph: &Graph, intended: Timestamp) {
        self.states.clear();
        self.ready.clear();
        self.due.clear();
        self.in_flight = 0;
        for call in &graph.calls {
            self.states.push(CallState::Waits(call.waits_for));
            self.ready.push(intended);
        }
        for (nth, call) in (0..).zip(&graph.calls) {
            if call.waits_for == 0 {
                self.plan(graph, nth);
            }
        }
    }

    /// Plans a call that waits for none any more. Returns its intended start.
    fn plan(&mut self, graph: &Graph, call: u32) -> Timestamp {
        let at = self.ready[call as usize] + graph.calls[call as usize].think;
        self.states[call as usize] = CallState::Due;
        self.due.insert((at, call));
        at
    }

    /// Returns the intended starts of all calls that are due.
    pub(super) fn all_due(&self) -> impl Iterator<Item = Timestamp> {
        self.due.iter().map(|(at, _)| *at)
    }

    /// Takes the call that is due first, to send it now. Calls due at the same time follow each other as in the file.
    pub(super) fn ask(&mut self) -> Option<(Timestamp, u32)> {
        let first = self.due.pop_first()?;
        self.states[first.1 as usize] = CallState::Asked;
        self.in_flight += 1;
        Some(first)
    }

    /// Takes the call that is due first because the run has ended before it was sent.
    pub(super) fn leave(&mut self) -> Option<u32> {
        let (_, call) = self.due.pop_first()?;
        self.states[call as usize] = CallState::LeftDue;
        Some(call)
    }

    /// Records that `call` was answered at `end`. Adds the calls that become due to `fresh`, and their starts.
    pub(super) fn answered(&mut self, graph: &Graph, call: u32, end: Timestamp, fresh: &mut Vec<(Timestamp, u32)>) {
        self.in_flight -= 1;
        for follower in &graph.calls[call as usize].followers {
            let at = *follower as usize;
            self.ready[at] = self.ready[at].max(end);
            match self.states[at] {
                CallState::Waits(1) => fresh.push((self.plan(graph, *follower), *follower)),
                CallState::Waits(count) => self.states[at] = CallState::Waits(count - 1),
                CallState::Due | CallState::LeftDue | CallState::Asked | CallState::Lost => {}
            }
        }
    }

    /// Records that `call` failed, so that no call behind it is made.
    pub(super) fn failed(&mut self, graph: &Graph, call: u32) {
        self.in_flight -= 1;
        self.lose_behind(graph, call);
    }

    /// Gives up a call that is due, because its request cannot be made, and the calls behind it.
    pub(super) fn give_up(&mut self, graph: &Graph, (at, call): (Timestamp, u32)) {
        self.due.remove(&(at, call));
        self.states[call as usize] = CallState::Lost;
        self.lose_behind(graph, call);
    }

    fn lose_behind(&mut self, graph: &Graph, call: u32) {
        self.behind.push(call);
        while let Some(lost) = self.behind.pop() {
            for follower in &graph.calls[lost as usize].followers {
                if let state @ CallState::Waits(_) = &mut self.states[*follower as usize] {
                    *state = CallState::Lost;
                    self.behind.push(*follower);
                }
            }
        }
    }

    /// Records that `call` was in flight when the run ended.
    pub(super) fn cut_off(&mut self) {
        self.in_flight -= 1;
    }

    /// Returns true if no call is in flight or due.
    pub(super) fn is_over(&self) -> bool {
        self.in_flight == 0 && self.due.is_empty()
    }

    /// Returns the states of the calls.
    pub(super) fn states(&self) -> &[CallState] {
        &self.states
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use truetail_model::time::Nanos;

    use super::super::graph::Call;
    use super::*;

    /// A graph in which each call waits for some of the calls before it.
    fn graph(edges: &[Vec<usize>], thinks: &[u64]) -> Graph {
        let mut graph = Graph::default();
        for (nth, before) in edges.iter().enumerate() {
            let before: BTreeSet<usize> = before.iter().filter(|_| nth > 0).map(|other| other % nth).collect();
            let first = nth == 0;
            graph.calls.push(Call {
                id: nth.to_string(),
                line: nth + 1,
                depth: 1,
                think: Nanos(if first { 0 } else { thinks[nth] }),
                waits_for: before.len() as u32,
                followers: Vec::new(),
                is_said: false,
                body: Vec::new(),
            });
            before.into_iter().for_each(|other| graph.calls[other].followers.push(nth as u32));
        }
        graph
    }

    fn before(graph: &Graph, call: u32) -> Vec<u32> {
        (0..graph.calls.len() as u32).filter(|other| graph.calls[*other as usize].followers.contains(&call)).collect()
    }

    proptest! {
        /// Ends are reported in any order, as answers that were read together are.
        #[test]
        fn each_call_starts_once_exactly_its_think_time_after_the_last_call_before_it(
            edges in prop::collection::vec(prop::collection::vec(0usize..40, 0..4), 1..40),
            thinks in prop::collection::vec(0u64..50, 40),
            took in prop::collection::vec(1u64..90, 40),
            picks in prop::collection::vec(0usize..40, 200),
            fails in prop::collection::vec(prop::bool::weighted(0.05), 40),
        ) {
            let graph = graph(&edges, &thinks);
            let mut progress = Progress::default();
            let intended = Timestamp(1_000);
            progress.begin(&graph, intended);
            let mut planned: Vec<Timestamp> = progress.all_due().collect();
            let mut asked = vec![None; graph.calls.len()];
            let mut ended: Vec<Option<Timestamp>> = vec![None; graph.calls.len()];
            let mut under_way: Vec<u32> = Vec::new();
            let mut has_failed = vec![false; graph.calls.len()];
            let mut picks = picks.into_iter().cycle();
            while !progress.is_over() {
                let pick = picks.next().unwrap();
                if let Some((at, call)) = (pick % 2 == 0 || under_way.is_empty()).then(|| progress.ask()).flatten() {
                    prop_assert!(asked[call as usize].replace(at).is_none(), "call {} twice", call);
                    under_way.push(call);
                    continue;
                }
                if under_way.is_empty() { continue; }
                let call = under_way.swap_remove(pick % under_way.len());
                let end = asked[call as usize].unwrap() + Nanos(took[call as usize]);
                if fails[call as usize] {
                    has_failed[call as usize] = true;
                    progress.failed(&graph, call);
                } else {
                    ended[call as usize] = Some(end);
                    let mut fresh = Vec::new();
                    progress.answered(&graph, call, end, &mut fresh);
                    planned.extend(fresh.iter().map(|(at, _)| *at));
                }
            }
            let mut is_lost = vec![false; graph.calls.len()];
            for call in 0..graph.calls.len() as u32 {
                let ends: Vec<Option<Timestamp>> =
                    before(&graph, call).into_iter().map(|other| ended[other as usize]).collect();
                let nth = call as usize;
                is_lost[nth] = before(&graph, call).iter().any(|o| is_lost[*o as usize] || has_failed[*o as usize]);
                if is_lost[nth] {
                    prop_assert_eq!(progress.states()[nth], CallState::Lost);
                    prop_assert_eq!(asked[nth], None);
                } else {
                    let last = ends.into_iter().map(|end| end.expect("it ended before")).max().unwrap_or(intended);
                    prop_assert_eq!(asked[nth], Some(last + graph.calls[nth].think));
                    prop_assert_eq!(progress.states()[nth], CallState::Asked);
                }
            }
            // The driver gets each intended start exactly once.
            let mut starts: Vec<Timestamp> = asked.into_iter().flatten().collect();
            starts.sort_unstable();
            planned.sort_unstable();
            prop_assert_eq!(starts, planned);
        }
    }

    #[test]
    fn what_is_behind_a_failed_call_is_lost_and_the_rest_goes_on() {
        // 1 and 2 follow 0; 3 follows both; 4 follows 2.
        let graph = graph(&[vec![], vec![0], vec![0], vec![1, 2], vec![2]], &[0, 5, 0, 0, 7]);
        let mut progress = Progress::default();
        let mut fresh = Vec::new();
        progress.begin(&graph, Timestamp(100));
        assert_eq!(progress.ask(), Some((Timestamp(100), 0)));
        progress.answered(&graph, 0, Timestamp(110), &mut fresh);
        assert_eq!(fresh, [(Timestamp(115), 1), (Timestamp(110), 2)]);
        assert_eq!((progress.ask(), progress.ask()), (Some((Timestamp(110), 2)), Some((Timestamp(115), 1))));
        progress.failed(&graph, 1);
        fresh.clear();
        progress.answered(&graph, 2, Timestamp(130), &mut fresh);
        assert_eq!((&fresh[..], progress.is_over()), (&[(Timestamp(137), 4)][..], false));
        assert_eq!(progress.leave(), Some(4));
        assert!(progress.is_over());
        let asked = CallState::Asked;
        assert_eq!(progress.states(), [asked, asked, asked, CallState::Lost, CallState::LeftDue]);
    }
}
