//! What a request to a language model asks for.

use crate::json_text::with_json_members;
use crate::spec::TargetSpec;

/// What its body says unless it says something else.
const MEMBERS: [(&str, &str); 2] = [("stream", "true"), ("stream_options", "{\"include_usage\":true}")];

/// The same request, whose body asks for a stream and for its token counts, and is JSON by its content type.
///
/// # Errors
/// What is wrong with a body that is no JSON object.
pub fn asking_for_stream(spec: TargetSpec) -> Result<TargetSpec, String> {
    let spec = spec.with_defaults(&["Content-Type: application/json".to_owned()]);
    let body = with_json_members(&spec.body, &MEMBERS)?;
    Ok(TargetSpec { body, ..spec })
}
