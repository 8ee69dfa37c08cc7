use truetail_model::time::Nanos;
use truetail_run::ForeignRequest;
use truetail_tools::FailureClassifier;

use super::csv::starts;
use super::{Wanted, known_units};
use crate::rows::json::{JsonRow, Value};
use crate::rows::json_lines::each_row;
use crate::rows::number::{Finest, Measured};
use crate::rows::{RowFormat, RowInput, RunFacts, Taken, Workers, Wrong};
use crate::tables::{Clock, Length, is_error, outcome_of};
use crate::{Excerpt, FormatInfo, ImportError, ImportOptions, Likeness};

static INFO: FormatInfo =
    FormatInfo { name: "jsonl", about: "any JSON lines, with keys named by --columns", tool: None };

/// Any JSON lines. They are read only if the user asks for it.
pub(crate) struct UserJson;

impl RowFormat for UserJson {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    /// The options are checked when the file is read.
    fn check(&self, _options: &ImportOptions) -> Result<(), ImportError> {
        Ok(())
    }

    fn likeness(&self, _: &Excerpt<'_>) -> Likeness {
        Likeness::No
    }

    fn in_order(&self) -> bool {
        false
    }

    fn read(&self, RowInput { lines, books, options }: RowInput<'_, '_, '_>) -> Result<RunFacts, ImportError> {
        let wanted = Wanted::new(options)?;
        let mut objects = Objects::new(&wanted)?;
        each_row(lines, books, |text, _| {
            objects.row.read(text)?;
            objects.request()
        })?;
        known_units(objects.start, objects.length)?;
        Ok(objects.close())
    }
}

/// Summary of the objects.
struct Objects {
    row: JsonRow,
    start: Option<(usize, Clock)>,
    length: Length,
    /// Worker, status, error and bytes.
    others: [Option<usize>; 4],
    workers: Workers,
    failures: FailureClassifier,
    starts: Finest,
    durations: Finest,
    earliest_ns: Option<u64>,
}

static NOTHING: Value = Value::nothing();

impl Objects {
    fn new(wanted: &Wanted<'_>) -> Result<Objects, ImportError> {
        let columns: Vec<_> = wanted.columns().collect();
        let paths: Vec<_> = columns.iter().map(|(_, path)| *path).collect();
        let index = |role: &str| columns.iter().position(|(name, _)| *name == role);
        let clock = wanted.clock("start")?;
        Ok(Objects {
            row: JsonRow::new(&paths),
            start: index("start").map(|column| (column, clock)),
            length: wanted.length(|role| Ok(index(role).unwrap_or_default()))?,
            others: ["worker", "status", "error", "bytes"].map(index),
            workers: Workers::default(),
            failures: FailureClassifier::default(),
            starts: Finest::default(),
            durations: Finest::default(),
            earliest_ns: None,
        })
    }

    fn request(&mut self) -> Result<Taken, Wrong> {
        let start = match &mut self.start {
            Some((path, clock)) => {
                Some(clock.read_value(self.row.value(*path)).map_err(|why| Wrong::Number("start", why))?)
            }
            None => None,
        };
        let duration = match &mut self.length {
            &mut Length::Duration(path, unit) => {
                self.row.value(path).time(unit).map_err(|why| Wrong::Number("duration", why))?
            }
            Length::UntilEnd(path, clock) => {
                let end = clock.read_value(self.row.value(*path)).map_err(|why| Wrong::Number("end", why))?;
                let ns = end.ns.checked_sub(start.map_or(0, |start| start.ns)).ok_or(Wrong::EndsBeforeStart)?;
                Measured { ns, resolution_ns: end.resolution_ns }
            }
        };
        self.durations.see(duration);
        start.into_iter().for_each(|start| self.starts.see(start));
        self.earliest_ns = self.earliest_ns.into_iter().chain(start.map(|start| start.ns)).min();
        let [worker, status, error, bytes] = self.others.map(|path| path.map_or(&NOTHING, |path| self.row.value(path)));
        let failed = error.is_there() && is_error(error.text().as_bytes()) && !matches!(status.whole(), Ok(1..));
        Ok(Taken::Request(ForeignRequest {
            worker: self.workers.number(worker.name(&mut [0; 8])),
            bytes_in: bytes.whole().ok(),
            ..ForeignRequest::new(
                start.map(|start| start.ns),
                Nanos(duration.ns),
                outcome_of(&mut self.failures, if failed { error } else { status }),
            )
        }))
    }

    fn close(self) -> RunFacts {
        RunFacts {
            starts: starts(self.earliest_ns),
            start_resolution_ns: self.starts.ns(),
            duration_resolution_ns: self.durations.ns(),
            notes: self.failures.notes().into_iter().chain(self.workers.note()).collect(),
            ..RunFacts::default()
        }
    }
}
