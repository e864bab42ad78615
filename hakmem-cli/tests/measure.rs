//! Figures of single runs and of whole comparisons, on programs whose behaviour is known.

mod common;

use std::fs;

use common::{Workbench, run, text};
use serde_json::Value;

/// `hak ab` of libc against itself, five rounds; the report as JSON.
fn compare(bench: &Workbench, extra: &[&str], command: &[&str]) -> (i32, String, Value) {
    let out = bench.path("out");
    let fixed = [
        "ab",
        "--a",
        "libc",
        "--b",
        "libc",
        "--runs",
        "5",
        "--out",
        text(&out),
    ];
    let args = [&fixed[..], extra, &["--"], command].concat();
    let said = run(&mut bench.hak(&args));
    let json = fs::read_to_string(out.join("report.json")).unwrap_or_else(|_| "null".to_owned());
    (
        said.code,
        said.out + &said.err,
        serde_json::from_str(&json).unwrap(),
    )
}

#[test]
fn memory_and_processor_time_are_the_programs_own() {
    let bench = Workbench::new();
    let program = bench.program();
    let (code, text_out, json) = compare(&bench, &[], &[text(&program)]);
    assert_eq!(code, 0, "{text_out}");
    let peak = |json: &Value| json["runs"][0]["usage"]["max_rss_kib"].as_u64().unwrap();
    let small = peak(&json);
    assert!(small < 3_000, "{small} KiB: hak's own size must not show");
    let (_, _, json) = compare(&bench, &[], &[text(&program), "grow", "20", "spin", "2000"]);
    let grown = peak(&json) - small;
    assert!(
        (20_000..21_500).contains(&grown),
        "20 MiB more, not {grown} KiB"
    );
    let usage = &json["runs"][0]["usage"];
    assert!(usage["minor_faults"].as_u64().unwrap() > 20 * 256);
    assert!(usage["user_us"].as_u64().unwrap() > 1_000, "{usage}");
    assert!(usage["wall_ns"].as_u64().unwrap() / 1000 > usage["user_us"].as_u64().unwrap() / 2);
}

#[test]
fn every_run_is_proven_and_every_round_complete() {
    let bench = Workbench::new();
    let program = bench.program();
    let (code, out, json) = compare(&bench, &[], &[text(&program)]);
    assert_eq!(code, 0, "{out}");
    let runs = json["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 15, "A, A again and B in five rounds");
    assert!(
        runs.iter().all(|run| run["discarded"].is_null()),
        "{runs:?}"
    );
    let orders: Vec<String> = runs
        .chunks(3)
        .map(|round| {
            round
                .iter()
                .map(|r| format!("{}{}", r["allocator"], r["again"]))
                .collect()
        })
        .collect();
    assert!(
        orders.windows(2).any(|pair| pair[0] != pair[1]),
        "the order is random: {orders:?}"
    );
    assert!(
        out.contains("wall time of libc (B) against libc: "),
        "{out}"
    );
    for file in ["report.html", "runs.csv", "summary.csv"] {
        assert!(bench.path("out").join(file).is_file(), "{file}");
    }
}

#[test]
fn a_number_of_the_programs_own() {
    let bench = Workbench::new();
    let program = bench.program();
    let metric = ["--metric", "regex:LEVEL=([0-9.]+)"];
    let fixed = [
        "ab",
        "--a",
        "libc,LEVEL=100",
        "--b",
        "libc,LEVEL=50",
        "--runs",
        "5",
    ];
    let args = |more: &[&'static str]| {
        let out = bench.path("out");
        let mut args: Vec<String> = [&fixed[..], &metric, more]
            .concat()
            .iter()
            .map(|s| (*s).to_owned())
            .collect();
        args.extend(["--out".to_owned(), text(&out).to_owned(), "--".to_owned()]);
        args.extend([
            text(&program).to_owned(),
            "env".to_owned(),
            "LEVEL".to_owned(),
        ]);
        args
    };
    let measure = |more: &[&'static str]| {
        let args = args(more);
        run(&mut bench.hak(&args.iter().map(String::as_str).collect::<Vec<_>>()))
    };
    let said = measure(&[]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(
        said.out.contains("better, ratio 0.500 [0.500 … 0.500]"),
        "{}",
        said.out
    );
    let said = measure(&["--higher-is-better"]);
    assert!(
        said.out.contains("worse, ratio 2.000 [2.000 … 2.000]"),
        "{}",
        said.out
    );
}

#[test]
fn failures_are_told_before_anything_is_measured() {
    let bench = Workbench::new();
    let program = bench.program();
    let (code, out, _) = compare(&bench, &[], &[text(&program), "code", "7"]);
    assert_eq!(code, 125);
    assert!(out.contains("program on libc: exit code 7"), "{out}");
    let (_, out, _) = compare(&bench, &[], &[text(&program), "signal", "11"]);
    assert!(out.contains("program on libc: signal 11"), "{out}");
    let (_, out, _) = compare(
        &bench,
        &["--timeout", "1"],
        &[text(&program), "sleep", "20"],
    );
    assert!(out.contains("program on libc: time limit"), "{out}");
    let (_, out, _) = compare(&bench, &[], &["/no/such/program"]);
    assert!(
        out.contains("cannot run /no/such/program: No such file"),
        "{out}"
    );
    let (_, out, _) = compare(&bench, &["--metric", "regex:(x)"], &[text(&program)]);
    assert!(
        out.contains("the pattern finds no number in the output"),
        "{out}"
    );
}

#[test]
fn a_library_that_lies_is_not_measured() {
    let bench = Workbench::new();
    let program = bench.program();
    let measure = |flags: &[&str]| {
        let library = bench.allocator("liblie.so", flags);
        run(&mut bench.hak(&[
            "ab",
            "--a",
            "libc",
            "--b",
            text(&library),
            "--",
            text(&program),
        ]))
    };
    let said = measure(&["-DHALF"]);
    assert_eq!(said.code, 125);
    assert!(
        said.err
            .contains("lie is not what it should be: half-interposing"),
        "{}",
        said.err
    );
    let said = measure(&["-DFORWARD"]);
    assert!(said.err.contains("libc's own heap holds"), "{}", said.err);
    bench.allocator("libgone.so", &[]);
    let folder = format!("-L{}", text(&bench.path("")));
    let needs_it = ["-Wl,--no-as-needed", &folder, "-lgone"];
    let library = bench.allocator("liblie.so", &needs_it);
    fs::remove_file(bench.path("libgone.so")).unwrap();
    let said = run(&mut bench.hak(&[
        "ab",
        "--a",
        "libc",
        "--b",
        text(&library),
        "--",
        text(&program),
    ]));
    assert!(
        said.err
            .contains("libgone.so: cannot open shared object file"),
        "{}",
        said.err
    );
}

#[test]
fn a_program_that_escapes_the_allocator_is_discarded() {
    let bench = Workbench::new();
    let library = bench.allocator("libfull.so", &[]);
    let fixed = bench.static_program();
    let said = run(&mut bench.hak(&[
        "ab",
        "--a",
        "libc",
        "--b",
        text(&library),
        "--",
        text(&fixed),
    ]));
    assert_eq!(said.code, 125);
    assert!(
        said.err.contains("static-program on libc: no record"),
        "{}",
        said.err
    );
}

/// The promise of the statistics, on this machine as it is. Wants a quiet one and some minutes:
/// `cargo nextest run -p hakmem-cli --run-ignored only`.
#[test]
#[ignore = "takes minutes and wants a quiet machine"]
fn on_this_machine_equal_is_equal_and_8_percent_is_found() {
    let bench = Workbench::new();
    let program = bench.program();
    let word = |seed: usize, count: &str| {
        let out = bench.path("out");
        let script = format!("exec {} spin $SPIN", program.display());
        let (b, seed) = (format!("libc,SPIN={count}"), seed.to_string());
        let args = [
            "ab",
            "--a",
            "libc,SPIN=5000",
            "--b",
            &b,
            "--seed",
            &seed,
            "--metric",
            "user",
        ];
        let command = ["--out", text(&out), "--", "sh", "-c", &script];
        run(&mut bench.hak(&[&args[..], &command].concat())).out
    };
    let equal = (0..20)
        .filter(|&i| word(i, "5000").contains("no difference"))
        .count();
    let slower = (0..20)
        .filter(|&i| word(i, "5400").contains(": worse, ratio"))
        .count();
    println!("equal: {equal} of 20 no difference; 8 % slower: {slower} of 20 found");
    assert!(equal >= 19 && slower >= 19);
}
