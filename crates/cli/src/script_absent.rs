//! `--script` in a truetail that was built without it.

use std::convert::Infallible;

use truetail_engine::{Control, Plan};
use truetail_run::Run;

use crate::args::run::RunArgs;
use crate::error::{Result, usage_error};

/// Cannot be constructed without the feature `script`.
#[derive(Clone, Debug)]
pub(crate) struct Script(Infallible);

impl Script {
    pub(crate) fn arguments(_: &mut RunArgs) -> Vec<String> {
        Vec::new()
    }

    pub(crate) fn load(args: &RunArgs, _: Vec<String>, _: &mut Plan) -> Result<Option<Script>> {
        match args.script.script {
            None => Ok(None),
            Some(_) => Err(usage_error(
                "--script needs a truetail that was built with it: cargo install --features script, or cargo build \
                 --release --features script",
            )),
        }
    }

    pub(crate) fn begin(&self, _: &Control) {
        match self.0 {}
    }

    pub(crate) fn check(&self) -> Result<()> {
        match self.0 {}
    }

    pub(crate) fn note(&self) -> Option<String> {
        match self.0 {}
    }

    pub(crate) fn done(&self, _: &Run) -> Result<()> {
        match self.0 {}
    }

    pub(crate) fn print_held(&self) -> Result<()> {
        match self.0 {}
    }
}
