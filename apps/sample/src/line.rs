//! Reads one line at a time and keeps no more than the limit of it.

use std::io::{self, BufRead};

/// Longest line that is taken, in bytes.
pub const LIMIT: usize = 4 << 20;

/// What was read.
pub enum Line {
    /// A line, in the buffer, without its end.
    Whole,
    /// A line over [`LIMIT`]; it is skipped.
    TooLong,
    /// The end of the input.
    End,
}

/// Reads the next line into `buffer`. A last line without an end counts as a line.
pub fn read(input: &mut impl BufRead, buffer: &mut Vec<u8>) -> io::Result<Line> {
    buffer.clear();
    let (mut any, mut too_long) = (false, false);
    loop {
        let piece = input.fill_buf()?;
        if piece.is_empty() {
            return Ok(if !any { Line::End } else { finished(too_long) });
        }
        any = true;
        let end = piece.iter().position(|&byte| byte == b'\n');
        let text = &piece[..end.unwrap_or(piece.len())];
        too_long |= buffer.len() + text.len() > LIMIT;
        if too_long {
            buffer.clear();
        } else {
            buffer.extend_from_slice(text);
        }
        let used = text.len() + usize::from(end.is_some());
        input.consume(used);
        if end.is_some() {
            return Ok(finished(too_long));
        }
    }
}

fn finished(too_long: bool) -> Line {
    if too_long { Line::TooLong } else { Line::Whole }
}
