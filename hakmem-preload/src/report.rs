//! Statistics for people (malloc_stats, hak_stats_print) and for tools (malloc_info).

use crate::VERSION;
use core::fmt::{self, Write};
use hakmem_core::observe::{self, Snapshot};
use hakmem_core::os;

/// Collects text and writes it to a descriptor whenever it fills up, and at the end.
struct Descriptor {
    fd: i32,
    used: usize,
    space: [u8; 1024],
}

impl Descriptor {
    fn flush(&mut self) -> fmt::Result {
        let sent = os::write(self.fd, &self.space[..self.used]);
        self.used = 0;
        if sent { Ok(()) } else { Err(fmt::Error) }
    }
}

impl Write for Descriptor {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        let mut rest = piece.as_bytes();
        while !rest.is_empty() {
            if self.used == self.space.len() {
                self.flush()?;
            }
            let len = rest.len().min(self.space.len() - self.used);
            self.space[self.used..][..len].copy_from_slice(&rest[..len]);
            self.used += len;
            rest = &rest[len..];
        }
        Ok(())
    }
}

/// Writes the table; `false` when the descriptor takes no more.
pub fn to_descriptor(fd: i32) -> bool {
    let mut out = Descriptor {
        fd,
        used: 0,
        space: [0; 1024],
    };
    text(&mut out, &observe::snapshot())
        .and_then(|()| out.flush())
        .is_ok()
}

fn text(out: &mut impl Write, s: &Snapshot) -> fmt::Result {
    writeln!(out, "hakmem {VERSION}, process {}", os::process_id())?;
    for (name, bytes) in [
        ("mapped", s.mapped),
        ("live", s.live),
        ("in thread caches", s.cached),
        ("free in slabs", s.free_in_slabs),
        ("free spans kept", s.retained),
        ("own records", s.metadata),
        ("in huge blocks", s.huge_live),
    ] {
        writeln!(out, "{name:>18} {bytes:>16} bytes")?;
    }
    writeln!(out, "{:>18} {:>16}", "huge blocks", s.huge_count)?;
    writeln!(out, "{:>18} {:>16}", "heaps", s.heaps)?;
    writeln!(out, "{:>18} {:>16}", "slabs", s.slabs)?;
    writeln!(
        out,
        "{:>18} map {}, unmap {}, purge {} ({} failed), remap {}, advise {}",
        "system calls",
        s.os.map,
        s.os.unmap,
        s.os.purge,
        s.os.purge_failed,
        s.os.remap,
        s.os.advise
    )?;
    writeln!(
        out,
        "{:>18} malloc {}, free {}, calloc {}, realloc {}, aligned {}",
        "slow calls", s.cold.malloc, s.cold.free, s.cold.calloc, s.cold.realloc, s.cold.aligned
    )?;
    writeln!(
        out,
        "{:>18} {:>16} {:>16} {:>16}",
        "block size", "left slabs", "came back", "live"
    )?;
    for class in s.classes.iter().filter(|c| c.issued > 0) {
        writeln!(
            out,
            "{:>18} {:>16} {:>16} {:>16}",
            class.size, class.issued, class.returned, class.live
        )?;
    }
    Ok(())
}

/// glibc's elements with one heap, and an element `class` for each block size in use.
pub fn xml(out: &mut impl Write, s: &Snapshot) -> fmt::Result {
    out.write_str("<malloc version=\"1\">\n<heap nr=\"0\">\n<sizes>\n")?;
    for class in s.classes.iter().filter(|c| c.issued > 0) {
        writeln!(
            out,
            "  <class size=\"{}\" issued=\"{}\" returned=\"{}\" live=\"{}\"/>",
            class.size, class.issued, class.returned, class.live
        )?;
    }
    out.write_str("</sizes>\n")?;
    xml_totals(out, s, s.mapped.saturating_sub(s.huge_live))?;
    out.write_str("</heap>\n")?;
    writeln!(
        out,
        "<total type=\"mmap\" count=\"{}\" size=\"{}\"/>",
        s.huge_count, s.huge_live
    )?;
    xml_totals(out, s, s.mapped)?;
    out.write_str("</malloc>\n")
}

fn xml_totals(out: &mut impl Write, s: &Snapshot, mapped: usize) -> fmt::Result {
    writeln!(out, "<total type=\"fast\" size=\"{}\"/>", s.cached)?;
    writeln!(
        out,
        "<total type=\"rest\" size=\"{}\"/>",
        s.free_in_slabs + s.retained
    )?;
    writeln!(out, "<system type=\"current\" size=\"{mapped}\"/>")?;
    writeln!(out, "<aspace type=\"total\" size=\"{mapped}\"/>")?;
    writeln!(out, "<aspace type=\"mprotect\" size=\"{mapped}\"/>")
}
