//! Bytes to lines: bounds, line ends, cuts in any place.

use patchbay_wire::{DEFAULT_LIMIT, Line, Lines};

/// A reported line, owned.
#[derive(Debug, PartialEq, Eq)]
pub enum Seen {
    /// A whole line.
    Whole(Vec<u8>),
    /// A line past the limit.
    TooLong(usize),
}

/// Everything that is reported for a stream in these chunks.
pub fn split<'a>(limit: usize, chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<Seen> {
    let mut seen = Vec::new();
    let mut note = |line: Line<'_>| {
        seen.push(match line {
            Line::Whole(line) => Seen::Whole(line.to_vec()),
            Line::TooLong { limit } => Seen::TooLong(limit),
        });
    };
    let mut lines = Lines::new(limit);
    chunks.into_iter().for_each(|chunk| lines.push(chunk, &mut note));
    lines.finish(&mut note);
    seen
}

fn whole(line: &[u8]) -> Seen {
    Seen::Whole(line.to_vec())
}

#[test]
fn both_line_ends_are_taken_off_and_a_last_line_needs_none() {
    let seen = split(100, [&b"one\r\ntw"[..], b"o\n\n", b"\r", b"\nlast"]);
    assert_eq!(seen, [whole(b"one"), whole(b"two"), whole(b""), whole(b""), whole(b"last")]);
}

#[test]
fn a_line_past_the_limit_is_reported_once_at_once_and_the_next_one_works() {
    let mut lines = Lines::new(8);
    let mut seen = Vec::new();
    lines.push(b"123456789", &mut |line| {
        seen.push(line == Line::TooLong { limit: 8 });
    });
    assert_eq!(seen, [true], "before its end has come");
    lines.push(b"more and more", &mut |_| panic!("reported twice"));
    let mut next = Vec::new();
    lines.push(b"\n12345678\n", &mut |line| {
        next.push(line == Line::Whole(b"12345678"));
    });
    assert_eq!(next, [true]);
}

#[test]
fn the_limit_holds_wherever_the_line_is_cut() {
    for cut in 0..=9 {
        let (head, tail) = b"123456789\nok\n".split_at(cut);
        assert_eq!(split(8, [head, tail]), [Seen::TooLong(8), whole(b"ok")], "cut at {cut}");
        let (head, tail) = b"12345678\nok\n".split_at(cut.min(8));
        assert_eq!(split(8, [head, tail]), [whole(b"12345678"), whole(b"ok")], "cut at {cut}");
    }
}

#[test]
fn a_message_of_sixteen_mebibytes_in_small_pieces_arrives_whole() {
    // Two-byte characters, and pieces of an odd length: every other cut is inside one.
    let message = "é".repeat(8 << 20) + "\n";
    let chunks: Vec<&[u8]> = message.as_bytes().chunks(4095).collect();
    let seen = split(DEFAULT_LIMIT, chunks);
    assert_eq!(seen.len(), 1);
    assert!(seen[0] == whole(message.trim_end().as_bytes()));
}

#[test]
fn an_endless_line_costs_no_more_than_the_limit() {
    let mut lines = Lines::new(1 << 20);
    let chunk = [b'x'; 65536];
    let mut reports = 0;
    // 1 GiB of it.
    for _ in 0..16384 {
        lines.push(&chunk, &mut |_| reports += 1);
    }
    assert_eq!(reports, 1);
    let mut next = Vec::new();
    lines.push(b"\nnext\n", &mut |line| next.push(line == Line::Whole(b"next")));
    assert_eq!(next, [true]);
}

#[test]
fn after_finish_a_new_stream_begins() {
    let mut lines = Lines::new(4);
    lines.push(b"too long", &mut |_| {});
    lines.finish(&mut |_| panic!("there is nothing left to report"));
    let mut seen = 0;
    lines.push(b"ab\n", &mut |line| {
        seen += usize::from(line == Line::Whole(b"ab"));
    });
    assert_eq!(seen, 1);
}
