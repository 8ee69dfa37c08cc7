//! Command lines, and parsers on stored outputs: every parsed figure equals the one in the file.

mod captures;
mod commands;
mod computed;
mod fortio;
mod ghz;
mod k6;
mod properties;
mod support;
