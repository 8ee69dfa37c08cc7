//! Real outputs, read: every figure is the one that stands in the file.

mod ab;
mod autocannon;
mod computed;
mod h2load;
mod hey;
mod oha;
mod properties;
mod support;
mod wrk;
mod wrk2;
