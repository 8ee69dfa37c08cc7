use crate::json_text::with_json_members;
use crate::spec::TargetSpec;

/// Members that are added to the body unless it has them.
const MEMBERS: [(&str, &str); 2] = [("stream", "true"), ("stream_options", "{\"include_usage\":true}")];

/// Makes the body of a request to a language model ask for a stream and for token counts. The content type becomes JSON
/// unless the request has one.
///
/// # Errors
/// The body is not a JSON object.
pub fn asking_for_stream(spec: TargetSpec) -> Result<TargetSpec, String> {
    let spec = spec.with_defaults(&["Content-Type: application/json".to_owned()]);
    let body = with_json_members(&spec.body, &MEMBERS)?;
    Ok(TargetSpec { body, ..spec })
}
