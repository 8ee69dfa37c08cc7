//! Findings from the outside: simulated runs in, findings out.

mod scenarios;
mod support;
mod verdicts;
