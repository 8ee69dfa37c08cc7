pub(crate) fn long_name(letter: char) -> Option<&'static str> {
    Some(match letter {
        'X' => "request",
        'H' => "header",
        'd' => "data",
        'G' => "get",
        'I' => "head",
        'A' => "user-agent",
        'e' => "referer",
        'b' => "cookie",
        'u' => "user",
        's' => "silent",
        'S' => "show-error",
        'i' => "include",
        'v' => "verbose",
        'f' => "fail",
        'g' => "globoff",
        'N' => "no-buffer",
        'o' => "output",
        'O' => "remote-name",
        'J' => "remote-header-name",
        'D' => "dump-header",
        'c' => "cookie-jar",
        'q' => "disable",
        '#' => "progress-bar",
        'w' => "write-out",
        'L' => "location",
        'k' => "insecure",
        'F' => "form",
        'T' => "upload-file",
        'm' => "max-time",
        'x' => "proxy",
        _ => return None,
    })
}

/// Options without a value that do not change the request and are ignored.
pub(crate) const PASSED_OVER: [&str; 14] = [
    "silent",
    "show-error",
    "include",
    "verbose",
    "fail",
    "fail-with-body",
    "globoff",
    "no-buffer",
    "http1.1",
    "no-progress-meter",
    "progress-bar",
    "remote-name",
    "remote-header-name",
    "disable",
];
/// Options with a value that do not change the request and are ignored.
pub(crate) const PASSED_OVER_WITH_VALUE: [&str; 7] =
    ["output", "write-out", "dump-header", "cookie-jar", "stderr", "trace", "trace-ascii"];
/// Supported options with a value.
pub(crate) const READ_WITH_VALUE: [&str; 14] = [
    "request",
    "header",
    "data",
    "data-ascii",
    "data-raw",
    "data-binary",
    "data-urlencode",
    "json",
    "user-agent",
    "referer",
    "cookie",
    "user",
    "url",
    "oauth2-bearer",
];

/// Returns advice about an unsupported option.
pub(crate) fn help_without(as_written: &str) -> &'static str {
    match as_written {
        "-L" | "--location" => "truetail follows no redirects; request the URL that they lead to",
        "-F" | "--form" => "write the body with --data-binary and its Content-Type with -H",
        "-m" | "--max-time" | "--connect-timeout" => "use the option --timeout of truetail run",
        "--unix-socket" | "--resolve" | "--http2" => {
            "use the option of the same name of truetail run; it applies to all targets"
        }
        "-k" | "--insecure" => "use the option --insecure of truetail run; it applies to all targets",
        "--cacert" | "--cert" | "--key" => "use --ca, --cert or --key of truetail run; they apply to all targets",
        _ => "leave it out if the request does not need it",
    }
}
