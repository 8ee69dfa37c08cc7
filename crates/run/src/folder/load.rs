//! Reading of a run folder.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, BufReader};
use std::path::Path;

use serde::Serialize;
use truetail_model::arrival::ScheduleHash;
use truetail_model::record::{
    ByInterval, CompactHistogram, Distributions, Metric, Samples, SamplesOptions, Snapshot, Tally,
};
use truetail_model::time::{Nanos, Timestamp};

use super::hlog::{self, Log};
use super::source::Source;
use super::target_tag::TargetTag;
use super::target_times::target_times;
use super::{
    FAILED_ANSWERS, HISTOGRAMS, LoadError, RUN, SAMPLES, SCRAPES, SERVER_TIMING, SESSIONS, STREAMS, TIMELINE,
    failed_answers, reported, samples, scraped, timeline, validate,
};
use crate::limits::too_large;
use crate::wire::ScrapeFile;
use crate::wire::v1::{self, Exact, IntervalWidth, Recorded, RunFile, SampleFacts, TimelineFacts};
use crate::{
    Facts, FailedAnswer, GateFinding, GeneratorStats, KeptHeaders, Mark, RequestStreams, Run, Scrape, SessionFacts,
    SessionTime, SessionTimes, SpanBooks, StreamDetail, StreamTime, StreamTimes, Verdict, wire,
};

/// Upper bound of the intervals that any program writes: two years.
const LONGEST_INTERVAL_S: u64 = 1 << 26;

/// A run that was read, and its missing files.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The run.
    pub run: Run,
    /// Verdict of the run when it was saved.
    pub verdict: Verdict,
    /// Gates that were judged when the run was saved.
    pub gates: Vec<GateFinding>,
    /// Optional files that are missing.
    pub missing: Vec<MissingFile>,
}

/// An optional file of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MissingFile {
    /// `timeline.csv`: without it, the run has no seconds and no distributions by second.
    Timeline,
    /// `samples.csv`: without it, the run has no single requests.
    Samples,
}

impl fmt::Display for MissingFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            MissingFile::Timeline => "timeline.csv is missing, so there are no figures for single seconds",
            MissingFile::Samples => "samples.csv is missing, so there are no single requests",
        })
    }
}

/// Reads the run in `folder`, or the packed run in the file of that name, as it was before it was saved. `timeline.csv`
/// and `samples.csv` may be missing.
///
/// # Errors
/// [`LoadError`] with the file, and the line if known. The counts of all files must agree, the books must balance, and
/// no number may be too large for a run.
pub fn load(folder: &Path) -> Result<Loaded, LoadError> {
    let source = &Source::at(folder)?;
    let mut run_file = run_file_of(source)?;
    validate::check(&run_file).map_err(|problem| LoadError::Disagree { path: folder.join(RUN), problem })?;
    drop_made_up_status(&mut run_file);
    let mut lacking = Vec::new();
    let mut kept_headers = wire::kept_headers(run_file.kept_headers.clone());
    let (times, of_streams, mut others) = load_times(source, &run_file, &mut lacking)?;
    let (samples, requests) = load_samples(source, &run_file, kept_headers.as_mut(), &mut lacking)?;
    let snapshot = Snapshot {
        tally: run_file.tally,
        warmup: run_file.warmup_tally,
        cancelled: run_file.cancelled_tally.unwrap_or_default(),
        statuses: run_file.statuses.clone(),
        causes: run_file.causes.clone(),
        bytes_in: run_file.recorded.bytes_in,
        measure_from: Timestamp(run_file.recorded.measure_from_ns),
        last_end: Timestamp(run_file.recorded.last_end_ns),
        schedule_hash: schedule_hash(folder, &run_file)?,
        samples,
        ..times
    };
    let verdict = run_file.verdict.clone();
    let gates = run_file.gates.clone();
    let failed_answers = load_failed_answers(source)?;
    let mut facts = Facts { failed_answers, kept_headers, ..Facts::from(run_file) };
    if let Some(timing) = &mut facts.server_timing {
        let problem = timing.spans.as_ref().and_then(SpanBooks::imbalance);
        problem.map_or(Ok(()), |problem| Err(LoadError::Disagree { path: folder.join(RUN), problem }))?;
        let file = source.open(SERVER_TIMING)?.map(BufReader::new);
        let times = file.map(|file| reported::read(file, &timing.names)).transpose();
        timing.times = times.map_err(|error| error.at(&source.path_of(SERVER_TIMING)))?.unwrap_or_default();
    }
    let problem = Mark::problem(&facts.marks);
    problem.map_or(Ok(()), |problem| Err(LoadError::Disagree { path: folder.join(RUN), problem }))?;
    load_series(source, &mut facts.scrapes)?;
    if let Some(streams) = &mut facts.stream {
        streams.times = of_streams;
        streams.requests = requests;
        streams.detail = load_streams(source, &streams.times)?;
    }
    let problem = too_large(&facts).map(|excess| format!("its {excess}"));
    problem.map_or(Ok(()), |problem| Err(LoadError::Disagree { path: folder.join(RUN), problem }))?;
    let problem = facts.imbalance_of_streams(snapshot.tally.planned).map(|problem| format!("under stream {problem}"));
    problem.map_or(Ok(()), |problem| Err(LoadError::Disagree { path: folder.join(RUN), problem }))?;
    if let Some(sessions) = &mut facts.sessions {
        sessions.times = session_times(&mut others, |time| time.tag().to_owned());
        for (nth, flow) in sessions.flows.iter_mut().enumerate() {
            flow.times = session_times(&mut others, |time| time.flow_tag(nth));
        }
        for (nth, step) in sessions.steps.iter_mut().enumerate() {
            step.times = session_times(&mut others, |time| time.step_tag(nth));
        }
        let problem = sessions.imbalance().map(|problem| format!("under sessions {problem}"));
        problem.map_or(Ok(()), |problem| Err(LoadError::Disagree { path: folder.join(RUN), problem }))?;
        load_sessions(source, sessions)?;
    }
    Ok(Loaded { run: Run { facts, snapshot }, verdict, gates, missing: lacking })
}

/// Reads only `run.json`. Fails with [`LoadError::NotARun`], [`LoadError::Io`] or [`LoadError::RunFile`].
pub fn load_run_file(folder: &Path) -> Result<RunFile, LoadError> {
    run_file_of(&Source::at(folder)?)
}

fn run_file_of(source: &Source) -> Result<RunFile, LoadError> {
    let text = source.text_of(RUN)?.ok_or_else(|| LoadError::NotARun(source.path().to_owned()))?;
    wire::parse(&text).map_err(|error| LoadError::RunFile { path: source.path_of(RUN), source: error })
}

fn schedule_hash(folder: &Path, run_file: &RunFile) -> Result<ScheduleHash, LoadError> {
    u64::from_str_radix(&run_file.schedule_hash, 16).map(ScheduleHash).map_err(|error| LoadError::Disagree {
        path: folder.join(RUN),
        problem: format!("schedule_hash is {:?}, not 16 hexadecimal digits ({error})", run_file.schedule_hash),
    })
}

/// Removes the status 0, which older files state for answers of a protocol without a status.
fn drop_made_up_status(run_file: &mut RunFile) {
    run_file.statuses.remove(&0);
    for target in &mut run_file.by_target {
        target.statuses.remove(&0);
    }
}

impl From<RunFile> for Facts {
    /// Returns the facts that `run.json` has. The other files of the folder have more of failed answers, streams and
    /// sessions.
    fn from(run_file: RunFile) -> Facts {
        Facts {
            version: run_file.version,
            source: run_file.source,
            started_at_unix_ns: run_file.started_at_unix_ns,
            elapsed_ns: run_file.elapsed_ns,
            offered: run_file.scenario,
            host: run_file.host,
            generator: run_file.generator.map(|generator| GeneratorStats { messages: run_file.messages, ..generator }),
            interrupted: run_file.interrupted,
            cut_short: run_file.cut_short,
            checkpoint: run_file.checkpoint,
            bytes_in: run_file.bytes_in,
            notes: run_file.notes,
            command: run_file.command,
            tags: run_file.tags,
            claims: run_file.claims,
            stripe: run_file.stripe,
            start: run_file.start,
            shards: run_file.shards,
            trace: run_file.trace,
            server_timing: run_file.server_timing.map(|timing| timing.facts),
            kept_headers: None,
            marks: run_file.marks.into_iter().map(|mark| mark.facts).collect(),
            scrapes: run_file.scrapes.into_iter().map(ScrapeFile::into_facts).collect(),
            by_target: run_file.by_target,
            checks: run_file.checks,
            failed_answers: Vec::new(),
            stream: run_file.stream.map(|stream| stream.facts),
            sessions: run_file.sessions.map(|sessions| sessions.facts),
        }
    }
}

fn load_series(source: &Source, scrapes: &mut [Scrape]) -> Result<(), LoadError> {
    let wrong = |problem| LoadError::Disagree { path: source.path_of(RUN), problem };
    scrapes.iter().find_map(Scrape::imbalance).map_or(Ok(()), |problem| Err(wrong(problem)))?;
    let file = source.open(SCRAPES)?.map(BufReader::new);
    let read = file.map_or(Ok(()), |file| scraped::read(file, scrapes));
    read.map_err(|error| error.at(&source.path_of(SCRAPES)))
}

fn load_failed_answers(source: &Source) -> Result<Vec<FailedAnswer>, LoadError> {
    let path = source.path_of(FAILED_ANSWERS);
    let file = source.open(FAILED_ANSWERS)?.map(BufReader::new);
    file.map_or(Ok(Vec::new()), |file| failed_answers::read(file).map_err(|error| error.at(&path)))
}

/// Reads the detail of streams with these times; `None` if its file does not exist.
fn load_streams(source: &Source, times: &StreamTimes) -> Result<Option<StreamDetail>, LoadError> {
    let Some(text) = source.text_of(STREAMS)? else { return Ok(None) };
    let read = serde_json::from_str::<StreamDetail>(&text).map_err(|error| error.to_string());
    let checked = read.and_then(|detail| detail.imbalance(times).map_or(Ok(detail), Err));
    checked.map(Some).map_err(|problem| LoadError::Disagree { path: source.path_of(STREAMS), problem })
}

/// Reads the sampled sessions into `sessions` if their file exists.
fn load_sessions(source: &Source, sessions: &mut SessionFacts) -> Result<(), LoadError> {
    let Some(text) = source.text_of(SESSIONS)? else { return Ok(()) };
    let read = serde_json::from_str(&text).map_err(|error| error.to_string());
    let checked = read.and_then(|sampled| {
        sessions.sampled = Some(sampled);
        sessions.imbalance_of_sample().map_or(Ok(()), |problem| Err(problem.to_owned()))
    });
    checked.map_err(|problem| LoadError::Disagree { path: source.path_of(SESSIONS), problem })
}

/// Reads the kept requests and their streams, and the values of `kept_headers` that their answers have.
fn load_samples(
    source: &Source,
    run_file: &RunFile,
    kept_headers: Option<&mut KeptHeaders>,
    lacking: &mut Vec<MissingFile>,
) -> Result<(Samples, RequestStreams), LoadError> {
    let path = source.path_of(SAMPLES);
    let recorded = &run_file.recorded;
    let Some(file) = source.open(SAMPLES)? else {
        lacking.push(MissingFile::Samples);
        let none = Samples::from_parts(SamplesOptions::NONE, Vec::new(), 1, &[], recorded.samples.seen);
        return Ok((none, RequestStreams::default()));
    };
    let (samples, streams) =
        samples::read(BufReader::new(file), &recorded.samples, kept_headers).map_err(|error| error.at(&path))?;
    check_equal(&path, "samples", &SampleFacts::from_samples(&samples), &recorded.samples)?;
    let is_whole = samples.is_complete() && samples.offered() == run_file.tally.planned;
    if is_whole && tally_of(&samples) != run_file.tally {
        let problem = "its requests have other outcomes than the tally in run.json counts".to_owned();
        return Err(LoadError::Disagree { path, problem });
    }
    Ok((samples, streams))
}

fn tally_of(samples: &Samples) -> Tally {
    let mut tally = Tally::default();
    tally.plan(samples.even().len() as u64);
    samples.even().iter().for_each(|record| tally.count(record.outcome));
    tally
}

/// Reads all distributions into a snapshot that is otherwise empty, with seconds and intervals if there is a timeline.
fn load_times(
    source: &Source,
    run_file: &RunFile,
    lacking: &mut Vec<MissingFile>,
) -> Result<(Snapshot, StreamTimes, OtherTimes), LoadError> {
    let recorded = &run_file.recorded;
    let path = source.path_of(HISTOGRAMS);
    let mut log = load_log(source, &path, recorded)?;
    let targets = target_times(std::mem::take(&mut log.targets), &recorded.exact, &run_file.by_target)
        .map_err(|problem| LoadError::Disagree { path, problem })?;
    let path = source.path_of(TIMELINE);
    let (seconds, intervals) = match source.open(TIMELINE)? {
        None => {
            lacking.push(MissingFile::Timeline);
            (Vec::new(), ByInterval::default())
        }
        Some(file) => {
            let rows = timeline::read(BufReader::new(file)).map_err(|error| error.at(&path))?;
            check_equal(&path, "timeline", &TimelineFacts::from_seconds(&rows), &recorded.timeline)?;
            let intervals = by_interval(log.intervals, recorded.intervals, rows.len());
            (rows, intervals.map_err(|problem| LoadError::Disagree { path, problem })?)
        }
    };
    let mut of_streams = StreamTimes::default();
    for time in StreamTime::ALL {
        *of_streams.get_mut(time) = log.unknown.remove(time.tag()).unwrap_or_default();
    }
    let mut take = |tag: &str| log.whole.remove(tag).unwrap_or_default();
    let snapshot = Snapshot {
        metrics: Metric::ALL.map(|metric| take(metric.name())),
        error_status_time: take(v1::ERROR_STATUS_TIME),
        targets,
        seconds,
        intervals,
        ..Snapshot::default()
    };
    Ok((snapshot, of_streams, log.unknown))
}

/// Distributions by tag: of sessions, and tags that a later version may write.
type OtherTimes = BTreeMap<String, CompactHistogram>;

fn session_times(others: &mut OtherTimes, tag: impl Fn(SessionTime) -> String) -> SessionTimes {
    let mut times = SessionTimes::default();
    for time in SessionTime::ALL {
        *times.get_mut(time) = others.remove(&tag(time)).unwrap_or_default();
    }
    times
}

fn load_log(source: &Source, path: &Path, recorded: &Recorded) -> Result<Log, LoadError> {
    let missing = || LoadError::Io { path: path.to_owned(), source: io::ErrorKind::NotFound.into() };
    let text = source.text_of(HISTOGRAMS)?.ok_or_else(missing)?;
    check_width(path, recorded.intervals)?;
    let mut log = hlog::read(&text, recorded.intervals).map_err(|error| error.at(path))?;
    for (tag, exact) in recorded.exact.iter().filter(|(tag, _)| tag.parse::<TargetTag>().is_err()) {
        let sum = exact.sum_ns;
        let min = Nanos(exact.min_ns);
        let max = Nanos(exact.max_ns);
        match hlog::is_known(tag) {
            true => log.whole.entry(tag.clone()).or_default().restore_exact(sum, min, max),
            false => log.unknown.entry(tag.clone()).or_default().restore_exact(sum, min, max),
        }
    }
    let known = log.whole.iter().map(|(tag, histogram)| (tag, Exact::from_histogram(histogram)));
    let unknown = log.unknown.iter().map(|(tag, histogram)| (tag, Exact::from_compact(histogram)));
    for (tag, held) in known.chain(unknown) {
        check_equal(path, &format!("exact.{tag}"), &held, &recorded.exact.get(tag).copied())?;
    }
    check_part(path, &log)?;
    Ok(log)
}

fn check_part(path: &Path, log: &Log) -> Result<(), LoadError> {
    let name = Metric::ResponseTime.name();
    let (Some(part), whole) = (log.whole.get(v1::ERROR_STATUS_TIME), log.whole.get(name)) else { return Ok(()) };
    if whole.is_some_and(|whole| whole.contains(part)) {
        return Ok(());
    }
    let problem = format!("its tag {} holds values that {name} does not, and is a part of it", v1::ERROR_STATUS_TIME);
    Err(LoadError::Disagree { path: path.to_owned(), problem })
}

fn check_width(path: &Path, intervals: IntervalWidth) -> Result<(), LoadError> {
    match intervals.width_s() {
        Some(width_s) if !width_s.is_power_of_two() || width_s > LONGEST_INTERVAL_S => Err(LoadError::Disagree {
            path: path.to_owned(),
            problem: format!(
                "run.json says, under recorded.intervals, that each is {width_s} s long; it is a power of two, and at most \
                 {LONGEST_INTERVAL_S}"
            ),
        }),
        _ => Ok(()),
    }
}

/// Converts rows by first second into rows by interval, in a run of `seconds` seconds.
fn by_interval(
    rows: BTreeMap<usize, Distributions>,
    intervals: IntervalWidth,
    seconds: usize,
) -> Result<ByInterval<Distributions>, String> {
    let Some(width_s) = intervals.width_s() else { return Ok(ByInterval::default()) };
    if let Some((second, _)) = rows.last_key_value().filter(|(second, _)| **second >= seconds) {
        return Err(format!("{HISTOGRAMS} contains second {second}, but this file has only {seconds} seconds"));
    }
    let row_of = |second: usize| second / width_s as usize;
    let count = rows.last_key_value().map_or(0, |(last, _)| row_of(*last) + 1);
    let mut by_interval = vec![Distributions::default(); count];
    rows.into_iter().for_each(|(second, row)| by_interval[row_of(second)] = row);
    Ok(ByInterval::from_rows(width_s, by_interval).expect("checked before the log was read"))
}

fn check_equal<T: PartialEq + Serialize>(path: &Path, field: &str, found: &T, said: &T) -> Result<(), LoadError> {
    if found == said {
        return Ok(());
    }
    let json = |value: &T| serde_json::to_string(value).expect("a part of run.json");
    let problem = format!("it contains {}, but recorded.{field} in run.json is {}", json(found), json(said));
    Err(LoadError::Disagree { path: path.to_owned(), problem })
}
