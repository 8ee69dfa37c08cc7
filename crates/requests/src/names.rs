//! The meaning of the names in placeholders: fields of rows, and built-in values.

use crate::built_in::BuiltIn;
use crate::rows::NamedField;
use crate::{InputError, Location};

/// The fields that placeholders name, in the order in which they were found.
#[derive(Default, Debug)]
pub(crate) struct Names {
    pub(crate) fields: Vec<NamedField>,
    /// Names of the columns of the rows. A column hides a built-in value of its name.
    columns: Vec<String>,
}

/// Meaning of a name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Name {
    /// The number of a wanted field.
    Field(usize),
    BuiltIn(BuiltIn),
}

impl Names {
    /// Creates the names of rows with these columns.
    pub(crate) fn with_columns(columns: Vec<String>) -> Names {
        Names { fields: Vec::new(), columns }
    }

    /// Returns the meaning of a name, and adds a field that is new.
    ///
    /// # Errors
    /// Wrong words after the name of a built-in value.
    pub(crate) fn find(&mut self, name: &str, location: &Location) -> Result<Name, InputError> {
        if !self.columns.iter().any(|column| column == name)
            && let Some(value) = BuiltIn::parse(name)
        {
            let wrong = |problem| location.invalid(format!("{{{{{name}}}}}: {problem}"));
            return value.map(Name::BuiltIn).map_err(wrong);
        }
        let known = self.fields.iter().position(|field| field.name == name);
        Ok(Name::Field(known.unwrap_or_else(|| {
            self.fields.push(NamedField { name: name.to_owned(), location: location.clone() });
            self.fields.len() - 1
        })))
    }
}
