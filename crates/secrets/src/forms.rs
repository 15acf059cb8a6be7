//! The forms in which a known value can appear in a text: as it is, escaped for JSON, percent-encoded, in base64.

/// All forms of a value that are worth a search, without duplicates.
pub(crate) fn of(value: &str) -> Vec<String> {
    let mut forms = vec![value.to_owned()];
    let mut add = |form: String| {
        if !forms.contains(&form) {
            forms.push(form);
        }
    };
    add(json(value));
    add(percent(value, b"-_.~", false, false));
    add(percent(value, b"-_.~", true, false));
    add(percent(value, b"-_.!~*'()", false, false));
    add(percent(value, b"-_.*", false, true));
    for offset in 0..3 {
        let core = base64(value.as_bytes(), offset);
        add(core.replace('+', "-").replace('/', "_"));
        add(core);
    }
    forms
}

/// Escaped as inside a JSON string.
fn json(value: &str) -> String {
    let quoted = serde_json::Value::from(value).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// Percent-encoded but for letters, digits and what is in `kept`.
fn percent(value: &str, kept: &[u8], small: bool, plus: bool) -> String {
    let digits: &[u8; 16] = if small { b"0123456789abcdef" } else { b"0123456789ABCDEF" };
    let mut out = String::with_capacity(value.len());
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || kept.contains(&byte) {
            out.push(byte.into());
        } else if plus && byte == b' ' {
            out.push('+');
        } else {
            out.extend(['%', digits[usize::from(byte >> 4)].into(), digits[usize::from(byte & 15)].into()]);
        }
    }
    out
}

/// The base64 of bytes that begin `offset` bytes into a group of three: only the characters that they alone decide,
/// so that the value is found inside a longer encoded text (`user:value`) as well.
fn base64(bytes: &[u8], offset: usize) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (first, last) = ((offset * 8).div_ceil(6), (offset + bytes.len()) * 8 / 6);
    let bit = |at: usize| {
        (at / 8).checked_sub(offset).and_then(|i| bytes.get(i)).map_or(0, |b| b >> (7 - at % 8) & 1)
    };
    let sextet = |at: usize| (0..6).fold(0u8, |all, i| all << 1 | bit(at * 6 + i));
    (first..last).map(|at| char::from(ALPHABET[usize::from(sextet(at))])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_found_at_every_offset() {
        assert_eq!(base64(b"TESTSECRET1!", 0), "VEVTVFNFQ1JFVDEh");
        // "aTESTSECRET1!" is YVRFU1RTRUNSRVQxIQ==, "abTESTSECRET1!" is YWJURVNUU0VDUkVUMSE=
        assert!("YVRFU1RTRUNSRVQxIQ==".contains(&base64(b"TESTSECRET1!", 1)));
        assert!("YWJURVNUU0VDUkVUMSE=".contains(&base64(b"TESTSECRET1!", 2)));
        assert_eq!(base64(b"TESTSECRET1!", 1).len(), 15);
    }

    #[test]
    fn a_plain_value_has_few_forms_and_an_odd_one_all() {
        assert_eq!(of("abcdef").len(), 4);
        let forms = of("a/b c+\"é'");
        for form in [
            "a/b c+\\\"é'",
            "a%2Fb%20c%2B%22%C3%A9%27",
            "a%2fb%20c%2b%22%c3%a9%27",
            "a%2Fb%20c%2B%22%C3%A9'",
            "a%2Fb+c%2B%22%C3%A9%27",
        ] {
            assert!(forms.iter().any(|f| f == form), "{form} in {forms:?}");
        }
    }
}
