//! The redacting writer: any cut of the text into chunks gives the same clean lines.

use std::{
    io::{self, Write},
    sync::{Arc, Mutex},
};

use bolero::check;
use patchbay_secrets::{REDACTED, RedactingWriter, Redactor};

#[derive(Clone, Default)]
struct Sink(Arc<Mutex<Vec<u8>>>);

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn written<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> String {
    let redactor = Redactor::new();
    redactor.learn("TESTSECRET1");
    let sink = Sink::default();
    let mut writer = RedactingWriter::new(sink.clone(), redactor);
    chunks.into_iter().for_each(|chunk| writer.write_all(chunk).unwrap());
    drop(writer);
    String::from_utf8(sink.0.lock().unwrap().clone()).unwrap()
}

#[test]
fn a_secret_that_is_cut_in_any_place_does_not_get_through() {
    let text = b"a TESTSECRET1 b\nghp_0123456789abcdefghijABCDEFGHIJ012345\nlast";
    for first in 0..text.len() {
        for second in [first, (first + 5).min(text.len()), text.len()] {
            let out = written([&text[..first], &text[first..second], &text[second..]]);
            assert_eq!(out, format!("a {REDACTED} b\n{REDACTED}\nlast\n"));
        }
    }
}

#[test]
fn any_chunking_gives_what_one_write_gives() {
    const PIECES: [&str; 10] = [
        "TESTSECRET1",
        "\n",
        "TEST",
        "SECRET1",
        "-----BEGIN KEY-----",
        "-----END KEY-----",
        "\nMIIEvQ\n",
        "é",
        " ",
        "VEVTVFNFQ1JFVDE",
    ];
    check!().with_iterations(3000).with_type::<(Vec<u8>, Vec<u8>)>().for_each(|(picks, cuts)| {
        let text: String =
            picks.iter().take(40).map(|pick| PIECES[usize::from(*pick) % PIECES.len()]).collect();
        let mut chunks = Vec::new();
        let mut rest = text.as_bytes();
        for cut in cuts {
            let (chunk, after) = rest.split_at(usize::from(*cut % 16).min(rest.len()));
            chunks.push(chunk);
            rest = after;
        }
        chunks.push(rest);
        let out = written(chunks);
        assert_eq!(out, written([text.as_bytes()]));
        assert!(!out.contains("TESTSECRET1") && !out.contains("VEVTVFNFQ1JFVD"), "{text:?} -> {out:?}");
    });
}

#[test]
fn a_pem_block_over_many_lines_is_one_mark() {
    let block = "before\n-----BEGIN PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nBKcwggSj==\n-----END PRIVATE KEY-----\nafter\n";
    assert_eq!(written([block.as_bytes()]), format!("before\n{REDACTED}\nafter\n"));
}

#[test]
fn a_pem_block_that_never_ends_does_not_swallow_the_log() {
    assert_eq!(
        written([&b"-----BEGIN X-----\nAAAA\na log line: fine\nAAAA\n"[..]]),
        format!("{REDACTED}\na log line: fine\nAAAA\n")
    );
    let endless = format!("-----BEGIN X-----\n{}", "AAAA\n".repeat(500));
    assert_eq!(written([endless.as_bytes()]).lines().filter(|line| *line == "AAAA").count(), 100);
}

#[test]
fn a_line_without_end_is_cut_and_costs_no_memory() {
    let redactor = Redactor::new();
    redactor.learn("TESTSECRET1");
    let sink = Sink::default();
    let mut writer = RedactingWriter::new(sink.clone(), redactor);
    // The secret stands across the place where the line is cut.
    writer.write_all("x".repeat((64 << 10) - 5).as_bytes()).unwrap();
    writer.write_all(b"TESTSECRET1").unwrap();
    for _ in 0..1000 {
        writer.write_all(&[b'y'; 65536]).unwrap();
    }
    writer.write_all(b"\nnext\n").unwrap();
    let out = String::from_utf8(sink.0.lock().unwrap().clone()).unwrap();
    assert!(!out.contains("TEST"), "{}", &out[65_000..]);
    assert!(out.len() < 66_000 && out.ends_with(" bytes cut]\nnext\n"), "{}", &out[65_000..]);
}

#[test]
fn bytes_that_are_no_text_get_through_as_marks() {
    assert_eq!(written([&b"a\xFFb TESTSECRET1\xFF\n"[..]]), format!("a\u{fffd}b {REDACTED}\u{fffd}\n"));
}
