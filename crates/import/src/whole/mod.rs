//! Files that are read whole, because they are small or because parts of them make no sense: at most
//! [`file::MAX_BYTES`].

pub(crate) mod file;
pub(crate) mod json;
pub(crate) mod rows;
pub(crate) mod table;
