//! Options of trace ids.

use clap::Args;
use truetail_model::trace::TraceFormat;
use truetail_run::TRACE_ID_IN_LINK;

use super::values::share_in;

/// Options of trace ids.
#[derive(Args, Clone, Default, Debug)]
pub(crate) struct TraceArgs {
    /// Give each request a trace id, so that the slowest can be found in a tracing system
    #[arg(long, help_heading = "Traces")]
    pub trace: bool,
    /// Header of the trace id: traceparent, of the W3C, or b3, of Zipkin [default: traceparent]
    #[arg(long, value_name = "HEADER", value_parser = format, help_heading = "Traces")]
    pub trace_header: Option<TraceFormat>,
    /// Share of the requests that ask for their trace to be recorded, such as 1%, or all [default: all]
    #[arg(long, value_name = "SHARE", value_parser = share, help_heading = "Traces")]
    pub trace_sampled: Option<f64>,
    /// Address of the page that shows a trace, with {id} for the trace id: http://127.0.0.1:16686/trace/{id}
    #[arg(long, value_name = "URL", value_parser = link, help_heading = "Traces")]
    pub trace_link: Option<String>,
}

impl TraceArgs {
    /// Returns the header that carries trace ids, if requests get any.
    pub(crate) fn format(&self) -> Option<TraceFormat> {
        self.trace.then(|| self.trace_header.unwrap_or_default())
    }

    /// Returns the line that each request has as the place of its trace id.
    pub(crate) fn placeholder(&self) -> Option<String> {
        self.format().map(|format| format!("{}: {}", format.header(), format.placeholder()))
    }
}

fn format(text: &str) -> Result<TraceFormat, String> {
    let is_it = |format: &TraceFormat| text.eq_ignore_ascii_case(format.header());
    let format = [TraceFormat::W3c, TraceFormat::B3].into_iter().find(is_it);
    format.ok_or_else(|| format!("'{text}' is no trace header; write traceparent or b3"))
}

fn share(text: &str) -> Result<f64, String> {
    if text == "all" { Ok(1.0) } else { share_in::<0, 1000>(text) }
}

fn link(text: &str) -> Result<String, String> {
    let is_web = text.starts_with("http://") || text.starts_with("https://");
    match is_web && text.contains(TRACE_ID_IN_LINK) && !text.contains(char::is_whitespace) {
        true => Ok(text.to_owned()),
        false => {
            Err(format!("'{text}' is no address with {TRACE_ID_IN_LINK}; write http://HOST/trace/{TRACE_ID_IN_LINK}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_one_form() {
        assert_eq!((format("Traceparent"), format("b3")), (Ok(TraceFormat::W3c), Ok(TraceFormat::B3)));
        assert_eq!((share("all"), share("1%"), share("0")), (Ok(1.0), Ok(0.01), Ok(0.0)));
        assert!(link("https://traces.example/{id}").is_ok());
        for text in ["", "http://127.0.0.1/", "file:///{id}", "javascript:{id}", "http://a/ {id}"] {
            assert!(link(text).is_err(), "{text}");
        }
        assert!(format("jaeger").is_err() && share("some").is_err());
    }
}
