//! What an ELF file says: whether it can be preloaded, what it defines, where it calls malloc.

use std::{fs, os::unix::fs::MetadataExt, path::Path};

use anyhow::{Context, Result, bail};
use object::{
    Endianness, Object, ObjectSymbol, ObjectSymbolTable, RelocationFlags, RelocationTarget, elf,
    read::elf::{Dyn, ElfFile64, ElfSymbolTable64, FileHeader, ProgramHeader},
};

/// One call site table entry: where the object keeps the address of a function it imports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    pub function: String,
    /// Virtual address in the file's own numbering.
    pub address: u64,
}

/// The facts of one 64-bit x86 ELF file.
#[derive(Clone, Debug, Default)]
pub struct Elf {
    pub is_library: bool,
    /// The dynamic loader named by an executable; none means static.
    pub interpreter: Option<String>,
    /// Defined dynamic symbols and their addresses in the file's own numbering.
    pub exports: Vec<(String, u64)>,
    /// Defined functions of the full symbol table, empty when stripped.
    pub defined: Vec<String>,
    pub slots: Vec<Slot>,
    /// Address of the first loadable segment, page-aligned.
    pub base: u64,
    pub setuid: bool,
}

impl Elf {
    /// Reads a file; an error says why it is not a usable ELF file.
    pub fn read(path: &Path) -> Result<Elf> {
        let shown = path.display();
        let data = fs::read(path).with_context(|| format!("cannot read {shown}"))?;
        let mut elf = Elf::parse(&data).with_context(|| shown.to_string())?;
        let mode = fs::metadata(path)?.mode();
        elf.setuid = mode & 0o6000 != 0;
        Ok(elf)
    }

    fn parse(data: &[u8]) -> Result<Elf> {
        match data.get(..5) {
            Some(b"\x7fELF\x02") => {}
            Some(b"\x7fELF\x01") => bail!("a 32-bit program"),
            _ => bail!("not an ELF file"),
        }
        let file = ElfFile64::<Endianness>::parse(data)?;
        let endian = file.endian();
        if file.elf_header().e_machine(endian) != elf::EM_X86_64 {
            bail!("built for another processor");
        }
        let headers = file.elf_program_headers();
        let interpreter = headers
            .iter()
            .find_map(|h| h.interpreter(endian, data).ok()?);
        let first = headers.iter().find(|h| h.p_type(endian) == elf::PT_LOAD);
        Ok(Elf {
            is_library: file.elf_header().e_type(endian) == elf::ET_DYN
                && interpreter.is_none()
                && !is_pie(&file),
            interpreter: interpreter.map(|i| String::from_utf8_lossy(i).into_owned()),
            exports: definitions(file.dynamic_symbol_table()),
            defined: definitions(file.symbol_table())
                .into_iter()
                .map(|(name, _)| name)
                .collect(),
            slots: slots(&file),
            base: first.map_or(0, |h| h.p_vaddr(endian) & !0xfff),
            setuid: false,
        })
    }

    pub fn exports(&self, symbol: &str) -> bool {
        self.exports.iter().any(|(name, _)| name == symbol)
    }

    pub fn exports_at(&self, symbol: &str, address: u64) -> bool {
        self.exports
            .iter()
            .any(|(name, at)| name == symbol && *at == address)
    }

    pub fn defines(&self, symbol: &str) -> bool {
        self.exports(symbol) || self.defined.iter().any(|s| s == symbol)
    }
}

fn definitions(table: Option<ElfSymbolTable64<'_, '_, Endianness>>) -> Vec<(String, u64)> {
    let symbols = table.iter().flat_map(ObjectSymbolTable::symbols);
    let defined = symbols.filter(ObjectSymbol::is_definition);
    defined
        .filter_map(|s| Some((s.name().ok()?.to_owned(), s.address())))
        .collect()
}

/// A static program may be position-independent too; this flag tells it from a library.
fn is_pie(file: &ElfFile64<'_, Endianness>) -> bool {
    let endian = file.endian();
    let dynamic = file.elf_section_table().dynamic(endian, file.data());
    let Ok(Some((entries, _))) = dynamic else {
        return false;
    };
    entries.iter().any(|entry| {
        entry.tag32(endian) == Some(elf::DT_FLAGS_1)
            && entry
                .val32(endian)
                .is_some_and(|flags| flags & elf::DF_1_PIE != 0)
    })
}

fn slots(file: &ElfFile64<'_, Endianness>) -> Vec<Slot> {
    let (Some(relocations), Some(symbols)) =
        (file.dynamic_relocations(), file.dynamic_symbol_table())
    else {
        return Vec::new();
    };
    relocations
        .filter_map(|(address, relocation)| {
            let RelocationFlags::Elf { r_type } = relocation.flags() else {
                return None;
            };
            let RelocationTarget::Symbol(index) = relocation.target() else {
                return None;
            };
            let import = matches!(r_type, elf::R_X86_64_JUMP_SLOT | elf::R_X86_64_GLOB_DAT);
            let function = symbols.symbol_by_index(index).ok()?.name().ok()?.to_owned();
            import.then_some(Slot { function, address })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_what_is_no_elf_file() {
        let error = |data: &[u8]| Elf::parse(data).unwrap_err().to_string();
        assert_eq!(error(b"#!/bin/sh\n"), "not an ELF file");
        assert_eq!(error(b""), "not an ELF file");
        assert_eq!(error(b"\x7fELF\x01xxxx"), "a 32-bit program");
        assert!(
            Elf::read(Path::new("/no/such"))
                .unwrap_err()
                .to_string()
                .contains("/no/such")
        );
    }

    #[test]
    fn reads_this_test_program() {
        let me = Elf::read(&std::env::current_exe().unwrap()).unwrap();
        assert!(!me.is_library && !me.setuid);
        assert!(me.interpreter.unwrap().contains("ld-linux"));
        assert!(
            me.slots.iter().any(|s| s.function == "malloc"),
            "it calls malloc"
        );
        assert!(me.slots.iter().all(|s| s.address > 0));
    }
}
