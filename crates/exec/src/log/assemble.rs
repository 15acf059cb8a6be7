//! Makes lines of pieces of stderr that are cut anywhere, in bounded memory.

use memchr::{memchr, memrchr};

/// Bytes of a line that are held; more than are kept, so that a secret across the cut can be found.
pub(super) const HELD: usize = 8 * 1024;

/// The line that is being written.
#[derive(Default)]
pub(super) struct Assembler {
    held: Vec<u8>,
    /// Bytes that came after `held` was full.
    beyond: u64,
    /// Whether a carriage return was the last byte: a line feed ends the line, anything else overwrites it, as on
    /// a terminal. A progress bar thus stays one line.
    returned: bool,
}

impl Assembler {
    /// Takes a piece; gives each line that it ends to `line`, with the count of bytes that were not held.
    pub(super) fn feed(&mut self, mut piece: &[u8], mut line: impl FnMut(&[u8], u64)) {
        while let Some(end) = memchr(b'\n', piece) {
            self.write(&piece[..end]);
            line(&self.held, self.beyond);
            self.clear();
            piece = &piece[end + 1..];
        }
        self.write(piece);
    }

    /// Forgets the line that is being written.
    pub(super) fn clear(&mut self) {
        self.held.clear();
        self.beyond = 0;
        self.returned = false;
    }

    /// Writes text without line feeds. Of what carriage returns separate, the last is what a terminal would show.
    fn write(&mut self, text: &[u8]) {
        let shown = &text[..text.iter().rposition(|&byte| byte != b'\r').map_or(0, |at| at + 1)];
        if shown.is_empty() {
            self.returned |= !text.is_empty();
            return;
        }
        let last = memrchr(b'\r', shown);
        if self.returned || last.is_some() {
            self.clear();
        }
        self.hold(&shown[last.map_or(0, |at| at + 1)..]);
        self.returned = shown.len() < text.len();
    }

    /// Gives the line that was never ended.
    pub(super) fn end(&mut self, mut line: impl FnMut(&[u8], u64)) {
        if let Some((held, beyond)) = self.unfinished() {
            line(held, beyond);
        }
        self.clear();
    }

    /// The line that is being written, unless it is empty.
    pub(super) fn unfinished(&self) -> Option<(&[u8], u64)> {
        (!self.held.is_empty()).then_some((&self.held, self.beyond))
    }

    fn hold(&mut self, bytes: &[u8]) {
        let room = (HELD - self.held.len()).min(bytes.len());
        self.held.extend_from_slice(&bytes[..room]);
        self.beyond += (bytes.len() - room) as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(pieces: &[&[u8]]) -> Vec<String> {
        let mut assembler = Assembler::default();
        let mut lines = Vec::new();
        let mut take =
            |line: &[u8], beyond: u64| lines.push(format!("{}+{beyond}", String::from_utf8_lossy(line)));
        for piece in pieces {
            assembler.feed(piece, &mut take);
        }
        assembler.end(&mut take);
        lines
    }

    #[test]
    fn lines_are_whole_wherever_the_pieces_are_cut() {
        assert_eq!(lines(&[b"on", b"e\ntw", b"o\r", b"\nthree"]), ["one+0", "two+0", "three+0"]);
    }

    #[test]
    fn a_carriage_return_lets_the_next_text_take_the_place_of_the_last() {
        assert_eq!(lines(&[b"10 %\r20 %\r", b"\r30 %\r", b"done\n"]), ["done+0"]);
        assert_eq!(lines(&[b"10 %\r20 %\r"]), ["20 %+0"]);
    }

    #[test]
    fn a_line_without_end_is_held_up_to_the_limit_and_the_rest_counted() {
        let piece = [b'x'; 1000];
        let mut assembler = Assembler::default();
        for _ in 0..1000 {
            assembler.feed(&piece, |_, _| panic!("no line has ended"));
        }
        assert_eq!(
            assembler.unfinished().map(|(held, beyond)| (held.len(), beyond)),
            Some((HELD, 1_000_000 - HELD as u64))
        );
        assert!(assembler.held.capacity() <= 2 * HELD);
    }
}
