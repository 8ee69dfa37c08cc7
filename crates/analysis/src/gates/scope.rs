//! The whole run or one of its targets.

use truetail_run::Run;

use super::doubt::Doubt;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Scope {
    Whole,
    /// Index of a target, from 0.
    Target(usize),
}

impl Scope {
    /// Returns the scope that a gate names. The only target of a run is the whole run.
    pub(super) fn named(run: &Run, name: Option<&str>) -> Result<Scope, Doubt> {
        let Some(name) = name else { return Ok(Scope::Whole) };
        let known = run.facts.offered.target_names();
        match known.iter().position(|one| one == name) {
            Some(_) if known.len() == 1 => Ok(Scope::Whole),
            Some(_) if run.facts.by_target.len() != known.len() => Err(Doubt::TargetsNotKept),
            Some(number) => Ok(Scope::Target(number)),
            None => Err(Doubt::NoSuchTarget { known }),
        }
    }
}
