//! Processing of a run's result: cuts off the warm-up, and judges answers and gates.

use truetail_analysis::gates::ReadingMode;
use truetail_checks::CheckRun;
use truetail_flow::{AgentRun, FlowRun};
use truetail_model::time::Timestamp;
use truetail_run::{Findings, LlmApi, Run, StreamFacts};
use truetail_stream::StreamRun;
use truetail_timing::{HeaderRun, TimingRun};

use crate::gating::Gating;
use crate::script::Script;

/// Observers of the answers of a run.
#[derive(Clone, Default, Debug)]
pub(crate) struct Observed {
    pub checks: Option<CheckRun>,
    /// Answers read as streams.
    pub streams: Option<StreamRun>,
    /// Sessions that follow a flow.
    pub sessions: Option<FlowRun>,
    /// Sessions of agents.
    pub agents: Option<AgentRun>,
    /// Times that the service reports.
    pub server_timing: Option<TimingRun>,
    /// Response headers that the run keeps.
    pub headers: Option<HeaderRun>,
    /// Script that makes the requests, and sees the answers.
    pub script: Option<Script>,
}

impl Observed {
    /// Returns true if answers decide how many requests a session makes.
    pub(crate) fn asks_again(&self) -> bool {
        self.sessions.as_ref().is_some_and(FlowRun::asks_again) || self.agents.is_some()
    }

    /// Returns how answers are read, to check which gates fit. Pushes and streamed calls are streams without an option.
    pub(crate) fn reading(&self) -> ReadingMode {
        match &self.streams {
            Some(streams) => streams.llm_api().map_or(ReadingMode::Streams, ReadingMode::of_llm),
            None => ReadingMode::Whole,
        }
    }
}

/// Rules for the result of a run.
#[derive(Clone, Debug)]
pub(crate) struct Judge {
    pub gating: Gating,
    pub observed: Observed,
    /// Leave out the time before response times settled.
    pub cut_warmup: bool,
}

impl Judge {
    /// Returns the run to report, and its findings without gates.
    pub(crate) fn findings(&self, mut run: Run) -> (Run, Findings) {
        run.facts.offered.allow_errors = self.gating.allow_errors;
        let samples = &run.snapshot.samples;
        run.facts.stream = self.observed.streams.as_ref().map(|streams| streams.facts(samples));
        if let Some(timing) = &self.observed.server_timing {
            run.facts.server_timing = Some(timing.facts(samples));
        }
        run.facts.kept_headers = self.observed.headers.as_ref().map(|headers| headers.facts(samples));
        let not_reached = self.observed.sessions.as_ref().map(FlowRun::streams_not_reached);
        let not_reached = not_reached.or_else(|| self.observed.agents.as_ref().map(AgentRun::streams_not_reached));
        if let Some((streams, not_reached)) = run.facts.stream.as_mut().zip(not_reached) {
            streams.tally.count_not_reached(not_reached);
        }
        let imbalance = run.facts.imbalance_of_streams(run.snapshot.tally.planned);
        run.facts
            .notes
            .extend(imbalance.map(|why| format!("a bug of truetail: the books of streams are wrong: {why}")));
        self.observed.sessions.iter().for_each(|sessions| add_sessions(&mut run, sessions));
        if let Some(agents) = &self.observed.agents {
            run.facts.notes.extend(agents.notes());
            run.facts.sessions = Some(agents.facts());
        }
        self.observed.script.iter().for_each(|script| script.add_sessions(&mut run));
        let of_streams = run
            .facts
            .stream
            .as_ref()
            .map(|streams| [without_content(streams), no_stream(&run, streams), by_client(streams)]);
        run.facts.notes.extend(of_streams.into_iter().flatten().flatten());
        let (mut run, findings) = cut_warmup(run, self.cut_warmup);
        if let Some(checks) = &self.observed.checks {
            run.facts.checks = checks.counts(run.snapshot.measure_from);
            run.facts.failed_answers = checks.failed_answers();
            let measured_from_ns = run.snapshot.measure_from.0;
            run.facts.failed_answers.retain(|answer| answer.intended_start_ns >= measured_from_ns);
        }
        (run, findings)
    }

    /// Judges a run in progress, with gates. Omits checks and streams, and gates on them: they are known at its end.
    pub(crate) fn judge_so_far(&self, mut run: Run) -> (Run, Findings) {
        run.facts.offered.allow_errors = self.gating.allow_errors;
        let (run, mut findings) = cut_warmup(run, self.cut_warmup);
        self.gating.judge_so_far(&run, &mut findings);
        (run, findings)
    }
}

/// Adds the books of sessions. Notes say why the first session that ended early at a step did so.
fn add_sessions(run: &mut Run, sessions: &FlowRun) {
    run.facts.notes.extend(sessions.notes());
    run.facts.sessions = Some(sessions.facts());
}

/// Returns a note if a language model's answers have events but no content: probably another API's answers.
fn without_content(streams: &StreamFacts) -> Option<String> {
    let llm =
        streams.llm.as_ref().filter(|llm| llm.content_events + llm.unmeasured.echo_events == 0 && llm.events() > 0)?;
    if let Some(dialect) = &llm.reading.dialect {
        let file = &dialect.file;
        return Some(format!("no event has content by --llm-dialect {file}; compare its paths of text with an answer"));
    }
    if llm.reading.api.comes_whole() {
        return None;
    }
    let likely = match llm.reading.api {
        LlmApi::OpenaiChat => LlmApi::OpenaiCompletions,
        _ => LlmApi::OpenaiChat,
    };
    let api = llm.reading.api.name();
    let likely = likely.name();
    Some(format!("no event has content by --llm {api}; are the answers those of --llm {likely}, or of another API?"))
}

/// Returns a note if all answers of a language model came whole instead of as streams.
fn no_stream(run: &Run, streams: &StreamFacts) -> Option<String> {
    let llm = streams.llm.as_ref().filter(|llm| !llm.reading.api.comes_whole())?;
    let tally = streams.tally;
    let all_succeeded = run.snapshot.statuses.keys().eq(&[200]);
    (all_succeeded && tally.not_a_stream > 0 && llm.events() == 0).then(|| {
        "no answer is a stream; does the request ask for one, by \"stream\": true or by its URL? --llm whole reads answers that come whole"
            .to_owned()
    })
}

/// Returns a note if a tokenizer counted tokens. The distribution of times per output token mixes both counts.
fn by_client(streams: &StreamFacts) -> Option<String> {
    let client = streams.llm.as_ref()?.by_client.as_ref().filter(|client| client.counted > 0)?;
    Some(format!("TPOT of answers without a count of the server is by truetail's count, with {}", client.tokenizer))
}

/// Returns the run and its findings. If `cut` is true and a warm-up was found, leaves it out.
fn cut_warmup(mut run: Run, cut: bool) -> (Run, Findings) {
    let findings = truetail_analysis::findings(&run);
    let Some(from) = findings.settling.cut_ns.filter(|_| cut) else {
        if cut {
            run.facts.notes.push(format!("--warmup auto: {}", findings.settling.why));
        }
        return (run, findings);
    };
    match truetail_analysis::without_warmup(&run, Timestamp(from)) {
        Ok(mut shorter) => {
            if !run.facts.by_target.is_empty() {
                let note = "--warmup auto: what became of each target is known of the whole run only, and left out";
                shorter.facts.notes.push(note.to_owned());
            }
            let findings = truetail_analysis::findings(&shorter);
            (shorter, findings)
        }
        Err(error) => {
            run.facts.notes.push(format!("--warmup auto: nothing was cut, because {error}"));
            (run, findings)
        }
    }
}
