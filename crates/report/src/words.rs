//! Texts and cells about a run. The screen and the page of the run both use them, so they agree.
//!
//! The texts are raw: callers must remove control characters and escape markup.

pub use crate::comparison::{COMPARISON_HEADS, comparison_rows, comparison_sentences};
pub use crate::summary::{
    LabelledText, MARK_HEADS, MODE_HEADS, SCRAPE_HEADS, TIMES_HEADS, answer_details, answer_shares, books, cancelled,
    capacity, decision, further_requests, generator, goodput, header_groups, header_heads, header_rows, headline,
    ledger_heads, ledger_parts, ledger_rows, ledger_sentences, link, load_details, mark_rows, mark_sentences, measured,
    mode_rows, mode_sentences, notes, punctuality, scrape_messages, scrape_rows, scrape_sentences, session_times,
    session_times_heads, sessions, settling, shadow, slowest_heads, slowest_rows, start_delay, state_of_check,
    status_of, step_quantile_names, step_quantiles, stream_times, stream_times_heads, streams, target_heads,
    target_rows, ticks, time_spent, times, times_by_status, times_by_status_heads, times_footnotes,
    unanswered_outcomes, uncertainty,
};
