//! Gates: conditions that must hold or that fail a run, decided by what bounds the truth.
//!
//! A gate names what must hold (`p99 < 50ms`) or what fails a run (`p99 > 50ms`), and its finding *holds* if the service
//! passed. It fails if every value that the truth may have fails the run, holds if none does, and is open else. The
//! bounds come from what is known of the generator: it can only make a response time longer. `docs/gates.md` has the table.
//!
//! | module | what is at home there |
//! |---|---|
//! | `gate` | a gate, read and judged |
//! | `grammar`, `metric` | its form, and what it is about |
//! | `polarity` | what must hold, and what fails a run |
//! | `clause` | the parts of a gate, for others who read the same form |
//! | `bounds` | what bounds decide |
//! | `times`, `shares`, `streams`, `sessions` | the bounds of each metric |
//! | `load_effects` | what the verdict's reasons mean for them |
//! | `evidence`, `doubt`, `message` | what was measured, in words |
//! | `scope` | the whole run or one target |
//! | `planned` | gates that a load cannot decide, found before it |
//! | `outcome` | what all gates and checks make of a run |

mod bounds;
mod clause;
mod doubt;
mod evidence;
mod gate;
mod grammar;
mod load_effects;
mod message;
mod metric;
mod outcome;
mod planned;
mod polarity;
mod scope;
mod sessions;
mod shares;
mod streams;
mod times;

pub(crate) use clause::{Clause, Subject};
pub(crate) use grammar::part_of_one;
pub(crate) use load_effects::LoadEffects;
pub(crate) use polarity::wrong_way_round;

pub use gate::{Gate, GateError, judge_all};
pub use outcome::{RunOutcome, a_check_fails, outcome};
pub use planned::{PlannedRun, Reading};
pub use polarity::{FailIf, Slo};
