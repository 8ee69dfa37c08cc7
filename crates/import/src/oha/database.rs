use truetail_model::workload::LoadModelKind;
use truetail_run::{ForeignStarts, LatencyFrom};

use crate::rows::number::Unit;
use crate::rows::{RowFormat, RowInput, RunFacts, Taken};
use crate::tables::{Clock, ColumnReader, Columns, Header, Length, Table};
use crate::{Excerpt, FormatInfo, ImportError, Likeness};

static INFO: FormatInfo =
    FormatInfo { name: "oha-sqlite", about: "a row for each answer, from 'oha --db-url'", tool: Some("oha") };

const NEEDED: [&str; 6] = ["start_latency_correction", "start", "end", "duration", "status", "run"];

/// The table that oha writes with `--db-url`, as CSV: a row for each answer.
pub(crate) struct OhaTable;

impl RowFormat for OhaTable {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn likeness(&self, excerpt: &Excerpt<'_>) -> Likeness {
        match Header::with_columns(excerpt.first_line(), &NEEDED) {
            Ok(_) => Likeness::Yes,
            Err(missing) if missing != NEEDED[0] => Likeness::Near(format!("the column '{missing}' is missing")),
            Err(_) => Likeness::No,
        }
    }

    fn read(&self, RowInput { lines, books, .. }: RowInput<'_, '_, '_>) -> Result<RunFacts, ImportError> {
        let mut facts = RunFacts { starts: ForeignStarts::Run, has_all_requests: false, ..RunFacts::default() };
        let mut seen = Seen::default();
        if let Some((header, row)) = Header::read(lines, &NEEDED)? {
            let at = |name: &str| header.index(name).unwrap_or_default();
            let corrected = at("start_latency_correction");
            let run = at("run");
            let columns = |start: usize| Columns {
                start: Some((start, Clock::In(Unit::Seconds))),
                length: Length::Duration(at("duration"), Unit::Seconds),
                worker: None,
                status: Some(at("status")),
                error: None,
                bytes: header.index("len_bytes"),
            };
            let table = Table::with_header(&header, Some(row), columns(at("start")).last().max(corrected).max(run));
            // With --latency-correction, the duration counts from the corrected start.
            let mut readers = [at("start"), corrected].map(|start| ColumnReader::new(columns(start)));
            table.read(lines, books, |row, fields| {
                if !seen.is_of_first_run(fields.get(row, run)) {
                    return Ok(Taken::Other);
                }
                let is_corrected = !fields.get(row, corrected).is_empty();
                seen.is_corrected |= is_corrected;
                readers[usize::from(is_corrected)].take(row, fields)
            })?;
            readers.into_iter().for_each(|reader| reader.close(&mut facts));
        }
        (facts.start_resolution_ns, facts.duration_resolution_ns) = (1, 1);
        facts.load.model = Some(LoadModelKind::Closed);
        seen.tell(&mut facts);
        Ok(facts)
    }
}

/// Facts about the run from its rows.
#[derive(Default)]
struct Seen {
    /// The number of the run. oha adds runs to an existing database.
    run: Option<Vec<u8>>,
    others: u64,
    is_corrected: bool,
}

impl Seen {
    fn is_of_first_run(&mut self, run: &[u8]) -> bool {
        let is_first = self.run.get_or_insert_with(|| run.to_vec()) == run;
        self.others += u64::from(!is_first);
        is_first
    }

    fn tell(self, facts: &mut RunFacts) {
        facts.notes.push("oha's database has no rows for requests that failed or were aborted".to_owned());
        if self.others > 0 {
            let others = self.others;
            facts.notes.push(format!(
                "the database holds several runs; the first is read, and the rows of the others are not: {others}"
            ));
        }
        if self.is_corrected {
            facts.latency_from = LatencyFrom::Intended;
            // With --latency-correction there is a rate, and requests become due without waiting for answers.
            facts.load.model = None;
        }
    }
}
