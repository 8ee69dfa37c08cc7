//! What is asked of an answer, and what it is.
//!
//! | file | what it does |
//! |---|---|
//! | `answer` | an answer, as queries see it |
//! | `query` | what is taken from an answer |
//! | `convert` | what is made of it by filters |
//! | `predicate` | what must hold of it |

pub(crate) mod answer;
pub(crate) mod convert;
pub(crate) mod predicate;
pub(crate) mod query;
