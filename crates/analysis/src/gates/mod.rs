//! Gates: conditions that must hold or that fail a run, decided by bounds of the truth.
//!
//! A gate names a condition that must hold (`p99 < 50ms`) or one that fails a run (`p99 > 50ms`). It *fails* if every
//! possible true value fails the run, *holds* if no possible value does, and is *open* otherwise. The bounds come from
//! the known behaviour of the generator, which can only make a response time longer. `docs/gates.md` has the table.
//!
//! | module | content |
//! |---|---|
//! | `gate` | a gate, its parsing and its decision |
//! | `grammar`, `metric` | its text form and its metric |
//! | `polarity` | conditions that must hold, and conditions that fail a run |
//! | `clause` | the parts of a gate, for other code that reads the same form |
//! | `bounds` | the decision that bounds allow |
//! | `times`, `shares`, `streams`, `sessions`, `marks` | the bounds of each metric |
//! | `load_effects` | effects of the verdict's reasons on these bounds |
//! | `evidence`, `doubt`, `message` | the measured figure, in words |
//! | `scope` | the whole run or one target |
//! | `planned` | gates that a load cannot decide, found before the run |
//! | `outcome` | the outcome of a run from all gates and checks |

mod bounds;
mod clause;
mod doubt;
mod evidence;
mod gate;
mod grammar;
mod load_effects;
mod marks;
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
pub(crate) use grammar::{percent, quantile_named};
pub(crate) use load_effects::LoadEffects;
pub(crate) use polarity::{mirrored, wrong_polarity};
pub(crate) use streams::{bounds_of_goodput, bounds_of_quantile, bounds_of_unknown};
pub(crate) use times::ends_on_time;

pub use gate::{Gate, GateError, judge_all};
pub use outcome::{RunOutcome, a_check_fails, outcome};
pub use planned::{PlannedRun, ReadingMode};
pub use polarity::{FailIf, Slo};
