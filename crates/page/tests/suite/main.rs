//! Pages of all kinds of runs, parsed as a browser parses them.

mod audit;
mod browse;
mod dom;
mod every_run;
#[path = "../../../report/tests/suite/fixtures.rs"]
mod fixtures;
mod hostile;
#[path = "../../../run/tests/support/sessions.rs"]
mod made_sessions;
mod odd_runs;
mod sessions;
mod size;
