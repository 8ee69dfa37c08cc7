/// An error of a script, with file and line where they are known.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct ScriptError(pub(crate) String);
