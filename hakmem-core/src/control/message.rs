//! Messages to standard error, without allocation.

use crate::os;
use core::fmt::{self, Write};

/// A message is composed here and written in one go, so that lines of several processes do not mix.
pub struct Line {
    text: [u8; 512],
    len: usize,
}

impl Line {
    pub fn new() -> Line {
        Line {
            text: [0; 512],
            len: 0,
        }
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.text[..self.len]
    }
}

impl Default for Line {
    fn default() -> Line {
        Line::new()
    }
}

impl Write for Line {
    /// What does not fit is cut off.
    fn write_str(&mut self, part: &str) -> fmt::Result {
        let n = part.len().min(self.text.len() - self.len);
        self.text[self.len..self.len + n].copy_from_slice(&part.as_bytes()[..n]);
        self.len += n;
        Ok(())
    }
}

/// Writes the parts as one piece to standard error. Keeps errno, allocates nothing, safe in signal handlers.
pub fn message(parts: &[&str]) {
    let mut line = Line::new();
    for part in parts {
        let _ = line.write_str(part);
    }
    os::write(2, line.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_cut_not_lost() {
        let mut line = Line::new();
        for _ in 0..200 {
            line.write_str("12345").unwrap();
        }
        assert_eq!(line.as_bytes().len(), 512);
        assert!(line.as_bytes().starts_with(b"1234512345"));
    }
}
