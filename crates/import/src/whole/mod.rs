//! Formats that are read whole, because they are small or because parts of them make no sense: at most
//! [`file::MAX_BYTES`]. JMeter's XML, which can be as long as its CSV, is streamed.

mod ab;
mod autocannon;
mod bounded;
mod file;
mod fortio;
mod gatling;
mod h2load;
mod har;
mod har_exchange;
mod hdr;
mod hey;
mod hyperfoil;
mod jmeter_xml;
mod json;
mod k6;
mod llm;
mod locust;
mod oha;
mod rows;
mod table;
mod vegeta;
mod wrk;

use crate::Format;

pub(crate) use file::place_of;
pub(crate) use har::entries as har_entries;
pub(crate) use har_exchange::{NoExchange, no_exchange};

/// Returns these formats, the most specific first.
#[rustfmt::skip]
pub(crate) fn all() -> &'static [&'static dyn Format] {
    static ALL: &[&dyn Format] = &[
        &wrk::WRK2,
        &wrk::WRK,
        &ab::REPORT,
        &ab::PERCENTILES,
        &hey::SUMMARY,
        &oha::TEXT,
        &oha::CSV,
        &oha::JSON,
        &k6::SUMMARY,
        &vegeta::REPORT,
        &jmeter_xml::JMeterXml,
        &gatling::LOG,
        &locust::STATS,
        &locust::HISTORY,
        &locust::JSON,
        &hyperfoil::RESULT,
        &hyperfoil::RUN,
        &fortio::JSON,
        &fortio::LOG,
        &autocannon::JSON,
        &h2load::LOG,
        &llm::VLLM,
        &llm::SGLANG,
        &llm::GUIDELLM,
        &hdr::HLOG,
        &hdr::HGRM,
        &har::HAR,
    ];
    ALL
}
