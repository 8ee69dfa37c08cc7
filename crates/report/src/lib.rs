//! Renders findings: text and pictures for people, JSON and CSV for programs. This crate does not print, run anything
//! or read the environment. The caller describes the terminal in a [`Style`] and gets text or [`OutputFile`]s.
//!
//! | module | content |
//! |---|---|
//! | [`number`] | times, counts, rates and shares in fitting units |
//! | [`style`] | colour, width, and replacements for terminals without Unicode |
//! | `table`, `sparkline` | aligned columns, one-line plots |
//! | `summary` | the screen of a run |
//! | [`words`] | texts of the screen, for pages |
//! | `capacity` | a search for capacity |
//! | `sweep`, `sweep_text` | a sweep over rates |
//! | `audit` | the audit and the correction of another tool's result file |
//! | `compare`, `compare_rows` | comparison of runs |
//! | `history` | a series of runs and its changes |
//! | `comparison` | closed loop, open loop and truth side by side |
//! | [`league`] | load tools compared |
//! | [`labs`] | the labs of `truetail simulate` |
//! | `run_table` | several runs in a row |
//! | `run_list` | saved runs |
//! | `junit`, `markdown_summary`, `markdown` | a run for build servers and pull requests |
//! | `hgrm`, `tables_csv` | a run as HdrHistogram's text, and as CSV |
//! | `vllm` | a run of a language model under the names of vLLM's benchmark |
//! | `json`, `markup` | JSON; text inside pages and pictures |
//! | `output_file` | a file to write |
//! | [`plot`] | pictures as SVG and PNG |
//! | `progress` | the progress line during a run |
//! | `live_state` | a run in progress |
//! | [`metrics`] | a run in progress as metrics for Prometheus and others |

#![warn(unreachable_pub)]

mod audit;
mod capacity;
mod capacity_json;
mod compare;
mod compare_rows;
mod comparison;
mod hgrm;
mod history;
mod json;
mod junit;
pub mod labs;
pub mod league;
mod live_state;
mod machine;
mod markdown;
mod markdown_summary;
mod markup;
pub mod metrics;
pub mod number;
mod output_file;
pub mod plot;
mod progress;
mod run_list;
mod run_table;
mod sparkline;
pub mod style;
mod summary;
mod sweep;
mod sweep_text;
mod table;
mod tables_csv;
pub mod text;
mod vllm;
mod vllm_lists;
pub mod words;

pub use audit::{
    AuditReport, AuditWords, CorrectReport, audit_json, audit_text, audit_words, correct_json, correct_text,
};
pub use capacity::{CapacityReport, ObjectiveLine, ProbeFigures, ProbeLine, capacity_line, capacity_text};
pub use capacity_json::capacity_json;
pub use compare::{
    CompareReport, CompareWords, RoundsEnd, RoundsReport, compare_history, compare_json, compare_text, compare_words,
};
pub use comparison::{comparison_explanation, comparison_table};
pub use hgrm::hgrm;
pub use history::{HistoryReport, change_sentence, history_json, history_text, lines_without_change};
pub use json::pretty_json;
pub use junit::{JunitSuite, junit};
pub use live_state::LiveState;
pub use machine::machine_findings;
pub use markdown_summary::markdown_summary;
pub use output_file::OutputFile;
pub use progress::{RunProgress, progress_line, progress_text};
pub use run_list::{RunWords, run_list, run_list_json, run_list_line, run_words, utc, utc_time};
pub use run_table::{RunEntry, RunLine, run_table, runs_json};
pub use sparkline::line as sparkline;
pub use style::Style;
pub use summary::{SummaryOptions, scrape_text, stopped_early, summary};
pub use sweep::{SweepReport, Throughput, sweep_json};
pub use sweep_text::{sweep_line, sweep_text};
pub use tables_csv::{csv_files, quantiles_csv};
pub use vllm::vllm_json;
