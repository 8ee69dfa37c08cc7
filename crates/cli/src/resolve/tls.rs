//! TLS options of `truetail run`.

use std::path::PathBuf;

use truetail_engine::{Identity, Target, TlsError, TlsOptions};

use super::input;
use crate::args::run::RunArgs;
use crate::error::{CliError, Result, runtime_error, usage_error};

/// Sets up TLS for the target, if one of its URLs is https.
///
/// # Errors
/// If flags contradict each other or the URLs, or a file does not have the expected content.
pub(crate) fn secure(target: &mut Target, args: &RunArgs) -> Result<()> {
    refuse_contradictions(args)?;
    // With a setup, the flags may be meant for the setup only.
    if args.flow.setup.is_none() {
        check_used(&[target], args)?;
    }
    let options = TlsOptions {
        insecure: args.insecure,
        authorities: args.ca.as_deref().map(input::bytes).transpose()?,
        identity: identity(args)?,
    };
    target.secure(&options).map_err(|error| refused(&error, args))
}

/// Returns notes for the run.
pub(crate) fn notes(args: &RunArgs) -> Vec<String> {
    let note = |holds: bool, text: &str| holds.then(|| text.to_owned());
    let insecure = "--insecure: certificates were not verified, so the answers could come from anyone";
    let keepalive =
        "--no-keepalive: every request opened a new connection, and response times include the time to connect";
    [note(args.insecure, insecure), note(args.no_keepalive, keepalive)].into_iter().flatten().collect()
}

/// Refuses TLS flags if no target uses TLS.
pub(crate) fn check_used(targets: &[&Target], args: &RunArgs) -> Result<()> {
    let flags = [
        ("--insecure", args.insecure),
        ("--ca", args.ca.is_some()),
        ("--cert", args.cert.is_some()),
        ("--key", args.key.is_some()),
    ];
    let is_used = targets.iter().any(|target| target.uses_tls());
    if let Some((flag, _)) = flags.iter().find(|(_, given)| *given && !is_used) {
        let help = "the option is for TLS; write https://, or leave it out";
        let mut names: Vec<String> =
            targets.iter().flat_map(|target| target.origins()).map(ToString::to_string).collect();
        names.dedup();
        let names = names.join(", ");
        return Err(usage_error(format!("{flag} and {names} contradict each other: {help}")));
    }
    Ok(())
}

fn refuse_contradictions(args: &RunArgs) -> Result<()> {
    if args.insecure && args.ca.is_some() {
        return Err(usage_error(
            "--insecure and --ca contradict each other: --insecure accepts any certificate; give one of them",
        ));
    }
    Ok(())
}

fn identity(args: &RunArgs) -> Result<Option<Identity>> {
    match (&args.cert, &args.key) {
        (None, None) => Ok(None),
        (Some(cert), Some(key)) => Ok(Some(Identity { certificates: input::bytes(cert)?, key: input::bytes(key)? })),
        (Some(_), None) => Err(usage_error("--cert needs its private key; add --key FILE")),
        (None, Some(_)) => Err(usage_error("--key needs its certificate; add --cert FILE")),
    }
}

fn refused(error: &TlsError, args: &RunArgs) -> CliError {
    let named = |file: &Option<PathBuf>| file.as_deref().unwrap_or("".as_ref()).display().to_string();
    let pem = "a PEM file has a line -----BEGIN";
    match error {
        TlsError::Name(_) => usage_error(error),
        TlsError::NoAuthorities(_) => runtime_error(format!(
            "{error}; install them (ca-certificates), use --ca FILE, or accept any certificate with --insecure"
        )),
        TlsError::Authorities(why) => runtime_error(format!("--ca {}: {why}; {pem} CERTIFICATE-----", named(&args.ca))),
        TlsError::Certificate(why) => {
            runtime_error(format!("--cert {}: {why}; {pem} CERTIFICATE-----", named(&args.cert)))
        }
        TlsError::Key(why) => runtime_error(format!("--key {}: {why}; {pem} PRIVATE KEY-----", named(&args.key))),
        TlsError::Identity(why) => runtime_error(format!(
            "--cert {} and --key {} do not belong together: {why}",
            named(&args.cert),
            named(&args.key)
        )),
    }
}
