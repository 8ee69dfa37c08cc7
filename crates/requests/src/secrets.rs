//! Recognizes secrets by the words of a name and by the form of a value.
//!
//! A list of whole names is never complete. So a name is cut into its words (`X-User-Jwt`, `apiKey`, `DB_PWD`). Under
//! any name, a value counts as a secret if it has the form of one, or if it is so random that a program generated it.

use percent_encoding::percent_decode_str;

/// A name is secret if it contains one of these anywhere, compared in lower case and without separators.
const PARTS: [&str; 20] = [
    "auth",
    "cookie",
    "token",
    "secret",
    "passw",
    "passphrase",
    "passcode",
    "session",
    "credential",
    "signature",
    "apikey",
    "accesskey",
    "privatekey",
    "secretkey",
    "signingkey",
    "encryptionkey",
    "masterkey",
    "accountkey",
    "subscriptionkey",
    "sharedkey",
];
/// A name is secret if it has one of these as a whole word. Parts of words (`passenger`, `hotpot`) do not count.
const WORDS: [&str; 18] = [
    "pass", "pwd", "pw", "passwd", "otp", "totp", "jwt", "jws", "dpop", "bearer", "sid", "csrf", "xsrf", "saml", "pin",
    "cvv", "cvc", "ssn",
];
/// A `key` after one of these words is not secret. After any other word it may be: `X-Functions-Key`, `private_key`.
const ORDINARY_KEYS: [&str; 16] = [
    "idempotency",
    "sort",
    "primary",
    "foreign",
    "partition",
    "cache",
    "surrogate",
    "public",
    "routing",
    "row",
    "object",
    "group",
    "shard",
    "message",
    "event",
    "lookup",
];
/// Prefixes of secrets that services give out.
const PREFIXES: [&str; 16] = [
    "eyJ",
    "sk-",
    "sk_",
    "rk_",
    "pk_live",
    "ghp_",
    "gho_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "xox",
    "AKIA",
    "ASIA",
    "AIza",
    "hvs.",
    "npm_",
];
/// Least length of a random value.
const LEAST_RANDOM: usize = 20;
/// Least number of hexadecimal digits in a hash or a key. The parts of a UUID are shorter.
const LEAST_HEX: usize = 32;
/// Least entropy of a random value, in bits per character.
const LEAST_ENTROPY: f64 = 3.5;

/// Returns true if the name is that of a secret, such as `X-Api-Key` or `pwd`.
pub(crate) fn is_secret_name(name: &str) -> bool {
    let words = words_of(name);
    let joined = words.concat();
    let is_key = |pair: &[String]| matches!(&*pair[1], "key" | "keys") && !ORDINARY_KEYS.contains(&pair[0].as_str());
    // Browsers send `Sec-WebSocket-Key` and similar headers, which are not secret.
    let is_of_browser = words.first().is_some_and(|first| first == "sec");
    PARTS.iter().any(|part| joined.contains(part))
        || words.iter().any(|word| WORDS.contains(&word.as_str()))
        || name.split(|c: char| !c.is_alphabetic()).any(|part| WORDS.iter().any(|word| part.eq_ignore_ascii_case(word)))
        || (!is_of_browser && words.windows(2).any(is_key))
}

/// Returns true if the value has the form of a secret, or is as random as one.
pub(crate) fn holds_secret(value: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let has_prefix = |run: &str| run.len() >= LEAST_RANDOM && PREFIXES.iter().any(|prefix| run.starts_with(prefix));
    value.contains("-----BEGIN")
        || value.split(|c| !is_part(c)).any(has_prefix)
        || value.split(|c: char| !c.is_ascii_alphanumeric()).any(is_random)
}

/// Returns true if a name in a body is that of a secret, or if a part of the body has the form of a secret. A name is a
/// word before `:`, `=` or `>`, quoted or not, or a quoted word after `=`.
pub(crate) fn body_holds_secret(body: &str) -> bool {
    let decoded = percent_decode_str(body).decode_utf8_lossy();
    holds_secret(&decoded) || names_in(&decoded).any(is_secret_name)
}

fn names_in(body: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let mut rest = body;
    std::iter::from_fn(move || {
        loop {
            let start = rest.find(is_part)?;
            let before = rest[..start].trim_end_matches(['"', '\'', '\\']);
            let is_named = before.ends_with('=') && before.len() < start;
            let word = &rest[start..];
            let end = word.find(|c| !is_part(c)).unwrap_or(word.len());
            let (word, after) = word.split_at(end);
            rest = after;
            let next = after.trim_start_matches(['"', '\'', '\\', ']', ' ', '\t', '\r', '\n']);
            if is_named || next.starts_with([':', '=', '>']) {
                return Some(word);
            }
        }
    })
}

/// Returns the words of a name in lower case: `X-Api-Key`, `x_api_key` and `xApiKey` have the same words.
fn words_of(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut before = ' ';
    for c in name.chars() {
        let begins = c.is_uppercase() && !before.is_uppercase();
        if (begins || !c.is_alphabetic()) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if c.is_alphabetic() {
            word.extend(c.to_lowercase());
        }
        before = c;
    }
    words.extend(Some(word).filter(|word| !word.is_empty()));
    words
}

/// Returns true for letters and digits that only a generator would produce.
fn is_random(run: &str) -> bool {
    let has = |kind: fn(&u8) -> bool| run.bytes().any(|byte| kind(&byte));
    let is_mixed = has(u8::is_ascii_digit) && has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase);
    let is_hex =
        run.len() >= LEAST_HEX && run.bytes().all(|byte| byte.is_ascii_hexdigit()) && has(u8::is_ascii_alphabetic);
    run.len() >= LEAST_RANDOM && (is_mixed || is_hex) && (is_hex || entropy(run) >= LEAST_ENTROPY)
}

/// Returns the entropy of the bytes in bits per byte, according to their frequencies.
fn entropy(text: &str) -> f64 {
    let mut counts = [0u32; 256];
    text.bytes().for_each(|byte| counts[usize::from(byte)] += 1);
    let share = |count: &u32| f64::from(*count) / text.len() as f64;
    -counts.iter().filter(|count| **count > 0).map(share).map(|share| share * share.log2()).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_by_their_words() {
        for name in [
            "pass",
            "Pass",
            "pwd",
            "DB_PWD",
            "userPwd",
            "passphrase",
            "password",
            "api_key",
            "apikey",
            "apiKey",
            "X-Api-Key",
            "otp",
            "otpCode",
            "jwt",
            "X-User-Jwt",
            "private_key",
            "privateKey",
            "Ocp-Apim-Subscription-Key",
            "X-Functions-Key",
            "DPoP",
            "X-Amz-Security-Token",
            "client_secret",
            "Authorization",
            "Set-Cookie",
            "sid",
            "xsrf",
            "SECRET_KEY",
            "license-key",
            "pin",
        ] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in [
            "keyboard",
            "passenger",
            "monkey",
            "key",
            "keys",
            "keyword",
            "hotpot",
            "compass",
            "passage",
            "bypass",
            "turkey",
            "opinion",
            "spinner",
            "inside",
            "Idempotency-Key",
            "sort_key",
            "primaryKey",
            "Sec-WebSocket-Key",
            "Accept",
            "Content-Type",
            "name",
            "X-Request-Id",
            "username",
            "query",
            "",
        ] {
            assert!(!is_secret_name(name), "{name}");
        }
    }

    #[test]
    fn values_by_their_form() {
        for value in [
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln",
            "Bearer ghp_0123456789abcdefghij",
            "AKIAIOSFODNN7EXAMPLEX",
            "9f86d081884c7d659a2feaa0c55ad015",
            "q7Rk2Zp0LmX9vTb4WsYd",
            "-----BEGIN PRIVATE KEY-----",
        ] {
            assert!(holds_secret(value), "{value}");
        }
        for value in [
            "text/html, application/json;q=0.9",
            "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36",
            "550e8400-e29b-41d4-a716-446655440000",
            "00-0af7651916cd43dd-b7ad6b7169203331-01",
            "12345678901234567890123456789012",
            "aaaaaaaaaaaaaaaaaaaaaaaaaA1",
            "internationalization",
            "2026-11-25T17:29:22.000Z",
            "{{token}}",
        ] {
            assert!(!holds_secret(value), "{value}");
        }
    }

    #[test]
    fn bodies_by_the_names_in_them() {
        for body in [
            r#"{"pass":"x"}"#,
            r#"{"a":{"private_key" : "x"}}"#,
            r#"{\"pwd\":1}"#,
            "user=me&pwd=x",
            "user%5Bpwd%5D=x",
            "user[otp]=1",
            "<login><pass>x</pass></login>",
            "Content-Disposition: form-data; name=\"jwt\"\r\n\r\nx",
            "pin: 1",
            r#"{"x":"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln"}"#,
        ] {
            assert!(body_holds_secret(body), "{body}");
        }
        for body in [
            r#"{"status":"pass","n":1}"#,
            r#"{"keyboard":"de","passenger":2,"monkey":true,"key":"a"}"#,
            "please pass the salt",
            "q=pass&page=2",
            "%%%=",
            "",
        ] {
            assert!(!body_holds_secret(body), "{body}");
        }
    }
}
