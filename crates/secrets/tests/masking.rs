//! A server's settings as people see them, and the way back.

use std::collections::BTreeMap;

use patchbay_api::{ApiError, ErrorCode, MASK, McpServerConfig, Oauth};
use patchbay_secrets::{Redactor, mask, mask_url, unmask};

fn with_args(args: &[&str]) -> McpServerConfig {
    McpServerConfig { args: args.iter().map(ToString::to_string).collect(), ..McpServerConfig::default() }
}

fn shown_args(args: &[&str]) -> Vec<String> {
    mask(&with_args(args), &Redactor::new()).args.into_iter().map(|arg| arg.replace(MASK, "*")).collect()
}

fn pairs(list: &[(&str, &str)]) -> BTreeMap<String, String> {
    list.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

fn full() -> McpServerConfig {
    McpServerConfig {
        name: "github".into(),
        command: Some("npx".into()),
        args: ["-y", "pkg", "--api-key", "TESTSECRET3", "", "line\nbreak", "--header=X-Key: TESTSECRET8"]
            .map(Into::into)
            .to_vec(),
        env: pairs(&[
            ("TOKEN", "TESTSECRET1"),
            ("REF", "${secret:github}"),
            ("EMPTY", ""),
            ("DEFAULT", "${X:-TESTSECRET9}"),
        ]),
        headers: pairs(&[
            ("Authorization", "Bearer ${TOKEN}"),
            ("X-Auth", "Bearer TESTSECRET2"),
            ("X-Plain", "${A}"),
        ]),
        url: Some("https://user:TESTSECRET6@host:8080/mcp?token=TESTSECRET5&q=1#frag".into()),
        oauth: Some(Oauth {
            client_id: Some("id".into()),
            client_secret: Some("TESTSECRET7".into()),
            ..Oauth::default()
        }),
        cwd: Some("/work".into()),
        ..McpServerConfig::default()
    }
}

#[test]
fn every_secret_is_dots_and_every_name_and_reference_stays() {
    let shown = mask(&full(), &Redactor::new());
    assert!(!serde_json::to_string(&shown).unwrap().contains("TESTSECRET"), "{shown:?}");
    assert_eq!(
        shown.env,
        pairs(&[("TOKEN", MASK), ("REF", "${secret:github}"), ("EMPTY", ""), ("DEFAULT", MASK)])
    );
    assert_eq!(
        shown.headers,
        pairs(&[("Authorization", "Bearer ${TOKEN}"), ("X-Auth", MASK), ("X-Plain", "${A}")])
    );
    assert_eq!(shown.url.unwrap(), format!("https://{MASK}@host:8080/mcp?token={MASK}&q=1#frag"));
    assert_eq!(shown.oauth.unwrap().client_secret.as_deref(), Some(MASK));
    assert_eq!(
        shown.args,
        ["-y", "pkg", "--api-key", MASK, "", "line\nbreak", &format!("--header=X-Key: {MASK}")]
    );
    assert_eq!(
        (shown.name.as_str(), shown.command.as_deref(), shown.cwd.as_deref()),
        ("github", Some("npx"), Some("/work"))
    );
}

#[test]
fn arguments_that_look_secret_are_masked_and_no_others() {
    assert_eq!(
        shown_args(&["--token", "abc", "--verbose", "--token", "--next"]),
        ["--token", "*", "--verbose", "--token", "--next"]
    );
    assert_eq!(shown_args(&["--header", "Authorization:${AUTH}"]), ["--header", "Authorization:${AUTH}"]);
    assert_eq!(shown_args(&["-H", "Authorization: Bearer abc"]), ["-H", "Authorization: *"]);
    assert_eq!(shown_args(&["--header", "no name here"]), ["--header", "*"]);
    assert_eq!(shown_args(&["Authorization: Bearer abc"]), ["Authorization: *"]);
    assert_eq!(
        shown_args(&["-e", "API_KEY=abc", "-e", "MODE=production"]),
        ["-e", "API_KEY=*", "-e", "MODE=production"]
    );
    assert_eq!(
        shown_args(&["--api-key=${KEY}", "--password", "${PW}"]),
        ["--api-key=${KEY}", "--password", "${PW}"]
    );
    assert_eq!(shown_args(&["--dsn=postgres://u:p@h/d"]), ["--dsn=*"]);
    assert_eq!(
        shown_args(&["--url=postgres://u:p@h/d", "postgres://h/d"]),
        ["--url=postgres://*@h/d", "postgres://h/d"]
    );
    assert_eq!(shown_args(&["x-ghp_0123456789abcdefghijABCDEFGHIJ012345!"]), ["x-*!"]);
    assert_eq!(
        shown_args(&["--max-tokens", "4096", "--port", "8080", "/home/me/key.pem"]),
        ["--max-tokens", "4096", "--port", "8080", "/home/me/key.pem"]
    );
}

#[test]
fn a_value_that_is_known_to_be_secret_is_masked_wherever_it_stands() {
    let redactor = Redactor::new();
    redactor.learn("TESTSECRET1");
    let shown = mask(&with_args(&["--mode", "x:TESTSECRET1:y"]), &redactor);
    assert_eq!(shown.args, ["--mode".to_owned(), format!("x:{MASK}:y")]);
}

#[test]
fn addresses_keep_all_but_their_secrets() {
    let masked = |url: &str| mask_url(url).replace(MASK, "*");
    assert_eq!(masked("https://host/mcp"), "https://host/mcp");
    assert_eq!(masked("https://u@host/a@b"), "https://*@host/a@b");
    assert_eq!(masked("https://u:p@x@host/"), "https://*@host/");
    assert_eq!(masked("https://${USER}:${PASS}@host/"), "https://${USER}:${PASS}@host/");
    assert_eq!(
        masked("https://h/?exaApiKey=abc&page=2&a%70i_key=x;sig=s"),
        "https://h/?exaApiKey=*&page=2&a%70i_key=*;sig=*"
    );
    assert_eq!(masked("https://h/?key=${KEY}&key="), "https://h/?key=${KEY}&key=");
    assert_eq!(masked("https://h/#access_token=abc"), "https://h/#access_token=*");
    assert_eq!(masked("https://h/?id=9fK2mQ7xR4tB8nL1vC6zW3yA5"), "https://h/?id=*");
    assert_eq!(masked("no address?token=1"), "no address?token=1");
    assert_eq!(masked("${BASE}/mcp?token=abc"), "${BASE}/mcp?token=*");
}

#[test]
fn what_comes_back_untouched_is_what_the_file_has() {
    let (current, redactor) = (full(), Redactor::new());
    assert_eq!(unmask(mask(&current, &redactor), &current, &redactor).unwrap(), current);
}

#[test]
fn what_was_written_anew_replaces_and_the_rest_stays() {
    let (current, redactor) = (full(), Redactor::new());
    let mut draft = mask(&current, &redactor);
    draft.name = "renamed".into();
    draft.env.insert("TOKEN".into(), "new".into());
    draft.env.insert("MORE".into(), "more".into());
    draft.env.remove("DEFAULT");
    draft.url = Some("https://other/".into());
    let token = draft.headers.remove("X-Auth").unwrap();
    draft.headers.insert("x-auth".into(), token);
    let saved = unmask(draft, &current, &redactor).unwrap();
    assert_eq!(
        saved.env,
        pairs(&[("TOKEN", "new"), ("REF", "${secret:github}"), ("EMPTY", ""), ("MORE", "more")])
    );
    assert_eq!(saved.headers["x-auth"], "Bearer TESTSECRET2");
    assert_eq!(saved.url.as_deref(), Some("https://other/"));
    assert_eq!(saved.args, current.args);
}

fn field(change: impl FnOnce(&mut McpServerConfig)) -> String {
    let (current, redactor) = (full(), Redactor::new());
    let mut draft = mask(&current, &redactor);
    change(&mut draft);
    let ApiError { code, message, hint, field, .. } = unmask(draft, &current, &redactor).unwrap_err();
    assert!(code == ErrorCode::Invalid && hint.is_some() && !message.contains("TESTSECRET"), "{message}");
    field.unwrap()
}

#[test]
fn dots_without_a_value_behind_them_are_refused_by_field() {
    assert_eq!(field(|draft| drop(draft.env.insert("NEW".into(), MASK.into()))), "env");
    assert_eq!(field(|draft| drop(draft.env.insert("TOKEN".into(), format!("x{MASK}")))), "env");
    assert_eq!(field(|draft| drop(draft.headers.insert("New".into(), MASK.into()))), "headers");
    assert_eq!(field(|draft| draft.url = Some(format!("https://{MASK}@evil.example/"))), "url");
    assert_eq!(field(|draft| draft.command = Some(MASK.into())), "command");
    assert_eq!(field(|draft| draft.args.push(MASK.into())), "args");
    assert_eq!(field(|draft| draft.args[3] = format!("{MASK}x")), "args");
    assert_eq!(field(|draft| draft.args[2] = "--other".into()), "args");
    let new = McpServerConfig {
        oauth: Some(Oauth { client_secret: Some(MASK.into()), ..Oauth::default() }),
        ..McpServerConfig::default()
    };
    let error = unmask(new, &McpServerConfig::default(), &Redactor::new()).unwrap_err();
    assert_eq!(error.field.as_deref(), Some("oauth.client_secret"));
}

fn moved(current: &[&str], draft: &[&str]) -> Result<Vec<String>, ErrorCode> {
    let draft: Vec<String> = draft.iter().map(|arg| arg.replace('*', MASK)).collect();
    let draft = McpServerConfig { args: draft, ..McpServerConfig::default() };
    unmask(draft, &with_args(current), &Redactor::new()).map(|saved| saved.args).map_err(|error| error.code)
}

#[test]
fn hidden_arguments_are_found_again_when_others_move() {
    let current = ["--a-key", "one", "x", "--b-key", "two", "--token=three"];
    assert_eq!(
        moved(&current, &["--b-key", "*", "--a-key", "*"]).unwrap(),
        ["--b-key", "two", "--a-key", "one"]
    );
    assert_eq!(
        moved(&current, &["new", "--token=*", "--b-key", "*"]).unwrap(),
        ["new", "--token=three", "--b-key", "two"]
    );
    assert_eq!(moved(&current, &["--c-key", "*"]), Err(ErrorCode::Invalid));
}

#[test]
fn hidden_arguments_that_are_alike_are_never_guessed() {
    let current = ["--key", "one", "--key", "two"];
    assert_eq!(
        moved(&current, &["--key", "*", "x", "--key", "*"]).unwrap(),
        ["--key", "one", "x", "--key", "two"]
    );
    assert_eq!(moved(&current, &["--key", "*"]), Err(ErrorCode::Invalid));
    assert_eq!(moved(&["--key", "one", "--key", "one"], &["--key", "*"]).unwrap(), ["--key", "one"]);
}
