//! The full-screen view of a run that is going on, for a terminal.
