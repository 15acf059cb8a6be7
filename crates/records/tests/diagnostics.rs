//! The diagnostic log: its lines, its levels, and what does not get into it.

use std::{fs, path::Path};

use patchbay_records::{LogGuard, LogLevel, diagnostics, redact_panics};
use patchbay_secrets::Redactor;
use tracing::{Subscriber, debug, error, info, subscriber::with_default};

use crate::audit::noon;

fn open(home: &Path, level: LogLevel) -> (impl Subscriber + Send + Sync + 'static, LogGuard) {
    let redactor = Redactor::new();
    redactor.learn("TESTSECRET1");
    diagnostics(home, level, redactor, 7, noon).unwrap()
}

fn log(home: &Path) -> String {
    fs::read_to_string(home.join("log/patchbay.log")).unwrap()
}

#[test]
fn a_line_has_time_level_place_and_no_secret() {
    let home = tempfile::tempdir().unwrap();
    let (subscriber, guard) = open(home.path(), LogLevel::Info);
    with_default(subscriber, || {
        info!(
            server = "github",
            token = "TESTSECRET1",
            "connected with {}",
            "ghp_0123456789abcdefghijABCDEFGHIJ012345"
        );
        debug!("not told");
    });
    guard.flush().unwrap();
    assert_eq!(
        log(home.path()),
        "2026-03-01T12:00:00.500Z  INFO main::diagnostics: connected with [redacted] server=\"github\" token=\"[redacted]\"\n"
    );
}

#[test]
fn a_text_from_outside_cannot_pass_for_a_line() {
    let home = tempfile::tempdir().unwrap();
    let (subscriber, guard) = open(home.path(), LogLevel::Info);
    with_default(subscriber, || {
        info!("said: {}", "a\n2026-03-01T12:00:00.500Z ERROR forged");
    });
    guard.flush().unwrap();
    let log = log(home.path());
    assert_eq!(log.lines().count(), 2);
    assert!(log.lines().nth(1).unwrap().starts_with("    2026"), "{log}");
}

#[test]
fn the_level_can_change_and_loud_libraries_stay_quiet() {
    let home = tempfile::tempdir().unwrap();
    let (subscriber, guard) = open(home.path(), LogLevel::Debug);
    with_default(subscriber, || {
        debug!("told at debug");
        info!(target: "rmcp::service", "payload TESTSECRET1");
        tracing::warn!(target: "rmcp::service", "rmcp warns");
        guard.set_level(LogLevel::Error);
        info!("no longer told");
        tracing::warn!(target: "rmcp::service", "rmcp warns no longer");
        error!("told at error");
        guard.set_level(LogLevel::Off);
        error!("silence");
    });
    guard.flush().unwrap();
    let log = log(home.path());
    let told: Vec<_> = log.lines().map(|line| line.rsplit(": ").next().unwrap()).collect();
    assert_eq!(told, ["told at debug", "rmcp warns", "told at error"]);
}

#[test]
fn levels_are_read_by_their_names() {
    assert_eq!("warn".parse::<LogLevel>().unwrap(), LogLevel::Warn);
    assert_eq!(
        "loud".parse::<LogLevel>().unwrap_err().to_string(),
        "`loud` is no log level; there are off, error, warn, info, debug and trace"
    );
}

#[test]
fn a_log_that_cannot_be_opened_is_named() {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir_all(home.path().join("log/patchbay.log")).unwrap();
    let error = diagnostics(home.path(), LogLevel::Info, Redactor::new(), 7, noon).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("/log"), "{error}");
    assert!(std::error::Error::source(&error).is_some() && error.hint().is_some());
}

#[test]
fn a_panic_is_logged_without_its_secrets() {
    let home = tempfile::tempdir().unwrap();
    let (subscriber, guard) = open(home.path(), LogLevel::Error);
    let redactor = Redactor::new();
    redactor.learn("TESTSECRET1");
    let before = std::panic::take_hook();
    redact_panics(redactor, Some(&guard));
    let outcome = std::thread::spawn(|| with_default(subscriber, || panic!("it held TESTSECRET1"))).join();
    std::panic::set_hook(before);
    assert!(outcome.is_err());
    // No flush here: the hook has done it.
    let log = log(home.path());
    assert!(
        log.contains("it held [redacted]") && log.contains("diagnostics.rs") && !log.contains("TESTSECRET1"),
        "{log}"
    );
}
