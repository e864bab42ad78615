//! The command line: help, errors that name the nearest valid name, exit codes.

mod common;

use common::{Workbench, run, text};

#[test]
fn help_names_every_command_and_exit_code() {
    let bench = Workbench::new();
    let said = run(&mut bench.hak(&["--help"]));
    assert_eq!(said.code, 0);
    for word in [
        "run",
        "proof",
        "bench",
        "ab",
        "peers",
        "completions",
        "man",
        "Exit codes:",
        "125",
    ] {
        assert!(said.out.contains(word), "{word}");
    }
    assert_eq!(run(&mut bench.hak(&["frobnicate"])).code, 2);
}

#[test]
fn wrong_names_get_the_nearest_valid_one() {
    let bench = Workbench::new();
    let error = |args: &[&str]| {
        let said = run(&mut bench.hak(args));
        assert_eq!(said.code, 125, "{args:?}");
        said.err
    };
    let unknown = |args: &[&str], near: &str| {
        let text = error(args);
        assert!(text.contains(&format!("did you mean '{near}'?")), "{text}");
    };
    unknown(&["ab", "--a", "glbc", "--b", "libc", "--", "true"], "glibc");
    unknown(
        &[
            "ab", "--a", "libc", "--b", "libc", "--metric", "fault", "--", "true",
        ],
        "faults",
    );
    unknown(&["bench", "--suite", "quik"], "quick");
    unknown(&["peers", "jemaloc"], "jemalloc");
    let text = error(&["bench", "--against", "never-saved"]);
    assert!(
        text.contains("unknown saved session 'never-saved'"),
        "{text}"
    );
    let text = error(&["proof", "-a", "jemalloc", "--", "true"]);
    assert!(
        text.contains("jemalloc is not built yet: run `hak peers jemalloc`"),
        "{text}"
    );
}

#[test]
fn peers_are_listed_without_building() {
    let bench = Workbench::new();
    let said = run(&mut bench.hak(&["peers", "--list"]));
    assert_eq!(said.code, 0);
    assert_eq!(said.out.lines().count(), 7, "{}", said.out);
    assert!(
        said.out.lines().all(|line| line.ends_with("not built")),
        "{}",
        said.out
    );
}

#[test]
fn a_peer_that_cannot_be_built_is_named_with_the_reason() {
    let bench = Workbench::new();
    // Without a PATH there is neither cargo nor a compiler.
    let said = run(bench
        .hak(&["peers", "rpmalloc"])
        .env("PATH", "/nonexistent"));
    assert_eq!(said.code, 6);
    assert!(
        said.out.contains("✗ rpmalloc: cannot run cargo"),
        "{}",
        said.out
    );
    assert!(said.out.contains("0 of 1 peers are ready"), "{}", said.out);
    let said = run(&mut bench.hak(&["proof", "-a", "rpmalloc", "--", "true"]));
    assert!(
        said.err
            .contains("rpmalloc could not be built (cannot run cargo"),
        "{}",
        said.err
    );
}

#[test]
fn completions_and_man_pages_are_generated() {
    let bench = Workbench::new();
    for shell in ["bash", "zsh", "fish"] {
        let said = run(&mut bench.hak(&["completions", shell]));
        assert!(said.code == 0 && said.out.contains("hak"), "{shell}");
    }
    let said = run(&mut bench.hak(&["man"]));
    assert!(said.out.contains(".TH hak 1"), "{}", said.out);
    assert!(said.out.contains("Exit codes"), "{}", said.out);
    let folder = bench.path("man");
    run(&mut bench.hak(&["man", "--out", text(&folder)]));
    for page in ["hak.1", "hak-proof.1", "hak-bench.1"] {
        assert!(folder.join(page).is_file(), "{page}");
    }
}

#[test]
fn run_puts_a_program_on_the_library_and_ends_as_it_does() {
    let bench = Workbench::new();
    let (program, library) = (bench.program(), bench.allocator("libfull.so", &[]));
    let hak = |args: &[&str]| {
        let mut command = bench.hak(&[&["run"], args].concat());
        command.env("HAKMEM_LIBRARY", &library);
        run(&mut command)
    };
    let said = hak(&["--", text(&program), "env", "LD_PRELOAD"]);
    assert_eq!(
        (said.code, said.out.trim()),
        (0, &*format!("LD_PRELOAD={}", library.display()))
    );
    assert_eq!(hak(&["--", text(&program), "code", "9"]).code, 9);
    let said = hak(&[
        "--profile",
        "latency",
        "--",
        text(&program),
        "env",
        "HAKMEM_PROFILE",
    ]);
    assert_eq!(said.out.trim(), "HAKMEM_PROFILE=latency");
    let said = hak(&["--profile", "latancy", "--", text(&program)]);
    assert!(
        said.err
            .contains("unknown profile 'latancy'; did you mean 'latency'?"),
        "{}",
        said.err
    );
    let said = hak(&["--", "/no/such/program"]);
    assert_eq!(said.code, 125);
    assert!(
        said.err.contains("cannot run /no/such/program"),
        "{}",
        said.err
    );
    // The library is no hakmem, so there is no proof.
    let said = hak(&["--proof", "--stats", "--", text(&program)]);
    assert_eq!(said.code, 1);
    assert!(
        said.err
            .contains("not proven: hakmem wrote no proof record"),
        "{}",
        said.err
    );
    assert!(said.err.contains("no statistics"), "{}", said.err);
    let said = run(bench
        .hak(&["run", "--", "true"])
        .env("HAKMEM_LIBRARY", "/no/lib.so"));
    assert!(
        said.err.contains("HAKMEM_LIBRARY names /no/lib.so"),
        "{}",
        said.err
    );
}
