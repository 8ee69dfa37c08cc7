use truetail_run::ForeignStarts;

use super::{OF_OUR_DAYS_NS, Wanted, known_units, wrong};
use crate::rows::{RowFormat, RowInput, RunFacts, Taken};
use crate::tables::{ColumnReader, Columns, Header, Table};
use crate::{Excerpt, FormatInfo, ImportError, ImportOptions, Likeness};

static INFO: FormatInfo =
    FormatInfo { name: "csv", about: "any table with delimiters, with columns named by --columns", tool: None };

/// Any table with delimiters. It is read only if the user asks for it.
pub(crate) struct UserCsv;

impl RowFormat for UserCsv {
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
        let mut facts = RunFacts::default();
        if let Some(first) = lines.peek()? {
            let row = lines.bytes(first).to_vec();
            let header = Header::guess(&row);
            let (columns, has_header) = columns(&wanted, &header)?;
            let table = Table::with_header(&header, has_header.then_some(row), columns.last());
            if has_header {
                lines.take(first)?;
            }
            let mut reader = ColumnReader::new(columns);
            let mut earliest_ns = None;
            table.read(lines, books, |row, fields| {
                let taken = reader.take(row, fields)?;
                if let Taken::Request(request) = taken {
                    earliest_ns = earliest_ns.into_iter().chain(request.start_ns).min();
                }
                Ok(taken)
            })?;
            known_units(reader.columns().start, reader.columns().length)?;
            reader.close(&mut facts);
            facts.starts = starts(earliest_ns);
        }
        Ok(facts)
    }
}

/// Returns the origin of the times, by the earliest of them.
pub(super) fn starts(earliest_ns: Option<u64>) -> ForeignStarts {
    match earliest_ns {
        None => ForeignStarts::None,
        Some(0..OF_OUR_DAYS_NS) => ForeignStarts::Run,
        Some(_) => ForeignStarts::Unix,
    }
}

/// Finds the columns by name or, in a table without a header, by number from 1. Also returns whether there is a header.
fn columns(wanted: &Wanted<'_>, header: &Header) -> Result<(Columns, bool), ImportError> {
    let has_header = wanted.columns().any(|(_, column)| header.index(column).is_some());
    let index = |role: &str| {
        let column = wanted.column(role).unwrap_or_default();
        let found = if has_header { header.index(column) } else { number(column, header.len()) };
        let names = || header.names().take(30).collect::<Vec<_>>().join(", ");
        found.ok_or_else(|| wrong(format!("the table has no column '{column}'; it has {}", names())))
    };
    let optional = |role| wanted.column(role).map(|_| index(role)).transpose();
    let columns = Columns {
        start: optional("start")?.map(|column| Ok::<_, ImportError>((column, wanted.clock("start")?))).transpose()?,
        length: wanted.length(index)?,
        worker: optional("worker")?,
        status: optional("status")?,
        error: optional("error")?,
        bytes: optional("bytes")?,
    };
    Ok((columns, has_header))
}

fn number(column: &str, columns: usize) -> Option<usize> {
    column.parse::<usize>().ok()?.checked_sub(1).filter(|index| *index < columns)
}
