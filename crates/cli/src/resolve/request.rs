//! The request that `truetail run` was asked to send.

use truetail_engine::{Method, Target, TargetError};

use super::input;
use crate::args::run::RunArgs;
use crate::outcome::{Failure, Result, could_not, usage};

/// The target, with its host looked up. The method is GET unless one is given, with a body too, so that nothing changes
/// behind the user's back.
///
/// # Errors
/// What is wrong with URL, method, headers or body, or when the host does not resolve.
pub fn target(args: &RunArgs) -> Result<Target> {
    let method: Method = args.method.as_deref().map_or(Ok(Method::Get), str::parse).map_err(refused)?;
    let mut headers = args.header.clone();
    headers.extend(content_type(args)?);
    Target::resolve(method, &args.url, &headers, body(args)?).map_err(refused)
}

fn refused(error: TargetError) -> Failure {
    match error {
        TargetError::Resolve { .. } => could_not(format!("{error}; check the name, or give an address")),
        _ => usage(error),
    }
}

fn body(args: &RunArgs) -> Result<Vec<u8>> {
    match (&args.data, &args.data_file) {
        (Some(_), Some(_)) => Err(usage("--data and --data-file contradict each other; a request has one body")),
        (Some(text), None) => Ok(text.clone().into_bytes()),
        (None, Some(file)) => input::bytes(file),
        (None, None) => Ok(Vec::new()),
    }
}

fn content_type(args: &RunArgs) -> Result<Option<String>> {
    let Some(body_type) = &args.body_type else { return Ok(None) };
    if args.data.is_none() && args.data_file.is_none() {
        return Err(usage("--body-type says of what type the body is, and there is none; add --data or --data-file"));
    }
    let is_content_type = |header: &&String| {
        header.split_once(':').is_some_and(|(name, _)| name.trim().eq_ignore_ascii_case("content-type"))
    };
    if let Some(header) = args.header.iter().find(is_content_type) {
        return Err(usage(format!("--body-type and -H '{header}' contradict each other; give one")));
    }
    Ok(Some(format!("Content-Type: {body_type}")))
}
