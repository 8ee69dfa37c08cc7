//! Queries, filters and predicates about an answer.
//!
//! | file | what it does |
//! |---|---|
//! | `answer` | an answer, as queries see it |
//! | `query` | takes a value from an answer |
//! | `convert` | filters that change a value |
//! | `predicate` | conditions on a value |

pub(crate) mod answer;
pub(crate) mod convert;
pub(crate) mod predicate;
pub(crate) mod query;
