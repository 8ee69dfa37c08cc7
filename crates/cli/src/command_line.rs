//! Command line of a run, without secrets, so that readers can repeat the run.

use truetail_grpc::GrpcUrl;
use truetail_requests::{REDACTED, redacted_body, redacted_curl, redacted_header, redacted_url, words_of_curl};

use crate::args::ab::AbArgs;
use crate::args::flow::Variable;
use crate::args::run::RunArgs;
use crate::error::Result;

/// Returns the command line of `truetail run`, quoted for a shell. It leaves out user names, passwords, header values
/// that may grant access, and long bodies.
pub(crate) fn for_run(args: &RunArgs) -> String {
    let words = &args.typed.words;
    // For clap, all words after the first "--" are the curl command.
    let curl = words.len() - args.command.len().min(words.len());
    let secrets = secrets(args);
    let own = words[..curl].iter().map(|word| shown(word, &secrets));
    let curl = match words[curl..].split_first() {
        Some((program, options)) => [vec![program.clone()], redacted_curl(options)].concat(),
        None => Vec::new(),
    };
    quoted(own.chain(curl))
}

/// Returns the command line of `truetail ab`, quoted for a shell, without secrets.
pub(crate) fn for_ab(args: &AbArgs) -> Result<String> {
    let urls = [&args.a, &args.b].map(|url| (url.clone(), redacted_url(url)));
    let mut hidden = secrets(&args.run.run_args(&args.a, &[])?);
    hidden.extend(urls.into_iter().filter(|(value, shown)| value != shown));
    Ok(quoted(args.typed.words.iter().map(|word| shown(word, &hidden))))
}

/// Returns the command line of `truetail capacity`, quoted for a shell, without secrets. `run` has its requests.
pub(crate) fn for_capacity(words: &[String], run: &RunArgs) -> String {
    let hidden = secrets(run);
    quoted(words.iter().map(|word| shown(word, &hidden)))
}

/// Returns the command line of `truetail simulate`, quoted for a shell, without secrets.
pub(crate) fn for_simulate(words: &[String], variables: &[Variable]) -> String {
    let secrets = variables.iter().map(redacted_variable).filter(|(value, shown)| value != shown).collect::<Vec<_>>();
    quoted(words.iter().map(|word| shown(word, &secrets)))
}

/// Quotes words without secrets for a shell.
pub(crate) fn from_words(words: &[String]) -> String {
    quoted(words.iter().cloned())
}

fn quoted(words: impl Iterator<Item = String>) -> String {
    let words = std::iter::once("truetail".to_owned()).chain(words);
    // Quoting fails only for NUL, which program arguments cannot contain.
    let quote =
        |word: String| shlex::try_quote(&word).map_or_else(|_| REDACTED.to_owned(), |quoted| quoted.into_owned());
    words.map(quote).collect::<Vec<_>>().join(" ")
}

/// Returns each value that must be hidden, with its replacement.
fn secrets(args: &RunArgs) -> Vec<(String, String)> {
    let url = args.url.iter().map(|url| (url.clone(), redacted_url(url)));
    let user = args.user.iter().map(|user| (user.0.clone(), REDACTED.to_owned()));
    let headers = args.header.iter().map(|header| (header.clone(), redacted_header(header)));
    let body = args.data.iter().map(|body| (body.clone(), redacted_body(body)));
    let curl = args.curl.iter().map(|command| (command.clone(), redacted_command(command)));
    let otlp = args.live.otlp.iter().map(|url| (url.clone(), redacted_url(url)));
    let variables = args.flow.given.variable.iter().map(redacted_variable);
    let of_request = url.chain(user).chain(headers).chain(body).chain(curl);
    of_request.chain(otlp).chain(variables).filter(|(value, shown)| value != shown).collect()
}

/// Returns a variable of a flow and its replacement. A value may be a password unless it is a number or URL.
fn redacted_variable(Variable { name, value }: &Variable) -> (String, String) {
    let shown = match value.parse::<f64>() {
        Ok(_) => value.clone(),
        Err(_) if value.starts_with("http://") || value.starts_with("https://") || GrpcUrl::is_meant(value) => {
            redacted_url(value)
        }
        Err(_) => REDACTED.to_owned(),
    };
    (format!("{name}={value}"), format!("{name}={shown}"))
}

/// Redacts the words of `--curl`.
fn redacted_command(command: &str) -> String {
    let words = words_of_curl(command).unwrap_or_default();
    let words: Vec<String> = words.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect();
    shlex::try_join(redacted_curl(&words).iter().map(String::as_str)).unwrap_or_else(|_| REDACTED.to_owned())
}

/// Replaces a secret value at the end of a word. Values are at the end: `VALUE`, `--user=VALUE` or `-uVALUE`.
fn shown(word: &str, secrets: &[(String, String)]) -> String {
    let redacted = secrets.iter().find_map(|(value, shown)| Some((word.strip_suffix(value.as_str())?, shown)));
    redacted.map_or_else(|| word.to_owned(), |(before, shown)| format!("{before}{shown}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{CliAction, Command, parse};

    fn command(words: &[&str]) -> String {
        let all = ["truetail", "run"].iter().chain(words).map(Into::into);
        match parse(all) {
            Ok(CliAction::Execute(command)) => match *command {
                Command::Run(args) => for_run(&args),
                other => panic!("{words:?}: {other:?}"),
            },
            other => panic!("{words:?}: {:?}", other.map(|_| ())),
        }
    }

    #[test]
    fn a_command_is_quoted_so_that_a_shell_reads_it_back() {
        let words = ["http://127.0.0.1:8080/a b", "-r", "100", "--fail-if", "p99 > 50ms", "-H", "X-Name: it's"];
        let text = command(&words);
        assert_eq!(shlex::split(&text).unwrap(), [&["truetail", "run"], &words[..]].concat());
    }

    #[test]
    fn secrets_are_not_in_it_however_they_were_given() {
        for words in [
            &["http://me:hunter2@127.0.0.1/"][..],
            &["http://127.0.0.1/", "-u", "me:hunter2"],
            &["http://127.0.0.1/", "-ume:hunter2"],
            &["http://127.0.0.1/", "-ku", "me:hunter2"],
            &["http://127.0.0.1/", "--user=me:hunter2"],
            &["http://127.0.0.1/", "-HAuthorization: Bearer hunter2"],
            &["http://127.0.0.1/", "--header=cookie:hunter2"],
            &["http://127.0.0.1/", "-H", "Accept: */*", "-H", "X-Api-Key: hunter2"],
            &["http://127.0.0.1/", "--data", "{\"password\": \"hunter2\"}"],
            &["http://127.0.0.1/", "--otlp", "http://me:hunter2@127.0.0.1:4318"],
            &["--flow", "a.hurl", "--variable", "host=http://127.0.0.1", "--variable", "password=hunter2"],
            &["--flow", "a.hurl", "--variable=host=http://127.0.0.1", "--variable=password=hunter2"],
            &["--flow", "a.hurl", "--variable", "host=http://me:hunter2@127.0.0.1"],
            &["--curl", "curl -u me:hunter2 http://127.0.0.1/"],
            &["--curl=curl http://me:hunter2@127.0.0.1/"],
            &["--", "curl", "http://127.0.0.1/", "-H", "Cookie: hunter2"],
            &["--", "curl", "-sume:hunter2", "http://127.0.0.1/"],
        ] {
            let text = command(&[&["-r", "100"], words].concat());
            assert!(
                !text.contains("hunter2") && text.contains("[redacted]") != text.contains("bytes left out"),
                "{text}"
            );
            assert!(text.starts_with("truetail run -r 100 ") && text.contains("127.0.0.1"), "{text}");
        }
        let long = "x".repeat(3_000);
        assert!(command(&["http://127.0.0.1/", "-r1", "--data", &long]).ends_with("'[3000 bytes left out]'"));
    }

    #[test]
    fn the_page_of_two_sides_has_no_secrets_either() {
        let words = ["ab", "http://me:hunter2@127.0.0.1/", "http://127.0.0.1:81/", "-r1", "-H", "Cookie: hunter2"];
        let all = ["truetail"].iter().chain(&words).map(Into::into);
        let Ok(CliAction::Execute(command)) = parse(all) else { panic!("{words:?}") };
        let Command::Ab(args) = *command else { panic!("{words:?}") };
        let text = for_ab(&args).unwrap();
        assert!(!text.contains("hunter2") && text.matches("[redacted]").count() == 2, "{text}");
        assert!(text.starts_with("truetail ab ") && text.contains(":81/ -r1"), "{text}");
    }
}
