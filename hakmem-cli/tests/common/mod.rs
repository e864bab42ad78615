//! Fixtures: small C programs and libraries, compiled into a folder of the test's own.
#![allow(dead_code)] // not every test file uses everything

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};

pub struct Workbench {
    folder: tempfile::TempDir,
}

impl Workbench {
    pub fn new() -> Workbench {
        Workbench {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn compile(&self, source: &str, output: &str, flags: &[&str]) -> PathBuf {
        let source = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/fixtures")
            .join(source);
        let output = self.path(output);
        let status = Command::new("cc")
            .args(["-O1", "-Wall", "-Wextra", "-Werror", "-fno-builtin"])
            .arg(source)
            .arg("-o")
            .arg(&output)
            .args(flags)
            .status()
            .unwrap();
        assert!(status.success(), "{} compiles", output.display());
        output
    }

    /// The allocator fixture under a file name, with `-D` or other flags.
    pub fn allocator(&self, name: &str, flags: &[&str]) -> PathBuf {
        self.compile(
            "allocator.c",
            name,
            &[&["-shared", "-fPIC"], flags].concat(),
        )
    }

    pub fn program(&self) -> PathBuf {
        self.compile("program.c", "program", &[])
    }

    pub fn static_program(&self) -> PathBuf {
        self.compile("program.c", "static-program", &["-static", "-w"])
    }

    pub fn plugin(&self) -> PathBuf {
        self.compile("plugin.c", "libplugin.so", &["-shared", "-fPIC"])
    }

    /// `hak` with the lab's folder here, out of the way of a real one.
    pub fn hak(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hak"));
        command
            .args(args)
            .env("HAK_HOME", self.path("lab"))
            .env_remove("LD_PRELOAD");
        command
    }
}

pub struct Said {
    pub code: i32,
    pub out: String,
    pub err: String,
}

pub fn run(command: &mut Command) -> Said {
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().unwrap();
    Said {
        code: status.code().unwrap_or(-1),
        out: String::from_utf8_lossy(&stdout).into_owned(),
        err: String::from_utf8_lossy(&stderr).into_owned(),
    }
}

pub fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}
