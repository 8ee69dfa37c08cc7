use std::fs::File;
use std::io;

use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use parquet::record::reader::RowIter;
use parquet::schema::types::{Type, TypePtr};

use super::table::TableRows;
use crate::ImportOptions;

/// The rows of a Parquet file, in the columns with single values.
pub(super) struct ParquetRows {
    names: Vec<String>,
    rows: RowIter<'static>,
}

impl ParquetRows {
    /// Selects the columns that `options` name. Selects all if none is named, or if one is missing, so that an error
    /// can list them.
    pub(super) fn open(file: File, options: &ImportOptions) -> io::Result<ParquetRows> {
        let reader = SerializedFileReader::new(file).map_err(damaged)?;
        let schema = reader.metadata().file_metadata().schema_descr().root_schema_ptr();
        let flat: Vec<TypePtr> = schema.get_fields().iter().filter(|field| field.is_primitive()).cloned().collect();
        let is_wanted = |field: &TypePtr| options.columns.iter().any(|(_, column)| column == field.name());
        let has_all = options.columns.iter().all(|(_, column)| flat.iter().any(|field| field.name() == column));
        let columns: Vec<TypePtr> = match has_all && !options.columns.is_empty() {
            true => flat.into_iter().filter(is_wanted).collect(),
            false => flat,
        };
        let names = columns.iter().map(|column| column.name().to_owned()).collect();
        let projection = Type::group_type_builder(schema.name()).with_fields(columns).build().map_err(damaged)?;
        let rows = RowIter::from_file_into(Box::new(reader)).project(Some(projection));
        Ok(ParquetRows { names, rows: rows.map_err(damaged)? })
    }
}

fn damaged(error: ParquetError) -> io::Error {
    io::Error::other(format!("the Parquet file is damaged: {error}"))
}

/// Times are numbers. Their number of digits tells the unit.
fn text(field: &Field) -> String {
    match field {
        Field::Null => String::new(),
        Field::Str(text) => text.clone(),
        Field::Bytes(bytes) => String::from_utf8_lossy(bytes.data()).into_owned(),
        Field::TimestampMillis(number) | Field::TimestampMicros(number) => number.to_string(),
        Field::Float(number) => number.to_string(),
        Field::Double(number) => number.to_string(),
        other => other.to_string(),
    }
}

impl TableRows for ParquetRows {
    fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    fn next(&mut self, fields: &mut Vec<String>) -> io::Result<bool> {
        let Some(row) = self.rows.next().transpose().map_err(damaged)? else { return Ok(false) };
        fields.extend(row.get_column_iter().map(|(_, field)| text(field)));
        Ok(true)
    }
}
