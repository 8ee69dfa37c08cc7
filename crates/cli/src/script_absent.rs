//! `--script` in a truetail that was built without it.

use std::convert::Infallible;

use truetail_engine::{Control, Plan};
use truetail_flow::GuidedPlan;
use truetail_run::Run;

use crate::args::run::RunArgs;
use crate::error::{Result, usage_error};

/// Cannot be constructed without the feature `script`.
#[derive(Debug)]
pub(crate) struct ReadScript(Infallible);

impl ReadScript {
    pub(crate) fn read(args: &mut RunArgs) -> Result<Option<ReadScript>> {
        match args.script.script {
            None => Ok(None),
            Some(_) => Err(usage_error(
                "--script needs a truetail that was built with it: cargo install --features script, or cargo build \
                 --release --features script",
            )),
        }
    }

    pub(crate) fn guided(&self) -> Option<&GuidedPlan> {
        match self.0 {}
    }

    pub(crate) fn rows(&self) -> Option<u32> {
        match self.0 {}
    }
}

/// Cannot be constructed without the feature `script`.
#[derive(Clone, Debug)]
pub(crate) struct Script(Infallible);

impl Script {
    pub(crate) fn load(_: &RunArgs, read: Option<ReadScript>, _: &mut Plan) -> Result<Option<Script>> {
        read.map_or(Ok(None), |read| match read.0 {})
    }

    pub(crate) fn add_sessions(&self, _: &mut Run) {
        match self.0 {}
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
