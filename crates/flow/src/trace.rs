//! The header that carries the trace id of a request.

use truetail_model::trace::TraceFormat;

use crate::error::FlowError;
use crate::flow::Flow;
use crate::step::Step;

impl Flow {
    /// Returns the flow with the trace header in each request. Its value is the placeholder, which the engine replaces.
    ///
    /// # Errors
    /// A step has this header already.
    pub fn with_trace_header(mut self, format: TraceFormat) -> Result<Flow, FlowError> {
        for step in &mut self.steps {
            if step.has_header(format.header()) {
                let problem = format!("the header {} carries the trace ids; leave it out", format.header());
                return Err(FlowError::new(step.line, problem));
            }
            step.request.fixed.0.push(format.header().as_bytes(), format.placeholder().as_bytes());
        }
        Ok(self)
    }
}

impl Step {
    /// Returns true if its request has a header of this name, in any case.
    pub(crate) fn has_header(&self, name: &str) -> bool {
        let is_it = |other: &[u8]| other.eq_ignore_ascii_case(name.as_bytes());
        let mut changing = self.request.headers.iter().filter_map(|(name, _)| name.constant());
        self.request.fixed.0.iter().any(|(name, _)| is_it(name)) || changing.any(|name| is_it(name.as_bytes()))
    }
}
