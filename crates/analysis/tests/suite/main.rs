//! Findings from the outside: simulated runs in, findings out.

mod arrivals;
mod bracket;
mod compare;
mod gates;
mod league;
mod long_runs;
mod quantiles;
mod scenarios;
mod settling;
mod shadow;
mod support;
mod verdicts;
mod warmup;
