//! Numbers and paths of `/proc` without allocation.

/// A NUL-terminated path under `/proc`.
pub(super) struct ProcPath {
    bytes: [u8; 64],
    len: usize,
}

impl ProcPath {
    /// `/proc/` and the number.
    pub(super) fn of(pid: i32) -> Self {
        Self { bytes: [0; 64], len: 0 }.text(b"/proc/").number(pid)
    }

    /// Appends text; what does not fit is left out, which makes opening it fail.
    pub(super) fn text(mut self, text: &[u8]) -> Self {
        for &byte in text {
            // The last byte stays NUL.
            if self.len < 63
                && let Some(place) = self.bytes.get_mut(self.len)
            {
                *place = byte;
                self.len = self.len.wrapping_add(1);
            }
        }
        self
    }

    /// Appends a number, which is never negative here.
    pub(super) fn number(self, number: i32) -> Self {
        let mut digits = [0_u8; 10];
        let mut rest = number.unsigned_abs();
        let mut count = 0_usize;
        for digit in &mut digits {
            *digit = b'0'.wrapping_add(u8::try_from(rest % 10).unwrap_or(0));
            rest /= 10;
            count = count.wrapping_add(1);
            if rest == 0 {
                break;
            }
        }
        digits.iter().take(count).rev().fold(self, |path, &digit| path.text(&[digit]))
    }

    /// The path with its NUL.
    pub(super) fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..=self.len).unwrap_or(&[])
    }
}

/// Reads decimal numbers out of bytes that come in pieces; anything else separates them.
#[derive(Default)]
pub(super) struct Numbers {
    value: i32,
    started: bool,
}

impl Numbers {
    /// Takes one byte; a number when the byte ends one.
    pub(super) fn take(&mut self, byte: u8) -> Option<i32> {
        if byte.is_ascii_digit() {
            self.value = self.value.wrapping_mul(10).wrapping_add(i32::from(byte.wrapping_sub(b'0')));
            self.started = true;
            return None;
        }
        self.end()
    }

    /// The number that the end of the bytes ends.
    pub(super) fn end(&mut self) -> Option<i32> {
        let number = self.started.then_some(self.value);
        *self = Self::default();
        number
    }
}

/// The number at the start of `text` in the given base, and what follows it.
pub(super) fn leading(text: &[u8], base: u32) -> (usize, &[u8]) {
    let mut value = 0_usize;
    let mut rest = text;
    while let [first, after @ ..] = rest
        && let Some(digit) = char::from(*first).to_digit(base)
    {
        value = value.wrapping_mul(base as usize).wrapping_add(digit as usize);
        rest = after;
    }
    (value, rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_terminated_and_numbers_whole() {
        assert_eq!(
            ProcPath::of(1234567890).text(b"/task/").number(0).as_bytes(),
            b"/proc/1234567890/task/0\0"
        );
        let long = ProcPath::of(1).text(&[b'x'; 100]);
        assert_eq!((long.as_bytes().len(), long.as_bytes().last()), (64, Some(&0)));
    }

    #[test]
    fn numbers_are_read_across_pieces() {
        let mut numbers = Numbers::default();
        let found: Vec<i32> = b"12 3\n456".iter().filter_map(|&byte| numbers.take(byte)).collect();
        assert_eq!((found, numbers.end(), numbers.end()), (vec![12, 3], Some(456), None));
        assert_eq!(leading(b"7f0a-80", 16), (0x7f0a, &b"-80"[..]));
    }
}
