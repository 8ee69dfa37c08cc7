//! The request that opens a channel over gRPC.

use std::sync::Arc;

use crate::protocol::http2::FieldBlocks;
use crate::target::error::TargetError;
use crate::target::fields::Fields;
use crate::target::request::Request;
use crate::target::request_set::RequestSet;

/// The head of a call whose messages are planned.
#[derive(Clone, PartialEq, Eq)]
pub struct CallRequest {
    pub(super) fields: Arc<FieldBlocks>,
}

impl CallRequest {
    /// Creates the head of a call from a request, without its body and without default headers that calls do not have.
    ///
    /// # Errors
    /// [`TargetError::NotInHttp2`] for a header that HTTP/2 does not allow.
    pub fn new(request: &Request) -> Result<CallRequest, TargetError> {
        let request = request.clone().without_default_headers(&["accept".to_owned(), "content-length".to_owned()]);
        let scheme = request.origin().scheme;
        if let Err(header) = Fields::of(request.parts().view(), &scheme) {
            return Err(TargetError::NotInHttp2 { target: request.url().to_string(), header });
        }
        Ok(CallRequest { fields: Arc::new(FieldBlocks::new(&RequestSet::single(&request), &scheme)) })
    }
}
