//! Findings from the outside: simulated runs in, findings out.

mod quantiles;
mod scenarios;
mod support;
mod verdicts;
