//! JMeter's results as CSV (JTL): a row for each sample, including failed ones, in order of completion and in whole
//! milliseconds. JMeter's settings (`jmeter.save.saveservice.*`) select the columns.

use truetail_model::record::Outcome;
use truetail_model::time::Nanos;
use truetail_run::{ForeignLoad, ForeignRequest};
use truetail_tools::FailureClassifier;

use super::no_exchange;
use crate::rows::instant::instant;
use crate::rows::number::{Finest, Unit, time, whole};
use crate::rows::{Fields, RowFormat, RowInput, RunFacts, Taken, Workers, Wrong};
use crate::tables::{Header, Table};
use crate::{Excerpt, FormatInfo, ImportError, Likeness};

static INFO: FormatInfo =
    FormatInfo { name: "jmeter-csv", about: "JMeter's results as CSV (JTL)", tool: Some("jmeter") };

/// Required columns.
const NEEDED: [&str; 2] = ["timeStamp", "elapsed"];
/// JMeter's default columns, for files without a header. The last ones differ between versions and are not used.
const USUAL: &[u8] =
    b"timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes";
const USUAL_COUNTS: std::ops::RangeInclusive<usize> = 16..=17;

pub(crate) struct JMeterCsv;

impl RowFormat for JMeterCsv {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn likeness(&self, excerpt: &Excerpt<'_>) -> Likeness {
        let line = excerpt.first_line();
        match Header::with_columns(line, &NEEDED) {
            Ok(_) => Likeness::Yes,
            Err(_) if usual_row(line).is_some() => Likeness::Yes,
            Err("elapsed") => Likeness::Near("the column 'elapsed' is missing".to_owned()),
            Err(_) if Header::guess(line).index("elapsed").is_some() => {
                Likeness::Near("the column 'timeStamp' is missing".to_owned())
            }
            Err(_) => Likeness::No,
        }
    }

    fn read(&self, RowInput { lines, books, .. }: RowInput<'_, '_, '_>) -> Result<RunFacts, ImportError> {
        let mut facts = RunFacts { duration_resolution_ns: Unit::Millis.nanos(), ..RunFacts::default() };
        if let Some(first) = lines.peek()? {
            let row = lines.bytes(first).to_vec();
            let header = Header::with_columns(&row, &NEEDED);
            let (columns, table) = match (&header, usual_row(&row)) {
                (Ok(header), _) => (Columns::from_header(header), table(header, header.len(), Some(row))),
                (Err(_), Some(count)) => {
                    let header = Header::guess(USUAL);
                    facts
                        .notes
                        .push("the file has no header; its columns were taken for JMeter's usual ones".to_owned());
                    (Columns::from_header(&header), table(&header, count, None))
                }
                (Err(missing), None) => {
                    return Err(ImportError::content(lines.place(), format!("no column '{missing}'")));
                }
            };
            if header.is_ok() {
                lines.take(first)?;
            }
            let mut samples = Samples::new(columns);
            table.read(lines, books, |row, fields| samples.take(row, fields))?;
            samples.close(&mut facts);
        }
        Ok(facts)
    }
}

fn table(header: &Header, columns: usize, row: Option<Vec<u8>>) -> Table {
    Table { columns, ..Table::with_header(header, row, Columns::from_header(header).last()) }
}

/// Returns the number of columns of a row with JMeter's default columns.
fn usual_row(row: &[u8]) -> Option<usize> {
    let mut fields = Fields::default();
    fields.split(row, b',');
    let is_sample = USUAL_COUNTS.contains(&fields.len())
        && fields.get(row, 0).len() == 13
        && whole(fields.get(row, 0)).is_ok()
        && whole(fields.get(row, 1)).is_ok()
        && matches!(fields.get(row, 7), b"true" | b"false");
    is_sample.then(|| fields.len())
}

struct Columns {
    start: usize,
    elapsed: usize,
    code: Option<usize>,
    message: Option<usize>,
    thread: Option<usize>,
    success: Option<usize>,
    bytes: Option<usize>,
    threads: Option<usize>,
}

impl Columns {
    fn from_header(header: &Header) -> Columns {
        let index = |name| header.index(name);
        Columns {
            start: index("timeStamp").unwrap_or_default(),
            elapsed: index("elapsed").unwrap_or_default(),
            code: index("responseCode"),
            message: index("responseMessage"),
            thread: index("threadName"),
            success: index("success"),
            bytes: index("bytes"),
            threads: index("allThreads"),
        }
    }

    fn last(&self) -> usize {
        let optional = [self.code, self.message, self.thread, self.success, self.bytes, self.threads];
        optional.into_iter().flatten().fold(self.start.max(self.elapsed), usize::max)
    }
}

/// Summary of the samples.
struct Samples {
    columns: Columns,
    workers: Workers,
    failures: FailureClassifier,
    /// The text of a failure. The buffer is reused to avoid allocations.
    text: String,
    failed: u64,
    users: u64,
    resolution: Finest,
    disorder: Disorder,
}

impl Samples {
    fn new(columns: Columns) -> Samples {
        Samples {
            columns,
            workers: Workers::default(),
            failures: FailureClassifier::default(),
            text: String::new(),
            failed: 0,
            users: 0,
            resolution: Finest::default(),
            disorder: Disorder::default(),
        }
    }

    fn take(&mut self, row: &[u8], fields: &Fields) -> Result<Taken, Wrong> {
        let field = |column: Option<usize>| column.map_or(&b""[..], |column| fields.get(row, column));
        let start = instant(fields.get(row, self.columns.start)).map_err(|why| Wrong::Number("timeStamp", why))?;
        let elapsed = fields.get(row, self.columns.elapsed);
        let elapsed = time(elapsed, Unit::Millis).map_err(|why| Wrong::Number("elapsed", why))?;
        if let Some(why) = no_exchange(field(self.columns.message)) {
            return Ok(Taken::NoExchange(why));
        }
        let succeeded = self.columns.success.is_none() || field(self.columns.success) == b"true";
        let outcome = self.outcome(field(self.columns.code), field(self.columns.message), succeeded);
        self.failed += u64::from(!succeeded);
        self.users = self.users.max(whole(field(self.columns.threads)).unwrap_or_default());
        self.resolution.see(start);
        self.disorder.see(start.ns, elapsed.ns);
        Ok(Taken::Request(ForeignRequest {
            worker: self.workers.number(field(self.columns.thread)),
            bytes_in: whole(field(self.columns.bytes)).ok(),
            ..ForeignRequest::new(Some(start.ns), Nanos(elapsed.ns), outcome)
        }))
    }

    /// Returns the outcome. Without an answer, the code names a Java exception. Samplers other than HTTP differ.
    fn outcome(&mut self, code: &[u8], message: &[u8], succeeded: bool) -> Outcome {
        match whole(code) {
            Ok(status @ 0..=999) => Outcome::response(status as u16),
            _ if succeeded || self.columns.code.is_none() => Outcome::ANSWERED,
            _ => {
                self.text.clear();
                self.text.push_str(&String::from_utf8_lossy(code));
                self.text.push_str(": ");
                self.text.push_str(&String::from_utf8_lossy(message));
                self.failures.classify(&self.text)
            }
        }
    }

    fn close(self, facts: &mut RunFacts) {
        facts.failed = self.columns.success.map(|_| self.failed);
        facts.start_resolution_ns = self.resolution.ns();
        facts.load =
            ForeignLoad { users: u32::try_from(self.users).ok().filter(|users| *users > 0), ..Default::default() };
        facts.notes.extend(self.failures.notes());
        facts.notes.extend(self.workers.note());
        facts.notes.extend(self.disorder.note());
    }
}

/// Tells whether `timeStamp` is the start of a sample or its end, as with `sampleresult.timestamp.start=false`. Rows
/// are in order of completion, so the times of the ends are ascending.
#[derive(Default)]
struct Disorder {
    last: Option<(u64, u64)>,
    starts: u64,
    ends: u64,
}

impl Disorder {
    /// Fewer steps back may be chance.
    const TELLING: u64 = 20;

    fn see(&mut self, timestamp_ns: u64, elapsed_ns: u64) {
        let end_ns = timestamp_ns.saturating_add(elapsed_ns);
        if let Some((last_timestamp_ns, last_end_ns)) = self.last {
            self.starts += u64::from(timestamp_ns < last_timestamp_ns);
            self.ends += u64::from(end_ns < last_end_ns);
        }
        self.last = Some((timestamp_ns, end_ns));
    }

    fn note(&self) -> Option<String> {
        let doubtful = self.ends >= Self::TELLING && self.starts * 2 < self.ends;
        doubtful.then(|| {
            "the timestamps are in order of completion, so they may be the ends of the samples \
             (sampleresult.timestamp.start=false); they were read as starts"
                .to_owned()
        })
    }
}
