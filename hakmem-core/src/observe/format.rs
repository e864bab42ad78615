//! Text without allocation: a buffer of fixed size to format into, and strings as JSON.
#![forbid(unsafe_code)]

use core::fmt::{self, Display, Write};

/// Collects text in a slice. What does not fit is cut off and remembered.
pub struct Fixed<'a> {
    space: &'a mut [u8],
    used: usize,
    cut: bool,
}

impl<'a> Fixed<'a> {
    pub fn new(space: &'a mut [u8]) -> Fixed<'a> {
        Fixed {
            space,
            used: 0,
            cut: false,
        }
    }

    pub fn bytes(&self) -> &[u8] {
        &self.space[..self.used]
    }

    /// The text. Only whole pieces are ever stored, so that it is valid UTF-8.
    pub fn text(&self) -> &str {
        str::from_utf8(self.bytes()).unwrap_or_default()
    }

    /// `true` when something did not fit.
    pub fn is_cut(&self) -> bool {
        self.cut
    }
}

impl Write for Fixed<'_> {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        // Nothing may follow a gap.
        let end = self.used + piece.len();
        if self.cut || end > self.space.len() {
            self.cut = true;
            return Err(fmt::Error);
        }
        self.space[self.used..end].copy_from_slice(piece.as_bytes());
        self.used = end;
        Ok(())
    }
}

/// Writes bytes, a file name for example, as a JSON string with its quotes. A byte that isn't UTF-8 becomes U+FFFD.
pub struct Json<'a>(pub &'a [u8]);

impl Display for Json<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_char('"')?;
        for chunk in self.0.utf8_chunks() {
            for c in chunk.valid().chars() {
                match c {
                    '"' | '\\' => {
                        out.write_char('\\')?;
                        out.write_char(c)?;
                    }
                    '\0'..='\x1f' => write!(out, "\\u{:04x}", c as u32)?,
                    _ => out.write_char(c)?,
                }
            }
            if !chunk.invalid().is_empty() {
                out.write_char('\u{fffd}')?;
            }
        }
        out.write_char('"')
    }
}

/// Writes text that may come from outside for a terminal: control characters become `?`.
pub struct Plain<'a>(pub &'a [u8]);

impl Display for Plain<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.utf8_chunks() {
            for c in chunk.valid().chars() {
                out.write_char(if c.is_control() { '?' } else { c })?;
            }
            if !chunk.invalid().is_empty() {
                out.write_char('?')?;
            }
        }
        Ok(())
    }
}

/// The number after `name` in a text like that of /proc/self/status, whose lines begin with a name.
pub fn status_field(status: &[u8], name: &[u8]) -> Option<u64> {
    let line = status
        .split(|&b| b == b'\n')
        .find_map(|line| line.strip_prefix(name))?;
    let digits = line.trim_ascii().split(|&b| b == b' ').next()?;
    str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn text_that_fits() {
        let mut space = [0; 8];
        let mut out = Fixed::new(&mut space);
        assert_eq!(write!(out, "{}-{}", 123, 4567), Ok(()));
        assert_eq!((out.text(), out.is_cut()), ("123-4567", false));
    }

    #[test]
    fn text_that_does_not_fit_is_cut_at_a_piece() {
        let mut space = [0; 8];
        let mut out = Fixed::new(&mut space);
        let (number, word) = (123, "äöüß");
        assert_eq!(write!(out, "{number}-{word}"), Err(fmt::Error));
        assert_eq!((out.text(), out.is_cut()), ("123-", true));
        assert_eq!(out.write_str("x"), Err(fmt::Error));
        assert_eq!(out.bytes(), b"123-");
    }

    #[test]
    fn json_strings() {
        assert_eq!(Json(b"/usr/bin/x").to_string(), r#""/usr/bin/x""#);
        assert_eq!(
            Json(b"a\"b\\c\n\x1f").to_string(),
            r#""a\"b\\c\u000a\u001f""#
        );
        assert_eq!(Json("ä€".as_bytes()).to_string(), "\"ä€\"");
        assert_eq!(Json(b"x\xff\xfey").to_string(), "\"x\u{fffd}\u{fffd}y\"");
        assert_eq!(Json(b"").to_string(), "\"\"");
    }

    #[test]
    fn plain_text_has_no_control_characters() {
        assert_eq!(Plain(b"a\x1b[31m\n\xffz").to_string(), "a?[31m??z");
    }

    #[test]
    fn status_fields() {
        let status = b"Name:\tVmHWM: 3 kB\nVmHWM:\t   1234 kB\nVmRSS:\t99 kB\nVmLck:\n";
        assert_eq!(status_field(status, b"VmHWM:"), Some(1234));
        assert_eq!(status_field(status, b"VmRSS:"), Some(99));
        assert_eq!(status_field(status, b"VmLck:"), None);
        assert_eq!(status_field(status, b"VmPeak:"), None);
    }
}
