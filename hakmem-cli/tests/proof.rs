//! Every way in which a run can fail to be a run on the allocator named is caught, and named.

mod common;

use std::{
    fs,
    io::{BufRead, BufReader},
    os::unix::fs::PermissionsExt,
    process::Stdio,
};

use common::{Said, Workbench, run, text};
use serde_json::Value;

/// `hak proof --json -a ALLOCATOR -- CMD…`
fn prove(bench: &Workbench, allocator: &str, command: &[&str]) -> (Said, Value) {
    let args = [&["proof", "--json", "-a", allocator, "--"], command].concat();
    let said = run(&mut bench.hak(&args));
    let json = said
        .out
        .find("{\n")
        .map(|at| serde_json::from_str(&said.out[at..]).unwrap());
    (said, json.unwrap_or(Value::Null))
}

fn statuses(json: &Value) -> Vec<&str> {
    let list = json["processes"].as_array().unwrap();
    list.iter().map(|p| p["status"].as_str().unwrap()).collect()
}

fn reasons(json: &Value, process: usize) -> String {
    let list = json["processes"][process]["reasons"].as_array().unwrap();
    list.iter()
        .map(|r| r.as_str().unwrap())
        .collect::<Vec<_>>()
        .join("; ")
}

#[test]
fn a_complete_allocator_is_proven() {
    let bench = Workbench::new();
    let library = bench.allocator("libfull.so", &[]);
    let program = bench.program();
    let (said, json) = prove(&bench, text(&library), &[text(&program), "grow", "1"]);
    assert_eq!(
        (said.code, statuses(&json)),
        (0, vec!["proven"]),
        "{}",
        said.err
    );
    assert_eq!(json["proven"], true);
    assert_eq!(json["allocator"], "full");
}

#[test]
fn libc_is_proven_by_its_own_heap() {
    let bench = Workbench::new();
    let program = bench.program();
    let (said, json) = prove(&bench, "libc", &[text(&program)]);
    assert_eq!(
        (said.code, statuses(&json)),
        (0, vec!["proven"]),
        "{}",
        said.err
    );
}

#[test]
fn a_half_interposing_library_is_named() {
    let bench = Workbench::new();
    let library = bench.allocator("libhalf.so", &["-DHALF"]);
    let program = bench.program();
    let (said, json) = prove(&bench, text(&library), &[text(&program)]);
    assert_eq!(
        (said.code, statuses(&json)),
        (1, vec!["not-used"]),
        "{}",
        said.err
    );
    let why = reasons(&json, 0);
    assert!(why.contains("half-interposing"), "{why}");
    assert!(why.contains("calloc") && why.contains("libc.so.6"), "{why}");
}

#[test]
fn a_library_that_passes_everything_on_to_libc_is_named() {
    let bench = Workbench::new();
    let library = bench.allocator("libforward.so", &["-DFORWARD"]);
    let program = bench.program();
    let (said, json) = prove(&bench, text(&library), &[text(&program)]);
    assert_eq!(said.code, 1);
    let why = reasons(&json, 0);
    assert!(
        why.contains("libc's own heap holds") && why.contains("bytes"),
        "{why}"
    );
}

#[test]
fn a_library_that_does_not_load_is_named() {
    let bench = Workbench::new();
    // It needs a library that is gone by the time it is loaded.
    bench.allocator("libgone.so", &[]);
    let folder = format!("-L{}", text(&bench.path("")));
    let library = bench.allocator("libunloaded.so", &["-Wl,--no-as-needed", &folder, "-lgone"]);
    fs::remove_file(bench.path("libgone.so")).unwrap();
    let program = bench.program();
    let (said, json) = prove(&bench, text(&library), &[text(&program)]);
    assert_eq!((said.code, statuses(&json)), (1, vec!["not-used"]));
    let why = reasons(&json, 0);
    assert!(
        why.contains("ld.so gave up while loading its libraries"),
        "{why}"
    );
    assert!(
        said.err
            .contains("libgone.so: cannot open shared object file"),
        "{}",
        said.err
    );
}

#[test]
fn mislabelled_libraries_are_named() {
    let bench = Workbench::new();
    let program = bench.program();
    let claim = |name: &str, library| format!("{name}={}", text(library));

    let plain = bench.allocator("libmimalloc.so", &[]);
    let (said, _) = prove(&bench, &claim("mimalloc3", &plain), &[text(&program)]);
    assert_eq!(said.code, 125);
    let expected = "mislabelled: it is called mimalloc 3 but it is an allocator unknown to hak";
    assert!(said.err.contains(expected), "{}", said.err);

    let second = bench.allocator("libsecond.so", &["-DMIMALLOC=20302"]);
    let (said, _) = prove(&bench, &claim("jemalloc", &second), &[text(&program)]);
    assert!(
        said.err
            .contains("it is called jemalloc but it is mimalloc 3"),
        "{}",
        said.err
    );

    // The right family, but the wrong generation: only the running library can tell.
    let (said, json) = prove(&bench, &claim("mimalloc3", &second), &[text(&program)]);
    assert_eq!(said.code, 1);
    let why = reasons(&json, 0);
    assert_eq!(
        why,
        "mislabelled: called mimalloc 3, but it says it is 20302"
    );
    let (said, _) = prove(&bench, &claim("mimalloc2", &second), &[text(&program)]);
    assert_eq!(said.code, 0, "{}", said.err);
}

#[test]
fn a_deep_bound_plugin_is_named() {
    let bench = Workbench::new();
    let library = bench.allocator("libfull.so", &[]);
    let (program, plugin) = (bench.program(), bench.plugin());
    let command = [text(&program), "deepbind", text(&plugin)];
    let (said, json) = prove(&bench, text(&library), &command);
    assert_eq!(said.code, 1);
    let why = reasons(&json, 0);
    assert!(
        why.contains("libplugin.so calls malloc of") && why.contains("deep-bound"),
        "{why}"
    );
}

#[test]
fn a_program_with_its_own_copy_of_a_cxx_runtime_is_proven() {
    let bench = Workbench::new();
    let library = bench.allocator("libfull.so", &[]);
    let program = bench.compile("operators.cc", "cxx-program", &["-lstdc++", "-rdynamic"]);
    let (said, json) = prove(&bench, text(&library), &[text(&program)]);
    assert_eq!(
        (said.code, statuses(&json)),
        (0, vec!["proven"]),
        "{}",
        said.err
    );
}

#[test]
fn children_are_judged_one_by_one() {
    let bench = Workbench::new();
    let library = bench.allocator("libfull.so", &[]);
    let (program, fixed) = (bench.program(), bench.static_program());
    let command = [
        text(&program),
        "clean",
        text(&program),
        "clean",
        text(&fixed),
    ];
    let (said, json) = prove(&bench, text(&library), &command);
    assert_eq!(
        said.code, 3,
        "the main process is proven, its children are not"
    );
    assert_eq!(statuses(&json), ["proven", "not-used", "not-used"]);
    assert!(
        reasons(&json, 1).contains("LD_PRELOAD does not name the library"),
        "{json}"
    );
    assert!(reasons(&json, 2).starts_with("static:"), "{json}");
}

#[test]
fn a_process_that_never_ends_properly_is_still_seen() {
    let bench = Workbench::new();
    let library = bench.allocator("libfull.so", &[]);
    let program = bench.program();
    for (how, value, why) in [
        ("_exit", "3", "_exit"),
        ("signal", "9", "ended by signal 9"),
    ] {
        let (said, json) = prove(&bench, text(&library), &[text(&program), how, value]);
        assert_eq!(
            (said.code, statuses(&json)),
            (0, vec!["bound"]),
            "{how}: {}",
            said.err
        );
        assert!(reasons(&json, 0).contains(why), "{json}");
    }
}

#[test]
fn without_trace_the_probe_alone_judges() {
    let bench = Workbench::new();
    let (full, half) = (
        bench.allocator("libfull.so", &[]),
        bench.allocator("libhalf.so", &["-DHALF"]),
    );
    let program = bench.program();
    let prove = |library| {
        run(&mut bench.hak(&[
            "proof",
            "--no-trace",
            "-a",
            text(library),
            "--",
            text(&program),
        ]))
    };
    assert_eq!(prove(&full).code, 0);
    let said = prove(&half);
    assert_eq!(said.code, 1);
    assert!(
        said.err.contains("half-interposing: calloc is that of"),
        "{}",
        said.err
    );
}

#[test]
fn a_running_process_is_read_from_outside() {
    let bench = Workbench::new();
    let library = bench.allocator("libfull.so", &[]);
    let program = bench.program();
    let mut child = std::process::Command::new(&program)
        .args(["sleep", "30"])
        .env("LD_PRELOAD", &library)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let pid = child.id().to_string();
    let on = run(&mut bench.hak(&["proof", "--pid", &pid, "-a", text(&library)]));
    let off = run(&mut bench.hak(&["proof", "--pid", &pid, "-a", "libc"]));
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(on.code, 0, "{}", on.out);
    assert!(
        on.out.contains("bound in all its objects (still running)"),
        "{}",
        on.out
    );
    assert_eq!(off.code, 1);
    assert!(
        off.out.contains("its malloc is that of") && off.out.contains("libfull.so"),
        "{}",
        off.out
    );
    let gone = run(&mut bench.hak(&["proof", "--pid", "999999999", "-a", "libc"]));
    assert_eq!(gone.code, 125);
    assert!(gone.err.contains("no process 999999999"), "{}", gone.err);
}

#[test]
fn files_are_judged_without_running_them() {
    let bench = Workbench::new();
    let judge = |path: &str| run(&mut bench.hak(&["proof", "--file", path]));
    let (program, fixed) = (bench.program(), bench.static_program());
    let library = bench.allocator("libfull.so", &[]);

    let said = judge(text(&program));
    assert_eq!(said.code, 0);
    assert!(
        said.out
            .contains("can be preloaded; it loads libraries at run time"),
        "{}",
        said.out
    );
    let said = judge(text(&fixed));
    assert_eq!(said.code, 1);
    assert!(
        said.out.contains("static: it has no dynamic loader"),
        "{}",
        said.out
    );
    let said = judge(text(&library));
    assert!(
        said.code == 1 && said.out.contains("a library, not a program"),
        "{}",
        said.out
    );

    let script = bench.path("script");
    fs::write(&script, format!("#!{}\n", program.display())).unwrap();
    let said = judge(text(&script));
    assert!(
        said.code == 0 && said.out.contains(text(&program)),
        "{}",
        said.out
    );
    fs::write(&script, "no program").unwrap();
    assert!(judge(text(&script)).out.contains("not an ELF file"));

    fs::set_permissions(&program, fs::Permissions::from_mode(0o4755)).unwrap();
    let said = judge(text(&program));
    assert!(
        said.code == 1 && said.out.contains("setuid"),
        "{}",
        said.out
    );
    let said = judge("no-such-program-anywhere");
    assert!(
        said.code == 125 && said.err.contains("no program no-such"),
        "{}",
        said.err
    );
}
