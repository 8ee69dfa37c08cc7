//! The binary as users see it: arguments, exit codes, standard output and standard error, files, signals.

mod ab;
mod audit;
mod bad_input;
mod capacity;
mod checks;
mod compare;
mod config;
mod credentials;
mod doc_links;
mod doc_options;
mod docs;
mod documented;
mod explore;
mod export;
#[path = "../../../flow/tests/suite/server.rs"]
mod flow_server;
mod flow_streams;
mod flows;
mod foreign_text;
mod gates;
mod grpc;
mod habits;
mod hard_times;
mod help;
mod history;
mod http2;
mod interrupt;
mod k8s;
mod lab;
mod llm;
mod load;
mod messages;
#[path = "../../../../tests/missing.rs"]
mod missing;
mod page;
mod raw_server;
mod redirects;
mod requests;
mod result;
mod runs;
mod serve;
mod server_timing;
mod several;
mod simulate;
mod standstill;
mod starved;
mod stopping;
mod streams;
mod stripes;
mod support;

mod tls;
mod traces;
mod unsaved;
mod ways;
mod websocket;
