//! What is asked of an answer, and what it is.
//!
//! | file | what it does |
//! |---|---|
//! | `answer` | an answer, as queries see it |
//! | `query` | what is taken from an answer |
//! | `filter` | what is made of it |
//! | `predicate` | what must hold of it |
//! | `pattern` | JSONPaths and regular expressions, made before the run where they can be |

pub(crate) mod answer;
pub(crate) mod filter;
pub(crate) mod pattern;
pub(crate) mod predicate;
pub(crate) mod query;
