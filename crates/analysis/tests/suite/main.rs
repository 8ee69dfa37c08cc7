//! Findings of simulated runs, through the public interface.

mod arrivals;
mod audit;
mod audit_any;
mod bracket;
mod compare;
mod compare_streams;
mod gates;
mod history;
mod league;
mod long_runs;
mod low_rates;
mod marks;
mod modes;
mod quantiles;
mod scenarios;
mod scrapes;
mod series;
mod server_pauses;
mod settling;
mod shadow;
mod situations;
mod so_far;
mod streams;
mod support;
mod verdicts;
mod warmup;
