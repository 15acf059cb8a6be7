//! What the redactor takes out of text, and what it leaves.

use std::{borrow::Cow, collections::BTreeMap};

use patchbay_api::{McpServerConfig, Oauth};
use patchbay_secrets::{REDACTED, Redactor};

#[test]
fn a_known_value_is_taken_out_in_every_form() {
    let redactor = Redactor::new();
    redactor.learn("TEST/SECRET+1 \"é\"");
    for text in [
        "TEST/SECRET+1 \"é\"",
        r#"{"a":"TEST/SECRET+1 \"é\""}"#,
        "TEST%2FSECRET%2B1%20%22%C3%A9%22",
        "TEST%2fSECRET%2b1%20%22%c3%a9%22",
        "TEST%2FSECRET%2B1+%22%C3%A9%22",
        // base64 of the value, and after "u:" and "me:"
        "VEVTVC9TRUNSRVQrMSAiw6ki",
        "Basic dTpURVNUL1NFQ1JFVCsxICLDqSI=",
        "Basic bWU6VEVTVC9TRUNSRVQrMSAiw6ki",
    ] {
        let clean = redactor.redact(text);
        assert!(clean.contains(REDACTED), "{text}");
        for part in ["TEST", "SECRET", "VEVTVC9T", "ESTL1NFQ1", "VNUL1NFQ1", "U0VDUkVU"] {
            assert!(!clean.contains(part), "{text} -> {clean}");
        }
    }
}

#[test]
fn base64_of_the_web_is_known_as_well() {
    let redactor = Redactor::new();
    redactor.learn("~~~???>>>secret");
    assert_eq!(redactor.redact("x fn5-Pz8_Pj4-c2VjcmV0 y"), format!("x {REDACTED} y"));
    assert_eq!(redactor.redact("x fn5+Pz8/Pj4+c2VjcmV0 y"), format!("x {REDACTED} y"));
}

#[test]
fn values_of_fewer_than_six_characters_are_not_searched_for() {
    let redactor = Redactor::new();
    redactor.learn("12345");
    redactor.learn("éééééé");
    assert_eq!(redactor.redact("12345"), "12345");
    assert_eq!(redactor.redact("éééééé"), REDACTED);
}

#[test]
fn overlapping_and_adjacent_values_leave_no_rest() {
    let redactor = Redactor::new();
    redactor.learn_all(["abcdefgh", "efghijkl", "abcdef"]);
    assert_eq!(redactor.redact("<abcdefghijkl>"), format!("<{REDACTED}>"));
    assert_eq!(redactor.redact("<abcdefabcdef>"), format!("<{REDACTED}>"));
}

#[test]
fn a_long_token_is_taken_out_whole_and_also_when_it_was_cut() {
    let redactor = Redactor::new();
    let token: String = (0..3000).map(|i| char::from(b'a' + (i * 7 % 26) as u8)).collect();
    redactor.learn(&token);
    assert_eq!(redactor.redact(&format!("<{token}>")), format!("<{REDACTED}>"));
    assert_eq!(redactor.redact(&format!("<{}…>", &token[..400])), format!("<{REDACTED}…>"));
}

#[test]
fn each_line_of_a_value_counts() {
    let redactor = Redactor::new();
    redactor.learn("first-line\n  second-line\nx");
    assert_eq!(redactor.redact("a second-line"), format!("a {REDACTED}"));
    assert_eq!(redactor.redact("first-line\\n  second-line\\nx"), REDACTED, "as JSON writes it");
}

#[test]
fn values_learned_later_hold_for_every_clone() {
    let redactor = Redactor::new();
    let clone = redactor.clone();
    assert!(matches!(clone.redact("TESTSECRET1"), Cow::Borrowed("TESTSECRET1")));
    redactor.learn("TESTSECRET1");
    assert_eq!(clone.redact("TESTSECRET1"), REDACTED);
}

#[test]
fn tokens_of_well_known_services_are_known_by_their_look() {
    let redactor = Redactor::new();
    let jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U";
    for token in [
        "AKIAIOSFODNN7EXAMPLE",
        "ASIAIOSFODNN7EXAMPLE",
        "sk-proj-abcDEF0123456789abcdef",
        "sk-ant-api03-abcDEF0123456789_abc-def",
        "AIzaSyA-0123456789abcdefghijklmnopqrstu",
        "ya29.a0AfH6SMBx0123456789abcdef",
        "GOCSPX-0123456789abcdefghij-_XY",
        "ghp_0123456789abcdefghijABCDEFGHIJ012345",
        "github_pat_11ABCDEFG0123456789_abcdefghijkl",
        "xoxb-123456789012-abcdefABCDEF",
        "xapp-1-A0123456789-abcdef",
        "glpat-0123456789abcdefghij",
        jwt,
        "-----BEGIN PRIVATE KEY-----\nMIIE\nvQ==\n-----END PRIVATE KEY-----",
        "-----BEGIN RSA PRIVATE KEY-----\\nMIIE\\n-----END RSA PRIVATE KEY-----",
    ] {
        for (before, after) in
            [("", ""), ("x=", "&y"), ("\"", "\","), ("%20", " "), ("Bearer ", "."), ("é", "é")]
        {
            let clean = redactor.redact(&format!("{before}{token}{after}")).into_owned();
            let expected = format!("{before}{REDACTED}{after}");
            // A dot is part of some tokens' alphabet.
            assert!(
                clean == expected || (after == "." && clean == format!("{before}{REDACTED}")),
                "{before}{token}{after} -> {clean}"
            );
        }
    }
    assert_eq!(
        redactor.redact("Authorization: Bearer abc.def/0123456789+A="),
        format!("Authorization: Bearer {REDACTED}")
    );
    assert_eq!(redactor.redact("-----BEGIN PRIVATE KEY-----\nMIIE"), REDACTED, "without an end");
}

#[test]
fn plain_text_is_left_alone_without_a_copy() {
    let redactor = Redactor::new();
    redactor.learn("TESTSECRET1");
    for text in [
        "task-0123456789012345678901",
        "the sk-learn-style-of-kebab-case-names",
        "eyJ is how they begin",
        "AKIA is the prefix",
        "bearer authentication required",
        "xoxb- and ghp_ are prefixes",
        "-----BEGINNING-----",
        "TESTSECRET",
        "",
    ] {
        assert!(matches!(redactor.redact(text), Cow::Borrowed(_)), "{text} -> {}", redactor.redact(text));
    }
}

#[test]
fn a_false_start_hides_no_token_behind_it() {
    let redactor = Redactor::new();
    assert_eq!(redactor.redact("sk-ghp_0123456789abcdefghijABCDEFGHIJ012345"), REDACTED);
    assert_eq!(redactor.redact("eyJx.AKIAIOSFODNN7EXAMPLE"), format!("eyJx.{REDACTED}"));
    assert_eq!(redactor.redact("ASIAIzaSyA-0123456789abcdefghijklmnopqrstu"), format!("ASI{REDACTED}"));
}

#[test]
fn nothing_secret_of_a_server_is_left_in_any_text() {
    let config = McpServerConfig {
        name: "github".into(),
        command: Some("npx".into()),
        args: [
            "-y",
            "server",
            "--api-key",
            "TESTSECRET3",
            "--header",
            "Authorization: Bearer TESTSECRET4",
            "--token=TESTSECRET8",
            "postgres://me:TESTSECRET9@db/x",
        ]
        .map(Into::into)
        .to_vec(),
        env: BTreeMap::from([
            ("GITHUB_PERSONAL_ACCESS_TOKEN".into(), "TESTSECRET1".into()),
            ("OTHER".into(), "${FROM_ELSEWHERE}".into()),
        ]),
        headers: BTreeMap::from([
            ("X-Custom-Auth".into(), "Bearer TESTSECRET2".into()),
            ("Authorization".into(), "Bearer ${TOKEN_NAME}".into()),
        ]),
        url: Some("https://user:TEST%53ECRET6@host/mcp?api_key=TESTSECRET5&q=visible".into()),
        oauth: Some(Oauth { client_secret: Some("TESTSECRET7".into()), ..Oauth::default() }),
        ..McpServerConfig::default()
    };
    let redactor = Redactor::new();
    redactor.learn_server(&config);
    let text = format!(
        "{config:?} {} TESTSECRET2 TESTSECRET4 TESTSECRET6 dXNlcjpURVNUU0VDUkVUNg==",
        serde_json::to_string(&config).unwrap()
    );
    let clean = redactor.redact(&text);
    assert!(
        !clean.contains("TESTSECRET") && !clean.contains("TEST%53ECRET") && !clean.contains("U0VDUkVU"),
        "{clean}"
    );
    for name in [
        "GITHUB_PERSONAL_ACCESS_TOKEN",
        "X-Custom-Auth",
        "--api-key",
        "Authorization",
        "api_key",
        "q=visible",
        "${FROM_ELSEWHERE}",
        "${TOKEN_NAME}",
    ] {
        assert!(clean.contains(name), "{name}: {clean}");
    }
}

#[test]
fn what_is_known_is_bounded_and_the_newest_stays() {
    let redactor = Redactor::new();
    let values: Vec<String> = (0..3000).map(|i| format!("value-{i:05}")).collect();
    redactor.learn_all(values.iter().map(String::as_str));
    assert_eq!(redactor.redact("value-02999"), REDACTED);
    assert_eq!(redactor.redact("value-00000"), "value-00000");
}
