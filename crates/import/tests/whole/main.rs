//! Formats that are read whole, on stored output of the tools: every figure equals the one in the file.

mod cases;
mod damage;
mod docs;
mod hdr;
mod llm;
mod properties;
mod support;
