//! The binary as users see it: arguments, exit codes, standard output and standard error, files, signals.

mod ab;
mod action;
mod audit;
mod bad_input;
mod browse;
mod capacity;
mod checks;
mod compare;
mod compare_streams;
mod config;
mod conversions;
mod credentials;
mod dist;
mod doc_links;
mod doc_options;
mod docs;
mod doctor;
mod documented;
mod event;
mod explore;
mod export;
mod fix;
mod flow_calls;
#[path = "../../../flow/tests/suite/server.rs"]
mod flow_server;
mod flow_streams;
mod flows;
mod foreign_text;
mod gates;
mod grpc;
mod grpc_channel;
mod grpc_targets;
mod habits;
mod hard_times;
mod hello;
mod help;
mod history;
mod http2;
mod interrupt;
mod k8s;
mod kept_headers;
mod lab;
mod llm;
mod llm_dialects;
mod llm_prompts;
mod load;
mod mcp;
mod messages;
#[path = "../../../../tests/missing.rs"]
mod missing;
mod page;
mod raw_server;
mod redirects;
mod requests;
mod result;
mod runs;
mod scrape;
mod script;
#[cfg(feature = "script")]
mod script_calls;
#[cfg(feature = "script")]
mod script_messages;
#[cfg(feature = "script")]
mod script_sessions;
mod serve;
mod server_timing;
mod service;
mod several;
mod simulate;
mod spans;
mod standstill;
mod starved;
mod stopping;
mod streams;
mod stripes;
mod subscribe;
mod suite;
mod support;
mod sweep;

mod tls;
mod traces;
mod unsaved;
mod ways;
mod websocket;
