//! The native half of the Python package `truetail`: conversion of arguments and results. All logic is in the crates.
//!
//! | module | content |
//! |---|---|
//! | `arguments`, `load`, `spelling` | conversion of Python values, with errors that name the argument |
//! | `bench`, `calls`, `labels` | callables: functions on threads that take the interpreter's lock for each call |
//! | `pump` | callables: coroutines, passed to the caller's event loop |
//! | `http`, `request`, `channel` | a run over real sockets, its requests, and its messages or gRPC calls |
//! | `flow`, `guide` | sessions that follow a coroutine function, over real sockets |
//! | `watched` | a run over real sockets that Ctrl-C ends |
//! | `simulate`, `saved`, `server` | virtual time, run folders, the misbehaving server |
//! | `result`, `verdict`, `gate`, `quantile`, `histogram`, `samples`, `html`, `json`, `part` | results |
//! | `command` | the command line |

#![warn(unreachable_pub)]

mod arguments;
mod bench;
mod calls;
mod channel;
mod command;
mod flow;
mod gate;
mod guide;
mod histogram;
mod html;
mod http;
mod json;
mod labels;
mod load;
mod part;
mod pump;
mod quantile;
mod request;
mod result;
mod samples;
mod saved;
mod server;
mod simulate;
mod spelling;
mod stream_columns;
mod streams;
mod text_column;
mod verdict;
mod watched;

use pyo3::prelude::*;

/// The native half of truetail; import `truetail` instead.
#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::arguments::nanoseconds;
    #[pymodule_export]
    use crate::bench::Bench;
    #[pymodule_export]
    use crate::command::command;
    #[pymodule_export]
    use crate::flow::FlowRun;
    #[pymodule_export]
    use crate::gate::Gate;
    #[pymodule_export]
    use crate::histogram::Histogram;
    #[pymodule_export]
    use crate::http::HttpRun;
    #[pymodule_export]
    use crate::part::part;
    #[pymodule_export]
    use crate::pump::{AsyncCall, Pump};
    #[pymodule_export]
    use crate::quantile::Quantile;
    #[pymodule_export]
    use crate::result::RunResult;
    #[pymodule_export]
    use crate::saved::{load, restored};
    #[pymodule_export]
    use crate::server::Server;
    #[pymodule_export]
    use crate::simulate::simulate;
    #[pymodule_export]
    use crate::verdict::{Reason, Verdict};

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
