//! What looks like a secret, and what is only a reference to one.

use crate::shapes;

/// Words that make a name one of a secret.
const WORDS: &[&str] = &[
    "auth",
    "authorization",
    "apikey",
    "bearer",
    "cookie",
    "cred",
    "credential",
    "credentials",
    "dsn",
    "jwt",
    "key",
    "pass",
    "passcode",
    "passphrase",
    "passwd",
    "password",
    "pat",
    "pin",
    "pw",
    "pwd",
    "secret",
    "secrets",
    "sig",
    "signature",
    "token",
];

/// Words that some write together with others (`GITHUBTOKEN`, `exaApikey`, `dbpassword`).
const ENDINGS: &[&str] =
    &["apikey", "accesskey", "secretkey", "privatekey", "authkey", "password", "passwd", "secret", "token"];

/// Whether a value is wholly a reference, such as `${TOKEN}` or `${secret:NAME}`, and can be shown as it is.
/// One with a default of its own is not: the default is a value.
#[must_use]
pub fn is_reference(value: &str) -> bool {
    let Some(inner) = value.strip_prefix("${").and_then(|rest| rest.strip_suffix('}')) else {
        return false;
    };
    let name = inner.strip_suffix(":-").unwrap_or(inner);
    !name.is_empty()
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b':' | b'-' | b'.'))
        && !name.contains(":-")
}

/// Whether a value under this name looks like a secret that should not stand in a file.
#[must_use]
pub fn looks_secret(name: &str, value: &str) -> bool {
    (is_secret_name(name) && !is_harmless(value)) || shapes::find(value).next().is_some() || is_random(value)
}

/// Whether a name is one that secrets have: `API_KEY`, `--api-key`, `x-custom-auth`, `exaApiKey`.
pub(crate) fn is_secret_name(name: &str) -> bool {
    words(name)
        .any(|word| WORDS.contains(&word.as_str()) || ENDINGS.iter().any(|ending| word.ends_with(ending)))
}

/// Values that no one needs to hide: nothing, references, switches and small numbers.
pub(crate) fn is_harmless(value: &str) -> bool {
    value.is_empty()
        || is_reference(value)
        || matches!(
            value.to_ascii_lowercase().as_str(),
            "true" | "false" | "yes" | "no" | "on" | "off" | "none" | "null"
        )
        || (value.len() < 6 && value.bytes().all(|b| b.is_ascii_digit()))
}

/// The words of a name, by separators and by camel case, in lower case.
fn words(name: &str) -> impl Iterator<Item = String> {
    name.split(|c: char| !c.is_ascii_alphanumeric()).flat_map(|part| {
        let bytes = part.as_bytes();
        let mut words = Vec::new();
        let mut start = 0;
        for at in 1..bytes.len() {
            let after_small = bytes[at].is_ascii_uppercase() && !bytes[at - 1].is_ascii_uppercase();
            let before_small =
                bytes[at].is_ascii_uppercase() && bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase);
            if after_small || before_small {
                words.push(part[start..at].to_ascii_lowercase());
                start = at;
            }
        }
        words.push(part[start..].to_ascii_lowercase());
        words
    })
}

/// Long, without spaces or path separators, and of letters and digits that change often.
fn is_random(value: &str) -> bool {
    let bytes = value.as_bytes();
    let class = |b: &u8| (b.is_ascii_digit(), b.is_ascii_uppercase(), b.is_ascii_lowercase());
    let allowed = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'+' | b'=');
    let both = |pair: &&[u8]| pair.iter().all(u8::is_ascii_alphanumeric);
    let changes = bytes.windows(2).filter(both).filter(|pair| class(&pair[0]) != class(&pair[1])).count();
    (24..=4096).contains(&bytes.len())
        && bytes.iter().all(allowed)
        && bytes.iter().filter(|b| b.is_ascii_digit()).count() >= 4
        && bytes.iter().any(u8::is_ascii_alphabetic)
        && changes * 4 >= bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_known_in_every_spelling() {
        for name in [
            "API_KEY",
            "--api-key",
            "apiKey",
            "exaApiKey",
            "GITHUB_PERSONAL_ACCESS_TOKEN",
            "X-Custom-Auth",
            "Authorization",
            "dbPassword",
            "PGPASSWORD",
            "GITHUBTOKEN",
            "client_secret",
            "sig",
            "key",
            "--pass",
            "OPENAI_APIKEY",
        ] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in [
            "author",
            "--max-tokens",
            "keyboard",
            "monkey",
            "path",
            "compass",
            "PATH",
            "HOME",
            "spin",
            "tokenizer",
            "",
        ] {
            assert!(!is_secret_name(name), "{name}");
        }
    }

    #[test]
    fn only_a_whole_reference_without_a_default_is_one() {
        for good in ["${TOKEN}", "${env:TOKEN}", "${secret:github.token}", "${TOKEN:-}"] {
            assert!(is_reference(good), "{good}");
        }
        for bad in
            ["${TOKEN:-abc123}", "x${TOKEN}", "${A}${B}", "${}", "$TOKEN", "${TOKEN", "", "${:-}", "${a b}"]
        {
            assert!(!is_reference(bad), "{bad}");
        }
    }

    #[test]
    fn a_value_is_judged_with_its_name_and_by_its_look() {
        assert!(looks_secret("API_KEY", "hunter"));
        assert!(looks_secret("WHATEVER", "ghp_0123456789abcdefghijABCDEFGHIJ012345"));
        assert!(looks_secret("X", "9fK2mQ7xR4tB8nL1vC6zW3yA5"));
        assert!(!looks_secret("API_KEY", "${API_KEY}"));
        assert!(!looks_secret("USE_TOKEN", "true"));
        assert!(!looks_secret("MODE", "production"));
        assert!(!looks_secret("DIR", "/home/me/projects/2024-01-01-something-long"));
        assert!(!looks_secret("PKG", "@modelcontextprotocol/server-everything"));
        assert!(!looks_secret("NAME", "a-long-name-of-plain-words-2024"));
    }
}
