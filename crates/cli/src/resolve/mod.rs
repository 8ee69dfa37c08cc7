//! What the arguments mean: checked against each other, with defaults, and with what stands in files. Nothing is sent
//! and nothing is saved here.

mod input;
pub mod load;
pub mod request;
pub mod run;
pub mod scenario;
pub mod tls;
