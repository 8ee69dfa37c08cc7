use crate::json_text::with_json_members;
use crate::spec::TargetSpec;

/// Members that are added to the body unless it has them.
const MEMBERS: [(&str, &str); 2] = [("stream", "true"), ("stream_options", "{\"include_usage\":true}")];

/// Makes a request ask a language model for a stream and for token counts. The default content type becomes JSON.
///
/// # Errors
/// The body is not a JSON object.
pub fn asking_for_stream(spec: TargetSpec) -> Result<TargetSpec, String> {
    let spec = spec.with_defaults(&["Content-Type: application/json".to_owned()]);
    let body = with_json_members(&spec.body, &MEMBERS)?;
    Ok(TargetSpec { body, ..spec })
}
