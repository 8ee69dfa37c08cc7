//! Messages on channels and gRPC calls: the options of `truetail.run` that the command line resolves.

use std::ffi::OsString;

use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use truetail_cli::library::{LoadError, LoadOptions, is_of_messages_or_calls, resolve};
use truetail_engine::Target;

use crate::spelling::in_python;

/// The load as words of the command line; passed as a dictionary.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct ChannelArguments {
    /// The URL and the options of HTTP, messages and gRPC that were given.
    words: Vec<OsString>,
    /// True if an option of messages or of gRPC was given.
    has_options: bool,
}

impl ChannelArguments {
    /// Returns true if the load is not over plain HTTP.
    pub(crate) fn is_meant(&self) -> bool {
        let url = self.words.first().and_then(|word| word.to_str());
        self.has_options || url.is_some_and(is_of_messages_or_calls)
    }

    /// Returns the target and the options of the load. May ask a gRPC server for its schema.
    pub(crate) fn resolve(self, py: Python<'_>) -> PyResult<(Target, LoadOptions)> {
        py.detach(|| resolve(self.words)).map_err(load_error)
    }
}

/// Converts the error of a load.
pub(crate) fn load_error(error: LoadError) -> PyErr {
    let message = in_python(&error.message);
    if error.is_usage { PyValueError::new_err(message) } else { PyOSError::new_err(message) }
}
