//! Command lines; and real outputs, read: every figure is the one that stands in the file.

mod ab;
mod autocannon;
mod commands;
mod computed;
mod gatling;
mod h2load;
mod hey;
mod hyperfoil;
mod jmeter;
mod k6;
mod locust;
mod oha;
mod outcomes;
mod properties;
mod support;
mod vegeta;
mod wrk;
mod wrk2;
