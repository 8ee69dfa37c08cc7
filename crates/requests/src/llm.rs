use crate::json_text::with_json_members;
use crate::spec::TargetSpec;

/// Makes a request ask a language model for a stream: adds these members to its body, unless it has them. The default
/// content type becomes JSON.
///
/// # Errors
/// The body is not a JSON object.
pub fn asking_for_stream(spec: TargetSpec, members: &[(&str, &str)]) -> Result<TargetSpec, String> {
    let spec = spec.with_defaults(&["Content-Type: application/json".to_owned()]);
    let body = with_json_members(&spec.body, members)?;
    Ok(TargetSpec { body, ..spec })
}
